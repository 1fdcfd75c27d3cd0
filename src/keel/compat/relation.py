"""Compares two schemas: both inclusions, the latent kind of break, the pointer and the sentence."""

from __future__ import annotations

from dataclasses import dataclass

from keel.compat.dialect import dialect_of
from keel.compat.document import Document
from keel.compat.emptiness import Solver
from keel.compat.explain import difference, obstacle, opaque_below, sentence
from keel.compat.interface import Json, Relation, Side, Verdict, Witness
from keel.compat.membership import Budget, OutOfSteps
from keel.compat.nodes import Arena, Lit
from keel.compat.sampling import samples
from keel.compat.shrink import shrink
from keel.compat.translate import Translator
from keel.compat.validator import Judge, Pair
from keel.compat.values import extent, key
from keel.compat.weight import Scale

DEFAULT_BUDGET = 30_000
"""Steps for each inclusion of one pair, a few tenths of a second; pairs of published tools need under a third of it."""
MAX_DEPTH = 128
MAX_NODES = 50_000

_RELATIONS = {
    (True, True): Relation.EQUIVALENT,
    (True, False): Relation.WIDENED,
    (False, True): Relation.NARROWED,
    (False, False): Relation.INCOMPARABLE,
}


@dataclass(frozen=True, slots=True)
class _Inclusion:
    """Whether one schema's instances are all accepted by the other."""

    proved: bool | None
    witness: Witness | None = None
    latent: bool = False
    open_at: str = ""
    why: str = ""


def relate(old: Json, new: Json, *, budget: int = DEFAULT_BUDGET) -> Verdict:
    """Compare two JSON Schemas as sets of instances.

    Args:
        old: the schema so far, any JSON value; what is no schema gives an undecided verdict.
        new: the schema proposed.
        budget: steps allowed for each direction; the verdict depends on it and on nothing else but the schemas.

    Returns:
        The verdict. A side is compatible only with a proof, breaking or latent only with a witness on which an
        independent validator agrees for both schemas.
    """
    for name, schema in (("old", old), ("new", new)):
        if not isinstance(schema, bool | dict):
            return _undecided("", f"the {name} value is no schema: a schema is an object or a boolean")
        problem = extent(schema, MAX_DEPTH, MAX_NODES)
        if problem:
            return _undecided("", f"the {name} schema is too large to compare: {problem}")
    try:
        if key(old) == key(new):
            return _equivalent("the schemas are equal")
        return _Comparison(old, new, budget).verdict()
    except (RecursionError, TypeError) as stop:
        detail = "a value that is not JSON" if isinstance(stop, TypeError) else "references nested too deeply"
        return _undecided("", f"the schemas could not be compared: {detail}")


def _undecided(pointer: str, reason: str) -> Verdict:
    return Verdict(Relation.UNDECIDED, Side.UNDECIDED, Side.UNDECIDED, None, None, pointer, reason)


def _equivalent(reason: str) -> Verdict:
    return Verdict(Relation.EQUIVALENT, Side.COMPATIBLE, Side.COMPATIBLE, None, None, "", reason)


class _Comparison:
    def __init__(self, old: Json, new: Json, budget: int) -> None:
        self.schemas = (old, new)
        self.budget = budget
        self.arena = Arena()
        self.judges: tuple[Judge, Judge] | None = None

    def verdict(self) -> Verdict:
        documents = []
        for name, schema in zip(("old", "new"), self.schemas, strict=True):
            dialect = dialect_of(schema)
            if dialect is None:
                return _undecided("/$schema", f"the {name} schema declares a dialect that is not known")
            documents.append(Document(schema, dialect))
        self.documents = documents
        self.translators = [Translator(self.arena, each, index) for index, each in enumerate(documents)]
        self.literals = [each.root() for each in self.translators]
        if self.literals[0] == self.literals[1]:
            return _equivalent("both schemas have the same normal form")
        forward = self._included(0, 1)
        backward = self._included(1, 0)
        return self._judge(forward, backward)

    def _judge(self, forward: _Inclusion, backward: _Inclusion) -> Verdict:
        if forward.proved is None or backward.proved is None:
            relation = Relation.UNDECIDED
            first = forward if forward.proved is None else backward
            pointer, reason = first.open_at, first.why
        else:
            relation = _RELATIONS[forward.proved, backward.proved]
            pointer, reason = "", sentence(relation)
            for inclusion, target in ((forward, 1), (backward, 0)):
                if inclusion.witness is not None:
                    pointer, reason = difference(
                        self.translators[target],
                        inclusion.witness.value,
                        ("old", "new")[target],
                        latent=inclusion.latent,
                    )
                    break
        return Verdict(relation, _side(forward), _side(backward), forward.witness, backward.witness, pointer, reason)

    def _judges(self) -> tuple[Judge, Judge]:
        if self.judges is None:
            old, new = (Judge(each.root, Scale(each)) for each in self.documents)
            self.judges = (old, new)
        return self.judges

    def _included(self, source: int, target: int) -> _Inclusion:
        literals = self.literals
        solver = Solver(self.arena, Budget(self.budget))
        exhausted = False
        tries: list[Json] = []
        try:
            outcome = solver.sat((literals[source], -literals[target]))
            if outcome.empty:
                return _Inclusion(proved=True)
            tries.extend(outcome.values)
        except OutOfSteps:
            exhausted = True
        tries.extend(solver.candidates)
        judges = self._judges()
        pair = Pair(judges[source], judges[target])
        found = next((Witness(value) for value in tries if pair.separates(value)), None)
        if found is None:
            found = next(
                (Witness(v) for v in samples(self.schemas[source], self.schemas[target], tries) if pair.separates(v)),
                None,
            )
        if found is None:
            opaque = opaque_below(self.arena, literals[source]) or opaque_below(self.arena, literals[target])
            at, why = obstacle(opaque, exhausted=exhausted)
            return _Inclusion(proved=None, open_at=at, why=why)
        return self._break(source, target, pair, found)

    def _break(self, source: int, target: int, pair: Pair, found: Witness) -> _Inclusion:
        """Prefer a witness of declared names; with the proof that there is none, the break is latent."""
        solver = Solver(self.arena, Budget(self.budget))
        closed = Translator(self.arena, self.documents[source], source + 2, closed=True).root()
        latent = False
        accept: Lit = closed
        try:
            if solver.holds(closed, found.value) is not True:
                outcome = solver.sat((closed, -self.literals[target]))
                latent = outcome.empty
                declared = [v for v in (*outcome.values, *solver.candidates) if pair.separates(v)]
                if declared:
                    found = Witness(declared[0])
        except OutOfSteps:
            latent = False
        within = not latent and self._within(closed, found.value)

        def keeps(value: Json) -> bool:
            return pair.separates(value) and (not within or self._within(accept, value))

        return _Inclusion(proved=False, witness=Witness(shrink(found.value, keeps)), latent=latent)

    def _within(self, literal: Lit, value: Json) -> bool:
        try:
            return Solver(self.arena, Budget(2000)).holds(literal, value) is True
        except OutOfSteps:
            return False


def _side(inclusion: _Inclusion) -> Side:
    if inclusion.proved is None:
        return Side.UNDECIDED
    if inclusion.proved:
        return Side.COMPATIBLE
    return Side.LATENT if inclusion.latent else Side.BREAKING
