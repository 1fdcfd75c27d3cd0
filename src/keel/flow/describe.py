"""Words for values through which a tool can be reached."""

from __future__ import annotations

from keel.flow.values import (
    AgentDef,
    Awaitable,
    Class,
    Func,
    Instance,
    Keel,
    KeelModule,
    Method,
    ModuleObject,
    Static,
    Tool,
)


def describe(static: Static | None) -> str:  # noqa: PLR0911 - one line for each kind of value
    """Return words for a value through which a tool can be reached."""
    if isinstance(static, Tool):
        return f"tool `{static.key}`"
    if isinstance(static, AgentDef):
        return f"agent `{static.name}`"
    if isinstance(static, Func):
        return (
            "a lambda that reaches a tool" if static.name == "<lambda>" else f"`{static.name}`, which reaches a tool,"
        )
    if isinstance(static, Method):
        return f"`{static.func.name}`, which reaches a tool,"
    if isinstance(static, Class | Instance):
        cls = static.cls if isinstance(static, Instance) else static
        return f"class `{cls.name}`, from which a tool is reachable,"
    if isinstance(static, Keel):
        return f"keel's `{static.name}`"
    if isinstance(static, KeelModule):
        return "the module `keel`"
    if isinstance(static, ModuleObject):
        return f"module `{static.name}`, which holds tools,"
    if isinstance(static, Awaitable):
        return f"the un-awaited call of {static.what}"
    return "a value from which a tool is reachable"
