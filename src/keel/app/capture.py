"""Taking the surfaces of servers: resolving launches, capturing in parallel, masking, and `keel capture`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from keel.app.context import Context
from keel.app.outcome import Outcome
from keel.core.finding import Finding, NotChecked, Report
from keel.core.model import ServerSpec, Surface
from keel.core.text import plural
from keel.lockfile.write import surface_text
from keel.store.files import make_folder, write_atomically

_WITHHOLDING = frozenset({"secret-echoed"})
"""Errors after which nothing of a server may be written."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What came of asking one server."""

    name: str
    surface: Surface | None = None
    """Masks applied; None when nothing may be used."""
    findings: tuple[Finding, ...] = ()
    gap: NotChecked | None = None
    """Why the server could not be looked at."""


def take(
    context: Context,
    specs: Iterable[ServerSpec],
    *,
    offline: bool = False,
    allow_empty: bool = False,
    twice: Collection[str] = (),
    probe_paths: bool = False,
    protocols: Mapping[str, str] | None = None,
    retries: int = 0,
) -> dict[str, Taken]:
    """Ask servers for their surfaces, all at the same time; a fault of one never touches another.

    Args:
        context: the run.
        specs: the servers to ask.
        offline: start and contact nothing; only surface files are read.
        allow_empty: accept a server that lists no tools.
        twice: names of stdio servers to start a second time under another time zone, locale and hash seed.
        probe_paths: let the second start have another working directory and home too.
        protocols: frozen protocol revision of servers, asked for first.
        retries: how often a failure that may pass is tried again.

    Returns:
        One entry for each server.
    """
    from keel.capture.interface import Captured, Failure  # noqa: PLC0415 - nothing of the capture loads for `check`
    from keel.capture.run import capture_all  # noqa: PLC0415
    from keel.core.model import Transport  # noqa: PLC0415
    from keel.drift.volatile import apply_masks  # noqa: PLC0415
    from keel.store.env import resolve_launch  # noqa: PLC0415

    taken: dict[str, Taken] = {}
    launches = []
    masks = {spec.name: spec.volatile for spec in specs}
    for spec in specs:
        if offline and spec.transport is not Transport.SURFACE:
            taken[spec.name] = Taken(spec.name, gap=_offline(spec.name))
            continue
        launch = resolve_launch(
            spec,
            root=context.project.root,
            environ=context.environ,
            secrets=context.project.config.secrets,
            timeout_override=context.timeout_s,
            login=context.login,
        )
        if isinstance(launch, Failure):
            taken[spec.name] = Taken(spec.name, gap=launch.gap)
        else:
            launches.append(replace(launch, protocol=(protocols or {}).get(spec.name)))
    captured = capture_all(
        launches,
        jobs=context.jobs,
        allow_empty=allow_empty,
        progress=context.progress,
        second_start=twice,
        probe_paths=probe_paths,
        retries=retries,
    )
    for name, result in captured.items():
        if isinstance(result, Captured) and not result.surface.tools and not allow_empty:
            taken[name] = Taken(name, findings=result.findings, gap=_empty(name))
        elif isinstance(result, Captured):
            withheld = any(item.code in _WITHHOLDING for item in result.findings)
            surface = None if withheld else apply_masks(result.surface, masks[name])
            taken[name] = Taken(name, surface, result.findings)
        else:
            taken[name] = Taken(name, findings=result.findings, gap=result.gap)
    return taken


def _empty(name: str) -> NotChecked:
    hint = f"check the server; if it really has none, run `keel freeze {name} --allow-empty`"
    return NotChecked(name, "empty-listing", "it lists no tools", hint)


def _offline(name: str) -> NotChecked:
    why = "it would have to be contacted, and `--offline` forbids that"
    return NotChecked(name, "unreachable", why, f"run `keel freeze {name}` without `--offline`")


def write_surfaces(taken: Iterable[Taken], output: Path) -> Outcome:
    """Write surface files: one server to a `.json` file, or each to `<server>.json` in a folder.

    Raises:
        FileError: if a file cannot be written.
    """
    results = sorted(taken, key=lambda item: item.name)
    surfaces = [(item.name, item.surface) for item in results if item.surface is not None]
    single = output.suffix == ".json" and len(results) == 1
    lines = []
    for name, surface in surfaces:
        path = output if single else output / f"{name}.json"
        make_folder(path.parent)
        changed = write_atomically(path, surface_text(surface).encode())
        lines.append(f"{'wrote' if changed else 'unchanged'} {path.name}: {plural(len(surface.tools), 'tool')}")
    findings = [item for taken_ in results for item in taken_.findings]
    report = Report.of(findings, [item.gap for item in results if item.gap])
    return Outcome(report, looked_at=plural(len(results), "server"), lines=tuple(lines))
