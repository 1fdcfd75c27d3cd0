"""Fields of manifest and configuration: for each a pydantic-core schema, a pattern and sentences for people.

The grammar is written as core schemas, which pydantic validates with and derives JSON Schema from. Model classes would
say the same, but importing them costs a tenth of a second, more than all the rest of reading a project.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date
from typing import Any
from urllib.parse import urlsplit

from pydantic_core import PydanticCustomError
from pydantic_core import core_schema as core

from keel.core.text import excerpt
from keel.manifest import words

Schema = core.CoreSchema
Fault = tuple[str, str]
"""(what is wrong, what to write instead)."""
Check = Callable[[str], Fault | None]


def record(description: str, fields: Mapping[str, core.TypedDictField], **json: Any) -> core.TypedDictSchema:
    """Return the schema of a mapping with known keys only, read without conversion between types.

    Args:
        description: what the mapping is, for the JSON Schema.
        fields: its keys.
        json: further keywords for the JSON Schema.
    """
    return core.typed_dict_schema(
        dict(fields), strict=True, extra_behavior="forbid", metadata=_json(description=description, **json)
    )


def needed(schema: Schema, description: str) -> core.TypedDictField:
    """Return a key that must stand."""
    return core.typed_dict_field(schema, required=True, metadata=_json(description=description))


def maybe(schema: Schema, description: str, **json: Any) -> core.TypedDictField:
    """Return a key that may be absent; absent is not the same as empty."""
    return core.typed_dict_field(schema, required=False, metadata=_json(description=description, **json))


def _json(**updates: Any) -> dict[str, Any]:
    return {"pydantic_js_updates": updates}


def choice(*literals: Any) -> Schema:
    """Return the schema of a value out of a closed set."""
    return core.literal_schema(list(literals))


def number(low: float, high: float, *, above: bool = False) -> Schema:
    """Return the schema of a finite number within bounds; `above` excludes the lower one."""
    bound: dict[str, Any] = {"gt" if above else "ge": low}
    return core.float_schema(**bound, le=high, strict=True, allow_inf_nan=False)


def whole(low: int, high: int) -> Schema:
    """Return the schema of an integer within bounds."""
    return core.int_schema(ge=low, le=high, strict=True)


def flag() -> Schema:
    """Return the schema of `true` or `false`."""
    return core.bool_schema(strict=True)


def string() -> Schema:
    """Return the schema of any text."""
    return core.str_schema(strict=True)


def listed(item: Schema, *, least: int = 0) -> Schema:
    """Return the schema of a list."""
    return core.list_schema(item, strict=True, min_length=least)


def table(key: Schema, value: Schema) -> Schema:
    """Return the schema of a mapping with free keys."""
    return core.dict_schema(key, value, strict=True)


def text(pattern: str, check: Check, **json: Any) -> Schema:
    """Return the schema of a text that a check accepts.

    Args:
        pattern: a regular expression over the whole text, which Python and ECMA-262 read alike, for the JSON Schema.
        check: says what is wrong with a text, or None.
        json: further keywords for the JSON Schema.
    """

    def validate(value: str) -> str:
        fault = check(value)
        if fault:
            raise PydanticCustomError("keel", "{problem}", {"problem": fault[0], "hint": fault[1]})
        return value

    shown = _json(pattern=f"^(?:{pattern})$", **json)
    return core.no_info_after_validator_function(validate, string(), metadata=shown)


def shorthand(key: str, schema: Schema, plain: Mapping[str, Any]) -> Schema:
    """Return the schema of a mapping for which a plain text may stand.

    Args:
        key: the key of the mapping that the text is the value of.
        schema: the mapping.
        plain: JSON Schema of the text.
    """

    def spell_out(value: Any) -> Any:
        return {key: value} if isinstance(value, str) else value

    def show(generated: dict[str, Any]) -> None:
        mapping = dict(generated)
        generated.clear()
        generated["anyOf"] = [{"type": "string", **plain}, mapping]

    return core.no_info_before_validator_function(spell_out, schema, metadata={"pydantic_js_extra": show})


def matching(pattern: str, problem: str, hint: str) -> Schema:
    """Return the schema of a text that matches a whole pattern.

    Args:
        pattern: as in `text`.
        problem: what a wrong value is, such as `is not a host`; the value is put before it.
        hint: what to write instead.
    """
    return text(pattern, lambda value: None if re.fullmatch(pattern, value) else (f"{quoted(value)} {problem}", hint))


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
    exact = f"`=={value.strip()}`, or " if re.fullmatch(r"\s*[0-9][0-9A-Za-z.]*\s*", value) else ""
    return f"{quoted(value)} is not a PEP 440 version range", f'write {exact}a range such as `">=2.3,<3"`'


def url_fault(value: str) -> Fault | None:
    """Say what is wrong with the endpoint of a server, or None; a host may be a reference."""
    hint = "write `https://HOST/PATH`"
    if re.search(rf"[\s{words.DARK}]", value):
        return "the URL holds white space or control characters", hint
    if value.startswith("${"):
        return None
    try:
        parts = urlsplit(value)
        # A port out of range raises; that of a reference is not known yet.
        has_host = "${" in parts.netloc or (parts.hostname and parts.port != 0)
        if parts.scheme in ("http", "https") and has_host:
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


PLAIN = text(words.PLAIN, _plain)
NAME = PLAIN
SERVER_NAME = text(words.SERVER_NAME, _server_name)
TOOL_KEY = text(words.TOOL_KEY, _tool_key)
VARIABLE = matching(words.VARIABLE, "is not an environment variable's name", "use letters, digits and `_`")
DATE = text(words.DATE, _date, format="date")
RANGE = text(r"[\s\S]*[0-9][\s\S]*", _range)
URL = text(r"(?:https?://|\$\{)[^\s]+", url_fault)
PATH = text(words.RELATIVE, _relative)
POINTER = matching(words.POINTER, "is not an RFC 6901 pointer", "begin with `/`; write `~1` for `/` and `~0` for `~`")
HOST = matching(
    words.HOST, "is not a network pattern", "write a host, exact or with one leading `*.`, and optionally `:port`"
)
ARTIFACT = matching(
    r"sha256:[0-9a-f]{64}|sha384:[0-9a-f]{96}|sha512:[0-9a-f]{128}",
    "is not a digest",
    "write `sha256:` and 64 lower-case hexadecimal digits",
)
SECONDS = number(0, 86_400, above=True)
COUNT = whole(0, 1_000_000_000)
AMOUNT = number(0, 1e12)
