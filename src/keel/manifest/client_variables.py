"""The variables of MCP clients in the terms of keel's references.

| written | read as |
|---|---|
| `${VAR}`, `${VAR:-default}` | the same |
| `${env:VAR}` | `${VAR}` |
| `${input:name}` | `${secret:name}`, which needs an entry under `secrets` |
| `${workspaceFolder}`, `${workspaceRoot}` | `.`, the project, as long as the server starts there |
| `${userHome}`, `${pathSeparator}` and such | environment variables of that name, with a remark |
| `$VAR` | text, with a remark |
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from keel.manifest.references import ReferenceSyntaxError, parse_value
from keel.manifest.words import REFERENT, VARIABLE

_ENV = re.compile(rf"\$\{{env:({VARIABLE}(?::-[^{{}}]*)?)\}}")
_INPUT = re.compile(rf"\$\{{input:({REFERENT})\}}")
_WORKSPACE = re.compile(r"\$\{workspace(?:Folder|Root)\}")
_EDITOR = re.compile(r"\$\{(?:workspace(?:Folder|Root)(?:Basename)?|userHome|pathSeparator|cwd|file[A-Za-z]*)\}")
_BARE = re.compile(rf"\$({VARIABLE})")


@dataclass(frozen=True, slots=True)
class Remark:
    """What is to be said about a value of a client configuration."""

    message: str
    next: str
    is_error: bool = False


def normalise(text: str, *, elsewhere: bool = False) -> tuple[str, tuple[Remark, ...]]:
    """Return a value in keel's reference syntax, and what is to be said about it.

    Args:
        text: the value as the client configuration has it.
        elsewhere: whether the server starts in another directory than the project.
    """
    value = _INPUT.sub(r"${secret:\1}", _ENV.sub(r"${\1}", text))
    if not elsewhere:
        value = _WORKSPACE.sub(".", value)
    return value, tuple(_remarks(text, value))


def _remarks(text: str, value: str) -> Iterator[Remark]:
    for name in dict.fromkeys(_INPUT.findall(text)):
        yield Remark(
            f"`${{input:{name}}}` is a question that only an editor asks; keel reads it as the secret `{name}`",
            f'name its source: `secrets = {{{name} = "VARIABLE"}}` in the project configuration',
        )
    for written in dict.fromkeys(_EDITOR.findall(value)):
        hint = "write the path out, relative to the directory that the server starts in"
        yield Remark(f"`{written}` is filled in by an editor; keel reads it as an environment variable", hint)
    for name in dict.fromkeys(_BARE.findall(text)):
        yield Remark(
            f"`${name}` is handed to the server as written", f"write `${{{name}}}` if the variable's value is meant"
        )
    try:
        parse_value(value)
    except ReferenceSyntaxError as error:
        yield Remark(error.message, error.hint, is_error=True)
