"""Text fields of manifest and configuration: each a pattern for the JSON Schema and a sentence for people."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from keel.core.text import excerpt
from keel.manifest import words

Fault = tuple[str, str]
"""(what is wrong, what to write instead)."""


@dataclass(frozen=True, slots=True)
class Checked:
    """Annotation of a text field: the pattern that JSON Schema shows and the check that keel makes."""

    pattern: str
    check: Callable[[str], Fault | None]
    format: str = ""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self._validate, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        value = handler(schema)
        value["pattern"] = f"^(?:{self.pattern})$"
        if self.format:
            value["format"] = self.format
        return value

    def _validate(self, value: str) -> str:
        fault = self.check(value)
        if fault:
            # Braces would be read as fields of the message template.
            raise PydanticCustomError("keel", "{problem}", {"problem": fault[0], "hint": fault[1]})
        return value


def matching(pattern: str, problem: str, hint: str) -> Checked:
    """Return the annotation for text that must match a whole pattern.

    Args:
        pattern: a regular expression that Python and ECMA-262 read alike.
        problem: what a wrong value is, such as `is not a host`; the value is put before it.
        hint: what to write instead.
    """
    compiled = re.compile(pattern)
    return Checked(pattern, lambda value: None if compiled.fullmatch(value) else (f"{quoted(value)} {problem}", hint))


def quoted(value: str) -> str:
    """Return a foreign value for a message."""
    return f"`{excerpt(value, 60)}`"


def _spaces(value: str) -> Fault | None:
    if value != value.strip():
        return f"{quoted(value)} begins or ends with white space", f"write `{excerpt(value.strip(), 60)}`"
    return None


def _plain(value: str) -> Fault | None:
    if not value.strip():
        return "the text is blank", "write something, or remove it"
    if _spaces(value):
        return _spaces(value)
    if re.fullmatch(words.PLAIN, value):
        return None
    return f"{quoted(value)} is not one line of at most 2,000 characters", "shorten it to one line"


def _tool_key(value: str) -> Fault | None:
    if re.fullmatch(words.TOOL_KEY, value):
        return None
    server, slash, _ = value.partition("/")
    if not value.strip():
        return "the tool's name is empty", "write `server/tool` or the name of a native tool"
    if _spaces(value):
        return _spaces(value)
    if "*" in value:
        whole = f"; `{excerpt(server, 60)}/*` grants every tool of the server" if slash and "*" not in server else ""
        return f"{quoted(value)} holds a wildcard; only `server/*` may", f"name each tool{whole}"
    if not slash and words.is_reserved(value):
        return (
            f"{quoted(value)} is a reserved name",
            "rename the tool; `human_gate` and names with a leading `_` are keel's",
        )
    if slash and not re.fullmatch(words.SERVER_NAME, server):
        return f"{quoted(server)} is not a server's name", _SERVER_HINT
    return f"{quoted(value)} is not a tool's key", "write `server/tool` or the name of a native tool"


_SERVER_HINT = "use at most 63 letters, digits, `.`, `_` and `-`, beginning with a letter or digit"


def _server_name(value: str) -> Fault | None:
    if words.is_reserved(value):
        return f"{quoted(value)} is a reserved name", "rename the server"
    if re.fullmatch(words.SERVER_NAME, value):
        return None
    return f"{quoted(value)} is not a server's name", _SERVER_HINT


def _date(value: str) -> Fault | None:
    try:
        if re.fullmatch(words.DATE, value) and date.fromisoformat(value):
            return None
    except ValueError:
        pass
    return f"{quoted(value)} is not a date", "write `YYYY-MM-DD`"


def _range(value: str) -> Fault | None:
    # Slow to import, and most manifests have no range.
    from packaging.specifiers import InvalidSpecifier, SpecifierSet  # noqa: PLC0415

    try:
        if value.strip() and SpecifierSet(value):
            return None
    except InvalidSpecifier:
        pass
    hint = f"write `=={value.strip()}`, or a range" if re.fullmatch(r"\s*v?[0-9][0-9A-Za-z.]*\s*", value) else "write"
    return f"{quoted(value)} is not a PEP 440 version range", f'{hint} such as `">=2.3,<3"`'


def _url(value: str) -> Fault | None:
    hint = "write `https://HOST/PATH`"
    if re.search(rf"[\s{words.DARK}]", value):
        return "the URL holds white space or control characters", hint
    if value.startswith("${"):
        return None
    try:
        parts = urlsplit(value)
        host = parts.hostname or ("${" if "${" in parts.netloc else "")
        if parts.scheme in ("http", "https") and host and ("${" in parts.netloc or parts.port != 0):
            return None
    except ValueError:
        pass
    return "the URL is not one of http or https with a host", hint


def _relative(value: str) -> Fault | None:
    if re.fullmatch(words.RELATIVE, value):
        return None
    if not value:
        return "the path is empty", "write `.` for the project itself"
    hint = "write a path relative to the project, with `/` between its parts"
    return f"{quoted(value)} is not a relative path", hint


PublicText = Annotated[str, Checked(words.PLAIN, _plain)]
Name = PublicText
ServerName = Annotated[str, Checked(words.SERVER_NAME, _server_name)]
ToolKey = Annotated[str, Checked(words.TOOL_KEY, _tool_key)]
VariableName = Annotated[
    str, matching(words.VARIABLE, "is not an environment variable's name", "use letters, digits and `_`")
]
DateText = Annotated[str, Checked(words.DATE, _date, "date")]
RangeText = Annotated[str, Checked(r"[\s\S]*[0-9][\s\S]*", _range)]
Url = Annotated[str, Checked(r"(?:https?://|\$\{)[^\s]+", _url)]
RelativePath = Annotated[str, Checked(words.RELATIVE, _relative)]
Pointer = Annotated[
    str, matching(words.POINTER, "is not an RFC 6901 pointer", "begin with `/`; write `~1` for `/` and `~0` for `~`")
]
NetworkHost = Annotated[
    str, matching(words.HOST, "is not a network pattern", "write a host, exact or with one leading `*.`, and `:port`")
]
ArtifactDigest = Annotated[
    str,
    matching(
        r"sha256:[0-9a-f]{64}|sha384:[0-9a-f]{96}|sha512:[0-9a-f]{128}",
        "is not a digest",
        "write `sha256:` and 64 lower-case hexadecimal digits",
    ),
]
