"""Whether the arguments that a call passes fit a schema that changed: names, literals, values of other tools."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from keel.compat.interface import Side, Verdict
from keel.core.canonical import canonical_bytes
from keel.core.graph import Argument, Graph, Node
from keel.core.model import Json
from keel.core.schema import bare
from keel.core.text import excerpt
from keel.drift.wording import describe
from keel.gates.fitting import never_fits
from keel.gates.fragments import fragment, transplanted
from keel.gates.literals import Unknown, literal, options
from keel.gates.producers import Produced, produced
from keel.gates.shapes import Absent, resolved, step
from keel.gates.validators import Validators

Clause = tuple[str, bool]
"""(what is wrong, whether it fails for sure)"""


@dataclass(frozen=True, slots=True)
class Fit:
    """An input schema before and after a change, and what is needed to judge values by it."""

    old: Json
    new: Json
    output_before: Callable[[str], Json]
    """Tool key to the output schema that it had before the change."""
    output_of: Callable[[str], Json]
    """Tool key to the output schema that it has after the change."""
    validators: Validators


def arguments_fit(graph: Graph, node: Node, fit: Fit) -> Iterator[Clause]:
    """Yield what no longer fits of one call; nothing when everything it can pass is proved to fit.

    Args:
        graph: the flow.
        node: the call.
        fit: the schemas.
    """
    if not isinstance(fit.old, Mapping) or not isinstance(fit.new, Mapping):
        yield f"the input schema of `{node.key}` is gone", False
        return
    sure = [*_names(node, fit), *_values(graph, node, fit)]
    if sure:
        yield f"`{node.key}` {' and '.join(sure)}", True
    else:
        yield from _shape(graph, node, fit)


def _passed(node: Node) -> dict[str, Argument]:
    return {item.name: item for item in node.arguments if item.name not in ("", "*", "**")}


def _is_open(node: Node) -> bool:
    """Tell whether a call passes arguments that cannot be named."""
    return node.unpacked or len(_passed(node)) < len(node.arguments)


def _names(node: Node, fit: Fit) -> Iterator[str]:
    passed = _passed(node)
    absent = [name for name in required_of(fit.new) if name not in passed]
    before = required_of(fit.old)
    fresh = [name for name in absent if name not in before]
    if fresh and not _is_open(node):
        yield f"now requires {', '.join(_named(name, resolved(fit.new, fit.new)) for name in fresh)}"
    refused = [
        name
        for name in passed
        if step(fit.new, fit.new, name) is Absent.EXCLUDED and step(fit.old, fit.old, name) is not Absent.EXCLUDED
    ]
    if refused:
        yield f"no longer accepts {', '.join(f'`{excerpt(name, 60)}`' for name in refused)}"


def required_of(root: Json) -> list[str]:
    """Return the members that a whole schema requires, as far as it says so at its root."""
    schema = resolved(root, root)
    names = schema.get("required") if isinstance(schema, Mapping) else None
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def _named(name: str, schema: Json) -> str:
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    declared = properties.get(name) if isinstance(properties, Mapping) else None
    shown = f"`{excerpt(name, 60)}`"
    if isinstance(declared, Mapping) and "default" in declared:
        return f"{shown} (its schema names the default `{excerpt(json.dumps(declared['default']), 40)}`)"
    return shown


def _values(graph: Graph, node: Node, fit: Fit) -> Iterator[str]:
    for name, item in _passed(node).items():
        candidates = options(graph, item.value)
        known = [literal(graph, value) for value in candidates]
        if known and not any(isinstance(value, Unknown) for value in known):
            wrong = [_error(node, fit, name, value) for value in known]
            if all(wrong):
                yield f"no longer accepts `{name}={excerpt(item.text, 60)}`: {excerpt(wrong[0], 160)}"
            continue
        refused = _refuses(graph, candidates, fit.new, name, fit.output_of)
        if refused and not _refuses(graph, candidates, fit.old, name, fit.output_before):
            yield f"takes for `{name}` nothing that `{excerpt(item.text, 60)}` can be"


def _refuses(graph: Graph, values: Sequence[int], root: Json, name: str, output_of: Callable[[str], Json]) -> bool:
    """Tell whether an input schema takes none of the values that other tools give for one argument."""
    taken = step(root, root, name)
    given = [produced(graph, value, output_of) for value in values]
    return not isinstance(taken, Absent) and bool(given) and all(_never(value, root, taken) for value in given)


def _never(given: Produced | None, root: Json, taken: Json) -> bool:
    if given is None or isinstance(given.schema, Absent):
        return False
    return never_fits(given.root, given.schema, root, taken)


def _error(node: Node, fit: Fit, name: str, value: Json) -> str:
    if fit.validators.error(f"old {node.key}", fit.old, {name: value}):
        # It was refused before; that is no effect of the change.
        return ""
    return fit.validators.error(f"new {node.key}", fit.new, {name: value})


def _shape(graph: Graph, node: Node, fit: Fit) -> Iterator[Clause]:
    """Ask whether every set of arguments that fitted before and has this call's form still fits."""
    # Loaded only here: most runs compare nothing but digests.
    from keel.compat.relation import relate  # noqa: PLC0415

    verdict = relate(call_schema(graph, node, fit.old, fit.output_of), fit.new)
    if verdict.input is Side.COMPATIBLE:
        return
    clause = describe(fit.old, fit.new, verdict.pointer)
    yield f"`{node.key}` {clause or 'changed'}{_doubt(verdict)}", False


def _doubt(verdict: Verdict) -> str:
    if verdict.input is Side.UNDECIDED or verdict.witness_old_not_new is None:
        return f"; not proved to fit: {verdict.reason.rstrip('.')}"
    shown = json.dumps(verdict.witness_old_not_new.value, ensure_ascii=False, sort_keys=True)
    return f"; it would refuse `{excerpt(shown, 100)}`"


def call_schema(graph: Graph, node: Node, schema: Mapping[str, Json], output_of: Callable[[str], Json]) -> Json:
    """Return the schema of every set of arguments that a call can pass: what its input schema takes, in its form.

    Args:
        graph: the flow.
        node: the call.
        schema: the input schema under which the call was checked.
        output_of: tool key to the output schema of the tool that gives an argument.
    """
    passed = _passed(node)
    form: dict[str, Json] = {"required": sorted(passed), "properties": {}}
    definitions: dict[str, Json] = {}
    for number, (name, item) in enumerate(passed.items()):
        known = [
            _known(graph, value, output_of, f"keel-{number}-{part}")
            for part, value in enumerate(options(graph, item.value))
        ]
        if known and all(part is not None for part in known):
            form["properties"][name] = {"anyOf": [part[0] for part in known if part is not None]}
            for part in known:
                definitions.update(part[1] if part is not None else {})
    if not _is_open(node):
        form["propertyNames"] = {"enum": sorted(passed)}
    branches, held = schema.get("allOf", []), schema.get("definitions", {})
    if not isinstance(branches, list) or not isinstance(held, Mapping):
        # Not a schema: the relation will say so.
        return schema
    return {**schema, "allOf": [*branches, form], "definitions": {**held, **definitions}}


def _known(
    graph: Graph, value: int, output_of: Callable[[str], Json], name: str
) -> tuple[Json, dict[str, Json]] | None:
    constant = literal(graph, value)
    if not isinstance(constant, Unknown):
        return {"enum": [constant]}, {}
    given = produced(graph, value, output_of)
    if given is None or isinstance(given.schema, Absent):
        return None
    return transplanted(given.root, given.schema, name)


def handed_fits(
    graph: Graph,
    item: Argument,
    schema: Json,
    before: Callable[[str], Json],
    after: Callable[[str], Json],
) -> Iterator[Clause]:
    """Yield that a result, whose schema changed, no longer fits the argument that it is passed as.

    Args:
        graph: the flow.
        item: the argument.
        schema: the whole input schema that takes it.
        before: tool key to its output schema before the change.
        after: the same after it.
    """
    taken = step(schema, schema, item.name)
    if isinstance(taken, Absent):
        return
    for value in options(graph, item.value):
        was, now = produced(graph, value, before), produced(graph, value, after)
        if was is None or isinstance(was.schema, Absent) or not _fits(was, schema, taken):
            continue
        if now is None or isinstance(now.schema, Absent):
            yield f"nothing is known any more of the value for `{item.name}`", False
        elif _never(now, schema, taken):
            yield f"`{item.name}={excerpt(item.text, 60)}` now never fits `{item.name}`", True
        elif not _fits(now, schema, taken):
            yield f"`{item.name}={excerpt(item.text, 60)}` may now be what does not fit `{item.name}`", False


def _fits(given: Produced, root: Json, taken: Json) -> bool:
    one, other = fragment(given.root, given.schema), fragment(root, taken)
    if one is None or other is None:
        return False
    if canonical_bytes(bare(one)) == canonical_bytes(bare(other)):
        return True
    from keel.compat.relation import relate  # noqa: PLC0415

    return relate(one, other).input is Side.COMPATIBLE
