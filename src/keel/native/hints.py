"""Resolves the type hints of a tool's signature, one parameter at a time, so that each error names its parameter."""

from __future__ import annotations

import inspect
import re
import sys
import types
import typing
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

_HAS_FULL_TYPED_DICT = sys.version_info >= (3, 12)


_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def without_address(text: str) -> str:
    """Return text without the memory addresses that Python shows for objects: they differ from run to run."""
    return _ADDRESS.sub("", text)


class HintError(Exception):
    """A type hint that cannot be evaluated; the text says why."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a signature."""

    name: str
    kind: inspect._ParameterKind
    default: Any
    """`inspect.Parameter.empty` when there is none."""
    hint: Any
    """The evaluated hint, a `HintError` when it cannot be evaluated, `inspect.Parameter.empty` when there is none."""


def parameters(function: Callable[..., Any]) -> tuple[Parameter, ...]:
    """Return the parameters of a function with evaluated hints, in the order of the signature.

    Raises:
        HintError: if Python cannot even say what the signature is.
    """
    found = []
    twins: dict[Any, Any] = {}  # one for all parameters: pydantic treats a type that it has seen before differently
    for parameter in _signature(function).parameters.values():
        hint = _resolved(function, parameter.annotation, twins)
        found.append(Parameter(parameter.name, parameter.kind, parameter.default, hint))
    return tuple(found)


def return_hint(function: Callable[..., Any]) -> Any:
    """Return the evaluated return hint, a `HintError`, or `inspect.Parameter.empty` (see `Parameter.hint`)."""
    return _resolved(function, _signature(function).return_annotation, {})


def _signature(function: Callable[..., Any]) -> inspect.Signature:
    try:
        return inspect.signature(function)
    except Exception as error:  # from Python 3.14 on this evaluates annotations, which may do anything
        raise HintError(f"its annotations cannot be evaluated: {without_address(str(error))}") from error


def _resolved(function: Callable[..., Any], annotation: Any, twins: dict[Any, Any]) -> Any:
    """Evaluate one annotation in the scope of the function's module; strings inside it included."""
    if annotation is inspect.Parameter.empty:
        return annotation
    scope = getattr(inspect.unwrap(function), "__globals__", {})
    holder = types.SimpleNamespace(__annotations__={"hint": annotation})
    try:
        hints = typing.get_type_hints(holder, globalns=scope, localns=_type_parameters(function), include_extras=True)
        return hints["hint"] if _HAS_FULL_TYPED_DICT else _rebuilt(hints["hint"], twins)
    except NameError as error:
        return HintError(f"the name `{error.name}` in its type is not known when the module runs")
    except Exception as error:  # noqa: BLE001 - an annotation is user code
        return HintError(f"its type cannot be evaluated: {without_address(str(error))}")


def _type_parameters(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the parameters of a PEP 695 generic function, which live in no module."""
    return {item.__name__: item for item in getattr(inspect.unwrap(function), "__type_params__", ())}


def _rebuilt(hint: Any, twins: dict[Any, Any]) -> Any:
    """Return a hint in which every `typing.TypedDict` is one that pydantic reads on this Python.

    Before Python 3.12 `typing.TypedDict` does not keep what pydantic needs, which therefore refuses it; the class
    from `typing_extensions`, built from the same keys, has the same schema.
    """
    if isinstance(hint, type) and _is_typed_dict(hint):
        return twins[hint] if hint in twins else _twin(hint, twins)
    arguments = typing.get_args(hint)
    origin = typing.get_origin(hint)
    if not arguments or origin is typing.Literal:
        return hint
    if origin is typing.Annotated:
        return typing.Annotated[(_rebuilt(arguments[0], twins), *arguments[1:])]
    rebuilt = tuple(item if isinstance(item, list) else _rebuilt(item, twins) for item in arguments)
    if all(new is old for new, old in zip(rebuilt, arguments, strict=True)):
        return hint
    if isinstance(hint, types.UnionType):
        return typing.Union[rebuilt]  # noqa: UP007 - built from a tuple
    return hint.copy_with(rebuilt) if hasattr(hint, "copy_with") else origin[rebuilt]


def _is_typed_dict(hint: type) -> bool:
    # `typing.is_typeddict` knows only the class of the standard library.
    return issubclass(hint, dict) and hasattr(hint, "__required_keys__")


def _twin(source: Any, twins: dict[Any, Any]) -> Any:
    import typing_extensions  # noqa: PLC0415 - a dependency of pydantic, needed before Python 3.12 only

    # Until it is built, the class stands for itself: if it holds itself, pydantic refuses it and says what to use.
    twins[source] = source
    fields, same = {}, type(source).__module__ != "typing"
    for name, hint in typing.get_type_hints(source, include_extras=True).items():
        marked = typing.get_origin(hint) in (typing.Required, typing.NotRequired)
        written = typing.get_args(hint)[0] if marked else hint
        inner = _rebuilt(written, twins)
        same = same and inner is written
        optional = typing.get_origin(hint) is typing.NotRequired if marked else name not in source.__required_keys__
        fields[name] = typing_extensions.NotRequired[inner] if optional else inner
    if same:
        return source
    build: Any = typing_extensions.TypedDict
    twin = build(source.__name__, fields)
    twin.__doc__, twin.__module__ = source.__doc__, source.__module__
    if hasattr(source, "__pydantic_config__"):
        twin.__pydantic_config__ = source.__pydantic_config__
    twins[source] = twin
    return twin
