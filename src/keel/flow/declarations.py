"""Reads declarations: references to MCP tools, native tools, flows."""

from __future__ import annotations

import ast
import re
from typing import Any

from keel.core.model import EFFECT_ALIASES, Effect, NativeDeclaration
from keel.core.text import did_you_mean, excerpt
from keel.flow.models import Models
from keel.flow.passing import Passed, argument, constant
from keel.flow.values import (
    AV,
    Const,
    Declaration,
    Func,
    NativeTool,
    Tool,
)
from keel.flow.world import Reference


class Declarations(Models):
    """Declarations."""

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


_SERVER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")


_RESERVED = re.compile(r"human_gate|_.*|__.*__|.*/.*")
