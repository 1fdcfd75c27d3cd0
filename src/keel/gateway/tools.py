"""The tools that the gateway shows: admitted and frozen ones, each with its frozen definition and a name of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from keel.core.model import FrozenTool, split_key
from keel.core.naming import exposed_names
from keel.runtime.bundle import Bundle

_SHOWN = ("title", "description", "inputSchema", "outputSchema", "annotations")
"""What is shown of a definition, as frozen; `_meta`, `icons` and `execution` belong to the connection upstream."""
_ANY_OBJECT = {"type": "object"}


@dataclass(frozen=True, slots=True)
class Shown:
    """One tool under the name that clients see."""

    name: str
    tool: FrozenTool

    @property
    def definition(self) -> dict[str, Any]:
        """The definition as `tools/list` sends it."""
        wire = self.tool.wire
        kept = {field: wire[field] for field in _SHOWN if field in wire}
        return {"name": self.name, "inputSchema": _ANY_OBJECT, **kept}


def shown_tools(bundle: Bundle) -> Mapping[str, Shown]:
    """Return every callable tool by the name that clients see, sorted.

    Args:
        bundle: what was frozen and admitted.
    """
    keys = {split_key(key): key for key in bundle.tools if bundle.admits(key)}
    named = exposed_names(sorted(keys))
    shown = [Shown(name, bundle.tools[keys[parts]]) for parts, name in named.items()]
    return {item.name: item for item in sorted(shown, key=lambda item: item.name)}
