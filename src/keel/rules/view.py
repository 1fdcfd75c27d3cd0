"""One tool as rules see it: every string and key with its pointer, folded once, whatever the tool looks like."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import IntFlag, StrEnum, auto
from functools import cached_property, lru_cache
from operator import attrgetter
from typing import Any

from keel.core.canonical import CanonicalError
from keel.core.digest import definition_digest
from keel.core.jsontext import escape_token
from keel.core.schema import walk
from keel.rules.language.concepts import Concept, mask
from keel.rules.language.reading import Hit, could, could_hit, hits
from keel.rules.lazy import lazy

Json = Any


class Role(StrEnum):
    """What a string is for, which decides how it may be worded."""

    PROSE = "prose"
    """Written for a reader: descriptions, titles, comments, anything unknown."""
    VALUE = "value"
    """A value that a call carries: enum, const, default, examples, pattern."""
    KEY = "key"
    """The name of a parameter or of any member."""
    NAME = "name"
    """The name of the tool."""
    LABEL = "label"
    """A title, which names and never instructs."""
    TOKEN = "token"  # noqa: S105 - the word for it
    """A word of the schema language: type, format, required, `$ref`."""


class Sign(IntFlag):
    """What a tool or its surroundings must show before some rules can find anything; each is cheap to look for."""

    UNUSUAL = auto()
    """A text that is not plain ASCII."""
    HIT = auto()
    """A sentence that matches the pattern of a text rule."""
    ADDRESS = auto()
    MARKUP = auto()
    DEFAULT = auto()
    PATTERN = auto()
    REFERENCE = auto()
    MODEL = auto()
    """A word for the model."""
    OTHERS = auto()
    """Tools of other servers."""
    TARGETS = auto()
    """Declared targets."""


@dataclass(slots=True, eq=False)
class Text:
    """One string of a tool. What is derived from it is computed once, on first use."""

    pointer: str
    """RFC 6901 pointer into the tool object."""
    raw: str
    role: Role
    _folded: str | None = field(default=None, init=False, repr=False)
    _lines: tuple[str, ...] | None = field(default=None, init=False, repr=False)
    _could: int | None = field(default=None, init=False, repr=False)

    @property
    def plain(self) -> bool:
        """Whether nothing but printable ASCII and line breaks is in it."""
        return self.raw.isascii() and (self.raw.isprintable() or _PLAIN.fullmatch(self.raw) is not None)

    @property
    def folded(self) -> str:
        """NFKC without format characters; names and keys as words."""
        if self._folded is None:
            text = fold(self.raw)
            self._folded = " ".join(words(text)) if self.role in (Role.KEY, Role.NAME) else text
        return self._folded

    @property
    def lines(self) -> tuple[str, ...]:
        """The folded text as sentences."""
        if self._lines is None:
            self._lines = sentences(self.folded)
        return self._lines

    @property
    def could(self) -> int:
        """The concepts that its sentences could carry, as bits: a cheap reason not to read it closely."""
        if self._could is None:
            bits = 0
            for line in self.lines:
                bits |= could(line)
            self._could = bits
        return self._could


_PLAIN = lazy(r"[\t\n\r\x20-\x7e]*")
_WRAPPED = lazy(r"(?<![.!?:;\n])\n[ \t]{0,40}(?=[a-z(`'\"])")
_SENTENCE = lazy(r"(?<=[.!?])\s+|[\n\r\u3002\uff01\uff1f\u061f\u06d4\u0964]+")
_VALUE_KEYWORDS = frozenset({"const", "default", "enum", "example", "examples", "pattern"})
_TOKEN_KEYWORDS = frozenset(
    {"$anchor", "$dynamicAnchor", "$dynamicRef", "$id", "$recursiveRef", "$ref", "$schema", "$vocabulary"}
    | {"contentEncoding", "contentMediaType", "dependentRequired", "format", "required", "type"}
)
_NAME_MAPS = frozenset({"$defs", "definitions", "dependentSchemas", "patternProperties", "properties"})
_WORD = lazy(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_A-Za-z]+")


def fold(text: str) -> str:
    """Return NFKC text without format characters, variation selectors and lone surrogates."""
    if text.isascii():
        return text
    text = unicodedata.normalize("NFKC", text)
    if text.isascii():
        return text
    unseen = [char for char in set(text) if not char.isascii() and _unseen(char)]
    for char in unseen:
        text = text.replace(char, "")
    return text


@lru_cache(maxsize=4096)
def _unseen(char: str) -> bool:
    return unicodedata.category(char) in {"Cf", "Cs"} or "\ufe00" <= char <= "\ufe0f" or char >= "\U000e0100"


@lru_cache(maxsize=8192)
def words(identifier: str) -> tuple[str, ...]:
    """Split an identifier into lower-case words: `sendEMail_to2` gives `send`, `e`, `mail`, `to`, `2`."""
    return tuple(match.lower() for match in _WORD.findall(identifier))


@lru_cache(maxsize=8192)
def sentences(text: str) -> tuple[str, ...]:
    """Split text where a sentence ends, or a line that the next one does not continue; blank pieces are dropped."""
    if len(text) < 24:
        return (text,) if text.strip() else ()
    return tuple(piece for piece in _SENTENCE.split(_WRAPPED.sub(" ", text) if "\n" in text else text) if piece.strip())


class ToolView:
    """Cheap, cached access to one tool's wire object.

    Args:
        wire: the object as sent; fields may be missing, null or of any type.
        server: name of the tool's server; empty for a native tool.
        index: position in the listing, which names a tool that has no usable name.
    """

    def __init__(self, wire: Mapping[str, Json], server: str = "", index: int = 0) -> None:
        self.wire = wire
        self.server = server
        self.index = index
        self.memo: dict[str, Any] = {}
        """Results that several rules share, by the name of the function that computes them."""

    @cached_property
    def name(self) -> str:
        """The tool's name, or an empty string when it has none."""
        name = self.wire.get("name")
        return name if isinstance(name, str) else ""

    @property
    def key(self) -> str:
        """The tool key: `server/name`, or the bare name."""
        name = self.name or f"#{self.index}"
        return f"{self.server}/{name}" if self.server else name

    @cached_property
    def digest(self) -> str:
        """The definition digest, or an empty string where the definition has no canonical form."""
        try:
            return definition_digest(self.wire)
        except (CanonicalError, RecursionError):
            return ""

    @cached_property
    def description(self) -> str:
        """The description, or an empty string."""
        text = self.wire.get("description")
        return text if isinstance(text, str) else ""

    @cached_property
    def about(self) -> str:
        """The folded description in lower case."""
        return fold(self.description).lower()

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words of the name."""
        return words(self.name)

    @property
    def input_schema(self) -> Json:
        """`inputSchema` as sent, or None."""
        return self.wire.get("inputSchema")

    @property
    def output_schema(self) -> Json:
        """`outputSchema` as sent, or None."""
        return self.wire.get("outputSchema")

    @cached_property
    def annotations(self) -> Mapping[str, Json]:
        """The hints, or an empty mapping."""
        value = self.wire.get("annotations")
        return value if isinstance(value, dict) else {}

    def hint(self, name: str) -> bool | None:
        """Return a hint that is a boolean, else None."""
        value = self.annotations.get(name)
        return value if isinstance(value, bool) else None

    @cached_property
    def texts(self) -> tuple[Text, ...]:
        """Every string and every key of the tool, in an order that does not depend on the order of keys."""
        return tuple(sorted(_texts(self.wire), key=_order))

    @cached_property
    def worded(self) -> tuple[Text, ...]:
        """The texts that can say something: words of the schema language are left out unless they hold a sentence."""
        return tuple(
            text
            for text in self.texts
            if len(text.raw) >= _SHORTEST and (text.role is not Role.TOKEN or " " in text.raw)
        )

    @cached_property
    def whole(self) -> str:
        """All texts, one to a line: what is not in it, no text holds."""
        return "\n".join([text.raw for text in self.texts])

    @cached_property
    def lowered(self) -> str:
        """All texts, folded and in lower case."""
        return fold(self.whole).lower()

    @cached_property
    def hits(self) -> tuple[tuple[Text, tuple[Hit, ...]], ...]:
        """Every text that matches the pattern of a text rule, with its hits."""
        name = self.name if len(self.name) > _SHORTEST and _DISTINCT.search(self.name) else ""
        return tuple((text, hit) for text in self.worded if text.could and (hit := _hits_of(text, name)))

    @cached_property
    def signs(self) -> int:
        """What it shows of `Sign`, as bits."""
        whole = self.whole
        shown = Sign.UNUSUAL.value if self.unusual else 0
        for sign, marks in _MARKS:
            if any(mark in whole for mark in marks):
                shown |= sign
        if self.could & _MODEL:
            shown |= Sign.MODEL.value
        return shown | (Sign.HIT.value if self.hits else 0)

    @cached_property
    def could(self) -> int:
        """The concepts that its texts could carry."""
        bits = 0
        for text in self.worded:
            bits |= text.could
        return bits

    @cached_property
    def unusual(self) -> tuple[Text, ...]:
        """The texts that hold anything but printable ASCII and line breaks."""
        if _PLAIN.fullmatch(self.whole):
            return ()
        return tuple(text for text in self.texts if not text.plain)

    @cached_property
    def schemas(self) -> tuple[tuple[str, Json], ...]:
        """(pointer, schema) for every place of both schemas where a schema stands."""
        found: list[tuple[str, Json]] = []
        for name in ("inputSchema", "outputSchema"):
            if name in self.wire:
                found.extend(walk(self.wire[name], f"/{name}"))
        return tuple(sorted(found, key=lambda item: item[0]))

    @cached_property
    def telling(self) -> frozenset[str]:
        """What the names of the parameters tell: the last word and the joined words of each."""
        return frozenset(part for item in self.parameters if item.words for part in (item.words[-1], item.joined))

    @cached_property
    def abouts(self) -> str:
        """What the parameters say of themselves, one to a line."""
        return "\n".join([item.about for item in self.parameters])

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """Every property at any depth of the input schema, sorted by pointer."""
        found = []
        for pointer, schema in self.schemas:
            properties = schema.get("properties") if isinstance(schema, dict) else None
            if isinstance(properties, dict) and pointer.startswith("/inputSchema"):
                required = schema.get("required")
                needed = (
                    frozenset(item for item in required if isinstance(item, str)) if isinstance(required, list) else ()
                )
                for name, value in properties.items():
                    at = f"{pointer}/properties/{escape_token(name)}"
                    found.append(Parameter(name, at, value, pointer, name in needed))
        return tuple(sorted(found, key=lambda item: item.pointer))


@dataclass(frozen=True)
class Parameter:
    """One property of the input schema."""

    name: str
    pointer: str
    schema: Json
    parent: str
    """Pointer of the object schema that declares it."""
    required: bool

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words of the name."""
        return words(self.name)

    @cached_property
    def joined(self) -> str:
        """The words of the name with `_` between them."""
        return "_".join(self.words)

    @property
    def top(self) -> bool:
        """Whether it is an argument of the tool itself."""
        return self.parent == "/inputSchema"

    @cached_property
    def about(self) -> str:
        """Title and description, folded and in lower case."""
        if not isinstance(self.schema, dict):
            return ""
        parts = (self.schema.get("title"), self.schema.get("description"))
        return fold(" ".join(part for part in parts if isinstance(part, str))).lower()

    @cached_property
    def types(self) -> frozenset[str]:
        """The declared types, also of the branches of `anyOf` and `oneOf`; empty when none is declared."""
        return frozenset(_types(self.schema))

    def get(self, keyword: str) -> Json:
        """Return a keyword of the schema, also from the only non-null branch of `anyOf` or `oneOf`."""
        if not isinstance(self.schema, dict):
            return None
        if keyword in self.schema:
            return self.schema[keyword]
        return self._branch.get(keyword)

    @cached_property
    def _branch(self) -> Mapping[str, Json]:
        """The only non-null branch, or nothing."""
        branches = [branch for branch in _branches(self.schema) if branch.get("type") != "null"]
        return branches[0] if len(branches) == 1 else {}


def _branches(schema: Mapping[str, Json]) -> Iterator[Mapping[str, Json]]:
    for keyword in ("anyOf", "oneOf"):
        items = schema.get(keyword)
        if isinstance(items, list):
            yield from (item for item in items if isinstance(item, dict))


def _types(schema: Json) -> Iterator[str]:
    if not isinstance(schema, dict):
        return
    for part in (schema, *_branches(schema)):
        kind = part.get("type")
        if isinstance(kind, str):
            yield kind
        elif isinstance(kind, list):
            yield from (item for item in kind if isinstance(item, str))


_order = attrgetter("pointer", "role")


def _texts(wire: Mapping[str, Json]) -> Iterator[Text]:
    """Walk the whole object; iterative, so that depth is no limit."""
    stack: list[tuple[str, Json, Role, bool]] = [("", wire, Role.PROSE, False)]
    while stack:
        pointer, value, role, names = stack.pop()
        if isinstance(value, list):
            for index, item in enumerate(value):
                if isinstance(item, str):
                    yield Text(f"{pointer}/{index}", item, role)
                elif isinstance(item, dict | list):
                    stack.append((f"{pointer}/{index}", item, role, False))
            continue
        for name, item in value.items():
            at = f"{pointer}/{escape_token(name) if '/' in name or '~' in name else name}"
            if name not in _KNOWN:
                yield Text(at, name, Role.KEY)
            inner = role if names or role is Role.VALUE else _ROLES.get(name, Role.PROSE)
            if isinstance(item, str):
                yield Text(at, item, Role.NAME if at == "/name" else inner)
            elif isinstance(item, dict | list):
                stack.append((at, item, inner, not names and name in _NAME_MAPS))


def _hits_of(text: Text, name: str) -> tuple[Hit, ...]:
    found = hits(text.lines) if could_hit(text.could) else ()
    return found or (_hits_named(text.lines, name) if name in text.raw else ())


def _hits_named(lines: tuple[str, ...], name: str) -> tuple[Hit, ...]:
    """Return the hits of a text in which a tool's own name reads as what it is: this tool."""
    if not name:
        return ()
    spoken = {line.replace(name, "this tool"): line for line in lines}
    return tuple(replace(hit, sentence=spoken[hit.sentence]) for hit in hits(tuple(spoken)))


_DISTINCT = lazy(r"[a-z0-9][_.-][a-z0-9]|[a-z][A-Z]")
_MARKS = (
    (Sign.ADDRESS.value, ("://",)),
    (Sign.MARKUP.value, ("<", "[", "##")),
    (Sign.DEFAULT.value, ("default",)),
    (Sign.PATTERN.value, ("pattern",)),
    (Sign.REFERENCE.value, ("$ref", "$dynamicRef", "$recursiveRef")),
)
"""Keywords stand among the texts, as every key does."""
_MODEL = mask(Concept.MODEL)
_SHORTEST = 4
"""Characters; nothing shorter says anything."""
_KNOWN = frozenset({"description", "inputSchema", "name", "outputSchema", "properties", "required", "title", "type"})
_ROLES = {
    **dict.fromkeys(_VALUE_KEYWORDS, Role.VALUE),
    **dict.fromkeys(_TOKEN_KEYWORDS, Role.TOKEN),
    "title": Role.LABEL,
}
"""Roles by keyword; what stands under a value is one too."""
