"""The rules of names and options that authors write, checked where they are written."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from keel.core.model import EFFECT_ALIASES, Effect
from keel.core.text import did_you_mean, excerpt
from keel.errors import KeelError

EffectName = Literal[
    "read",
    "write",
    "external",
    "dangerous",
    "none",
    "write_reversible",
    "write_irreversible",
    "external_communication",
]
"""The effects that `@tool` takes, and their aliases."""
RESERVED_NAMES = frozenset({"human_gate"})
"""Names that no native tool may take, beside those with a leading underscore."""
SERVER_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
"""What a server may be called (servers become file names of the lock)."""


class InvalidOption(KeelError):
    """An argument of an authoring name that keel does not accept; raised where the name is used."""

    code = "invalid-option"


class ReservedName(InvalidOption):
    """A native tool with a name that keel keeps for itself or that could be taken for another tool's key."""

    code = "reserved-name"


@dataclass(frozen=True, slots=True)
class StepOptions:
    """How one step is executed; None leaves the choice to the manifest and its defaults.

    Raises:
        InvalidOption: if `retries` is not a whole number from 0, `timeout_s` not a positive number of seconds, or
            `label` not text.
    """

    retries: int | None = None
    """How often the same call may be sent again after it failed."""
    timeout_s: float | None = None
    """Seconds until the step fails with `timeout`."""
    label: str | None = None
    """What reports and traces call the step."""

    def __post_init__(self) -> None:
        retries = self.retries
        if retries is not None and (isinstance(retries, bool) or not isinstance(retries, int) or retries < 0):
            raise InvalidOption(f"`retries` must be a whole number from 0, not `{excerpt(repr(retries))}`")
        check_seconds("timeout_s", self.timeout_s)
        if self.label is not None and not isinstance(self.label, str):
            raise InvalidOption(f"`label` must be text, not `{excerpt(repr(self.label))}`")

    def merged(
        self, retries: int | None = None, timeout_s: float | None = None, label: str | None = None
    ) -> StepOptions:
        """Return these options with every given one replaced."""
        given = {"retries": retries, "timeout_s": timeout_s, "label": label}
        return replace(self, **{name: value for name, value in given.items() if value is not None})  # type: ignore[arg-type]


def check_seconds(option: str, value: float | None) -> None:
    """Refuse a duration that is not a positive, finite number of seconds; None is no limit of its own.

    Raises:
        InvalidOption: for anything else.
    """
    if value is None:
        return
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not math.isfinite(value) or value <= 0:
        raise InvalidOption(f"`{option}` must be a positive number of seconds, not `{excerpt(repr(value))}`")


def check_choice(option: str, value: object, choices: Iterable[str]) -> None:
    """Refuse a text option outside a closed set.

    Raises:
        InvalidOption: naming the allowed values and the nearest one.
    """
    known = tuple(choices)
    if not isinstance(value, str) or value not in known:
        allowed = ", ".join(f"`{choice}`" for choice in known)
        guess = did_you_mean(value, known) if isinstance(value, str) else ""
        raise InvalidOption(f"`{option}` must be one of {allowed}, not `{excerpt(repr(value))}`", hint=guess)


def check_flag(option: str, value: object) -> None:
    """Refuse a truth value that is not a `bool`: `idempotent="no"` would otherwise be true.

    Raises:
        InvalidOption: for anything but `True` and `False`.
    """
    if not isinstance(value, bool):
        raise InvalidOption(f"`{option}` must be `True` or `False`, not `{excerpt(repr(value))}`")


def effect_of(value: object) -> Effect:
    """Return the effect that a text names, aliases included.

    Raises:
        InvalidOption: if it names none.
    """
    if isinstance(value, str) and value in EFFECT_ALIASES:
        return EFFECT_ALIASES[value]
    check_choice("effect", value, [effect.value for effect in Effect])
    return Effect(str(value))


def check_native_name(name: object) -> None:
    """Refuse a name that a native tool cannot have.

    Raises:
        ReservedName: if the name holds `/` (it would read as an MCP key), begins with `_`, or is reserved.
        InvalidOption: if it is not text, is empty, or holds blanks or invisible characters.
    """
    check_text("name", name)
    text = str(name)
    if "/" in text:
        raise ReservedName(
            f"a native tool cannot be called `{excerpt(text)}`: a name with `/` is the key of an MCP tool",
            hint="choose a name without `/`",
        )
    if text.startswith("_") or text in RESERVED_NAMES:
        raise ReservedName(
            f"a native tool cannot be called `{excerpt(text)}`: the name is reserved",
            hint='rename the function, or give another name with `@tool(name="…")`',
        )
    if not text.isprintable() or " " in text or text == "<lambda>":
        raise InvalidOption(
            f"a native tool cannot be called `{excerpt(text)}`: a model could not call it by that name",
            hint='give a plain name with `@tool(name="…")`',
        )


def check_server_name(name: object) -> None:
    """Refuse a server name outside the grammar of the manifest.

    Raises:
        InvalidOption: with the grammar.
    """
    check_text("server", name)
    if not SERVER_NAME.fullmatch(str(name)):
        raise InvalidOption(
            f"`{excerpt(str(name))}` is no server name: it must match `{SERVER_NAME.pattern}`",
            hint="use the server's name in the manifest's `servers`",
        )


def check_text(option: str, value: object) -> None:
    """Refuse what is not text, and empty text.

    Raises:
        InvalidOption: for anything but a non-empty string.
    """
    if not isinstance(value, str) or not value.strip():
        raise InvalidOption(f"`{option}` must be text that is not empty, not `{excerpt(repr(value))}`")
