"""Whether arguments and results fit the frozen schemas: compiled once, offline, in linear time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from keel.core.jsontext import escape_token
from keel.core.model import FrozenTool, Json
from keel.core.schema import walk
from keel.core.text import excerpt

MOST_ERRORS = 20
"""Errors that one answer lists."""
_LONGEST_MESSAGE = 300
_UNDECIDED = "x-keel-undecided-pattern"


@dataclass(frozen=True, slots=True)
class Misfit:
    """One place at which a value does not fit."""

    pointer: str
    """RFC 6901 pointer into the value."""
    message: str
    """Escaped."""


class Validators:
    """Judges values by the schemas of frozen tools; each schema is compiled at its first use and kept by its digest.

    Args:
        clean: takes secrets out of what a message quotes, before it is cut: half a secret would not be found again.
    """

    def __init__(self, clean: Callable[[str], str] = str) -> None:
        self._clean = clean
        self._compiled: dict[tuple[str, str], _Compiled] = {}

    def arguments(self, tool: FrozenTool, value: Json) -> tuple[Misfit, ...]:
        """Return where arguments do not fit the input schema, at most `MOST_ERRORS` places."""
        return self._get(tool, "inputSchema").misfits(value)

    def result(self, tool: FrozenTool, value: Json) -> tuple[Misfit, ...]:
        """Return where a result does not fit the output schema; nothing where the tool has none."""
        return self._get(tool, "outputSchema").misfits(value) if tool.output_schema is not None else ()

    def _get(self, tool: FrozenTool, name: str) -> _Compiled:
        key = (tool.digest, name)
        found = self._compiled.get(key)
        if found is None:
            found = self._compiled[key] = _Compiled(tool.wire.get(name), self._clean)
        return found


class _Compiled:
    """One schema, or the reason why nothing can be judged by it."""

    def __init__(self, schema: Json, clean: Callable[[str], str]) -> None:
        self._clean = clean
        self._problem = ""
        self._undecided = _Undecided()
        self._validator: Any = None
        try:
            self._validator = self._compile({"type": "object"} if schema is None else schema)
        except _FAILURES() as error:
            self._problem = f"the frozen schema cannot be used: {excerpt(_first_line(error), _LONGEST_MESSAGE)}"

    def _compile(self, schema: Json) -> Any:
        try:
            return _validator(schema)
        except ValueError:
            # The linear engine has no look-around and no back-references, and no server's pattern runs in another
            # one: whatever comes to such a pattern is neither accepted nor judged.
            return _validator(_without(schema), keywords={_UNDECIDED: self._undecided.keyword()})

    def misfits(self, value: Json) -> tuple[Misfit, ...]:
        if self._problem:
            return (Misfit("", self._problem),)
        self._undecided.reached.clear()
        try:
            if self._validator.is_valid(value) and not self._undecided.reached:
                return ()
            found = tuple(_listed(self._validator.iter_errors(value), self._clean))
        except _FAILURES() as error:
            return (Misfit("", f"cannot be judged: {excerpt(self._clean(_first_line(error)), _LONGEST_MESSAGE)}"),)
        undecided = tuple(
            Misfit("", f"the pattern `{excerpt(pattern, 80)}` is none that runs in linear time, so nothing passes it")
            for pattern in dict.fromkeys(self._undecided.reached)
        )
        return found or undecided


class _Undecided:
    """Notes the patterns that a value came to and that cannot be run."""

    def __init__(self) -> None:
        self.reached: list[str] = []

    def keyword(self) -> type:
        """Return a keyword that stands in place of such a pattern."""
        reached = self.reached

        class Keyword:
            def __init__(self, parent: Json, pattern: str, path: Json) -> None:
                del parent, path
                self.pattern = pattern

            def validate(self, instance: Json) -> None:
                if isinstance(instance, str):
                    reached.append(self.pattern)
                    message = f"the pattern `{excerpt(self.pattern, 80)}` does not run in linear time"
                    raise ValueError(message)  # noqa: TRY004 - what the validator expects of a keyword

        return Keyword


def _without(schema: Json) -> Json:
    """Return a copy in which every pattern that the linear engine refuses is a keyword of ours."""
    from copy import deepcopy  # noqa: PLC0415 - rarely needed

    copy = deepcopy(schema)
    for _, current in walk(copy):
        if isinstance(current, dict) and isinstance(current.get("pattern"), str) and not _is_linear(current["pattern"]):
            current[_UNDECIDED] = current.pop("pattern")
    return copy


def _is_linear(pattern: str) -> bool:
    try:
        _validator({"pattern": pattern})
    except ValueError:
        return False
    return True


def _validator(schema: Json, **more: Any) -> Any:
    import jsonschema_rs  # noqa: PLC0415 - start-up must not pay for the validator

    declared = isinstance(schema, dict) and "$schema" in schema
    make: Any = jsonschema_rs.validator_for if declared else jsonschema_rs.Draft202012Validator
    return make(schema, offline=True, validate_formats=False, pattern_options=jsonschema_rs.RegexOptions(), **more)


def _FAILURES() -> tuple[type[Exception], ...]:  # noqa: N802 - a constant that loads the validator
    import jsonschema_rs  # noqa: PLC0415 - start-up

    return ValueError, TypeError, OverflowError, RecursionError, jsonschema_rs.ReferencingError


def _listed(errors: Iterable[Any], clean: Callable[[str], str]) -> Iterable[Misfit]:
    for count, error in enumerate(errors):
        if count == MOST_ERRORS:
            yield Misfit("", f"and more than {MOST_ERRORS} errors in all")
            return
        pointer = "".join(f"/{escape_token(str(token))}" for token in error.instance_path)
        yield Misfit(excerpt(clean(pointer), 200), excerpt(clean(error.message), _LONGEST_MESSAGE))


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
