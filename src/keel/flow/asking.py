"""Reads human gates and `gated`."""

from __future__ import annotations

import ast

from keel.core.graph import Argument, Kind, Label, Value, ValueKind
from keel.core.text import did_you_mean, excerpt
from keel.flow.describe import describe
from keel.flow.passing import Passed, argument, constant
from keel.flow.state import BOTH, ONLY_OTHER
from keel.flow.toolsteps import ToolSteps
from keel.flow.values import (
    AV,
    Answer,
    Tool,
)


class Asking(ToolSteps):
    """Gates."""

    def _gate_call(self, passed: list[Passed], node: ast.Call) -> AV:
        self.refuse_live("human_gate", passed, node)
        mode = self._on_reject(passed, node)
        self._check_gate(passed, node)
        return self.perform(lambda: self._gate(passed, mode, node), "`human_gate`", node)

    def _on_reject(self, passed: list[Passed], node: ast.AST) -> str:
        item = next((item for item in passed if item.name == "on_reject"), None)
        if item is None:
            # what is unpacked and not known may say `return`, which lets control go on
            return "return" if any(other.star == "**" for other in passed) else "raise"
        known, value = constant(item)
        if not known:
            self.dynamic(
                node,
                "`on_reject` is neither a literal nor a module constant that is assigned once",
                'write `on_reject="raise"` or `on_reject="return"`',
            )
            return "return"
        if value not in ("raise", "return"):
            self.report(
                "invalid-option", f"`on_reject` is `{excerpt(str(value), 40)}`", node, "use `raise` or `return`"
            )
            return "return"
        return str(value)

    def _check_gate(self, passed: list[Passed], node: ast.AST) -> None:
        allowed = ("prompt", "show", "timeout_s", "on_reject")
        for item in passed:
            if item.star == "**":
                self.dynamic(
                    node,
                    "options of a gate are unpacked, so that `on_reject` is not known",
                    "write the options by name",
                )
            elif item.name and item.name not in allowed:
                hint = did_you_mean(item.name, allowed)
                self.report(
                    "invalid-option",
                    f"`human_gate` has no option `{excerpt(item.name, 40)}`",
                    node,
                    hint or "use `show`, `timeout_s` or `on_reject`",
                )
            elif item.name == "timeout_s":
                self.option("timeout_s", item, {}, node)
        positional = [item for item in passed if not item.name and not item.star]
        if len(positional) > 1:
            self.report("invalid-option", "`human_gate` takes only its prompt by position", node, "write `show=…`")
        if not positional and not any(item.name == "prompt" or item.star for item in passed):
            self.report("invalid-option", "`human_gate` has no prompt", node, "say in a sentence what is approved")

    def _gate(self, passed: list[Passed], mode: str, node: ast.AST) -> AV:
        if self.here is None:
            return AV(None, self.b.unbound())
        items = [item for item in passed if item.name in ("", "prompt", "show") and item.star != "**"]
        shown = tuple(item.value.value for item in items)
        arguments = tuple(Argument(item.name or "prompt", item.text, item.value.value) for item in items)
        index = self.step(
            Kind.GATE, node, text=self.text(node), arguments=arguments, shown=shown, options=(("on_reject", mode),)
        )
        value = self.b.value(Value(ValueKind.APPROVAL, name="human_gate", node=index))
        self.b.update(index, value=value)
        self.raised(index, BOTH if mode == "raise" else ONLY_OTHER)
        if mode == "raise":
            self.here.exits = [(index, Label.NEXT, (value, True))]
        return AV(Answer(), value)

    def _gated(self, passed: list[Passed], node: ast.AST) -> AV:
        target = argument(passed, 0, "tool")
        static = target.value.static if target is not None else None
        if not isinstance(static, Tool):
            what = describe(static) if static is not None and static.live else "plain data"
            return self.dynamic(node, f"`gated` takes a tool, not {what}", "write `gated(tool)(…)`")
        rest = [item for item in passed if item is not target]
        self.refuse_live("gated", rest, node)
        return AV(Tool(static.key, static.native, static.options, gated=True), self.b.outside(static.key))
