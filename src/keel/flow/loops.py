"""Reads loops: heads, elements, constant bounds, ways that run again."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from keel.core.finding import Location, finding
from keel.core.graph import Kind, Label, Value, ValueKind
from keel.flow.build import Key, Point
from keel.flow.modules import flat
from keel.flow.patterns import Patterns
from keel.flow.state import Targets
from keel.flow.statements import READERS
from keel.flow.values import AV, Awaitable, Const, Generator, Items, Pending, Table

MAX_UNROLL = 200
"""A loop over a display of tools is read once for each of them, up to this many."""


class Loops(Patterns):
    """Loops and comprehensions."""

    # -- heads ----------------------------------------------------------------------------------

    def rebound(self, nodes: Iterable[ast.AST]) -> list[Key]:
        """Return the variables that code in a loop may bind again."""
        keys: dict[Key, None] = dict.fromkeys(self.volatile)
        for node in nodes:
            for name in sorted(self.world.scopes.bound(node)):
                key = self.key_of(name)
                if key is not None:
                    keys[key] = None
        return list(keys)

    def head(self, node: ast.AST, keys: list[Key], **fields: Any) -> int:
        """Add a loop head; variables bound again in the loop become merged values."""
        point = self.here
        assert point is not None
        entries = point.exits
        point.exits = []
        index = self.step(Kind.LOOP, node, **fields)
        missing = AV(None, self.b.unbound())
        merges: list[tuple[int, int]] = []
        opened: list[tuple[Key, int, AV]] = []
        hidden = (fields["source"],) if fields.get("source", -1) >= 0 else ()
        for key in keys:
            held = point.env.get(key)
            if held is None and key[0] == 0:
                continue
            held = held if held is not None else missing
            value = self.b.own(Value(ValueKind.MERGED, (held.value,), key[1], None, index, hidden))
            merges.append((value, held.value))
            opened.append((key, value, held))
            head = Pending(key[1])
            self.pending[(index, key)] = head
            known = held.live or isinstance(held.static, Items | Table)
            point.bind(key, AV(held.static if known else head, value))
        for way in entries:
            self.b.edge(way, index, merges)
        self.open[index] = opened
        return index

    def again(self, points: list[Point | None], index: int) -> None:
        """Lead ways back to a loop head."""
        missing = self.b.unbound()
        for point in points:
            if point is None:
                continue
            merges: list[tuple[int, int]] = []
            for key, value, before in self.open[index]:
                held = point.env.get(key)
                operand = held.value if held is not None else missing
                merges.append((value, operand))
                old = self.b.values[value]
                if operand not in old.operands:
                    self.b.values[value] = replace(old, operands=(*old.operands, operand))
                self._check_live(key, before, held, index)
            for way in point.exits:
                label = Label.AGAIN if way[1] is Label.NEXT else way[1]
                self.b.edge((way[0], label, way[2]), index, merges)

    def _check_live(self, key: Key, before: AV, after: AV | None, index: int) -> None:
        """Refuse a variable that holds one thing before a loop and a tool, or another tool, after a round."""
        head = self.pending.get((index, key))
        if before.live:
            if (after is None or after.static != before.static) and not isinstance(before.static, Items | Table):
                self.turned(Pending(key[1]), index)
        elif after is not None and self.is_live(after) and head is not None:
            head.turned_live = True
            if head.read:
                self.turned(head, index)

    def turned(self, head: Pending, index: int) -> None:
        """Report a variable that is a tool in some rounds only."""
        span = self.b.nodes[index].span
        self.world.found[
            finding(
                "dynamic-tool",
                f"`{head.name}` holds one thing before the loop and a tool after a round of it",
                location=Location(span.file, span.line, span.column),
                next="give each tool its own name",
            )
        ] = None

    # -- statements -----------------------------------------------------------------------------

    def while_(self, node: ast.While) -> None:
        """Read `while`."""
        index = self.head(node, self.rebound([node.test, *node.body]))
        before = self.loops
        self.loops = (*before, index)
        true, false, _ = self.test(node.test)
        self.here = true
        ended = self._body(node.body, index)
        self.loops = before
        self.here = false
        if self.here is not None:
            self.block(node.orelse)
        self.here = self.join([*ended, self.here], node)

    def _body(self, body: list[ast.stmt], index: int) -> list[Point | None]:
        """Read a loop body; returns the ways that `break` takes."""
        with self.jumps(Targets(self.targets.returns, [], [], self.targets.raises)) as jumps:
            self.block(body)
        self.again([*jumps.continues, self.here], index)
        return list(jumps.breaks)

    def for_(self, node: ast.For | ast.AsyncFor) -> None:
        """Read `for` and `async for`."""
        source = self.expr(node.iter)
        if self.here is None:
            return
        if isinstance(source.static, Generator):
            self._for_generator(node, source.static)
            return
        if isinstance(source.static, Items) and self.is_live(source):
            self._for_tools(node, source.static)
            return
        self.plain(source, node.iter, "iterated")
        self.may_raise(node.iter)
        times = self.times_of(source, node.iter)
        self._for_plain(node, source, times)

    def _for_plain(self, node: ast.For | ast.AsyncFor, source: AV, times: int | None) -> None:
        keys = self.rebound([node.target, *node.body])
        index = self.head(node, keys, source=source.value, times=times, text=self.text(node.iter))
        before = self.loops
        self.loops = (*before, index)
        point = self.here
        assert point is not None
        leaving = point.at([(index, Label.LEAVE, None)])
        point.exits = [(index, Label.TRUE, None)]
        if times == 0:
            self.here = None
        element = self.element(source, index)
        self.store(node.target, element, node)
        with self.jumps(Targets(self.targets.returns, [], [], self.targets.raises)) as jumps:
            self.block(node.body)
        back = [*jumps.continues, self.here]
        self.loops = before
        self.here = self._leave(node, index, back, leaving, times)
        if self.here is not None:
            self.block(node.orelse)
        self.here = self.join([*jumps.breaks, self.here], node)

    def _leave(
        self, node: ast.AST, index: int, back: list[Point | None], leaving: Point, times: int | None
    ) -> Point | None:
        """Close a loop; one that runs at least once is left only after a round."""
        if not times:
            self.again(back, index)
            return leaving
        met = self.join(back, node)
        if met is None:
            return None
        self.here = met
        tail = self.step(Kind.JOIN, node)
        self.again([met.at([(tail, Label.AGAIN, None)])], index)
        return met.at([(tail, Label.LEAVE, None)])

    def element(self, source: AV, index: int) -> AV:
        """Return one element of what a loop iterates."""
        static = source.static
        value = self.b.value(Value(ValueKind.ELEMENT, (source.value,), "", None, index))
        if isinstance(static, Items) and static.exact and static.elements:
            shapes = {len(item.static.elements) if isinstance(item.static, Items) else -1 for item in static.elements}
            if len(static.elements) == 1 and -1 in shapes:
                return AV(static.elements[0].static, value)
        return AV(None, value)

    def times_of(self, source: AV, node: ast.expr) -> int | None:
        """Return how often a loop over a value runs, where that is constant."""
        if isinstance(source.static, Items) and source.static.exact and source.value not in self.b.contents:
            return len(source.static.elements)
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in ("range", "enumerate", "reversed")
        ):
            if node.func.id != "range":
                return self.times_of(self.quiet_value(node.args[0]), node.args[0]) if len(node.args) == 1 else None
            bounds = [self.quiet_value(item).static for item in node.args]
            if (
                bounds
                and not node.keywords
                and all(isinstance(item, Const) and type(item.value) is int for item in bounds)
            ):
                numbers = [item.value for item in bounds if isinstance(item, Const)]
                return len(range(*numbers)) if len(numbers) < 3 or numbers[2] != 0 else None
        return None

    def quiet_value(self, node: ast.expr) -> AV:
        """Return a constant or a name again, without reading it as a step."""
        simple = all(isinstance(item, ast.Constant | ast.Name | ast.UnaryOp | ast.BinOp) for item in flat(node))
        if simple and self.here is not None:
            return self.expr(node)
        return AV(None, self.b.unbound())

    def _for_tools(self, node: ast.For | ast.AsyncFor, items: Items) -> None:
        """Read a loop over a display of tools once for each."""
        if not items.exact or len(items.elements) > MAX_UNROLL:
            if all(isinstance(item.static, Awaitable) for item in items.elements if item.live):
                self._for_awaitables(node, items)
                return
            self.dynamic(node.iter, "a loop takes tools out of a container whose content is not fixed")
            self._for_plain(node, AV(None, self.b.derived((), "tools")), None)
            return
        ends: list[Point | None] = []
        for item in items.elements:
            if self.here is None:
                break
            self.store(node.target, item, node)
            with self.jumps(Targets(self.targets.returns, [], [], self.targets.raises)) as jumps:
                self.block(node.body)
            ends.extend(jumps.breaks)
            self.here = self.join([*jumps.continues, self.here], node)
        if self.here is not None:
            self.block(node.orelse)
        self.here = self.join([*ends, self.here], node)

    def _for_awaitables(self, node: ast.For | ast.AsyncFor, items: Items) -> None:
        """Read `for task in tasks: await task`."""
        keys = self.rebound([node.target, *node.body])
        index = self.head(node, keys, source=items.source, times=items.times, text=self.text(node.iter))
        before = self.loops
        self.loops = (*before, index)
        point = self.here
        assert point is not None
        leaving = point.at([(index, Label.LEAVE, None)])
        breaks: list[Point] = []
        back: list[Point | None] = []
        for item in items.elements:
            self.here = point.at([(index, Label.TRUE, None)])
            self.store(node.target, item, node)
            with self.jumps(Targets(self.targets.returns, breaks, [], self.targets.raises)) as jumps:
                self.block(node.body)
            back.extend([*jumps.continues, self.here])
        self.again(back, index)
        self.loops = before
        self.here = leaving
        self.block(node.orelse)
        self.here = self.join([*breaks, self.here], node)

    def _for_generator(self, node: ast.For | ast.AsyncFor, source: Generator) -> None:
        """Read a loop over a project generator: its body runs between the generator's steps."""
        breaks: list[Point] = []
        frame, loops = self.frame, self.loops
        targets = self.targets

        def body(value: AV) -> None:
            inner = self.frame, self.targets
            self.frame = frame
            # what the body raises leaves the loop; the generator never sees it
            self.targets = Targets(targets.returns, breaks, [], targets.raises)
            self.store(node.target, value, node)
            self.block(node.body)
            self.here = self.join([*self.targets.continues, self.here], node)
            self.frame, self.targets = inner

        for key in self.rebound([node.target, *node.body]):
            self.volatile.setdefault(key)
        source.run(body)
        self.loops = loops
        if self.here is not None:
            self.block(node.orelse)
        self.here = self.join([*breaks, self.here], node)


READERS[ast.While] = Loops.while_
READERS[ast.For] = Loops.for_
READERS[ast.AsyncFor] = Loops.for_
