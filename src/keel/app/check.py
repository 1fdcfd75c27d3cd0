"""`keel check`: every gate over flows, manifest and lock; runs nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from keel.app.context import Context
from keel.app.flows import ProjectFlows, freeze_context, read_flows
from keel.app.lint import lint_lock
from keel.app.outcome import Outcome
from keel.core.codes import CODES, Gate
from keel.core.finding import Finding, NotChecked, Report
from keel.core.text import plural
from keel.gates import freeze as freeze_gate
from keel.gates.interface import GateContext
from keel.gates.registry import run_gates
from keel.gates.suppressions import Applied, apply
from keel.lockfile.model import Lock
from keel.rules.config.interface import ConfigContext
from keel.rules.config.registry import lint_config
from keel.store.locks import load

_NOT_SOUGHT = frozenset(code for code, info in CODES.items() if info.gate is Gate.DRIFT)


@dataclass(frozen=True, slots=True)
class Judged:
    """Everything `check` found, for those who build on it."""

    flows: ProjectFlows
    lock: Lock | None
    gates: GateContext
    applied: Applied
    not_checked: tuple[NotChecked, ...]


def judge(context: Context) -> Judged:
    """Judge the whole project.

    Raises:
        InputErrors: if the lock, the configuration or the manifest cannot be read.
    """
    flows = read_flows(context)
    lock = load(context.files)
    gates = gate_context(context, flows, lock)
    findings: list[Finding] = [*context.project.findings, *flows.findings]
    findings.extend(freeze_gate.check(freeze_context(context, flows, lock)))
    findings.extend(run_gates(gates))
    linted, not_run = lint_lock(context, lock, flows.referenced) if lock is not None else ((), ())
    findings.extend(_configured(context, flows, lock))
    known = {(item.code, item.location.key) for item in findings}
    findings.extend(item for item in linted if (item.code, item.location.key) not in known)
    config = context.project.config
    applied = apply(
        dict.fromkeys(findings),
        config.suppress,
        today=context.today,
        file=config.file,
        may_be_unused=_NOT_SOUGHT,
    )
    return Judged(flows, lock, gates, applied, not_run)


def _configured(context: Context, flows: ProjectFlows, lock: Lock | None) -> tuple[Finding, ...]:
    project = context.project
    return lint_config(
        ConfigContext(
            servers=project.servers,
            manifest=project.manifest,
            config=project.config,
            referenced=flows.referenced,
            surfaces=lock.surfaces if lock is not None else {},
        )
    )


def gate_context(context: Context, flows: ProjectFlows, lock: Lock | None) -> GateContext:
    """Build what the gates look at."""
    return GateContext(
        program=flows.program,
        manifest=context.project.manifest,
        servers=context.project.servers,
        tools=lock.frozen_tools() if lock is not None else None,
        surfaces=lock.surfaces if lock is not None else {},
        today=context.today,
    )


def check(context: Context, paths: tuple[Path, ...]) -> Outcome:
    """Judge the project and report; `paths` limits what is reported, never what is read.

    Raises:
        InputErrors: if the lock, the configuration or the manifest cannot be read.
    """
    judged = judge(context)
    findings = [item for item in judged.applied.findings if _wanted(context, item, paths)]
    counts = [plural(len(judged.flows.program.flows), "flow")]
    if judged.lock is not None:
        counts.append(plural(len(judged.lock.index.tools), "frozen tool"))
    if judged.applied.suppressed:
        counts.append(f"{len(judged.applied.suppressed)} suppressed")
    return Outcome(Report.of(findings, judged.not_checked), looked_at=", ".join(counts))


def _wanted(context: Context, item: Finding, paths: Iterable[Path]) -> bool:
    wanted = [path.resolve() for path in paths]
    if not wanted or not item.location.file:
        return True
    at = (context.project.root / item.location.file).resolve()
    return any(at == path or path in at.parents for path in wanted)
