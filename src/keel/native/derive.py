"""From a function to the wire object of its tool: name, description, input and output schema.

Schemas are pydantic's, in the normal form of `keel.native.normal`; the input is always one closed object. What has no
schema is refused, parameter by parameter and all at once, because a tool with a hole in its schema accepts anything.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from keel.core.canonical import CanonicalError, canonical_bytes
from keel.core.digest import normal_tool
from keel.core.finding import Finding, InputErrors, Location, finding
from keel.core.text import excerpt
from keel.errors import KeelError
from keel.native.docstring import clean
from keel.native.generate import (
    Undescribable,
    arguments_schema,
    field_fault,
    is_field,
    json_default,
    result_schema,
)
from keel.native.hints import HintError, Parameter, parameters, return_hint
from keel.native.normal import SchemaTooLarge
from keel.native.positions import Source

_EMPTY = inspect.Parameter.empty
_SAYS_NOTHING = frozenset({"default", "deprecated", "description", "examples", "readOnly", "writeOnly"})


def derive(function: Callable[..., Any], name: str, source: Source | None = None) -> dict[str, Any]:
    """Return the tool definition of a function, in `k1` normal form.

    Args:
        function: the undecorated function.
        name: the tool's name.
        source: where the function stands.

    Raises:
        InputErrors: `native-tool` findings, one for each parameter, default or return type without a schema.
    """
    reporter = _Reporter(name, source or Source())
    try:
        found = parameters(function)
    except HintError as error:
        raise InputErrors([reporter.tool(str(error), "correct the annotations of the function")]) from error
    properties, faults = _properties(found, reporter)
    output, output_faults = _output(function, reporter)
    faults.extend(output_faults)
    if faults:
        raise InputErrors(faults)
    wire: dict[str, Any] = {"name": name, "inputSchema": _input(found, properties)}
    description = clean(function.__doc__)
    if description:
        wire["description"] = description
    if output:
        wire["outputSchema"] = output
    return _checked(wire, reporter)


@dataclass(frozen=True, slots=True)
class _Reporter:
    """Builds the findings of one tool."""

    name: str
    source: Source

    def parameter(self, name: str, what: str, next_: str) -> Finding:
        """Return a finding about one parameter, at its own line."""
        line, column = self.source.parameters.get(name, (self.source.line, self.source.column))
        message = f"parameter `{excerpt(name)}` of native tool `{excerpt(self.name)}` {what}"
        location = Location(self.source.file, line, column, key=self.name)
        return finding("native-tool", message, location=location, next=next_)

    def tool(self, what: str, next_: str) -> Finding:
        """Return a finding about the whole function."""
        location = Location(self.source.file, self.source.line, self.source.column, key=self.name)
        message = f"native tool `{excerpt(self.name)}` cannot be described: {what}"
        return finding("native-tool", message, location=location, next=next_)


def _properties(found: tuple[Parameter, ...], reporter: _Reporter) -> tuple[dict[str, Any], list[Finding]]:
    """Return (schema of all parameters, faults); parameters with a fault of their own are not in the schema."""
    faults, sound = [], {}
    for item in found:
        fault = _shape_fault(item)
        if fault is None:
            sound[item.name] = item.hint
        else:
            faults.append(reporter.parameter(item.name, *fault))
    try:
        schema = arguments_schema(sound)
    except (Undescribable, SchemaTooLarge) as error:
        return {}, [*faults, *_undescribed(sound, str(error), reporter)]
    open_ = [name for name, item in schema.get("properties", {}).items() if _accepts_everything(item)]
    what, next_ = "accepts anything: its type is as open as `Any`", "say what it holds, for example `str`"
    return schema, [*faults, *(reporter.parameter(name, what, next_) for name in open_)]


def _undescribed(hints: dict[str, Any], whole: str, reporter: _Reporter) -> list[Finding]:
    """Return a finding for each hint that pydantic cannot describe alone, or one for all of them together."""
    faults = []
    next_ = "use a type that pydantic can describe as JSON Schema, such as a `TypedDict` or a model"
    for name, hint in hints.items():
        try:
            arguments_schema({name: hint})
        except (Undescribable, SchemaTooLarge) as error:
            faults.append(reporter.parameter(name, f"has no schema: {excerpt(str(error), 200)}", next_))
    return faults or [reporter.tool(whole, "use fewer or smaller types")]


def _shape_fault(parameter: Parameter) -> tuple[str, str] | None:
    """Return (what, next) for a parameter that no argument object can fill, or that says nothing of its type."""
    if parameter.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
        return "takes any number of arguments", "name each argument, or take one typed list or `TypedDict`"
    if parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
        return "is positional-only, and arguments of a tool are passed by name", "remove the `/` from the signature"
    if parameter.hint is _EMPTY:
        if parameter.name in ("self", "cls"):
            return "has no type: the tool is a method", "make the tool a function outside the class"
        return "has no type", f"give it one, for example `{parameter.name}: str`"
    if isinstance(parameter.hint, HintError):
        next_ = "import the name at run time, not under `TYPE_CHECKING`, and spell it as it is defined"
        return f"has no schema: {excerpt(str(parameter.hint), 200)}", next_
    in_field = field_fault(parameter.hint)
    if in_field:
        return f"cannot be called as described: {in_field}", "say it in the signature itself"
    return _default_fault(parameter)


def _default_fault(parameter: Parameter) -> tuple[str, str] | None:
    if parameter.default is _EMPTY:
        return None
    if is_field(parameter.default):
        return (
            "has a `Field` as its default, which a plain call would pass to the function",
            f"write `{parameter.name}: Annotated[…, Field(…)]`, and a default after it as in any function",
        )
    try:
        json_default(parameter.default)
    except Undescribable as error:
        return f"has a default that is no JSON: {excerpt(str(error), 200)}", "use `None` or a JSON value as default"
    return None


def _accepts_everything(schema: Any) -> bool:
    if not isinstance(schema, dict):
        return schema is True
    if schema.keys() <= _SAYS_NOTHING:
        return True
    return schema.keys() - _SAYS_NOTHING == {"anyOf"} and any(map(_accepts_everything, schema["anyOf"]))


def _input(found: tuple[Parameter, ...], schema: dict[str, Any]) -> dict[str, Any]:
    """Return the closed object of all arguments: pydantic's properties with the defaults of the signature."""
    properties = dict(schema.get("properties", {}))
    for item in found:
        if item.default is not _EMPTY:
            described = {**properties[item.name], "default": json_default(item.default)}
            properties[item.name] = {keyword: described[keyword] for keyword in sorted(described)}
    closed = {"type": "object", "properties": properties, "additionalProperties": False}
    required = [item.name for item in found if item.default is _EMPTY]
    if required:
        closed["required"] = required
    if "$defs" in schema:
        closed["$defs"] = schema["$defs"]
    return {keyword: closed[keyword] for keyword in sorted(closed)}


def _output(function: Callable[..., Any], reporter: _Reporter) -> tuple[dict[str, Any], list[Finding]]:
    """Return (schema, faults); an empty schema where the function says nothing of its result."""
    hint = return_hint(function)
    if hint is _EMPTY:
        return {}, []
    try:
        if isinstance(hint, HintError):
            raise hint
        schema = result_schema(hint)
    except (HintError, Undescribable, KeelError) as error:
        next_ = "give a return type that pydantic can describe as JSON Schema, or none"
        return {}, [reporter.tool(f"its result has no schema: {excerpt(str(error), 200)}", next_)]
    return ({} if _accepts_everything(schema) else schema), []


def _checked(wire: dict[str, Any], reporter: _Reporter) -> dict[str, Any]:
    tool = normal_tool({field_: wire[field_] for field_ in sorted(wire)})
    try:
        canonical_bytes(tool)
    except CanonicalError as error:
        raise InputErrors([reporter.tool(str(error), "use text and numbers that JSON can carry")]) from error
    return tool
