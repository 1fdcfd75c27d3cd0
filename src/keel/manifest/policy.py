"""Contracts of tools: what the manifest asserts, what a native declaration says, what hints may raise.

What a server says of itself may raise a risk and never lowers one; only a person asserts.
"""

from __future__ import annotations

from collections.abc import Mapping

from keel.core.model import (
    NATIVE,
    Contract,
    Effect,
    Grant,
    Idempotency,
    Json,
    Manifest,
    NativeDeclaration,
    Trust,
    split_key,
)
from keel.manifest.scalars import scalar

Hints = Mapping[str, Json]
"""A tool's `annotations` as sent (MCP 2025-11-25, `ToolAnnotations`)."""


def contract_for(
    key: str, manifest: Manifest, hints: Hints | None = None, native: NativeDeclaration | None = None
) -> Contract:
    """Return the contract of a tool.

    Args:
        key: tool key.
        manifest: the capability manifest; an absent one asserts nothing.
        hints: the tool's `annotations` as the server sent them; None for native tools and when none were sent.
        native: what `@tool` declares; None for MCP tools.

    Returns:
        The assertion of the exact grant, else the native declaration, else the unasserted contract:
        `defaults.unasserted_effect` and `none`, raised to `dangerous` by an explicit `destructiveHint: true`. A grant
        that is safer than a native declaration without a `reason` is an error, and does not lower it meanwhile.
    """
    asserted = _asserted(key, manifest)
    if asserted is not None and native is not None and needs_reason(key, manifest, native):
        return _worse(asserted, declared(native))
    if asserted is not None:
        return asserted
    if native is not None:
        return declared(native)
    effect = manifest.defaults.unasserted_effect
    if _hint(hints, "destructiveHint") is True:
        effect = Effect.DANGEROUS
    return Contract(effect, Idempotency.NONE, asserted=False)


def declared(native: NativeDeclaration) -> Contract:
    """Return the contract that `@tool` asserts: `idempotent=True` means naturally repeatable."""
    idempotency = Idempotency.NATIVE if native.idempotent else Idempotency.NONE
    return Contract(native.effect, idempotency, asserted=True)


def _worse(one: Contract, other: Contract) -> Contract:
    effect = max(one.effect, other.effect, key=lambda effect: effect.rank)
    return Contract(effect, min(one.idempotency, other.idempotency, key=_strength), asserted=True)


def _exact(key: str, manifest: Manifest) -> Grant | None:
    return next((grant for grant in manifest.tools or () if grant.tool == key), None)


def _asserted(key: str, manifest: Manifest) -> Contract | None:
    grant = _exact(key, manifest)
    if grant is None or grant.effect is None or grant.idempotency is None:
        return None
    return Contract(grant.effect, grant.idempotency, asserted=True)


def _hint(hints: Hints | None, name: str) -> Json:
    # A hint that is no boolean is a lint finding of its own and says nothing here.
    value = hints.get(name) if isinstance(hints, Mapping) else None
    return value if isinstance(value, bool) else None


def effect_lowered(
    key: str, manifest: Manifest, hints: Hints | None = None, native: NativeDeclaration | None = None
) -> str | None:
    """Say in which way a grant asserts less than a declaration or an explicit hint says, or None.

    Args:
        key: tool key.
        manifest: the capability manifest.
        hints: as in `contract_for`.
        native: as in `contract_for`.

    Returns:
        A clause that continues `` `KEY` is asserted below …``; `needs_reason` tells whether a reason is required.
    """
    asserted = _asserted(key, manifest)
    if asserted is None:
        return None
    if native is not None:
        return _below_declaration(asserted, declared(native))
    return _below_hints(asserted, hints)


def _below_declaration(asserted: Contract, native: Contract) -> str | None:
    parts = []
    if asserted.effect.rank < native.effect.rank:
        parts.append(f"effect `{asserted.effect}` where `@tool` declares `{native.effect}`")
    if _strength(asserted.idempotency) > _strength(native.idempotency):
        parts.append(f"idempotency `{asserted.idempotency}` where `@tool` declares `{native.idempotency}`")
    return " and ".join(parts) or None


def _strength(idempotency: Idempotency) -> int:
    """Return how much an idempotency permits; both repeatable ones permit the same."""
    if idempotency.repeatable:
        return 2
    return 1 if idempotency is Idempotency.BEST_EFFORT else 0


def _below_hints(asserted: Contract, hints: Hints | None) -> str | None:
    parts = []
    if _hint(hints, "destructiveHint") is True and asserted.effect is not Effect.DANGEROUS:
        parts.append(f"effect `{asserted.effect}` although the server sends `destructiveHint: true`")
    if _hint(hints, "readOnlyHint") is False and asserted.effect is Effect.READ:
        parts.append("effect `read` although the server sends `readOnlyHint: false`")
    if (
        _hint(hints, "idempotentHint") is False
        and asserted.idempotency.repeatable
        and asserted.effect is not Effect.READ
    ):
        parts.append(f"idempotency `{asserted.idempotency}` although the server sends `idempotentHint: false`")
    return " and ".join(parts) or None


def needs_reason(key: str, manifest: Manifest, native: NativeDeclaration | None) -> bool:
    """Tell whether a grant is safer than a native declaration and gives no `reason`: a `manifest-error`."""
    grant = _exact(key, manifest)
    lowered = native is not None and effect_lowered(key, manifest, native=native) is not None
    return lowered and (grant is None or grant.reason is None)


def returns_of(key: str, manifest: Manifest) -> Trust:
    """Return whether what a tool returns may steer calls: by its grant, else by `defaults.returns`."""
    grant = manifest.grant_for(key)
    return grant.returns if grant and grant.returns else manifest.defaults.returns


def paste_line(key: str, hints: Hints | None = None, *, contract: Contract | None = None) -> str:
    """Return the manifest line that asserts a tool, with its hints as a comment.

    Args:
        key: tool key.
        hints: the tool's `annotations` as sent.
        contract: what to write; default the conservative one. Hints stay a comment: a person decides.
    """
    effect = contract.effect if contract else Effect.WRITE
    if contract is None and _hint(hints, "destructiveHint") is True:
        effect = Effect.DANGEROUS
    idempotency = contract.idempotency if contract else Idempotency.NONE
    line = f"- {{tool: {scalar(key)}, effect: {effect}, idempotency: {idempotency}}}"
    said = [f"{name}: {str(value).lower()}" for name in _HINTS if (value := _hint(hints, name)) is not None]
    if split_key(key)[0] == NATIVE:
        return line
    return f"{line}  # the server says {', '.join(said) if said else 'nothing'}"


_HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
