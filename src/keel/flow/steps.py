"""Reads keel's own steps: tools and their options, gates, `gated`, reasoners, agents, and their declarations."""

from __future__ import annotations

import ast
import json
import re
from typing import Any

from keel.core.graph import Argument, Kind, Label, Value, ValueKind
from keel.core.model import EFFECT_ALIASES, Effect, NativeDeclaration
from keel.core.text import did_you_mean, excerpt
from keel.flow.classes import Declaration
from keel.flow.expressions import describe
from keel.flow.handlers import Handlers
from keel.flow.passing import Passed, argument, constant, spread
from keel.flow.state import BOTH, ONLY_OTHER, Mode
from keel.flow.values import (
    AV,
    AgentDef,
    AgentTool,
    Answer,
    Attribute,
    Awaitable,
    Const,
    Func,
    Items,
    NativeTool,
    ReasonerDef,
    Static,
    Table,
    TaskGroup,
    Tool,
)
from keel.flow.world import Reference

OPTIONS = ("retries", "timeout_s", "label")
UNKNOWN = "?"
"""Stands for an option whose value is not a constant."""
_RESERVED = re.compile(r"human_gate|_.*|__.*__|.*/.*")
_SERVER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")


class Steps(Handlers):
    """keel's own steps."""

    def keel_call(self, name: str, passed: list[Passed], node: ast.Call) -> AV:  # noqa: PLR0911 - a table of names
        """Call one of keel's names."""
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

    # -- doing it now or when awaited -----------------------------------------------------------

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

    # -- methods of tools, tasks and groups -----------------------------------------------------

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
        for item in passed:
            if item.star or not item.name:
                self.report("invalid-option", "step options are passed by name", node, "write `.options(retries=…)`")
                if item.star:
                    options["retries"] = UNKNOWN
                continue
            self.option(item.name, item, options, node)
        return AV(Tool(tool.key, tool.native, tuple(sorted(options.items())), tool.gated), self.b.outside(tool.key))

    # -- gates ----------------------------------------------------------------------------------

    def _gate_call(self, passed: list[Passed], node: ast.Call) -> AV:
        self.refuse_live("human_gate", passed, node)
        mode = self._on_reject(passed, node)
        self._check_gate(passed, node)
        return self.perform(lambda: self._gate(passed, mode, node), "`human_gate`", node)

    def _on_reject(self, passed: list[Passed], node: ast.AST) -> str:
        item = next((item for item in passed if item.name == "on_reject"), None)
        if item is None:
            return "raise"
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
            if item.star == "**" and not (isinstance(item.value.static, Table) and item.value.static.exact):
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
        items = [item for item in spread(passed) if item.name in ("", "prompt", "show") and item.star != "**"]
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

    # -- models ---------------------------------------------------------------------------------

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

    # -- declarations ---------------------------------------------------------------------------

    def _reference(self, passed: list[Passed], node: ast.Call) -> AV:
        parts = [constant(argument(passed, at, name)) for at, name in enumerate(("server", "tool"))]
        if not all(known and isinstance(value, str) for known, value in parts) or len(passed) != 2:
            return self.dynamic(
                node,
                "`mcp_tool` takes two names as literals, or as module constants that are assigned once",
                'write `mcp_tool("server", "tool")`',
            )
        server, tool = str(parts[0][1]), str(parts[1][1])
        if not _SERVER.fullmatch(server) or not tool:
            self.report("invalid-option", f"`{excerpt(server, 60)}` is no server name", node, "correct the name")
        span = self.span(node)
        self.world.references[Reference(server, tool, span.file, span.line, span.column)] = None
        return AV(Tool(f"{server}/{tool}"), self.b.outside(f"{server}/{tool}"))

    def _declaration(self, name: str, passed: list[Passed], node: ast.Call) -> AV:
        first = passed[0].value.static if passed and not passed[0].name else None
        if isinstance(first, Func):
            return self.dynamic(node, f"`{name}` is called as a function", f"write `@{name}` above the function")
        return AV(Declaration(name), self.b.outside(name))

    def declare(self, what: str, value: AV, func: Func, decorator: ast.expr, node: Any) -> AV:
        """Make a flow or a native tool of a function."""
        words = decorator.keywords if isinstance(decorator, ast.Call) else []
        if isinstance(decorator, ast.Call) and (decorator.args or any(word.arg is None for word in words)):
            self.dynamic(decorator, f"arguments of `@{what}` are not written by name", f"write `@{what}(name=…)`")
        options = {word.arg: self._declared(word, what) for word in words if word.arg is not None}
        if what == "flow":
            return self._declare_flow(value, func, options, decorator)
        return self._declare_tool(func, options, decorator, node, value)

    def _declared(self, word: ast.keyword, what: str) -> Any:
        value = self.expr(word.value)
        if isinstance(value.static, Const):
            return value.static.value
        self.dynamic(
            word.value,
            f"`{word.arg}` of `@{what}` is neither a literal nor a module constant that is assigned once",
            "write a literal",
        )
        return None

    def _declare_flow(self, value: AV, func: Func, options: dict[str, Any], decorator: ast.expr) -> AV:
        self._known_options("flow", options, ("entry",), decorator)
        entry = options.get("entry", True)
        if not isinstance(entry, bool):
            self.report("invalid-option", "`entry` is True or False", decorator, "correct `entry`")
            entry = True
        inner = value.static
        if not isinstance(inner, Func):
            self.dynamic(decorator, f"what the decorators make of flow `{func.name}` cannot be followed")
            inner = func
        made = Func(
            inner.node, inner.module, func.name, inner.scope, flow=True, entry=entry, live=True, defaults=inner.defaults
        )
        made.retries = inner.retries
        return AV(made, self.b.outside(func.name))

    def _known_options(self, what: str, options: dict[str, Any], allowed: tuple[str, ...], node: ast.AST) -> None:
        for name in options:
            if name not in allowed:
                hint = did_you_mean(name, allowed)
                self.report(
                    "invalid-option",
                    f"`@{what}` has no option `{excerpt(name, 40)}`",
                    node,
                    hint or f"use {', '.join(allowed)}",
                )

    def _declare_tool(self, func: Func, options: dict[str, Any], decorator: ast.expr, node: Any, value: AV) -> AV:
        self._known_options("tool", options, ("effect", "idempotent", "name"), decorator)
        if value.static is not func:
            self.dynamic(decorator, f"what the decorators make of native tool `{func.name}` cannot be followed")
        name = options.get("name") or func.name
        if not isinstance(name, str) or _RESERVED.fullmatch(name):
            self.report(
                "reserved-name",
                f"a native tool cannot be called `{excerpt(str(name), 60)}`: the name is reserved",
                node,
                "choose a name without `/` that does not begin with `_`",
            )
        effect = self._effect(options.get("effect", "write"), decorator)
        idempotent = options.get("idempotent", False)
        if not isinstance(idempotent, bool):
            self.report("invalid-option", "`idempotent` is True or False", decorator, "correct `idempotent`")
            idempotent = False
        qualname = f"{func.owner.name}.{func.name}" if func.owner is not None else func.name
        span = self.span(node)
        native = NativeTool(
            str(name), self.module.name, qualname, func.name, span.file, span.line,
            NativeDeclaration(effect, idempotent), node, span.column,
        )  # fmt: skip
        if func.scope is not None or func.owner is not None:
            self.dynamic(
                decorator,
                f"native tool `{func.name}` is defined inside a function or a class",
                "define it at module level",
            )
        self.world.natives.setdefault((native.module, f"{native.qualname}@{native.line}"), native)
        return AV(Tool(native.key, native), self.b.outside(native.key))

    def _effect(self, value: Any, node: ast.AST) -> Effect:
        found = EFFECT_ALIASES.get(value) if isinstance(value, str) else None
        if found is not None:
            return found
        if isinstance(value, str) and value in {item.value for item in Effect}:
            return Effect(value)
        if value is not None:
            self.report(
                "invalid-option",
                f"`{excerpt(str(value), 40)}` is no effect",
                node,
                "use `read`, `write`, `external` or `dangerous`",
            )
        return Effect.DANGEROUS
