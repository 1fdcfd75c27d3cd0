"""The schema axis: what happened to the set of accepted arguments and of possible results."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from keel.compat.interface import Side, Verdict, Witness
from keel.core.canonical import canonical_bytes
from keel.core.codes import Severity
from keel.core.schema import bare
from keel.core.text import excerpt
from keel.drift.wording import describe


@dataclass(frozen=True, slots=True)
class SchemaChange:
    """One verdict on one side of a tool."""

    code: str
    pointer: str
    """Pointer into the tool."""
    text: str
    """One sentence, the tool's name left out."""
    clause: str = ""
    """What was edited, without an example: equal for the same edit in several tools."""
    severity: Severity | None = None
    """None is the severity of the code."""
    unproved: bool = False
    """The break needs a name that nobody declared: harmless in practice, but inclusion is not proved."""


def schema_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[SchemaChange, ...]:
    """Judge the input and the output schema of a tool that kept its name.

    Differences of annotations alone give nothing here; schemas that are written differently and proved equivalent
    give `representation-only`.
    """
    return (
        *_judge("inputSchema", old.get("inputSchema"), new.get("inputSchema")),
        *_judge("outputSchema", old.get("outputSchema"), new.get("outputSchema")),
    )


def _judge(field: str, old: Any, new: Any) -> Iterator[SchemaChange]:
    if canonical_bytes(bare(old)) == canonical_bytes(bare(new)):
        return
    at = f"/{field}"
    if field == "outputSchema" and (old is None or new is None):
        yield _output_presence(at, gone=new is None)
        return
    if collapsed(old, new):
        text = f"`{field}` lost all its properties and now accepts anything"
        yield SchemaChange("schema-collapsed", at, text, text)
        return
    # Loaded only here: most runs compare nothing but digests.
    from keel.compat.relation import relate  # noqa: PLC0415

    verdict = relate(old, new)
    change = _Change(field, old, new, verdict)
    yield from _input(change) if field == "inputSchema" else _output(change)


def _output_presence(at: str, *, gone: bool) -> SchemaChange:
    if gone:
        text = "`outputSchema` is gone: results are no longer described"
        return SchemaChange("output-breaking", at, text, text)
    text = "`outputSchema` is new: results are now described"
    return SchemaChange("output-widened", at, text, text)


def _input(change: _Change) -> Iterator[SchemaChange]:
    verdict = change.verdict
    refused = _shown(verdict.witness_old_not_new, "was accepted, is refused")
    if verdict.input is Side.BREAKING:
        names = defaulted(change.old, change.new)
        if names:
            yield change.defaulted(names, refused)
        else:
            yield change.as_("input-breaking", refused)
    elif verdict.input is Side.LATENT:
        yield replace(change.as_("input-latent", refused), unproved=True)
    elif verdict.input is Side.UNDECIDED:
        yield change.undecided()
    elif verdict.output is Side.COMPATIBLE:
        yield change.respelled()
    else:
        yield change.as_("input-widened", _shown(verdict.witness_new_not_old, "was refused, is accepted"))


def _output(change: _Change) -> Iterator[SchemaChange]:
    verdict = change.verdict
    fresh = _shown(verdict.witness_new_not_old, "could not be returned, now can")
    if verdict.output is Side.BREAKING:
        yield change.as_("output-breaking", fresh)
    elif verdict.output is Side.LATENT:
        # What a consumer never agreed to arrives only under names that it does not know.
        yield replace(change.as_("output-widened", fresh), unproved=True)
    elif verdict.output is Side.UNDECIDED:
        yield change.undecided()
    elif verdict.input is Side.COMPATIBLE:
        yield change.respelled()
    else:
        yield change.as_("output-widened", _shown(verdict.witness_old_not_new, "could be returned, no longer can"))


@dataclass(frozen=True, slots=True)
class _Change:
    """A pair of schemas with their verdict."""

    field: str
    old: Any
    new: Any
    verdict: Verdict

    @property
    def clause(self) -> str:
        said = describe(self.old, self.new, self.verdict.pointer) or f"`{self.field}` changed"
        if self.field == "outputSchema":
            said = said.replace("no longer accepts", "no longer declares", 1)
        return "; ".join((said, *parameter_renames(self.old, self.new)))

    @property
    def at(self) -> str:
        return f"/{self.field}{self.verdict.pointer}"

    def as_(self, code: str, example: str) -> SchemaChange:
        return SchemaChange(code, self.at, f"{self.clause}{example}", self.clause)

    def defaulted(self, names: tuple[tuple[str, Any], ...], example: str) -> SchemaChange:
        """Say that only members with a default became required: breaking by the schema, and often not by the server."""
        shown = [f"`{excerpt(name, 60)}`, whose default is {_json(value, 40)}" for name, value in names]
        clause = f"now requires {', and '.join(shown)}"
        at = f"/{self.field}/required"
        return SchemaChange("input-latent", at, f"{clause}{example}", clause, Severity.ERROR, unproved=True)

    def undecided(self) -> SchemaChange:
        reason = self.verdict.reason.rstrip(".")
        return SchemaChange("schema-undecided", self.at, f"{self.clause}; {reason}", self.clause)

    def respelled(self) -> SchemaChange:
        text = f"`{self.field}` is written differently and means the same"
        return SchemaChange("representation-only", f"/{self.field}", text, text)


def defaulted(old: Any, new: Any) -> tuple[tuple[str, Any], ...]:
    """Return (name, default) of the members whose becoming required is all that breaks an input schema.

    Empty when something else breaks too, or when one of them has no default.
    """
    fresh = [name for name in _required(new) if name not in _required(old)]
    properties = new.get("properties") if isinstance(new, dict) else None
    if not fresh or not isinstance(properties, dict):
        return ()
    declared = {name: properties.get(name) for name in fresh}
    if not all(isinstance(item, dict) and "default" in item for item in declared.values()):
        return ()
    from keel.compat.relation import relate  # noqa: PLC0415

    relaxed = {**new, "required": [name for name in _required(new) if name not in fresh]}
    if relate(old, relaxed).input not in (Side.COMPATIBLE, Side.LATENT):
        return ()
    return tuple((name, item["default"]) for name, item in sorted(declared.items()) if isinstance(item, dict))


def _required(schema: Any) -> list[str]:
    names = schema.get("required") if isinstance(schema, dict) else None
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def parameter_renames(old: Any, new: Any) -> tuple[str, ...]:
    """Return a clause for each parameter that another one of the same form seems to replace; a link, no judgement."""
    before, after = _properties(old), _properties(new)
    gone, fresh = sorted(before.keys() - after.keys()), sorted(after.keys() - before.keys())
    pairs = []
    for name in gone:
        alike = [item for item in fresh if canonical_bytes(bare(before[name])) == canonical_bytes(bare(after[item]))]
        same = [item for item in alike if (name in _required(old)) == (item in _required(new))]
        if len(same) == 1:
            pairs.append((name, same[0]))
            fresh.remove(same[0])
    return tuple(f"`{excerpt(one, 40)}` may be `{excerpt(other, 40)}` now" for one, other in pairs[:_MOST_RENAMES])


_MOST_RENAMES = 3


def _properties(schema: Any) -> dict[str, Any]:
    properties = schema.get("properties") if isinstance(schema, dict) else None
    return properties if isinstance(properties, dict) else {}


def _shown(witness: Witness | None, what: str) -> str:
    return "" if witness is None else f"; {_json(witness.value, 120)} {what}"


def _json(value: Any, limit: int) -> str:
    return f"`{excerpt(json.dumps(value, ensure_ascii=False, sort_keys=True), limit)}`"


_OPEN = frozenset({"$schema", "additionalProperties", "description", "properties", "required", "title", "type"})


def collapsed(old: Any, new: Any) -> bool:
    """Tell whether a schema that described properties was replaced by one that describes nothing."""
    if not isinstance(old, dict) or not isinstance(new, dict) or not old.get("properties"):
        return False
    empty = not new.get("properties") and not new.get("required") and new.keys() <= _OPEN
    return empty and new.get("additionalProperties") is not False and old.keys() - {"$schema"} != new.keys()
