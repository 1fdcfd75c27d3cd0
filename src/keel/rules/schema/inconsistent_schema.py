"""Schemas that contradict themselves: no value fits, or a default does not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

from keel.core.finding import Finding
from keel.core.jsontext import escape_token
from keel.core.text import excerpt
from keel.rules.interface import Rule, RuleContext, Severity, ToolView
from keel.rules.schema.shared import schema_meta

_BOUNDS = (
    ("minimum", "maximum"),
    ("minLength", "maxLength"),
    ("minItems", "maxItems"),
    ("minProperties", "maxProperties"),
    ("exclusiveMinimum", "exclusiveMaximum"),
    ("minContains", "maxContains"),
)
_LOWER = frozenset(low for low, _ in _BOUNDS)
_MAY_DECLARE = frozenset(
    {
        "$ref",
        "$dynamicRef",
        "allOf",
        "anyOf",
        "oneOf",
        "not",
        "if",
        "patternProperties",
        "dependentSchemas",
        "unevaluatedProperties",
    }
)
"""Beside one of these a property may be declared elsewhere."""

Fault = tuple[str, str, Severity]
"""(pointer suffix, what is wrong, how bad)."""


class InconsistentSchema(Rule):
    """Looks for undeclared required names, inverted bounds, patterns that do not compile, empty enums, bad defaults."""

    meta = schema_meta(
        "inconsistent-schema",
        "a schema contradicts itself",
        "A model cannot satisfy it; calls fail at the server although nothing drifted.",
        '{"type": "object", "properties": {"kind": {"type": "string", "enum": []}}, "required": ["kind"]}',
    )

    def check(self, tool: ToolView, context: RuleContext) -> Iterator[Finding]:
        """Yield one finding for each contradiction."""
        for pointer, schema in tool.schemas:
            if isinstance(schema, dict) and not _JUDGED.isdisjoint(schema):
                for check in _CHECKS:
                    for suffix, message, severity in check(schema):
                        yield self.finding(tool, pointer + suffix, message, severity=severity)


def _required(schema: dict[str, Any]) -> Iterator[Fault]:
    names, properties = schema.get("required"), schema.get("properties")
    if not isinstance(names, list) or not isinstance(properties, dict) or not _MAY_DECLARE.isdisjoint(schema):
        return
    closed = schema.get("additionalProperties") is False
    severity = Severity.ERROR if closed else Severity.WARNING
    for index, name in enumerate(names):
        if isinstance(name, str) and name not in properties:
            how = "closed" if closed else "open"
            yield f"/required/{index}", f"`{excerpt(name)}` is required but not declared in the {how} object", severity


def _bounds(schema: dict[str, Any]) -> Iterator[Fault]:
    for low, high in _BOUNDS if not _LOWER.isdisjoint(schema) else ():
        least, most = schema.get(low), schema.get(high)
        if _number(least) and _number(most) and least > most:  # type: ignore[operator]
            yield f"/{low}", f"`{low}` {least} is above `{high}` {most}", Severity.ERROR


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _pattern(schema: dict[str, Any]) -> Iterator[Fault]:
    patterns = [("/pattern", schema.get("pattern"))]
    named = schema.get("patternProperties")
    if isinstance(named, dict):
        patterns += [(f"/patternProperties/{escape_token(name)}", name) for name in sorted(named)]
    for at, pattern in patterns:
        if isinstance(pattern, str) and not compiles(pattern):
            yield at, f"the pattern `{excerpt(pattern)}` is not a valid ECMA-262 expression", Severity.ERROR


@lru_cache(maxsize=4096)
def compiles(pattern: str) -> bool:
    """Tell whether a pattern is a regular expression by ECMA-262, as JSON Schema asks; it is compiled, never run."""
    import jsonschema_rs  # noqa: PLC0415 - only lint needs it

    try:
        jsonschema_rs.Draft202012Validator({"pattern": pattern})
    except (jsonschema_rs.ValidationError, ValueError, UnicodeEncodeError):
        return False
    return True


def _enum(schema: dict[str, Any]) -> Iterator[Fault]:
    values = schema.get("enum")
    if not isinstance(values, list):
        return
    if not values:
        yield "/enum", "the `enum` is empty, so no value fits", Severity.ERROR
    elif schema.get("default") is not None and not any(_same(schema["default"], value) for value in values):
        # An empty text is how some generators write that there is no default.
        severity = Severity.ERROR if schema["default"] != "" else Severity.WARNING
        yield "/default", f"the default `{excerpt(str(schema['default']))}` is not in the `enum`", severity


def _same(one: Any, two: Any) -> bool:
    return bool(one == two) and isinstance(one, bool) == isinstance(two, bool)


_TYPES: dict[str, Callable[[Any], bool]] = {
    "array": lambda value: isinstance(value, list),
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: _number(value) and float(value).is_integer(),
    "null": lambda value: value is None,
    "number": _number,
    "object": lambda value: isinstance(value, dict),
    "string": lambda value: isinstance(value, str),
}


def _default(schema: dict[str, Any]) -> Iterator[Fault]:
    kind = schema.get("type")
    kinds = [kind] if isinstance(kind, str) else kind if isinstance(kind, list) else []
    known = [_TYPES[item] for item in kinds if isinstance(item, str) and item in _TYPES]
    value = schema.get("default")
    if known and value is not None and not any(fits(value) for fits in known):
        message = f"the default `{excerpt(str(value))}` is not of the type `{excerpt(str(kind))}`"
        yield "/default", message, Severity.WARNING


_JUDGED = _LOWER | {"required", "pattern", "patternProperties", "enum", "default"}
"""A schema with none of these contradicts nothing."""
_CHECKS = (_required, _bounds, _pattern, _enum, _default)
