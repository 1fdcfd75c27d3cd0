"""What passed over one wire, byte for byte: the SDK carries the protocol, the tap keeps what the server said.

The SDK's typed results drop unknown fields, merge repeated keys and lose a whole page over one bad entry. So each
message is read strictly here, kept as it is, and handed on in a form that no typed model can choke on: faults
repaired and listings emptied.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

from keel.capture.gaps import CaptureGap
from keel.core.jsontext import MAX_DEPTH, Fault, JsonFault, JsonSyntaxError, parse
from keel.core.redact import Redactor
from keel.core.text import escape, excerpt, size

MESSAGE_LIMIT = 32 * 1024 * 1024
"""Longest line, body or event that is read, in bytes."""
LISTINGS = {
    "tools/list": "tools",
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
}
"""Each listing method and the field of its result that holds the entries."""
_HEAD = 4096
"""Where an envelope's own members are looked for in text that is no JSON, in characters from either end."""
_CHANGED = "notifications/{}/list_changed"


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer as sent: the whole JSON-RPC message."""

    message: dict[str, Any]
    faults: tuple[JsonFault, ...]

    @property
    def result(self) -> Any:
        """The `result` member, or None."""
        return self.message.get("result")


@dataclass
class Tap:
    """Everything that one connection sent, as far as a capture asks for it."""

    name: str
    """Name of the server, for messages."""
    redactor: Redactor = field(default_factory=Redactor)
    limit: int = MESSAGE_LIMIT
    """Longest line, body or event, in bytes."""
    gap: CaptureGap | None = None
    """What made the wire unreadable; the SDK may swallow the exception that says so."""
    replies: dict[str, Reply] = field(default_factory=dict)
    """The last answer to each method."""
    changes: Counter[str] = field(default_factory=Counter)
    """How often each list was said to have changed: by field name."""
    noise: int = 0
    """Lines before the last answer that are not messages of the protocol, blank ones aside; later ones are a race."""
    first_noise: str = ""
    """The first of them, escaped and cut, secrets masked."""
    echoed: bool = False
    """Whether a secret was in anything the server sent."""
    _heard: int = 0
    _methods: dict[str, str] = field(default_factory=dict)

    def sent(self, request_id: object, method: str) -> bool:
        """Remember which method a request id stands for; returns whether it may still leave."""
        self._methods[str(request_id)] = method
        return True

    def received(self, data: bytes, *, method: str = "") -> dict[str, Any] | None:
        """Read one message, keep it, and return the form in which it goes on to the SDK.

        Args:
            data: the text of one JSON value.
            method: the method that it answers, where the transport knows better than the id.

        Returns:
            None if the text is not a JSON-RPC 2.0 message.

        Raises:
            CaptureGap: `server-failed`, for an answer that is broken.
        """
        text, broken = _decode(data)
        try:
            # One level more than a surface file has, where entries stand one level higher.
            message, faults = parse(text, max_depth=MAX_DEPTH + 1)
        except JsonSyntaxError as error:
            if text.lstrip().startswith("{") and '"jsonrpc"' in text[:_HEAD] + text[-_HEAD:]:
                return self.broken(data, f"sent a message that cannot be read: {escape(error.message)}")
            return None
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            return None
        if self.redactor and (self.redactor.holds_secret(text) or holds_secret(message, self.redactor)):
            self.echoed = True
        return self.keep(message, _not_utf8(faults) if broken else faults, method)

    def fail(self, what: str) -> NoReturn:
        """Give the wire up.

        Raises:
            CaptureGap: `server-failed`, always.
        """
        why = f"`{escape(self.name)}` {what}"
        self.gap = CaptureGap("server-failed", why, "report it to the server's author")
        raise self.gap

    def broken(self, data: bytes, what: str) -> dict[str, Any] | None:
        """Judge a message that cannot be read: give the wire up, or return what goes on to the SDK in its place.

        Args:
            data: the message, or its beginning and end.
            what: what is wrong with it.

        Raises:
            CaptureGap: `server-failed`.
        """
        del data
        self.fail(what)

    def growing(self) -> None:
        """Judge a line that is beyond the limit and has not ended.

        Raises:
            CaptureGap: `server-failed`.
        """
        self.too_long()

    def too_long(self) -> NoReturn:
        """Give the wire up over a message beyond the limit.

        Raises:
            CaptureGap: `server-failed`, always.
        """
        self.fail(self.beyond)

    @property
    def beyond(self) -> str:
        """What is said of a message beyond the limit."""
        return f"sent a message of more than {size(self.limit)}"

    def heard_noise(self, data: bytes) -> None:
        """Count a line that is not a message."""
        if not data.strip():
            return
        self._heard += 1
        if self._heard == 1:
            self.first_noise = excerpt(self.redactor.clean(data[:2000].decode("utf-8", "replace").strip()))

    def keep(self, message: dict[str, Any], faults: tuple[JsonFault, ...], method: str) -> dict[str, Any] | None:
        """Keep a message of the protocol and return the form in which it goes on to the SDK.

        Raises:
            CaptureGap: `server-failed`, for an answer that is broken.
        """
        name = message.get("method")
        if isinstance(name, str):
            for listing in LISTINGS.values():
                if name == _CHANGED.format(listing):
                    self.changes[listing] += 1
            return carried(message, faults)
        method = method or self._methods.pop(str(message.get("id")), "")
        if method:
            if not isinstance(message.get("result"), dict) and not isinstance(message.get("error"), dict):
                self.fail(f"answered `{method}` with something that is not the protocol: no `result` object")
            self.replies[method] = Reply(message, faults)
            self.noise = self._heard
        return _emptied(carried(message, faults), LISTINGS.get(method, ""))


def _decode(data: bytes) -> tuple[str, bool]:
    """Return the text and whether it holds bytes that are not UTF-8, which stand as lone surrogates (PEP 383)."""
    try:
        return data.decode("utf-8-sig"), False
    except UnicodeDecodeError:
        return data.decode("utf-8", "surrogateescape"), True


def _not_utf8(faults: Iterable[JsonFault]) -> tuple[JsonFault, ...]:
    detail = "string holds bytes that are not UTF-8"
    return tuple(replace(item, detail=detail) if item.fault is Fault.LONE_SURROGATE else item for item in faults)


def carried(message: dict[str, Any], faults: tuple[JsonFault, ...]) -> dict[str, Any]:
    """Return the message without lone surrogates, which no encoder of the SDK accepts."""
    if not any(item.fault is Fault.LONE_SURROGATE for item in faults):
        return message
    cleaned: dict[str, Any] = _clean(message)
    return cleaned


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, list):
        return [_clean(item) for item in value]
    if isinstance(value, dict):
        return {_clean(name): _clean(item) for name, item in value.items()}
    return value


def _emptied(message: dict[str, Any], listing: str) -> dict[str, Any]:
    result = message.get("result")
    if not listing or not isinstance(result, dict) or not isinstance(result.get(listing), list):
        return message
    return {**message, "result": {**result, listing: []}}


def holds_secret(value: Any, redactor: Redactor) -> bool:
    r"""Tell whether any string of a JSON value holds a secret; escapes such as `\u0061` hide it from a text search."""
    level = [value]
    while level:
        item = level.pop()
        if isinstance(item, str):
            if redactor.holds_secret(item):
                return True
        elif isinstance(item, list):
            level.extend(item)
        elif isinstance(item, dict):
            level.extend(item)
            level.extend(item.values())
    return False
