"""`keel bundle`: check everything, then write the one file that may be deployed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from keel.app.check import Judged, judge
from keel.app.context import Context
from keel.app.outcome import Outcome
from keel.app.ruleset import rules_digest
from keel.bundle.contents import Contents, build, members_of
from keel.bundle.graphs import bound_graph
from keel.core.codes import CODES, Gate, Severity
from keel.core.digest import digest_bytes
from keel.core.finding import Finding, Location, Report
from keel.core.graph import FlowGraph, Kind
from keel.core.model import SecretSource
from keel.core.text import escape, plural
from keel.flow.read import Program
from keel.flow.values import AgentTool
from keel.gates.registry import covering
from keel.report.interface import Presentation
from keel.report.json_ import report_value
from keel.rules.hazards.secret_literal import SecretLiteral, secrets_in
from keel.store.files import make_folder, read_bytes, write_atomically
from keel.store.project import bundle_file

_BLOCKING_HERE = frozenset({"no-manifest", "review-expired"})
"""Warnings of `check` that a bundle may not carry (DESIGN sections 4.2 and 6)."""


def bundle(context: Context, output: Path | None, *, sequence: int = 0) -> Outcome:
    """Judge the project and write the bundle, unless a finding blocks it.

    Args:
        context: the run.
        output: where the bundle goes; `dist/<project>.keel` when absent.
        sequence: number of the release; 0 for none.

    Raises:
        InputErrors: if the lock, the configuration or the manifest cannot be read.
        FileError: if the bundle cannot be written.
    """
    judged = judge(context)
    findings = [_as_blocking(item) for item in judged.applied.findings]
    report = Report.of(findings, judged.not_checked)
    if judged.lock is None or report.count(Severity.ERROR) or report.not_checked:
        return Outcome(report, looked_at="no bundle was written")
    contents = replace(_contents(context, judged, report), sequence=sequence)
    report = Report.of([*report.findings, *_secrets(contents)])
    if report.count(Severity.ERROR):
        return Outcome(report, looked_at="no bundle was written")
    data = build(contents)
    path = output or bundle_file(context.project.root)
    make_folder(path.parent)
    changed = write_atomically(path, data)
    looked_at = f"{plural(len(judged.flows.program.flows), 'flow')}, {plural(len(judged.lock.index.tools), 'tool')}"
    line = (
        f"{'wrote' if changed else 'unchanged'} {context.files.shown(path)} ({len(data):,} bytes, {digest_bytes(data)})"
    )
    return Outcome(report, looked_at=looked_at, lines=(line,))


def _as_blocking(item: Finding) -> Finding:
    return item.with_severity(Severity.ERROR) if item.code in _BLOCKING_HERE else item


def _secrets(contents: Contents) -> Iterator[Finding]:
    """Yield `secret-literal` for each line of a member that holds a secret; definitions were linted before."""
    meta = SecretLiteral.meta
    for name, data in sorted(members_of(contents).items()):
        text = "" if name.startswith("lock/") else data.decode("utf-8", "replace")
        if not secrets_in(text):
            continue
        for number, line in enumerate(text.splitlines(), 1):
            for what in secrets_in(line):
                yield Finding(
                    code=meta.id,
                    severity=Severity.ERROR,
                    gate=Gate.LINT,
                    message=f"`{escape(name)}` of the bundle holds {what}",
                    why="A bundle is copied to wherever it runs, and is no place for a secret.",
                    next="revoke the secret, then refer to it with `secret://NAME`",
                    location=Location(file=name.removeprefix("sources/"), line=number),
                )


def _contents(context: Context, judged: Judged, report: Report) -> Contents:
    assert judged.lock is not None
    root = context.project.root
    sources = {path: read_bytes(root / path) for path in judged.flows.program.modules}
    gate_report = report_value(Presentation(report, "bundle", verbose=True))
    gate_report["suppressed"] = [
        {"code": item.code, "key": entry.key, "reason": entry.reason, "until": entry.until.isoformat()}
        for item, entry in judged.applied.suppressed
    ]
    gate_report["rules"] = {
        "digest": rules_digest(),
        "profile": context.project.config.profile.value,
        "targets": sorted(context.project.config.targets),
    }
    return Contents(
        project=root.name,
        flows=_graphs(judged),
        sources=sources,
        lock=judged.lock,
        manifest=context.project.manifest,
        gate_report=gate_report,
        freeze_timing=context.project.config.freeze_timing.value,
        servers=context.project.servers,
        secrets={source.name: _source(source) for source in context.project.config.secrets},
        source_roots=context.project.config.source_roots,
        native={
            tool.key: {"module": tool.module, "function": tool.qualname, "file": tool.file}
            for tool in judged.flows.declared
        },
        acknowledged=tuple(
            {"code": item.code, "key": item.key, "digest": item.digest, "until": item.until.isoformat()}
            for item in context.project.config.suppress
            if item.digest is not None and item.code in CODES and CODES[item.code].gate is Gate.DRIFT
        ),
    )


def _source(source: SecretSource) -> dict[str, str]:
    return {"env": source.env} if source.env else {"file": source.file}


def _graphs(judged: Judged) -> dict[str, Any]:
    covers = covering(judged.gates)
    tools = judged.gates.tools or {}
    program = judged.flows.program
    held = _held(program)
    return {name: bound_graph(name, flow, tools, covers, held) for name, flow in program.flow_names.items()}


def _held(program: Program) -> dict[str, frozenset[str]]:
    """Return the keys that each agent may call: those of its list, and those that a flow in its list leads to.

    Agents of one name are taken together, so that nothing is left out of what preflight looks at.
    """
    agents: dict[str, list[AgentTool]] = {}
    for agent in program.agents:
        agents.setdefault(agent.name, []).extend(agent.tools)
    flows = {flow.qualified: flow for flow in program.flows}
    return {name: frozenset(_reached(name, agents, flows)) for name in agents}


def _reached(name: str, agents: Mapping[str, Iterable[AgentTool]], flows: Mapping[str, FlowGraph]) -> Iterator[str]:
    waiting, done = [name], set[str]()
    while waiting:
        agent = waiting.pop()
        if agent in done:
            continue
        done.add(agent)
        for tool in agents.get(agent, ()):
            flow = flows.get(tool.flow)
            if flow is None:
                yield tool.key
                continue
            yield from (node.key for node in flow.graph.nodes if node.kind is Kind.CALL)
            waiting.extend(node.key for node in flow.graph.nodes if node.kind is Kind.AGENT)
