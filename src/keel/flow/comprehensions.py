"""Reads comprehensions and generator expressions: loops inside an expression."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from typing import Any

from keel.core.graph import Label, Value, ValueKind
from keel.flow.build import Point
from keel.flow.describe import describe
from keel.flow.loops import Loops
from keel.flow.scope import Frame
from keel.flow.values import AV, Awaitable, Generator, Items

NESTED = "comprehension"
"""Name of what a comprehension of several clauses makes: an element may be in it many times."""


class Comprehensions(Loops):
    """Comprehensions."""

    def comprehension(self, node: ast.expr) -> AV:
        """Read a comprehension where it stands; a generator expression only where it is iterated at once."""
        assert isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp)
        if (
            isinstance(node, ast.GeneratorExp)
            and not self.eager
            and self.mentions_live(node, self.module, self.scope_frame())
        ):
            return self.dynamic(
                node,
                "a generator expression that reaches a tool runs where it is iterated, not where it stands",
                "write a list, or hand it directly to `sum`, `list`, `any`, `gather` or a loop",
            )
        return self.comprehend(node, self._collect)

    def _collect(self, parts: list[AV]) -> AV:
        return parts[-1]

    def comprehend(self, node: Any, take: Callable[[list[AV]], AV]) -> AV:  # noqa: C901, PLR0915 - clauses nest
        """Read the loops of a comprehension; `take` gets the element's parts in each round."""
        frame = Frame(
            self.world.new_frame(),
            self.module,
            self.world.scopes.of(node),
            self.frame,
            self.frame.name,
            self.frame.is_async,
            comprehension=True,
        )
        first = self.expr(node.generators[0].iter)
        outer = self.frame
        before = self.loops
        self.frame = frame
        elements: list[AV] = []
        hidden: list[int] = []
        sources: list[int] = []
        times: list[int | None] = []

        def clause(depth: int) -> None:
            if self.here is None:
                return
            if depth == len(node.generators):
                parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
                read = [self.expr(part) for part in parts]
                if self.here is not None:
                    elements.append(take(read))
                    if isinstance(node, ast.DictComp):
                        elements.append(AV(None, read[0].value))
                return
            step = node.generators[depth]
            source = first if depth == 0 else self.expr(step.iter)
            if self.gone():
                return
            if isinstance(source.static, Generator):
                times.append(None)
                source.static.run(
                    lambda value: self._clause_body(frame, step, value, hidden, lambda: clause(depth + 1))
                )
                return
            if isinstance(source.static, Items) and self.is_live(source):
                times.append(len(source.static.elements) if source.static.exact else source.static.times)
                self._clause_tools(node, step, source.static, lambda: clause(depth + 1))
                return
            self.plain(source, step.iter, "iterated")
            sources.append(source.value)
            times.append(self.times_of(source, step.iter))
            self._clause_loop(step, source, hidden, lambda: clause(depth + 1))

        clause(0)
        self.frame, self.loops = outer, before
        if self.here is not None:
            self.here.forget(frame.number)
        single = len(node.generators) == 1
        name = type(node).__name__.lower() if single else NESTED
        operands = tuple(dict.fromkeys(item.value for item in elements))
        decided = tuple(dict.fromkeys([*hidden, *sources]))
        value = self.b.own(Value(ValueKind.DERIVED, operands, name, node=len(self.b.nodes) - 1, hidden=decided))
        live = [item for item in elements if self.is_live(item)]
        if not live:
            return AV(None, value)
        # with several clauses an element may be taken more than once, and no one collection bounds the rounds
        source = sources[0] if single and sources else -1
        known = [count for count in times if count is not None]
        bound = math.prod(known) if len(known) == len(times) else None
        return AV(Items(live, exact=False, source=source, times=bound), value)

    def _clause_loop(self, step: ast.comprehension, source: AV, hidden: list[int], inner: Callable[[], None]) -> None:
        times = self.times_of(source, step.iter)
        index = self.head(
            step.iter,
            self.rebound([step.target, *step.ifs]),
            source=source.value,
            times=times,
            text=self.text(step.iter),
        )
        before = self.loops
        self.loops = (*before, index)
        point = self.here
        assert point is not None
        leaving = point.at([(index, Label.LEAVE, None)])
        point.exits = [(index, Label.TRUE, None)]
        self.store(step.target, self.element(source, index), step.iter)
        refused = self._conditions(step, hidden)
        inner()
        back = [*refused, self.here]
        self.loops = before
        self.here = self._leave(step.iter, index, back, leaving, times)

    def _conditions(self, step: ast.comprehension, hidden: list[int]) -> list[Point | None]:
        refused: list[Point | None] = []
        for condition in step.ifs:
            true, false, value = self.test(condition)
            hidden.append(value.value)
            refused.append(false)
            self.here = true
        return refused

    def _clause_body(
        self, frame: Frame, step: ast.comprehension, value: AV, hidden: list[int], inner: Callable[[], None]
    ) -> None:
        before = self.frame
        self.frame = frame
        self.store(step.target, value, step.iter)
        refused = self._conditions(step, hidden)
        inner()
        self.here = self.join([*refused, self.here], step.iter)
        self.frame = before

    def _clause_tools(self, node: ast.AST, step: ast.comprehension, items: Items, inner: Callable[[], None]) -> None:
        if not items.exact and not all(isinstance(item.static, Awaitable) for item in items.elements):
            self.dynamic(
                node, f"{describe(items.elements[0].static)} is taken out of a container whose content is not fixed"
            )
            return
        ends: list[Point | None] = []
        if not items.exact and self.here is not None:
            ends.append(self.here.fork())
        for item in items.elements:
            if self.here is None:
                break
            self.store(step.target, item, step.iter)
            refused = self._conditions(step, [])
            inner()
            self.here = self.join([*refused, self.here], step.iter)
        self.here = self.join([*ends, self.here], step.iter)
