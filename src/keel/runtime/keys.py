"""What names a call: the digest of its arguments, and the key under which its operation is done once."""

from __future__ import annotations

from collections.abc import Mapping

from keel.core.canonical import MAX_DEPTH, CanonicalError
from keel.core.digest import digest
from keel.core.model import Json
from keel.runtime.model import ToolCall, TrustedContext


def arguments_digest(arguments: Mapping[str, Json]) -> str:
    """Return `k1:<hex>` of arguments; equal for every spelling of the same data.

    Raises:
        CanonicalError: if they hold what JSON does not have.
    """
    return digest(dict(arguments))


def snapshot(value: Json, depth: int = 0) -> Json:
    """Return data of one's own: whoever holds the original changes nothing any more.

    Raises:
        CanonicalError: if it is nested deeper than `MAX_DEPTH`, or holds itself.
    """
    if depth > MAX_DEPTH:
        raise CanonicalError(f"nesting is deeper than {MAX_DEPTH} levels")
    if isinstance(value, dict):
        return {name: snapshot(item, depth + 1) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [snapshot(item, depth + 1) for item in value]
    return value


def operation_key(call: ToolCall, trusted: TrustedContext, arguments: str) -> str:
    """Return the idempotency key of the operation that a call is part of.

    It depends on who asks, as the host knows it, on the intended operation, and on what exactly is asked for, and on
    nothing else: a retry and a redelivery have the same key, and no two tenants ever have.

    Args:
        call: the call; its operation is its call id where none is named.
        trusted: who asks.
        arguments: digest of the arguments.
    """
    operation = call.operation or call.call_id
    return digest([trusted.tenant, trusted.subject, operation, call.name, arguments])
