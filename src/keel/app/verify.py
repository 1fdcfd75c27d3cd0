"""`keel verify`: whether a bundle is whole, unaltered and signed by someone trusted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from keel.app.outcome import Outcome
from keel.bundle.verify import verify as verify_bytes
from keel.core.codes import Severity
from keel.core.finding import Location, Report, finding
from keel.core.text import plural
from keel.store.files import read_bytes


def verify(path: Path, *, allow_unsigned: bool) -> Outcome:
    """Check every member of a bundle.

    Raises:
        FileError: if the file cannot be read.
    """
    result = verify_bytes(read_bytes(path), path.name)
    findings = list(result.findings)
    if not findings:
        unsigned = finding("bundle-unsigned", f"`{path.name}` carries no signature", location=Location(file=path.name))
        findings.append(replace(unsigned, severity=Severity.INFO) if allow_unsigned else unsigned)
    looked_at = plural(len(result.members), "member")
    return Outcome(Report.of(findings), looked_at=looked_at, lines=_described(result.index) if result.index else ())


def _described(index: object) -> tuple[str, ...]:
    if not isinstance(index, dict):
        return ()
    flows = ", ".join(str(flow) for flow in index.get("flows", ())) or "none"
    return (f"project {index.get('project', '')}", f"flows {flows}")
