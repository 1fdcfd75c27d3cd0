"""keel: the lockfile, linter and deploy gate for the tools that AI agents call.

What flow modules import is listed in `__all__` and loaded on first use, so that `import keel` costs nothing to the
commands that never run a flow.
"""

import sys

TYPE_CHECKING = False
"""Type checkers take this name for true; importing `typing` would be most of what `import keel` costs."""

if TYPE_CHECKING:
    from keel.authoring import (
        Agent,
        Approval,
        Reasoner,
        flow,
        gated,
        hedge,
        human_gate,
        mcp_tool,
        quorum,
        race,
        think,
        tool,
    )
    from keel.errors import ApprovalDenied, NoRuntime, ToolCallError

__all__ = [
    "Agent",
    "Approval",
    "ApprovalDenied",
    "NoRuntime",
    "Reasoner",
    "ToolCallError",
    "flow",
    "gated",
    "hedge",
    "human_gate",
    "mcp_tool",
    "quorum",
    "race",
    "think",
    "tool",
]

_ERRORS = frozenset({"ApprovalDenied", "NoRuntime", "ToolCallError"})


if not TYPE_CHECKING:  # a type checker would take it for a licence to import any name

    def __getattr__(name: str) -> object:
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module  # noqa: PLC0415

        value = getattr(import_module("keel.errors" if name in _ERRORS else "keel.authoring"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Package(type(sys)):  # type: ignore[misc] # the type of modules
    """Keeps `keel.flow` the decorator: the import system would bind the package of that name over it."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in __all__ and isinstance(value, type(sys))):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
