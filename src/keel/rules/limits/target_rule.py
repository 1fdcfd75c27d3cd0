"""The shape of the `target-…` rules: a provider's limits applied to a definition, every offending pointer at once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from keel.core.finding import Finding
from keel.core.jsontext import escape_token
from keel.core.naming import exposed_name
from keel.core.text import excerpt
from keel.rules.interface import Category, Precision, Rule, RuleContext, RuleMeta, Severity, ToolView
from keel.rules.limits.providers import LIMITS, Limits
from keel.rules.schema.recursive_schema import recursive_places
from keel.rules.view import Sign

Fault = tuple[str, str, Severity]
"""(pointer, what is refused, how bad)."""
_ERROR, _WARNING = Severity.ERROR, Severity.WARNING


def target_meta(target: str, title: str, example: str) -> RuleMeta:
    """Build the documentation of a target's rule."""
    return RuleMeta(
        id=f"target-{target}",
        category=Category.LIMITS,
        severity=Severity.ERROR,
        summary=f"{title} refuses the definition",
        why="One tool that a provider refuses makes it refuse the whole request, and every other tool with it.",
        next="change the definition, or take the target out of `targets`",
        example=example,
        precision=Precision.EXACT,
        references=LIMITS[target].sources,
    )


class TargetRule(Rule):
    """Applies one target's limits; silent unless the project declares the target."""

    needs = Sign.TARGETS.value
    target: str

    def check(self, tool: ToolView, context: RuleContext) -> Iterator[Finding]:
        """Yield one finding for each offending place."""
        if self.target not in context.targets:
            return
        limits = LIMITS[self.target]
        for part in (_name, _description, _root, _places, _totals):
            for pointer, what, severity in part(tool, context, limits):
                yield self.finding(tool, pointer, f"`{self.target}` {what}", severity=severity)


def _name(tool: ToolView, context: RuleContext, limits: Limits) -> Iterator[Fault]:
    final = exposed_name(context.server, tool.name, limits.target)
    if not re.fullmatch(f"[{limits.name.letters}]{{1,{limits.name.longest}}}", final):
        yield "/name", f"refuses the exposed name `{excerpt(final)}`", _ERROR
    if limits.most_tools and len(context.tools) > limits.most_tools and tool is context.tools[0]:
        here = f"`{excerpt(context.server)}`" if context.server else "this list"
        yield (
            "",
            f"accepts at most {limits.most_tools} tools in a request; {here} alone has {len(context.tools)}",
            _WARNING,
        )


def _description(tool: ToolView, context: RuleContext, limits: Limits) -> Iterator[Fault]:  # noqa: ARG001 - one shape for all parts
    text = tool.wire.get("description")
    if not isinstance(text, str):
        return
    if not text and not limits.empty_description:
        yield "/description", "refuses an empty description; leave it out instead", _ERROR
    if limits.longest_description and len(text) > limits.longest_description:
        what = (
            f"cuts or refuses, with some models, descriptions beyond {limits.longest_description:,} characters; "
            f"this one has {len(text):,}"
        )
        yield "/description", what, _WARNING


def _root(tool: ToolView, context: RuleContext, limits: Limits) -> Iterator[Fault]:  # noqa: ARG001 - one shape for all parts
    schema = tool.input_schema
    if not isinstance(schema, dict):
        return
    for keyword in sorted(limits.root_refused & schema.keys()):
        yield f"/inputSchema/{keyword}", f"refuses `{keyword}` at the root of an input schema", _ERROR
    if limits.root_refused and schema.get("type") != "object":
        yield "/inputSchema", "asks for the type `object` at the root", _ERROR


def _places(tool: ToolView, context: RuleContext, limits: Limits) -> Iterator[Fault]:  # noqa: ARG001 - one shape for all parts
    for pointer, schema in tool.schemas:
        if not pointer.startswith("/inputSchema") or not isinstance(schema, dict):
            continue
        for keyword in sorted(limits.refused & schema.keys()):
            yield f"{pointer}/{escape_token(keyword)}", f"refuses the keyword `{keyword}`", _ERROR
        kind = schema.get("type")
        if limits.array_items and kind == "array" and schema.get("items") in (None, {}) and "prefixItems" not in schema:
            yield pointer, "refuses an array without `items`", _ERROR
        if limits.formats and isinstance(schema.get("format"), str) and schema["format"] not in limits.formats:
            yield f"{pointer}/format", f"refuses the format `{excerpt(schema['format'])}`", _ERROR
        if limits.long_enum and isinstance(schema.get("enum"), list):
            yield from _long_enum(pointer, schema["enum"], limits)
        if kind == "object" or "properties" in schema:
            yield from _object(pointer, schema, limits)
    root = tool.input_schema
    if not limits.recursion and isinstance(root, dict):
        for at in recursive_places(root):
            yield f"/inputSchema{at}", "refuses schemas that contain themselves", _ERROR


def _long_enum(pointer: str, values: list[Any], limits: Limits) -> Iterator[Fault]:
    texts = [value for value in values if isinstance(value, str)]
    count = sum(map(len, texts))
    if len(texts) > limits.long_enum and count > limits.most_long_enum_characters:
        most = limits.most_long_enum_characters
        what = (
            f"accepts at most {most:,} characters in an enum of more than {limits.long_enum} values; this has {count:,}"
        )
        yield f"{pointer}/enum", what, _ERROR


def _object(pointer: str, schema: dict[str, Any], limits: Limits) -> Iterator[Fault]:
    properties = schema.get("properties")
    nested = pointer != "/inputSchema"
    if limits.nested_properties and nested and not properties and "$ref" not in schema:
        yield (
            pointer,
            "refuses, or fills with nothing, a nested object without `properties`",
            _WARNING if not limits.strict else _ERROR,
        )
    names = sorted(properties) if isinstance(properties, dict) else []
    for name in names:
        if limits.property_key and not re.fullmatch(limits.property_key, name):
            at = f"{pointer}/properties/{escape_token(name)}"
            yield at, f"refuses the property name `{excerpt(name)}`", _WARNING if nested else _ERROR
    if limits.strict:
        if schema.get("additionalProperties") is not False:
            yield pointer, "needs `additionalProperties: false` on every object", _ERROR
        required = schema.get("required")
        missing = [name for name in names if name not in (required if isinstance(required, list) else [])]
        for name in missing:
            at = f"{pointer}/properties/{escape_token(name)}"
            yield at, f"needs `{excerpt(name)}` in `required`; make it nullable instead of optional", _ERROR


def _totals(tool: ToolView, context: RuleContext, limits: Limits) -> Iterator[Fault]:  # noqa: ARG001 - one shape for all parts
    schemas = [item for item in tool.schemas if item[0].startswith("/inputSchema") and isinstance(item[1], dict)]
    properties = sum(len(schema["properties"]) for _, schema in schemas if isinstance(schema.get("properties"), dict))
    values = [value for _, schema in schemas if isinstance(schema.get("enum"), list) for value in schema["enum"]]
    depth = max((pointer.count("/properties/") for pointer, _ in schemas), default=0)
    names = sum(len(parameter.name) for parameter in tool.parameters) + sum(
        len(v) for v in values if isinstance(v, str)
    )
    for count, most, what in (
        (properties, limits.most_properties, "properties"),
        (len(values), limits.most_enum_values, "enum values"),
        (depth, limits.deepest, "levels"),
        (names, limits.most_name_characters, "characters of names and values"),
    ):
        if most and count > most:
            yield "/inputSchema", f"accepts at most {most:,} {what}; this schema has {count:,}", _ERROR
