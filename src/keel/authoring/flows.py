"""`@flow`: marks a function as a flow and leaves it the function it is."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar, overload

from keel.authoring.options import InvalidOption, check_flag

F = TypeVar("F", bound=Callable[..., Any])

_MARK = "__keel_flow__"


@dataclass(frozen=True, slots=True)
class FlowMark:
    """What `@flow` says of a function."""

    entry: bool = True
    """Whether the flow can be deployed and started by itself."""


@overload
def flow(function: F, /) -> F: ...
@overload
def flow(*, entry: bool = ...) -> Callable[[F], F]: ...


def flow(function: Callable[..., Any] | None = None, /, *, entry: bool = True) -> Any:
    """Declare a function as a flow, bare (`@flow`) or with options (`@flow(entry=False)`).

    The function is returned unchanged, with a mark; it keeps its signature and can be called in plain Python, where
    its native tools run as functions.

    Args:
        function: the function, `def` or `async def`.
        entry: False for a flow that other flows call and nobody starts alone; it is judged where it is called.

    Raises:
        InvalidOption: if `entry` is not a `bool`, or what is decorated is not a plain function.
    """
    check_flag("entry", entry)

    def decorate(target: Callable[..., Any]) -> Callable[..., Any]:
        if not inspect.isfunction(target):
            raise InvalidOption(
                f"`@flow` decorates a plain function, not a `{type(target).__name__}`",
                hint="put `@flow` directly above `def`",
            )
        setattr(target, _MARK, FlowMark(entry))
        return target

    return decorate if function is None else decorate(function)


def flow_mark(value: object) -> FlowMark | None:
    """Return what `@flow` said of a function, or None for anything that is no flow."""
    mark = getattr(value, _MARK, None) if inspect.isfunction(value) else None
    return mark if isinstance(mark, FlowMark) else None
