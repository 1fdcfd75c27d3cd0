"""Reads calls of tools: their arguments, their step options, and when they happen."""

from __future__ import annotations

import ast
import json
from typing import Any

from keel.core.graph import Argument, Kind, Value, ValueKind
from keel.core.text import did_you_mean, excerpt
from keel.flow.managers import Managers
from keel.flow.passing import Passed, constant, spread
from keel.flow.state import BOTH, ONLY_OTHER, Mode
from keel.flow.values import (
    AV,
    Attribute,
    Awaitable,
    Table,
    TaskGroup,
    Tool,
)


class ToolSteps(Managers):
    """Tools."""

    def perform(self, run: Any, what: str, node: ast.AST) -> AV:
        """Do a step: at once in a sync flow, where it is awaited in an async one."""
        if self.mode is Mode.IMPORT:
            return self.dynamic(
                node,
                f"{what} is called when the module is imported, in no flow and under no gate",
                "move the call into a flow",
            )
        if self.mode is Mode.TOOL:
            return self.dynamic(
                node,
                f"{what} is called inside the body of a native tool, where no gate sees it",
                "call both from the flow, one after the other",
            )
        later = self.deferred(run)
        return self.waiting(later, what, node) if self.flow_async else later()

    def tool_call(self, tool: Tool, passed: list[Passed], node: ast.AST) -> AV:
        """Call a tool."""
        self.refuse_live(tool.key, passed, node)
        return self.perform(lambda: self._tool_step(tool, passed, node), f"tool `{tool.key}`", node)

    def _tool_step(self, tool: Tool, passed: list[Passed], node: ast.AST) -> AV:
        if self.here is None:
            return AV(None, self.b.unbound())
        options = dict(tool.options)
        arguments, unpacked = self._tool_arguments(tool, passed, options, node)
        if self.regions or self.task_count:
            self.besides.append(self.step(Kind.PLAIN, node))
        index = self.step(
            Kind.CALL,
            node,
            text=self.text(node),
            key=tool.key,
            arguments=tuple(arguments),
            unpacked=unpacked,
            options=tuple(sorted(options.items())),
            gated=tool.gated,
        )
        self.raised(index, BOTH if tool.gated else ONLY_OTHER)
        value = self.b.own(Value(ValueKind.RESULT, name=tool.key, node=index))
        self.b.update(index, value=value)
        return AV(None, value)

    def _tool_arguments(
        self, tool: Tool, passed: list[Passed], options: dict[str, Any], node: ast.AST
    ) -> tuple[list[Argument], bool]:
        """Name the arguments; step options among the keywords of a native tool are taken out."""
        found: list[Argument] = []
        unpacked = False
        names = tool.native.parameters() if tool.native is not None else ()
        positional: list[str] = []
        if tool.native is not None:
            args = tool.native.node.args
            positional = [item.arg for item in (*args.posonlyargs, *args.args)]
        count = 0
        for item in self.unpacked(passed):
            if item.star:
                unpacked = True
                found.append(Argument(item.star, item.text, item.value.value))
            elif (
                item.name
                and tool.native is not None
                and item.name in ("retries", "timeout_s")
                and item.name not in names
            ):
                self.option(item.name, item, options, node)
            elif item.name:
                found.append(Argument(item.name, item.text, item.value.value))
            else:
                known = count < len(positional) and not unpacked
                found.append(Argument(positional[count] if known else "", item.text, item.value.value))
                count += 1
        return found, unpacked

    def unpacked(self, passed: list[Passed]) -> list[Passed]:
        """Replace `**mapping` of known keys by its members, as long as nobody changes the mapping."""
        found: list[Passed] = []
        for item in passed:
            static = item.value.static
            if item.star == "**" and isinstance(static, Table) and static.exact:
                for name, held in static.members.items():
                    value = self.b.part(item.value.value, json.dumps(name))
                    if self.b.values[value].kind is ValueKind.PART and item.value.value not in self.b.contents:
                        value = self.b.member(held.value, item.value.value)
                    found.append(Passed(AV(held.static, value), name, item.text))
            else:
                found.extend(spread([item]))
        return found

    def option(self, name: str, item: Passed, options: dict[str, Any], node: ast.AST) -> None:
        """Check one step option."""
        known, value = constant(item)
        if name not in OPTIONS:
            hint = did_you_mean(name, OPTIONS)
            self.report(
                "invalid-option",
                f"`{excerpt(name, 40)}` is no step option",
                node,
                hint or "use `retries`, `timeout_s` or `label`",
            )
            return
        if not known:
            options[name] = UNKNOWN
            return
        if value is None:
            options.pop(name, None)
            return
        right = {
            "retries": type(value) is int and value >= 0,
            "timeout_s": type(value) in (int, float) and value > 0,  # type: ignore[operator]
            "label": isinstance(value, str),
        }[name]
        if not right:
            wanted = {
                "retries": "a whole number from 0",
                "timeout_s": "a positive number of seconds",
                "label": "a text",
            }[name]
            self.report("invalid-option", f"`{name}` must be {wanted}", node, f"correct `{name}`")
            return
        options[name] = value

    def keel_method(self, attribute: Attribute, passed: list[Passed], node: ast.Call) -> AV | None:
        """Call a method of a tool, a task, or a task group; None for a container's."""
        static = attribute.base.static
        if isinstance(static, Tool):
            if attribute.name == "options":
                return self._options(static, passed, node)
            return self.dynamic(
                node,
                f"`.{attribute.name}` of tool `{static.key}` goes past keel",
                "call the tool itself",
            )
        if isinstance(static, Awaitable):
            return self.task_method(static, attribute.name, passed, node)
        if isinstance(static, TaskGroup):
            return self.group_method(static, attribute.name, passed, node)
        return None

    def task_method(self, task: Awaitable, name: str, passed: list[Passed], node: ast.AST) -> AV:
        """Call a method of a task."""
        raise NotImplementedError

    def group_method(self, group: TaskGroup, name: str, passed: list[Passed], node: ast.AST) -> AV:
        """Call a method of a task group."""
        raise NotImplementedError

    def _options(self, tool: Tool, passed: list[Passed], node: ast.AST) -> AV:
        options = dict(tool.options)
        for item in self.opened(passed):
            if item.star or not item.name:
                self.report("invalid-option", "step options are passed by name", node, "write `.options(retries=…)`")
                if item.star:
                    options["retries"] = UNKNOWN
                continue
            self.option(item.name, item, options, node)
        return AV(Tool(tool.key, tool.native, tuple(sorted(options.items())), tool.gated), self.b.outside(tool.key))


UNKNOWN = "?"


OPTIONS = ("retries", "timeout_s", "label")
