"""What a change of the manifest allows that was not allowed before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from keel.core.codes import Severity
from keel.core.finding import Finding, Location, finding
from keel.core.model import Budget, DataClass, Defaults, Grant, Manifest, Policy, ServerSpec, Trust

_POLICY_ORDER = (Policy.PIN, Policy.COMPATIBLE, Policy.NAMES, Policy.OFF)
_SEVERITY_ORDER = ("error", "warning", "info", "never")


def loosened(old: Manifest, new: Manifest) -> tuple[Finding, ...]:
    """Return one `manifest-loosened` finding for each permission that the new manifest adds."""
    at = Location(file=new.file or old.file)
    if old.exists and not new.exists:
        message = "the manifest is gone: nothing is constrained any more"
        return (finding("manifest-loosened", message, location=at, severity=Severity.ERROR),)
    if not old.exists:
        return ()
    texts = (
        *_sections(old, new),
        *_grants(old, new),
        *_servers(old, new),
        *_defaults(old.defaults, new.defaults),
        *_budget(old.budget, new.budget),
        *_fail_on(old, new),
    )
    lines = dict(new.lines)
    return tuple(
        finding(
            "manifest-loosened", text, location=Location(file=new.file, line=lines.get(pointer, 0), pointer=pointer)
        )
        for pointer, text in texts
    )


Loosening = tuple[str, str]
"""(pointer into the manifest, sentence)"""


def _sections(old: Manifest, new: Manifest) -> Iterator[Loosening]:
    for name in ("servers", "tools", "reasoners", "models", "scopes", "network"):
        before, after = getattr(old, name), getattr(new, name)
        if before is not None and after is None:
            yield f"/{name}", f"the section `{name}` is gone: everything is allowed"
        elif before is not None and name not in ("servers", "tools"):
            for item in sorted(set(after) - set(before)):
                yield f"/{name}", f"`{name}` now allows `{item}`"


def _grants(old: Manifest, new: Manifest) -> Iterator[Loosening]:
    if new.tools is None:
        return
    before = {grant.tool: grant for grant in old.tools or ()}
    for index, grant in enumerate(new.tools):
        pointer = f"/tools/{index}"
        held = before.get(grant.tool)
        if held is None:
            if old.tools is not None and not old.admits(grant.tool):
                yield pointer, f"`{grant.tool}` is now granted"
        else:
            yield from ((pointer, f"`{grant.tool}`: {text}") for text in _grant(held, grant))


def _grant(old: Grant, new: Grant) -> Iterator[str]:
    if old.approval and not new.approval:
        yield "no longer needs an approval"
    if old.effect and new.effect and new.effect.rank < old.effect.rank:
        yield f"effect {old.effect} → {new.effect}"
    if old.idempotency != new.idempotency and new.idempotency and new.idempotency.repeatable:
        yield f"idempotency {old.idempotency or 'unasserted'} → {new.idempotency}: it may now be repeated"
    if old.max_calls is not None and (new.max_calls is None or new.max_calls > old.max_calls):
        yield f"`max_calls` {old.max_calls} → {new.max_calls or 'unbounded'}"
    if old.returns is Trust.UNTRUSTED and new.returns is not Trust.UNTRUSTED:
        yield "its results are no longer untrusted"
    if _class_rank(new.data_class) < _class_rank(old.data_class):
        yield f"data class {old.data_class} → {new.data_class or 'none'}"


def _class_rank(value: DataClass | None) -> int:
    return -1 if value is None else value.rank


def _servers(old: Manifest, new: Manifest) -> Iterator[Loosening]:
    if new.servers is None:
        return
    before = {server.name: server for server in old.servers or ()}
    for server in new.servers:
        pointer = f"/servers/{server.name}"
        held = before.get(server.name)
        if held is None:
            if old.servers is not None:
                yield pointer, f"server `{server.name}` is now granted"
        else:
            yield from ((pointer, f"server `{server.name}`: {text}") for text in _server(held, server))


def _server(old: ServerSpec, new: ServerSpec) -> Iterator[str]:
    if _POLICY_ORDER.index(new.policy) > _POLICY_ORDER.index(old.policy):
        yield f"policy {old.policy} → {new.policy} compares less"
    if old.version != new.version and old.version is not None:
        yield f"accepted version {old.version} → {new.version or 'any'}"
    cleared = new.max_data_class is None or (
        old.max_data_class is not None and new.max_data_class.rank > old.max_data_class.rank
    )
    if old.max_data_class is not None and cleared:
        yield f"cleared for {new.max_data_class or 'every class of'} data (was {old.max_data_class})"
    known = {(mask.tool, mask.pointer, mask.match) for mask in old.volatile}
    for mask in new.volatile:
        if (mask.tool, mask.pointer, mask.match) not in known:
            yield f"text of `{mask.tool}` at `{mask.pointer}` is now masked"
    if old.review_expires_at and (new.review_expires_at is None or new.review_expires_at > old.review_expires_at):
        yield f"review expires {old.review_expires_at} → {new.review_expires_at or 'never'}"


def _defaults(old: Defaults, new: Defaults) -> Iterator[Loosening]:
    at = "/defaults"
    if new.unasserted_effect.rank < old.unasserted_effect.rank:
        yield at, f"unasserted tools count as {new.unasserted_effect} (was {old.unasserted_effect})"
    if old.returns is Trust.UNTRUSTED and new.returns is Trust.TRUSTED:
        yield at, "results are trusted by default"
    if _POLICY_ORDER.index(new.policy) > _POLICY_ORDER.index(old.policy):
        yield at, f"default policy {old.policy} → {new.policy} compares less"


def _budget(old: Budget | None, new: Budget | None) -> Iterator[Loosening]:
    for field in fields(Budget):
        before, after = getattr(old, field.name, None), getattr(new, field.name, None)
        if before is not None and (after is None or after > before):
            yield "/budget", f"`{field.name}` {before:g} → {'unbounded' if after is None else format(after, 'g')}"


def _fail_on(old: Manifest, new: Manifest) -> Iterator[Loosening]:
    before = dict(old.fail_on)
    for kind, severity in new.fail_on:
        held = before.get(kind)
        if held is None or _SEVERITY_ORDER.index(severity) > _SEVERITY_ORDER.index(held):
            yield "/fail_on", f"`{kind}` differences now count as {severity}{f' (was {held})' if held else ''}"
