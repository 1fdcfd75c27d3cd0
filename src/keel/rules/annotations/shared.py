"""Verbs that change the world, and how a name and a description agree on them."""

from __future__ import annotations

from keel.rules.interface import Category, Precision, RuleMeta, Severity, ToolView
from keel.rules.lazy import lazy
from keel.rules.words import listed

HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")

DESTRUCTIVE = listed(
    "delete destroy drop erase expunge kill nuke obliterate purge revoke shred terminate truncate unpublish",
    "wipe decommission deprovision annihilate",
)
"""What they undo cannot be had back."""
MUTATING = DESTRUCTIVE | listed(
    "add append approve archive assign book cancel charge clear commit copy create deploy disable edit enable",
    "execute grant import insert install invite issue kick launch lock manage merge modify move order",
    "overwrite pause pay place post publish push put rebase refund register release remove rename replace",
    "reply reset restart restore resume rotate save schedule send set share shutdown start stop store submit",
    "subscribe suspend transfer trigger uninstall unlock unsubscribe update upload upsert withdraw write ban",
    "block boot reboot mute provision rollback",
)
_FIRST_WORD = lazy(r"[a-z]+")


def stem(verb: str) -> str:
    """Return the base form of an English verb in the third person: `deletes`, `purges`, `modifies`."""
    if verb.endswith("ies") and len(verb) > 4:
        return verb[:-3] + "y"
    for ending, least in (("sses", 2), ("shes", 2), ("ches", 2), ("xes", 2), ("zes", 2)):
        if verb.endswith(ending):
            return verb[:-least]
    return verb[:-1] if verb.endswith("s") and not verb.endswith("ss") else verb


def name_verb(tool: ToolView, verbs: frozenset[str]) -> str:
    """Return the verb of the name, its first or its last word, if it is one of some verbs."""
    if not tool.words:
        return ""
    ends = (tool.words[0], tool.words[-1]) if len(tool.words) > 1 else (tool.words[0],)
    if ends[0] in verbs:
        return ends[0]
    # `git_push`, `browser_close`: a product or an object first, then the verb.
    return ends[-1] if ends[-1] in verbs and ends[0] not in _READING else ""


_READING = listed(
    "check count describe detect diff download explain export fetch find get inspect list lookup peek preview",
    "query read retrieve search show status summarize validate verify view watch is has can should whether",
    "estimate plan",
)


def first_verb(tool: ToolView) -> str:
    """Return the base form of the description's first word."""
    match = _FIRST_WORD.search(tool.about[:80])
    return stem(match.group()) if match else ""


def annotation_meta(
    id: str,  # noqa: A002 - the field's own name
    summary: str,
    why: str,
    example: str,
    next: str,  # noqa: A002 - the field's own name
    *,
    precision: Precision = Precision.EXACT,
) -> RuleMeta:
    """Build the documentation of an annotation rule from what differs between them."""
    return RuleMeta(
        id=id,
        category=Category.ANNOTATIONS,
        severity=Severity.ERROR,
        summary=summary,
        why=why,
        next=next,
        example=example,
        precision=precision,
        references=("MCP 2025-11-25 Schema, ToolAnnotations", "OWASP MCP02:2025 Privilege Escalation via Scope Creep"),
    )
