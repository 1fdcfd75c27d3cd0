"""The dialects of JSON Schema that are understood, and how each differs from 2020-12."""

from __future__ import annotations

from dataclasses import dataclass

from keel.compat.interface import Json


@dataclass(frozen=True, slots=True)
class Dialect:
    """The keyword table of one dialect, as differences that matter for the accepted set."""

    name: str
    year: int
    """4, 6, 7, 2019 or 2020; later dialects compare greater."""

    @property
    def id_keyword(self) -> str:
        """The keyword that names a resource (draft-04 wrote it without the dollar)."""
        return "id" if self.year == 4 else "$id"

    @property
    def ref_stands_alone(self) -> bool:
        """Whether keywords beside `$ref` are ignored (up to draft-07, Core 8.3)."""
        return self.year <= 7

    @property
    def tuple_items(self) -> bool:
        """Whether a tuple is written as an array under `items` (up to 2019-09)."""
        return self.year <= 2019

    @property
    def boolean_schemas(self) -> bool:
        """Whether true and false are schemas (since draft-06)."""
        return self.year >= 6


DRAFT_2020_12 = Dialect("2020-12", 2020)
_BY_URI = {
    "json-schema.org/draft/2020-12/schema": DRAFT_2020_12,
    "json-schema.org/draft/2019-09/schema": Dialect("2019-09", 2019),
    "json-schema.org/draft-07/schema": Dialect("draft-07", 7),
    "json-schema.org/draft-06/schema": Dialect("draft-06", 6),
    "json-schema.org/draft-04/schema": Dialect("draft-04", 4),
}


def dialect_of(schema: Json) -> Dialect | None:
    """The dialect a root schema declares by `$schema`; 2020-12 without one, None for one that is not known."""
    declared = schema.get("$schema") if isinstance(schema, dict) else None
    if declared is None:
        return DRAFT_2020_12
    if not isinstance(declared, str):
        return None
    return _BY_URI.get(declared.rstrip("#").removeprefix("https://").removeprefix("http://"))
