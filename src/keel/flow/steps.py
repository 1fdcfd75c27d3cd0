"""Leads calls of keel's own names to what reads them."""

from __future__ import annotations

import ast

from keel.flow.declarations import Declarations
from keel.flow.passing import Passed
from keel.flow.values import (
    AV,
)


class Steps(Declarations):
    """keel's own steps."""

    def keel_call(self, name: str, passed: list[Passed], node: ast.Call) -> AV:  # noqa: PLR0911 - a table of names
        """Call one of keel's names."""
        passed = self.opened(passed)
        if name == "mcp_tool":
            return self._reference(passed, node)
        if name == "human_gate":
            return self._gate_call(passed, node)
        if name == "gated":
            return self._gated(passed, node)
        if name == "think":
            return self.perform(lambda: self._think(passed, node), "`think`", node)
        if name == "Agent":
            return self._agent(passed, node)
        if name == "Reasoner":
            return self._reasoner(passed, node)
        if name in ("race", "hedge", "quorum"):
            return self.group(name, passed, node)
        if name in ("flow", "tool"):
            return self._declaration(name, passed, node)
        return self.dynamic(
            node,
            "an `Approval` is made by the flow itself; only a person's answer makes one",
            "ask with `human_gate(...)`",
        )

    def group(self, name: str, passed: list[Passed], node: ast.Call) -> AV:
        """Read `race`, `hedge` or `quorum`."""
        raise NotImplementedError

    # -- methods of tools, tasks and groups -----------------------------------------------------
