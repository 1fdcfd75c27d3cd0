"""Reads calls of project code that reaches no tool, and methods of plain data."""

from __future__ import annotations

import ast
import json

from keel.flow import knowledge
from keel.flow.changing import same_name
from keel.flow.definitions import Definitions
from keel.flow.describe import describe
from keel.flow.modules import flat
from keel.flow.passing import Bound, Passed
from keel.flow.plain import Summaries, Summary
from keel.flow.scope import Frame, arguments
from keel.flow.state import Mode
from keel.flow.templates import is_written, written_by_format, written_by_template
from keel.flow.values import (
    AV,
    Awaitable,
    Const,
    Func,
    Items,
    Table,
)

MAX_PLAIN_SIZE = 400
"""Syntax nodes of a plain function that is read in place; a larger one is summarised."""
MAX_PLAIN_DEPTH = 8
"""Plain functions read in place inside each other."""
MAX_PLAIN_NODES = 20_000
"""Steps of a flow that plain functions may add before the rest is summarised, so that reading stays linear."""


class PlainCalls(Definitions):
    """Calls of plain code."""

    summaries: Summaries

    def plain_function(self, func: Func, bound: Bound, passed: list[Passed], node: ast.AST) -> AV:
        """Call a project function that reaches no tool: in place where it is small, by its summary where it is not."""
        if self._readable(func):
            before = len(self.b.nodes)
            self.plain_depth += 1
            value = self._enter(func, passed, node)
            self.plain_depth -= 1
            if self.plain_depth == 0:
                self.plain_nodes += len(self.b.nodes) - before
            return value
        return self._summarised(func, bound, passed, node)

    def _readable(self, func: Func) -> bool:
        """Tell whether a plain function is read in place of its call, as one is that reaches a tool."""
        if self.mode is not Mode.FLOW or self.dead or func.is_async or func.context or func.node in self.active:
            return False
        if self.world.scopes.of(func.node).yields or self.plain_depth >= MAX_PLAIN_DEPTH:
            return False
        return self.plain_nodes < MAX_PLAIN_NODES and len(flat(func.node)) <= MAX_PLAIN_SIZE

    def _summarised(self, func: Func, bound: Bound, passed: list[Passed], node: ast.AST) -> AV:
        """Call a plain function that is not looked into: what it changes and whether it only computes."""
        summary = self.summaries.of(func.node, func.module)
        self._effects(summary, node)
        captured = self._captured_by(func)
        given = [*(item.value for item in passed), *captured]
        for name in sorted(summary.changes):
            for value in self._reaching(func, name, bound):
                others = tuple(item for item in given if item is not value)
                self.change(value, node, others, text=self.text(node, 80))
        operands = tuple(item.value for item in given)
        if summary.fresh:
            result = self.fresh(node, func.name, operands)
        else:
            self.may_raise(node)
            result = self.b.derived(operands, func.name)
        if summary.gives:
            self.shared_results.add(result)
        return AV(None, result)

    def _captured_by(self, func: Func) -> list[AV]:
        """Return what the free variables of a function hold here: it computes from them as from its arguments."""
        own = self.world.scopes.of(func.node).locals
        names = {mention.partition(".")[0] for mention in self.world.scopes.mentions(func.node)} - own
        held = [self._held_around(func, name) for name in sorted(names)]
        return [value for value in held if value is not None]

    def _held_around(self, func: Func, name: str) -> AV | None:
        """Return what a variable of a function around another one holds; None for a name of the module."""
        frame: Frame | None = func.scope
        while frame is not None and frame.number != 0:
            if name in frame.scope.locals:
                held = self.here.env.get((frame.number, name)) if self.here is not None else None
                return held if held is not None else frame.saved.get(name)
            frame = frame.parent
        return None

    def _free(self, func: Func, name: str) -> AV:
        """Return what a free name of a function means, written `module:name`."""
        module, _, simple = name.partition(":")
        held = self._held_around(func, simple)
        if held is None and self.here is not None:
            held = self.here.env.get((0, name))
        del module
        return held if held is not None else AV(None, self.b.outside(simple))

    def changes_itself(self, name: str) -> bool:
        """Tell whether a method of that name in a class of the project may change its object."""
        return any(
            next((item.arg for item in arguments(method.args)), "") in self.summaries.of(method, module).changes
            for module, method in self.summaries.methods(name)
        )

    def run_back(self, func: Func, given: tuple[AV, ...], node: ast.AST) -> None:
        """Do what a function changes that somebody unknown calls: its free variables, and whatever it may be handed."""
        if self.reading_needed(func) and self.is_live(AV(func, 0)):
            return
        for name in sorted(self.summaries.of(func.node, func.module).changes):
            targets = [self._free(func, name)] if ":" in name else list(given)
            for value in targets:
                self.change(value, node, given, text=self.text(node, 80))

    def _reaching(self, func: Func, name: str, bound: Bound) -> list[AV]:
        if ":" in name:
            return [self._free(func, name)]
        if name in bound.by_name:
            return [bound.by_name[name]]
        args = func.node.args
        if args.vararg is not None and args.vararg.arg == name:
            return [*bound.rest, *bound.unknown]
        return [*bound.words.values(), *bound.unknown] if args.kwarg is not None and args.kwarg.arg == name else []

    def _effects(self, summary: Summary, node: ast.AST) -> None:
        del node
        for (path, _, _), (module, call) in summary.outside.items():
            before = self.frame
            self.frame = type(before)(before.number, module, before.scope, before.parent, before.name)
            self.unmediated(path, call)
            self.frame = before

    def plain_method(self, base: AV, name: str, passed: list[Passed], node: ast.AST) -> AV:
        """Call a method of plain data."""
        static = base.static
        if self.shared(base) and name not in ("get", "items", "keys", "values", "copy", "index", "count"):
            self.refuse_live(f".{name}()", passed, node)
        elif isinstance(static, Items) and name in ("append", "add", "insert", "extend", "appendleft", "update"):
            self._put(static, name, passed)
        elif (
            isinstance(static, Table)
            and name in ("update", "setdefault")
            and self.is_live(AV(Items([item.value for item in passed]), 0))
        ):
            static.exact = False
            static.members.update({f"#{len(static.members) + at}": item.value for at, item in enumerate(passed)})
        elif (
            isinstance(static, Items | Table) and self.is_live(base) and name not in ("keys", "copy", "index", "count")
        ):
            return self._live_container(base, name, passed, node)
        else:
            self.refuse_live(f".{name}()", passed, node)
            if self.is_live(base) and not isinstance(static, Items | Table):
                return self.dynamic(node, f"`.{name}()` of {describe(static)} cannot be followed")
        return self._method_value(base, name, passed, node)

    def _put(self, items: Items, name: str, passed: list[Passed]) -> None:
        items.exact = False
        for item in passed:
            inner = item.value.static
            if name in ("extend", "update") and isinstance(inner, Items):
                items.elements.extend(inner.elements)
                items.source = inner.source if items.source < 0 else items.source
            else:
                items.elements.append(item.value)
        if self.loops and items.source < 0:
            items.source = self.b.nodes[self.loops[-1]].source

    def _live_container(self, base: AV, name: str, passed: list[Passed], node: ast.AST) -> AV:
        static = base.static
        awaitables = isinstance(static, Items) and all(
            isinstance(item.static, Awaitable) for item in static.elements if item.live
        )
        if awaitables and name in ("clear", "reverse"):
            return AV(None, self.b.literal(None))
        del passed
        return self.dynamic(node, f"`.{name}()` of a container of tools gives one of them at run time")

    def _method_value(self, base: AV, name: str, passed: list[Passed], node: ast.AST) -> AV:
        operands = (base.value, *(item.value.value for item in passed))
        self.call_back(passed, node)
        if name in knowledge.MUTATORS:
            added = tuple(item.value for item in passed)
            keeps = name in ("append", "extend", "insert")
            keys = tuple(json.dumps(item.name) for item in passed) if name == "update" else ()
            sure = name != "setdefault"
            self.change(base, node, added, text=self.text(node, 80), keeps=keeps, keys=keys, sure=sure)
            if name not in knowledge.TAKERS and name != "setdefault":
                return AV(Const(None, "NoneType"), self.b.literal(None))
            return AV(None, self.fresh(node, f".{name}", operands))
        if name in knowledge.PURE_METHODS:
            self.may_raise(node)
            if name == "items":
                return AV(None, self.b.derived((base.value,), "items", rendered=True))
            if name in knowledge.RENDERING_METHODS:
                return AV(None, self._rendered(base, name, passed))
            return AV(None, self.b.derived(operands, f".{name}"))
        return self._unknown_method(base, name, operands, node)

    def _rendered(self, base: AV, name: str, passed: list[Passed]) -> int:
        """Return a text in which an object can be read, and those arguments that it writes."""
        written = self._written(base, name)
        shown = [base.value]
        hidden: list[int] = []
        for at, item in enumerate(passed):
            (shown if item.star or is_written(written, item.name, at) else hidden).append(item.value.value)
        return self.b.container(shown, f".{name}", hidden=tuple(hidden))

    def _written(self, base: AV, name: str) -> frozenset[str] | None:
        """Return the arguments that a method writes into its text; None for all of them."""
        if name in knowledge.ADJUSTING_METHODS:
            return frozenset()
        if name == "format" and isinstance(base.static, Const):
            return written_by_format(str(base.static.value))
        if name in ("substitute", "safe_substitute"):
            item = self.b.values[same_name(self.b, base.value)]
            text = self.b.values[item.operands[0]].key if item.name == "string.Template" and item.operands else None
            return written_by_template(json.loads(text)) if text is not None and text[:1] == '"' else None
        return None

    def _unknown_method(self, base: AV, name: str, operands: tuple[int, ...], node: ast.AST) -> AV:
        known = self.summaries.methods(name)
        fresh = not known
        for module, method in known:
            summary = self.summaries.of(method, module)
            self._effects(summary, node)
            fresh = fresh or summary.fresh
            first = next((item.arg for item in (*method.args.posonlyargs, *method.args.args)), "")
            if first in summary.changes:
                others = tuple(AV(None, value) for value in operands[1:])
                self.change(base, node, others, text=self.text(node, 80))
                for index in sorted(self.objects(base.value) & self.made.keys()):
                    # which of the things that the object holds it changes is not known here
                    for held in self.b.values[index].operands:
                        self.change(AV(None, held), node, others, text=self.text(node, 80))
        if fresh:
            return AV(None, self.fresh(node, f".{name}", operands))
        self.may_raise(node)
        return AV(None, self.b.derived(operands, f".{name}"))
