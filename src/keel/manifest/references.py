"""References in launches: `secret://name` as a whole value; `${secret:name}`, `${VAR}`, `${VAR:-default}` in text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from keel.core.text import excerpt
from keel.errors import ExitCode, KeelError
from keel.manifest.words import REFERENT, VARIABLE

SCHEME = "secret://"

_WHOLE = re.compile(f"{SCHEME}({REFERENT})")
_BRACES = re.compile(r"\$\{([^{}]*)\}")
_SECRET = re.compile(f"secret:({REFERENT})")
_VARIABLE = re.compile(f"({VARIABLE})(?::-(.*))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Text:
    """Characters that stand for themselves; `$VAR` and a lone `$` are such."""

    text: str


@dataclass(frozen=True, slots=True)
class Secret:
    """The value of a secret, known only when the launch is made."""

    name: str
    whole: bool = False
    """Whether it was written `secret://name`."""


@dataclass(frozen=True, slots=True)
class Variable:
    """The value of an environment variable; the default stands in when it is unset or empty."""

    name: str
    default: str | None = None


Part = Text | Secret | Variable


@dataclass(frozen=True, slots=True)
class Names:
    """What a value needs from outside."""

    variables: tuple[str, ...] = ()
    """Sorted; those with a default included."""
    secrets: tuple[str, ...] = ()
    """Sorted."""


class ReferenceSyntaxError(KeelError):
    """A value whose references cannot be read; the message quotes no more than the reference itself."""

    code = "manifest-error"


class MissingReferences(KeelError):
    """Variables or secrets that a launch needs and that have no value.

    Args:
        variables: names of the environment variables.
        secrets: names of the secrets.
    """

    code = "missing-variable"
    exit_code = ExitCode.INCOMPLETE

    def __init__(self, variables: tuple[str, ...], secrets: tuple[str, ...]) -> None:
        shown = [f"environment variable `{name}`" for name in variables] + [f"secret `{name}`" for name in secrets]
        super().__init__(
            f"no value for {', '.join(shown)}",
            hint="set the variable, or name the secret's source under `secrets` in the project configuration",
        )
        self.variables = variables
        self.secrets = secrets


def parse_value(text: str) -> tuple[Part, ...]:
    """Split a value of a launch into text and references.

    Args:
        text: an item of `command`, a `url`, or a value of `env` or `headers`, as written.

    Raises:
        ReferenceSyntaxError: if `secret://` stands inside a longer text, or a `${…}` is none of the known forms.
    """
    whole = _WHOLE.fullmatch(text)
    if whole:
        return (Secret(whole[1], whole=True),)
    if SCHEME in text:
        raise _bad_secret(text)
    return tuple(_parts(text))


def _bad_secret(text: str) -> ReferenceSyntaxError:
    if text.startswith(SCHEME) and text.isprintable() and " " not in text:
        name = excerpt(text.removeprefix(SCHEME), 60)
        return ReferenceSyntaxError(
            f"`{name}` is not a secret's name", hint="use letters, digits, `_`, `.` and `-`, beginning with a letter"
        )
    name = re.split(r"[^A-Za-z0-9_.-]", text.partition(SCHEME)[2])[0][:60] or "name"
    return ReferenceSyntaxError(
        "`secret://` stands inside a longer text and would be sent as written",
        hint=f"write `${{secret:{name}}}` inside text; `secret://{name}` must be the whole value",
    )


def _parts(text: str) -> Iterator[Part]:
    end = 0
    for match in _BRACES.finditer(text):
        if match.start() > end:
            yield _literal(text[end : match.start()])
        yield _reference(match[1])
        end = match.end()
    if end < len(text):
        yield _literal(text[end:])


def _literal(text: str) -> Text:
    if "${" in text:
        raise ReferenceSyntaxError("`${` is not closed, or holds braces", hint="write `${VAR}` or `${VAR:-default}`")
    return Text(text)


def _reference(inner: str) -> Part:
    secret = _SECRET.fullmatch(inner)
    if secret:
        return Secret(secret[1])
    variable = _VARIABLE.fullmatch(inner)
    if variable:
        return Variable(variable[1], variable[2])
    raise ReferenceSyntaxError(f"`${{{excerpt(inner, 60)}}}` is not a reference", hint=_reference_hint(inner))


def _reference_hint(inner: str) -> str:
    kind, colon, name = inner.partition(":")
    known = re.match(VARIABLE, name)
    if colon and kind.strip().casefold() in ("env", "environment") and known:
        return f"write `${{{known[0]}}}`"
    if colon and kind.strip().casefold() in ("input", "secret", "secrets") and known:
        return f"write `${{secret:{known[0]}}}`"
    return "write `${VAR}`, `${VAR:-default}` or `${secret:name}`"


def names(parts: tuple[Part, ...]) -> Names:
    """Return the names that the parts refer to."""
    variables = {part.name for part in parts if isinstance(part, Variable)}
    secrets = {part.name for part in parts if isinstance(part, Secret)}
    return Names(tuple(sorted(variables)), tuple(sorted(secrets)))


def write(parts: tuple[Part, ...]) -> str:
    """Return the text that `parse_value` reads as these parts."""
    return "".join(_written(part) for part in parts)


def _written(part: Part) -> str:
    if isinstance(part, Text):
        return part.text
    if isinstance(part, Secret):
        return f"{SCHEME}{part.name}" if part.whole else f"${{secret:{part.name}}}"
    return f"${{{part.name}}}" if part.default is None else f"${{{part.name}:-{part.default}}}"


def resolve(text: str, *, variables: Mapping[str, str], secrets: Mapping[str, str]) -> str:
    """Return a value with every reference replaced; what is inserted is not read again.

    Args:
        text: the value as written.
        variables: the environment.
        secrets: values of the secrets by name.

    Raises:
        ReferenceSyntaxError: as `parse_value`.
        MissingReferences: with all names that have no value.
    """
    parts = parse_value(text)
    missing_variables = {
        part.name
        for part in parts
        if isinstance(part, Variable) and part.default is None and part.name not in variables
    }
    missing_secrets = {part.name for part in parts if isinstance(part, Secret) and part.name not in secrets}
    if missing_variables or missing_secrets:
        raise MissingReferences(tuple(sorted(missing_variables)), tuple(sorted(missing_secrets)))
    return "".join(_resolved(part, variables, secrets) for part in parts)


def _resolved(part: Part, variables: Mapping[str, str], secrets: Mapping[str, str]) -> str:
    if isinstance(part, Text):
        return part.text
    if isinstance(part, Secret):
        return secrets[part.name]
    value = variables.get(part.name, "")
    return part.default if not value and part.default is not None else value
