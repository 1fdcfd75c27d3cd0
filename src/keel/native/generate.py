"""Asks pydantic for schemas, with the few methods overridden whose result differs between its minor versions."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import TypeAdapter
from pydantic.errors import PydanticUserError
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaWarningKind, PydanticJsonSchemaWarning
from pydantic_core import PydanticUndefined, core_schema, to_jsonable_python
from typing_extensions import TypedDict

from keel.core.canonical import canonical_bytes
from keel.native.docstring import clean
from keel.native.hints import without_address
from keel.native.normal import normal_form, plain


class Undescribable(Exception):
    """A type for which pydantic gives no schema, or a default that is no JSON; the text says why."""


class _Generator(GenerateJsonSchema):
    """Pydantic's own derivation, made equal from 2.9 on; the methods are its documented extension points."""

    ignored_warning_kinds: set[JsonSchemaWarningKind] = set()  # noqa: RUF012 - as the base class declares it
    """Pydantic's own set lets it drop branches of a union that it cannot describe, and say nothing."""

    def dict_schema(self, schema: core_schema.DictSchema) -> dict[str, Any]:
        """Describe a dictionary with its keys: versions before 2.10 leave `propertyNames` out."""
        keys = dict(self.generate_inner(schema["keys_schema"])) if "keys_schema" in schema else {}
        values = self.generate_inner(schema["values_schema"]) if "values_schema" in schema else {}
        pattern = None if "$ref" in keys else keys.pop("pattern", None)
        keys.pop("title", None)
        described: dict[str, Any] = {"type": "object"}
        if pattern is None:
            described["additionalProperties"] = values or True
        else:
            described["patternProperties"] = {pattern: values}
        if "$ref" in keys or (keys.get("type") == "string" and len(keys) > 1):
            keys.pop("type", None)
            described["propertyNames"] = keys
        self.update_with_validations(described, schema, self.ValidationsMapping.object)
        return described

    def dataclass_schema(self, schema: core_schema.DataclassSchema) -> dict[str, Any]:
        """Describe a dataclass with its docstring, unless Python wrote it; versions before 2.13 leave it out."""
        described = super().dataclass_schema(schema)
        owner = schema["cls"]
        written = owner.__dict__.get("__doc__") or ""
        target = self.resolve_ref_schema(described) if "$ref" in described else described
        if written and not written.startswith(f"{owner.__name__}("):
            target.setdefault("description", clean(written))
        return described


def arguments_schema(hints: Mapping[str, Any]) -> dict[str, Any]:
    """Return the normal form of the object that holds one property for each hint, all of them required.

    The shell is a `TypedDict`: unlike a model it reserves no names, and unlike a bare type it gives every attribute
    of `Field` its meaning.

    Raises:
        Undescribable: if pydantic cannot describe a type.
        SchemaTooLarge: if the schema is beyond the limit of nodes.
    """
    return _schema(TypedDict("Arguments", dict(hints)), "validation")  # type: ignore[operator]


def result_schema(hint: Any) -> dict[str, Any]:
    """Return the normal form of what a function with this return hint gives, as JSON.

    Raises:
        Undescribable: if pydantic cannot describe the type.
        SchemaTooLarge: if the schema is beyond the limit of nodes.
    """
    return _schema(hint, "serialization")


def _schema(hint: Any, mode: Literal["validation", "serialization"]) -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", PydanticJsonSchemaWarning)
        try:
            schema = TypeAdapter(hint).json_schema(mode=mode, schema_generator=_Generator)
        except PydanticJsonSchemaWarning as warning:
            raise Undescribable(_sentence(str(warning))) from warning
        except PydanticUserError as error:
            raise Undescribable(_sentence(error.message)) from error
        except Exception as error:  # types run user code (`__get_pydantic_core_schema__`)
            raise Undescribable(f"{type(error).__name__}: {_sentence(str(error))}") from error
    return normal_form(schema)


def _sentence(text: str) -> str:
    first = text.strip().split("\n", 1)[0].split(". ", 1)[0].removesuffix(".")
    return without_address(first)


def field_fault(hint: Any) -> str:
    """Return what a `Field` in a hint says that a function's signature cannot mean, or an empty text."""
    for item in getattr(hint, "__metadata__", ()):
        if is_field(item):
            if item.default is not PydanticUndefined or item.default_factory is not None:
                return "its `Field` has a default, which the function does not see"
            if item.alias is not None or item.validation_alias is not None:
                return "its `Field` has an alias, and arguments are passed by the name of the parameter"
    return ""


def is_field(value: object) -> bool:
    """Tell whether a value is what `pydantic.Field` returns."""
    return type(value).__name__ == "FieldInfo" and type(value).__module__.startswith("pydantic.")


def json_default(value: Any) -> Any:
    """Return the JSON form of a parameter's default; sets in the order of their canonical text.

    Raises:
        Undescribable: if the value has none.
    """
    try:
        return plain(_jsonable(value))
    except Exception as error:
        raise Undescribable(_sentence(str(error))) from error


def _jsonable(value: Any) -> Any:
    if isinstance(value, set | frozenset):
        return sorted((_jsonable(item) for item in value), key=canonical_bytes)
    if isinstance(value, dict):
        return {to_jsonable_python(name): _jsonable(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_jsonable(item) for item in value]
    built = to_jsonable_python(value)
    canonical_bytes(built)
    return built
