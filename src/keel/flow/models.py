"""Reads reasoners and agents."""

from __future__ import annotations

import ast
from typing import Any

from keel.core.graph import Argument, Kind, Value, ValueKind
from keel.flow.asking import Asking
from keel.flow.describe import describe
from keel.flow.passing import Passed, argument, constant
from keel.flow.state import BOTH
from keel.flow.values import (
    AV,
    AgentDef,
    AgentTool,
    Func,
    Items,
    ReasonerDef,
    Static,
    Tool,
)


class Models(Asking):
    """Models."""

    def _think(self, passed: list[Passed], node: ast.AST) -> AV:
        if self.here is None:
            return AV(None, self.b.unbound())
        reasoner = argument(passed, 0, "reasoner")
        static = reasoner.value.static if reasoner is not None else None
        if not isinstance(static, ReasonerDef):
            return self.dynamic(
                node,
                "`think` is called with something that is not known to be a `Reasoner`",
                "define the reasoner at module level",
            )
        rest = [item for item in passed if item is not reasoner]
        self.refuse_live("think", rest, node)
        scope = next((item for item in rest if item.name == "scope"), None)
        known, value = constant(scope) if scope is not None else (True, "local")
        if not known:
            self.dynamic(node, "`scope` is not a literal", 'write `scope="local"`')
        arguments = tuple(
            Argument(item.name or "value", item.text, item.value.value) for item in rest if item is not scope
        )
        index = self.step(
            Kind.THINK,
            node,
            text=self.text(node),
            key=static.name,
            model=static.model,
            scope=str(value),
            arguments=arguments,
        )
        self.raised(index)
        result = self.b.own(Value(ValueKind.RESULT, tuple(item.value for item in arguments), static.name, node=index))
        self.b.update(index, value=result)
        return AV(None, result)

    def agent_call(self, agent: AgentDef, passed: list[Passed], node: ast.AST) -> AV:
        """Call an agent."""
        self.refuse_live(agent.name, passed, node)
        return self.perform(lambda: self._agent_step(agent, passed, node), f"agent `{agent.name}`", node)

    def _agent_step(self, agent: AgentDef, passed: list[Passed], node: ast.AST) -> AV:
        if self.here is None:
            return AV(None, self.b.unbound())
        arguments = tuple(Argument(item.name, item.text, item.value.value) for item in passed)
        index = self.step(
            Kind.AGENT,
            node,
            text=self.text(node),
            key=agent.name,
            model=agent.model,
            scope=agent.scope,
            arguments=arguments,
        )
        self.raised(index, BOTH)
        result = self.b.own(Value(ValueKind.RESULT, tuple(item.value for item in arguments), agent.name, node=index))
        self.b.update(index, value=result)
        return AV(None, result)

    def _agent(self, passed: list[Passed], node: ast.Call) -> AV:
        order = ("name", "model", "instructions", "tools", "skills", "scope", "max_rounds")
        values = {name: argument(passed, at, name) for at, name in enumerate(order)}
        name, model, scope = (self._text(values[key], key, "Agent", node) for key in ("name", "model", "scope"))
        tools = self._agent_tools(values["tools"], node)
        for item in passed:
            if item.star:
                self.dynamic(
                    node, "arguments of `Agent` are unpacked, so that its tools are not known", "write them by name"
                )
        span = self.span(node)
        agent = AgentDef(name, model, scope or "local", tools, span.file, span.line, span.column)
        self.world.agents[agent] = None
        return AV(agent, self.b.outside(name))

    def _agent_tools(self, item: Passed | None, node: ast.Call) -> tuple[AgentTool, ...]:
        if item is None:
            return ()
        static = item.value.static
        if not isinstance(static, Items) or not static.exact:
            self.dynamic(
                node, "the tool list of an agent is not written out", "write `tools=[…]` with the tools by name"
            )
            return ()
        syntax = self._display(node, item)
        found: list[AgentTool] = []
        for at, element in enumerate(static.elements):
            place = self.span(syntax[at] if at < len(syntax) else node)
            entry = self._agent_tool(element.static, place)
            if entry is None:
                self.dynamic(
                    syntax[at] if at < len(syntax) else node,
                    f"an agent's tool list holds {describe(element.static)}",
                    "list tools, `gated(tool)` or flows",
                )
            else:
                found.append(entry)
        return tuple(found)

    def _agent_tool(self, static: Static | None, place: Any) -> AgentTool | None:
        if isinstance(static, Tool):
            return AgentTool(static.key, static.gated, place.file, place.line, place.column)
        if isinstance(static, Func) and static.flow:
            name = f"{static.module.name}:{static.name}"
            return AgentTool(static.name, gated=False, file=place.file, line=place.line, column=place.column, flow=name)
        return None

    def _display(self, node: ast.Call, item: Passed) -> list[ast.expr]:
        for syntax in (*node.args, *(word.value for word in node.keywords)):
            if isinstance(syntax, ast.List | ast.Tuple) and self.text(syntax, 80) == item.text:
                return list(syntax.elts) if not any(isinstance(part, ast.Starred) for part in syntax.elts) else []
        return []

    def _text(self, item: Passed | None, what: str, of: str, node: ast.AST) -> str:
        if item is None:
            return ""
        known, value = constant(item)
        if not known or not isinstance(value, str):
            self.dynamic(
                node,
                f"`{what}` of `{of}` is neither a literal nor a module constant that is assigned once",
                f"write `{what}` as a literal",
            )
            return ""
        return value

    def _reasoner(self, passed: list[Passed], node: ast.AST) -> AV:
        name = self._text(argument(passed, 0, "name"), "name", "Reasoner", node)
        model = self._text(argument(passed, 1, "model"), "model", "Reasoner", node)
        reasoner = ReasonerDef(name, model)
        self.world.reasoners.setdefault(reasoner, self.span(node))
        return AV(reasoner, self.b.outside(name))
