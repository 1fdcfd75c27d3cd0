"""`keel check PATH…` from above: every project that the paths lie in, as one report."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from keel.app.anchors import anchors_of
from keel.app.check import check
from keel.app.context import Context
from keel.app.outcome import Outcome
from keel.core.finding import Finding, InputErrors, NotChecked, Report
from keel.core.text import plural

Opening = Callable[[Path], Context]
"""Reads the project of a folder."""


def check_many(projects: Mapping[Path, tuple[Path, ...]], opening: Opening, base: Path) -> Outcome:
    """Judge several projects, each by itself, and report them together.

    Args:
        projects: each project's folder, with the paths that limit what is reported of it.
        opening: reads a project.
        base: the folder that paths of the report are made relative to.

    Raises:
        InputErrors: if any configuration, manifest or lock cannot be read; with what the other projects have, so that
            one broken project hides nothing of the others.
    """
    findings: list[Finding] = []
    gaps: list[NotChecked] = []
    looked_at: list[str] = []
    broken = False
    for root, paths in projects.items():
        prefix = Path(os.path.relpath(root, base)).as_posix()
        try:
            context = opening(root)
            outcome = check(context, paths)
        except InputErrors as error:
            broken = True
            findings.extend(_moved(error.findings, prefix, anchors_of(root, None).lock))
            continue
        findings.extend(_moved(outcome.report.findings, prefix, anchors_of(root, context.project).lock))
        gaps.extend(replace(gap, what=f"{prefix}: {gap.what}") for gap in outcome.report.not_checked)
        looked_at.append(f"{prefix}: {outcome.looked_at}")
    if broken:
        raise InputErrors(findings)
    return Outcome(Report.of(findings, gaps), looked_at="; ".join((plural(len(projects), "project"), *looked_at)))


def _moved(findings: Iterable[Finding], prefix: str, anchor: str) -> Iterable[Finding]:
    """Yield findings with their paths below `prefix`; one without a file stands at `anchor`."""
    for item in findings:
        at = replace(item.location, file=f"{prefix}/{item.location.file or anchor}")
        flow, mark, place = item.site.partition("@")
        path = tuple(replace(step, file=f"{prefix}/{step.file}") for step in item.path)
        yield replace(item, location=at, path=path, site=f"{flow}@{prefix}/{place}" if mark else item.site)
