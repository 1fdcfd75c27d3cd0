"""What model providers accept, as dated data with sources; change a number only together with its date."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from keel.core.naming import NAME_RULES, NameRule

VERSION = "2026-12"
"""Version of the whole table."""

REFUSED_BY_GEMINI = frozenset(
    {"$ref", "$defs", "$schema", "$id", "$comment", "additionalProperties", "allOf", "const", "contains", "definitions"}
    | {
        "dependentRequired",
        "dependentSchemas",
        "else",
        "examples",
        "exclusiveMaximum",
        "exclusiveMinimum",
        "if",
        "multipleOf",
    }
    | {
        "not",
        "oneOf",
        "patternProperties",
        "prefixItems",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
    | {"uniqueItems", "readOnly", "writeOnly", "deprecated", "contentEncoding", "contentMediaType"}
)
REFUSED_BY_STRICT = frozenset(
    {
        "allOf",
        "contains",
        "dependentRequired",
        "dependentSchemas",
        "else",
        "if",
        "maxContains",
        "minContains",
        "not",
        "oneOf",
    }
    | {
        "patternProperties",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
        "uniqueItems",
        "prefixItems",
    }
    | {"minProperties", "maxProperties", "default"}
)
STRICT_FORMATS = frozenset({"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"})


@dataclass(frozen=True, slots=True)
class Limits:
    """One target's limits. A zero, an empty set or false means that no limit is known."""

    target: str
    checked: date
    """When the sources were read last."""
    sources: tuple[str, ...]
    name: NameRule
    root_refused: frozenset[str] = frozenset()
    """Keywords refused at the root of an input schema."""
    refused: frozenset[str] = frozenset()
    """Keywords refused anywhere."""
    property_key: str = ""
    """Pattern of top-level property names; deeper ones are a warning."""
    array_items: bool = False
    """Whether an array needs `items`."""
    nested_properties: bool = False
    """Whether a nested object needs `properties`."""
    strict: bool = False
    """Whether every object must be closed and every property required."""
    formats: frozenset[str] = frozenset()
    """Accepted values of `format`."""
    recursion: bool = True
    """Whether recursive schemas are accepted."""
    empty_description: bool = True
    """Whether an empty description is accepted; an absent one is."""
    most_tools: int = 0
    longest_description: int = 0
    most_properties: int = 0
    deepest: int = 0
    most_enum_values: int = 0
    long_enum: int = 0
    """Values from which on an enum counts as long."""
    most_long_enum_characters: int = 0
    """Characters of the values of a long enum together."""
    most_name_characters: int = 0
    """Characters of all property names, definition names, enum and const values together."""


_COMBINATORS = frozenset({"allOf", "anyOf", "oneOf", "not", "enum"})
_KEY = r"[A-Za-z0-9_.-]{1,64}"
_DAY = date(2026, 12, 1)

LIMITS: dict[str, Limits] = {
    "anthropic": Limits(
        target="anthropic",
        checked=_DAY,
        sources=(
            "Anthropic API reference, Messages, tools.name and tools.input_schema",
            "API error of 2026-07: property keys match `^[a-zA-Z0-9_.-]{1,64}$`",
            "API error of 2026-08: no `oneOf`, `allOf` or `anyOf` at the top level",
            "API error of 2026-09: names of at most 128; kept at 64, which every host of these models accepts",
        ),
        name=NAME_RULES["anthropic"],
        root_refused=_COMBINATORS - {"not", "enum"},
        property_key=_KEY,
    ),
    "bedrock": Limits(
        target="bedrock",
        checked=_DAY,
        sources=(
            "Amazon Bedrock Runtime API reference, ToolSpecification: name `[a-zA-Z0-9_-]+`, at most 64",
            "Amazon Bedrock user guide, Call a tool with the Converse API",
        ),
        name=NAME_RULES["bedrock"],
        root_refused=_COMBINATORS - {"not", "enum"},
        property_key=_KEY,
        empty_description=False,
    ),
    "gemini-json-schema": Limits(
        target="gemini-json-schema",
        checked=_DAY,
        sources=(
            "Gemini API reference, FunctionDeclaration.parametersJsonSchema",
            "API error of 2025-12: names begin with a letter or `_` and have at most 64 of `a-z A-Z 0-9 _ . : -`",
            "API error of 2026-04: at most 512 function declarations",
        ),
        name=NAME_RULES["gemini-json-schema"],
        array_items=True,
        most_tools=512,
    ),
    "gemini-parameters": Limits(
        target="gemini-parameters",
        checked=_DAY,
        sources=(
            "Gemini API reference, FunctionDeclaration.parameters and Schema",
            "Vertex AI reference, FunctionDeclaration: parameter names begin with a letter or `_`, at most 64",
            "API error of 2026-04: at most 512 function declarations",
        ),
        name=NAME_RULES["gemini-parameters"],
        refused=REFUSED_BY_GEMINI,
        property_key=r"[A-Za-z_][A-Za-z0-9_]{0,63}",
        array_items=True,
        nested_properties=True,
        recursion=False,
        most_tools=512,
    ),
    "openai": Limits(
        target="openai",
        checked=_DAY,
        sources=(
            "OpenAI API reference, Chat completions, tools: names of `a-z A-Z 0-9 _ -`, at most 64",
            "API error of 2025-09: at most 128 tools",
            "API error of 2025-04: descriptions of at most 1,024 characters on gpt-4o; lifted on later models",
        ),
        name=NAME_RULES["openai"],
        root_refused=_COMBINATORS,
        property_key=_KEY,
        array_items=True,
        nested_properties=True,
        most_tools=128,
        longest_description=1024,
    ),
    "openai-strict": Limits(
        target="openai-strict",
        checked=_DAY,
        sources=(
            "OpenAI guide, Structured model outputs, Supported schemas (as of 2026-02)",
            "OpenAI guide, Function calling, Strict mode",
            "API error of 2025-04: `default` is not permitted",
        ),
        name=NAME_RULES["openai-strict"],
        root_refused=_COMBINATORS,
        refused=REFUSED_BY_STRICT,
        property_key=_KEY,
        array_items=True,
        nested_properties=True,
        strict=True,
        formats=STRICT_FORMATS,
        most_tools=128,
        longest_description=1024,
        most_properties=5_000,
        deepest=10,
        most_enum_values=1_000,
        long_enum=250,
        most_long_enum_characters=15_000,
        most_name_characters=120_000,
    ),
}
"""By target, sorted."""


def table(limits: Limits) -> tuple[tuple[str, str], ...]:
    """Return a target's limits as (what, value) rows for `keel explain` and the documentation."""
    rows = [
        ("checked", limits.checked.isoformat()),
        ("sources", "; ".join(limits.sources)),
        ("exposed name", f"`[{limits.name.letters}]`, at most {limits.name.longest}" + _first(limits)),
        ("refused at the root", _words(limits.root_refused)),
        ("refused anywhere", _words(limits.refused)),
        ("property names", f"`{limits.property_key}`" if limits.property_key else ""),
        ("arrays need `items`", "yes" if limits.array_items else ""),
        ("nested objects need `properties`", "yes" if limits.nested_properties else ""),
        ("objects closed, properties required", "yes" if limits.strict else ""),
        ("formats", _words(limits.formats)),
        ("recursive schemas", "" if limits.recursion else "refused"),
        ("empty description", "" if limits.empty_description else "refused"),
    ]
    for what, value in (
        ("tools", limits.most_tools),
        ("characters of a description", limits.longest_description),
        ("properties", limits.most_properties),
        ("levels", limits.deepest),
        ("enum values", limits.most_enum_values),
        (f"characters of an enum of more than {limits.long_enum} values", limits.most_long_enum_characters),
        ("characters of names and values", limits.most_name_characters),
    ):
        rows.append((f"most {what}", f"{value:,}" if value else ""))
    return tuple((what, value) for what, value in rows if value)


def _words(items: frozenset[str]) -> str:
    return ", ".join(f"`{item}`" for item in sorted(items))


def _first(limits: Limits) -> str:
    return f", first `[{limits.name.first}]`" if limits.name.first else ""
