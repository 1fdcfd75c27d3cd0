"""Gate 2, validate: arguments fit the frozen input schemas, results have the fields that are read."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from keel.core.finding import Finding, Location, finding
from keel.core.graph import Argument, FlowGraph, Graph, Kind, Node, site
from keel.core.model import NATIVE, Json, split_key
from keel.core.text import did_you_mean, excerpt
from keel.flow.values import NativeTool
from keel.gates.fitting import never_fits, never_has
from keel.gates.interface import GateContext, at, judged
from keel.gates.literals import Unknown, literal, members, options
from keel.gates.producers import Produced, produced, source_of
from keel.gates.shapes import Absent, Key, resolved, step
from keel.gates.validators import Validators, only


def check(context: GateContext) -> Iterator[Finding]:
    """Judge the arguments of every call and every field that is read of a result."""
    checker = _Checker(context)
    for flow in context.entries:
        name = context.name_of(flow)
        for node in flow.graph.nodes:
            if node.kind is Kind.CALL and judged(node):
                yield from checker.call(flow, node, site(name, node))
        yield from checker.reads(flow)


class _Checker:
    def __init__(self, context: GateContext) -> None:
        self.context = context
        self._validators = Validators()
        self._absent: dict[tuple[str, tuple[Key, ...]], bool] = {}

    def call(self, flow: FlowGraph, node: Node, place: str) -> Iterator[Finding]:
        """Judge one call."""
        native = self.context.natives.get(node.key)
        frozen = self.context.tool(node.key)
        schema = frozen.input_schema if frozen is not None else None
        where = at(node.span, node.key)
        if isinstance(schema, Mapping):
            yield from self._names(node, schema, where, place)
            for item in node.arguments:
                if item.name and item.name not in ("*", "**"):
                    yield from self._value(flow.graph, node, item, schema, place)
        elif native is not None:
            yield from _signature(node, native, where, place)
        elif any(not item.name for item in node.arguments):
            yield _positional(node, where, place)

    # -- names ----------------------------------------------------------------------------------

    def _names(self, node: Node, schema: Mapping[str, Json], where: Location, place: str) -> Iterator[Finding]:
        passed = {item.name for item in node.arguments}
        if "" in passed:
            yield _positional(node, where, place)
        top = resolved(schema, schema)
        known = top.get("properties") if isinstance(top, Mapping) else None
        names = list(known) if isinstance(known, Mapping) else []
        required = top.get("required") if isinstance(top, Mapping) else None
        for name in required if isinstance(required, list) else ():
            if name not in passed and not node.unpacked and "" not in passed:
                yield finding(
                    "missing-argument",
                    f"`{node.key}` requires `{excerpt(str(name), 60)}`, and the call does not pass it",
                    location=where,
                    site=place,
                    next=f"pass `{excerpt(str(name), 60)}=…`",
                )
        for item in node.arguments:
            if item.name in ("", "*", "**") or item.name in names:
                continue
            if step(schema, schema, item.name) is Absent.EXCLUDED:
                yield _unknown(node, item.name, names, where, place)

    # -- values ---------------------------------------------------------------------------------

    def _value(
        self, graph: Graph, node: Node, item: Argument, schema: Mapping[str, Json], place: str
    ) -> Iterator[Finding]:
        where = at(node.span, node.key)
        candidates = options(graph, item.value)
        literals = [literal(graph, value) for value in candidates]
        if literals and all(not isinstance(value, Unknown) for value in literals):
            wrong = [self._validators.error(node.key, schema, {item.name: value}) for value in literals]
            if all(wrong):
                yield finding(
                    "invalid-argument",
                    f"`{item.name}={excerpt(item.text, 60)}` does not fit `{node.key}`: {excerpt(wrong[0], 160)}",
                    location=where,
                    site=place,
                )
            return
        if len(candidates) == 1 and members(graph, candidates[0]) is not None:
            yield from self._display(graph, node, item, schema, place)
        if all(self._never(graph, value, schema, item.name) for value in candidates):
            yield finding(
                "incompatible-argument",
                f"`{item.name}={excerpt(item.text, 60)}` never fits `{node.key}`: nothing that its producer gives does",
                location=where,
                site=place,
            )

    def _display(
        self, graph: Graph, node: Node, item: Argument, schema: Mapping[str, Json], place: str
    ) -> Iterator[Finding]:
        """Judge the known parts of a mapping display that holds unknown ones too."""
        inner = step(schema, schema, item.name)
        if isinstance(inner, Absent):
            return
        held = members(graph, item.value) or {}
        for name, value in held.items():
            known = literal(graph, value)
            below = step(schema, inner, name)
            wrong = ""
            if below is Absent.EXCLUDED:
                wrong = f"`{excerpt(name, 40)}` is not allowed there"
            elif not isinstance(known, Unknown) and not isinstance(below, Absent):
                wrong = self._validators.error(
                    f"{node.key}#{item.name}", only(schema, item.name), {item.name: {name: known}}
                )
            if wrong:
                yield finding(
                    "invalid-argument",
                    f"`{item.name}` does not fit the frozen schema of `{node.key}`: {excerpt(wrong, 160)}",
                    location=at(node.span, node.key),
                    site=place,
                )
        yield from self._required(node, item, resolved(schema, inner), held, place)

    def _required(
        self, node: Node, item: Argument, inner: Json, held: Mapping[str, int], place: str
    ) -> Iterator[Finding]:
        wanted = inner.get("required") if isinstance(inner, Mapping) else None
        for name in wanted if isinstance(wanted, list) else ():
            if name not in held:
                yield finding(
                    "invalid-argument",
                    f"`{item.name}` of `{node.key}` has no `{excerpt(str(name), 40)}`, which its schema requires",
                    location=at(node.span, node.key),
                    site=place,
                )

    def _never(self, graph: Graph, value: int, schema: Mapping[str, Json], name: str) -> bool:
        taken = step(schema, schema, name)
        given = self.produced(graph, value)
        if isinstance(taken, Absent) or given is None or isinstance(given.schema, Absent):
            return False
        return never_fits(given.root, given.schema, schema, taken)

    # -- results --------------------------------------------------------------------------------

    def produced(self, graph: Graph, value: int) -> Produced | None:
        """Return the output schema that a value comes under."""
        return produced(graph, value, self._output_of)

    def _output_of(self, key: str) -> Json:
        frozen = self.context.tool(key)
        return frozen.output_schema if frozen is not None else None

    def _excluded(self, graph: Graph, value: int, found: Produced) -> bool:
        """Tell whether no result has the field; below a field that is excluded itself nothing more is said."""
        if found.schema is Absent.EXCLUDED:
            return True
        source = source_of(graph, value)
        path = source[1] if source is not None else ()
        return self._never_has(found, path) and not self._never_has(found, path[:-1])

    def _never_has(self, found: Produced, path: tuple[Key, ...]) -> bool:
        if (found.key, path) not in self._absent:
            self._absent[found.key, path] = never_has(found.root, path)
        return self._absent[found.key, path]

    def reads(self, flow: FlowGraph) -> Iterator[Finding]:
        """Judge subscripts of results."""
        for value, span in flow.graph.reads:
            found = self.produced(flow.graph, value)
            if found is not None and self._excluded(flow.graph, value, found):
                key = flow.graph.values[value].key or ""
                yield finding(
                    "unknown-result-field",
                    f"the frozen output schema of `{found.key}` has no {excerpt(key, 60)} there",
                    location=at(span, found.key),
                    next="use a field that the output schema declares; `keel show KEY` prints it",
                )


def _positional(node: Node, where: Location, place: str) -> Finding:
    kind = (
        "a reference to an MCP tool takes arguments by name only"
        if split_key(node.key)[0] != NATIVE
        else "the tool has no parameter for it"
    )
    text = next((item.text for item in node.arguments if not item.name), "")
    return finding(
        "unknown-argument",
        f"`{excerpt(text, 60)}` is passed to `{node.key}` by position: {kind}",
        location=where,
        site=place,
        next="write `name=value`",
    )


def _unknown(node: Node, name: str, known: list[str], where: Location, place: str) -> Finding:
    return finding(
        "unknown-argument",
        f"`{node.key}` has no argument `{excerpt(name, 60)}`",
        location=where,
        site=place,
        next=did_you_mean(name, known) or "remove the argument or correct its name",
    )


def _signature(node: Node, native: NativeTool, where: Location, place: str) -> Iterator[Finding]:
    """Judge a call of a native tool by its signature, where no lock says more."""
    args: ast.arguments = native.node.args
    names = list(native.parameters())
    if args.kwarg is not None or args.vararg is not None:
        return
    positional = [item.arg for item in (*args.posonlyargs, *args.args)]
    optional = set(positional[len(positional) - len(args.defaults) :])
    optional |= {
        item.arg for item, default in zip(args.kwonlyargs, args.kw_defaults, strict=True) if default is not None
    }
    passed = {item.name for item in node.arguments}
    if "" in passed:
        yield _positional(node, where, place)
    for name in names:
        if name not in optional and name not in passed and not node.unpacked:
            yield finding(
                "missing-argument",
                f"`{node.key}` requires `{name}`, and the call does not pass it",
                location=where,
                site=place,
                next=f"pass `{name}=…`",
            )
    for name in sorted(passed - {"", "*", "**"} - set(names)):
        yield _unknown(node, name, names, where, place)
