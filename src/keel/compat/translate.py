"""Schemas become literals: references and boolean combination here, the families of assertions in their own modules.

Sources: JSON Schema Core 2020-12 sections 8 and 10, Validation section 6; the complement-closed form follows Attouche
et al., "Witness Generation for JSON Schema" (VLDB 2022).
"""

from __future__ import annotations

from collections.abc import Hashable

from keel.compat import keywords_array, keywords_object, keywords_scalar, unevaluated
from keel.compat.closing import undeclared
from keel.compat.disjoint import disjoint
from keel.compat.document import Document, Pointer, UnresolvedReference, spell
from keel.compat.interface import Json
from keel.compat.nodes import FALSE, TRUE, Arena, Kind, Lit, Opaque, Ref, Types


class Translator:
    """Translates one document into an arena; `closed` adds that no object has a name which nothing declares."""

    def __init__(self, arena: Arena, document: Document, number: int, *, closed: bool = False) -> None:
        """Prepare; `number` tells the documents of one arena apart."""
        self.arena = arena
        self.document = document
        self.dialect = document.dialect
        self.number = number
        self.closed = closed
        self._done: dict[tuple[Pointer, bool], Lit] = {}
        self._open: set[tuple[Pointer, bool]] = set()
        self._in_place: set[Pointer] = set()

    def root(self) -> Lit:
        """The literal of the whole document."""
        return self.child(())

    def child(self, pointer: Pointer) -> Lit:
        """The literal of a schema that applies to another instance location than the one around it."""
        outer, self._in_place = self._in_place, set()
        try:
            return self._visit(pointer, top=True)
        finally:
            self._in_place = outer

    def beside(self, pointer: Pointer) -> Lit:
        """The literal of a schema that applies to the same instance location."""
        return self._visit(pointer, top=False)

    def opaque(self, pointer: Pointer, why: str, identity: Hashable = None) -> Lit:
        """A constraint without a model.

        `identity` is what alone decides its meaning; equal ones are one constraint, on whichever side. Without it the
        constraint belongs to its place, for the same text can mean another thing where its references lead elsewhere.
        """
        return self.arena.atom(Opaque(identity or (self.number, pointer, why), spell(pointer), why))

    def _visit(self, pointer: Pointer, *, top: bool) -> Lit:
        mark = (pointer, top and self.closed)
        if mark in self._done:
            return self._done[mark]
        if pointer in self._in_place:
            return self.opaque(pointer, "a reference loops without descending into the instance")
        knot = Ref(self.number, (str(mark[1]), *pointer))
        if mark in self._open:
            return self.arena.atom(knot)
        self._open.add(mark)
        self._in_place.add(pointer)
        literal = self._schema(self.document.get(pointer), pointer)
        if mark[1]:
            literal = self.arena.all((literal, undeclared(self, pointer)))
        self._in_place.discard(pointer)
        self._open.discard(mark)
        self._done[mark] = literal
        self.arena.knots[knot] = literal
        return literal

    def _schema(self, schema: Json, at: Pointer) -> Lit:
        if isinstance(schema, bool) and self.dialect.boolean_schemas:
            return TRUE if schema else FALSE
        if not isinstance(schema, dict):
            return self.opaque(at, "a schema must be an object or a boolean")
        if "$ref" in schema and self.dialect.ref_stands_alone:
            return self._reference(schema["$ref"], (*at, "$ref"))
        if at and "$schema" in schema and schema["$schema"] != self.document.root.get("$schema"):
            return self.opaque(at, "an embedded schema declares another dialect")
        return self.keywords(schema, at)

    def keywords(self, schema: dict[str, Json], at: Pointer) -> Lit:
        """The literal of some keywords at a location, read together."""
        parts = [
            *keywords_scalar.literals(self, schema, at),
            *keywords_array.literals(self, schema, at),
            *keywords_object.literals(self, schema, at),
            *self._references(schema, at),
            *self._combinations(schema, at),
            *unevaluated.literals(self, schema, at),
        ]
        return self.arena.all(parts)

    def _references(self, schema: dict[str, Json], at: Pointer) -> list[Lit]:
        found = []
        if "$ref" in schema:
            found.append(self._reference(schema["$ref"], (*at, "$ref")))
        if "$dynamicRef" in schema and self.dialect.year >= 2020:
            found.append(self._reference(schema["$dynamicRef"], (*at, "$dynamicRef"), dynamic=True))
        if "$recursiveRef" in schema and self.dialect.year == 2019:
            where = (*at, "$recursiveRef")
            if self.document.resources() > 1:
                found.append(self.opaque(where, "`$recursiveRef` depends on the dynamic scope"))
            else:
                found.append(self._reference(schema["$recursiveRef"], where))
        return found

    def target(self, reference: Json, at: Pointer, *, dynamic: bool = False) -> Pointer:
        """Where a reference leads.

        Raises:
            UnresolvedReference: it leaves the document, depends on the dynamic scope, or leads nowhere.
        """
        if not isinstance(reference, str):
            raise UnresolvedReference("a reference must be a string")
        resolve = self.document.resolve_dynamic if dynamic else self.document.resolve
        return resolve(reference, at[:-1])

    def _reference(self, reference: Json, at: Pointer, *, dynamic: bool = False) -> Lit:
        try:
            return self.beside(self.target(reference, at, dynamic=dynamic))
        except UnresolvedReference as problem:
            return self.opaque(at, str(problem), problem.address and ("$ref", problem.address))

    def _combinations(self, schema: dict[str, Json], at: Pointer) -> list[Lit]:
        found: list[Lit] = []
        for keyword in ("allOf", "anyOf", "oneOf"):
            if keyword not in schema:
                continue
            branches = schema[keyword]
            if not isinstance(branches, list) or not branches:
                found.append(self.opaque((*at, keyword), f"`{keyword}` must be a non-empty array"))
                continue
            parts = [self.beside((*at, keyword, str(index))) for index in range(len(branches))]
            if keyword == "allOf":
                found.append(self.arena.all(parts))
            elif keyword == "anyOf":
                found.append(self.arena.any(parts))
            else:
                found.append(self._exactly_one(parts))
        if "not" in schema:
            found.append(-self.beside((*at, "not")))
        if "if" in schema and self.dialect.year >= 7:
            condition = self.beside((*at, "if"))
            if "then" in schema:
                found.append(self.arena.any((-condition, self.beside((*at, "then")))))
            if "else" in schema:
                found.append(self.arena.any((condition, self.beside((*at, "else")))))
        return found

    def _exactly_one(self, parts: list[Lit]) -> Lit:
        parts = [part for part in parts if part != FALSE]
        return self.arena.any(self.arena.all((part, *self._others(parts, index))) for index, part in enumerate(parts))

    def _others(self, parts: list[Lit], index: int) -> list[Lit]:
        """The complements of all other branches, but for those that are disjoint anyway."""
        mine = parts[index]
        return [-other for at, other in enumerate(parts) if at != index and not disjoint(self.arena, mine, other)]

    def names(self, source: str, at: Pointer) -> Lit:
        """The names that a key of `patternProperties` speaks about."""
        return keywords_scalar.pattern(self, source, (*at, "patternProperties", source))

    def evaluated(self, schema: dict[str, Json], at: Pointer) -> Lit:
        """The names that `properties` and `patternProperties` of a schema speak about."""
        return keywords_object.evaluated_names(self, schema, at)

    def only(self, kind: Kind, literal: Lit) -> Lit:
        """The literal for instances of one type, true for all others."""
        return self.arena.any((-self.arena.atom(Types(frozenset({kind}))), literal))
