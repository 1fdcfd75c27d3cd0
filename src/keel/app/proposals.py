"""What flows call and what a lock holds, as a first `tools` section for people to review."""

from __future__ import annotations

from pathlib import Path

from keel.app.flows import ProjectFlows, default_flows
from keel.core.finding import InputErrors
from keel.flow.read import read_flows
from keel.manifest.config import ProjectConfig
from keel.manifest.policy import paste_line
from keel.store.locks import LockFiles, load
from keel.store.sources import FileSources


def called_tools(root: Path, config: ProjectConfig) -> tuple[str, ...]:
    """Return the keys of the tools that the project's flows call or hand to agents, sorted; nothing is imported."""
    patterns = config.flows if config.flows is not None else default_flows(config.source_roots)
    program = read_flows(FileSources(root), flows=patterns, source_roots=config.source_roots)
    return tuple(sorted(ProjectFlows(program).referenced))


def proposed_grants(root: Path, lock: str) -> tuple[str, ...]:
    """Return a manifest line for each frozen tool, hints as comments; none without a lock that can be read."""
    try:
        held = load(LockFiles(root, root / lock))
    except InputErrors:  # `check` reports it
        return ()
    tools = held.frozen_tools() if held is not None else {}
    hints = {key: tool.wire.get("annotations") for key, tool in tools.items()}
    return tuple(paste_line(key, hint if isinstance(hint, dict) else None) for key, hint in sorted(hints.items()))
