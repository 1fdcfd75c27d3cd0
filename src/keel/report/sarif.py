"""SARIF 2.1.0 for code scanning: one run, a physical location and a stable fingerprint for every result.

Source: https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/sarif-v2.1.0-errata01-os-complete.html (sections
named below), and the subset that GitHub code scanning reads.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from keel.core.codes import Severity
from keel.core.finding import Finding, NotChecked, PathStep
from keel.core.text import escape
from keel.report.describe import describe
from keel.report.interface import Presentation
from keel.report.places import Place, in_repository, place_of, where, worst_first

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
MAX_RESULTS = 5_000
"""GitHub keeps that many results of a run and drops the rest silently."""

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_ROOT = "%SRCROOT%"
_DIGEST = re.compile(r"\b(?:k1|sha256):[0-9a-f]{6,}…?")
_PLACEHOLDER = re.compile(r"\{(?=\d+\})")


def render(shown: Presentation) -> str:
    """Return the report as a SARIF log with one run."""
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [_run(shown)]}
    return json.dumps(log, ensure_ascii=True, indent=2) + "\n"


def _run(shown: Presentation) -> dict[str, Any]:
    findings = worst_first(shown.report.findings)
    kept, dropped = findings[:MAX_RESULTS], len(findings[MAX_RESULTS:])
    codes = sorted({item.code for item in kept})
    return {
        "tool": {"driver": {"name": "keel", "rules": [_rule(code) for code in codes]}},
        # Section 3.17.3: all before the last slash is the category, so that `check` does not close alerts of `drift`.
        "automationDetails": {
            "id": "/".join(part for part in ("keel", shown.command, _uri(shown.prefix)) if part) + "/"
        },
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_ROOT: {"description": {"text": "The top of the repository."}}},
        "results": list(_results(kept, codes, shown)),
        "invocations": [_invocation(shown.report.not_checked, dropped)],
    }


def _rule(code: str) -> dict[str, Any]:
    about = describe(code)
    if about is None:
        return {"id": code}
    return {
        "id": code,
        "shortDescription": {"text": f"{about.summary[:1].upper()}{about.summary[1:]}."},
        "fullDescription": {"text": about.why},
        "help": {"text": f"{about.why}\n\nWhat to do: {about.next}\n\n`keel explain {code}` shows more."},
        "defaultConfiguration": {"level": _LEVELS[about.severity]},
        "properties": {"tags": list(about.tags)},
    }


def _results(findings: Sequence[Finding], codes: Sequence[str], shown: Presentation) -> Iterator[dict[str, Any]]:
    index = {code: number for number, code in enumerate(codes)}
    seen: Counter[str] = Counter()
    for item in findings:
        place = place_of(item, shown)
        identity = _fingerprint(item, place)
        seen[identity] += 1
        result: dict[str, Any] = {
            "ruleId": item.code,
            "ruleIndex": index[item.code],
            "level": _LEVELS[item.severity],
            "message": {"text": _text(_DIGEST.sub("(digest)", item.message))},
            "locations": [_location(place) | _logical(item)],
            # GitHub matches alerts by the first name alone; the number tells apart what is otherwise equal.
            "partialFingerprints": {
                "primaryLocationLineHash": f"{identity}:{seen[identity]}",
                "keelFinding/v1": f"{identity}:{seen[identity]}",
            },
            "properties": {"gate": item.gate.value, "next": _text(item.next), "site": escape(item.site)},
        }
        if item.path:
            steps = [{"location": _step(step, shown)} for step in item.path]
            result["codeFlows"] = [{"threadFlows": [{"locations": steps}]}]
        yield result


def _fingerprint(item: Finding, place: Place) -> str:
    """Return what stays equal when unrelated lines move: code, key, pointer, file and flow, never line or message."""
    # 5 ms that runs without this format do not pay.
    from hashlib import sha256  # noqa: PLC0415

    flow = item.site.partition("@")[0]
    parts = (item.code, item.location.key, item.location.pointer, place.file, flow)
    return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _location(place: Place) -> dict[str, Any]:
    region = {"startLine": place.line} | ({"startColumn": place.column} if place.column else {})
    return {
        "physicalLocation": {
            "artifactLocation": {"uri": _uri(place.file), "uriBaseId": _ROOT},
            "region": region,
        }
    }


def _logical(item: Finding) -> dict[str, Any]:
    name = where(item)
    if not name:
        return {}
    kind = "function" if "/" in item.location.key or not item.location.pointer else "object"
    return {"logicalLocations": [{"name": escape(item.location.key), "fullyQualifiedName": name, "kind": kind}]}


def _step(step: PathStep, shown: Presentation) -> dict[str, Any]:
    place = Place(in_repository(step.file, shown.prefix), max(step.line, 1))
    return _location(place) | {"message": {"text": _text(step.text)}}


def _invocation(gaps: Sequence[NotChecked], dropped: int) -> dict[str, Any]:
    notes = [_notice(gap.code, f"{gap.what} was not checked: {gap.why}", gap.next) for gap in gaps]
    if dropped:
        message = f"{dropped:,} more findings are not in this file, which holds the worst {MAX_RESULTS:,}"
        notes.append(_notice("too-many-results", message, "`--format json` holds them all"))
    # Section 3.20.14: what could not be looked at is a failure of the run, not a result.
    return {"executionSuccessful": not gaps, "toolExecutionNotifications": notes}


def _notice(code: str, message: str, next_: str) -> dict[str, Any]:
    text = f"{message}. {next_}" if next_ else message
    return {"descriptor": {"id": code}, "level": "warning", "message": {"text": _text(text)}}


def _text(text: str) -> str:
    """Return plain text without placeholders (section 3.11.5) and embedded links (section 3.11.6)."""
    return _PLACEHOLDER.sub("{ ", escape(text)).replace("](", "] (")


def _uri(path: str) -> str:
    """Return a relative path as a URI reference (RFC 3986 section 4.2)."""
    from urllib.parse import quote  # noqa: PLC0415 - as above

    return quote(path.encode("utf-8", "surrogatepass"), safe="/")
