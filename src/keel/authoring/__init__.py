"""What flow modules import: tools, references, flows, gates, groups, reasoners and agents; standard library only.

Every name is importable from `keel` itself, which loads this package on first use. Nothing here executes a flow:
each step asks `port.active()` for a runtime and, without one, either runs as plain Python (native tools) or raises
`NoRuntime` (everything that needs a person, a server or a model).
"""

from keel.authoring.approval import Approval
from keel.authoring.flows import flow
from keel.authoring.gates import gated, human_gate
from keel.authoring.groups import hedge, quorum, race
from keel.authoring.models import Agent, Reasoner, think
from keel.authoring.tools import mcp_tool, tool

__all__ = [
    "Agent",
    "Approval",
    "Reasoner",
    "flow",
    "gated",
    "hedge",
    "human_gate",
    "mcp_tool",
    "quorum",
    "race",
    "think",
    "tool",
]
