"""The lint rules over frozen and captured surfaces, with what each command may conclude from them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from keel import rules
from keel.app.context import Context
from keel.core.codes import CODES, Severity
from keel.core.digest import digest, surface_digest
from keel.core.finding import Finding, NotChecked, as_bytes, findings_of
from keel.core.model import Surface
from keel.lockfile.model import NATIVE_SURFACE, Lock, protocol_of
from keel.store.cache import source_stamp, verified_folder
from keel.version import __version__

Linted = tuple[tuple[Finding, ...], tuple[NotChecked, ...]]
"""(findings, rules that could not run)"""


def lint_lock(context: Context, lock: Lock, referenced: Collection[str]) -> Linted:
    """Run the rules over every frozen surface.

    Codes that gate 1 knows too, such as `dangling-ref`, weigh what they weigh there: an error where a flow reaches the
    tool, a warning elsewhere.
    """
    findings: list[Finding] = []
    gaps: list[NotChecked] = []
    for name in sorted(lock.surfaces):
        found, missing = _remembered(context, name, lock)
        findings.extend(_weighed(item, referenced) for item in found)
        gaps.extend(missing)
    return tuple(findings), tuple(gaps)


def _remembered(context: Context, name: str, lock: Lock) -> Linted:
    """Lint a surface, or take what the same rules said of the same bytes before: loading them is half of a check."""
    memory = verified_folder()
    if memory is None:
        return lint_one(context, name, lock.surfaces[name], lock.surfaces)
    config, locked = context.project.config, lock.index.server(name)
    asked = {
        "rules": [__version__, source_stamp(str(Path(rules.__file__).parent))],
        "surface": [name, locked.surface if locked is not None else surface_digest(lock.surfaces[name])],
        "others": sorted(map(list, _others(name, lock.surfaces))),
        "settings": [sorted(config.targets), config.profile.value, name in _own(context)],
    }
    key = f"lint-{digest(asked).partition(':')[2]}"
    held = memory.read(key)
    if held is not None:
        return findings_of(held), ()
    linted = lint_one(context, name, lock.surfaces[name], lock.surfaces)
    if not linted[1]:
        memory.keep(key, as_bytes(linted[0]))
    return linted


def lint_one(
    context: Context,
    name: str,
    surface: Surface,
    all_surfaces: Mapping[str, Surface],
    *,
    blocking_only: bool = False,
) -> Linted:
    """Run the rules, all of them or those that block a freeze, over one surface, beside those of the other servers."""
    from keel.rules.interface import Profile  # noqa: PLC0415 - the tables of the rules are large
    from keel.rules.registry import RULES  # noqa: PLC0415
    from keel.rules.run import lint_surface  # noqa: PLC0415

    config = context.project.config
    return lint_surface(
        "" if name == NATIVE_SURFACE else name,
        surface.tools,
        others=_others(name, all_surfaces),
        instructions=surface.instructions,
        targets=config.targets,
        own=name in _own(context),
        native=name == NATIVE_SURFACE,
        profile=Profile(config.profile.value),
        revision=protocol_of(surface),
        rules=[rule for rule in RULES if rule.meta.blocks_freeze] if blocking_only else RULES,
    )


def _own(context: Context) -> frozenset[str]:
    return frozenset(server.name for server in context.project.servers if server.own) | {NATIVE_SURFACE}


def blocking(findings: Collection[Finding]) -> tuple[Finding, ...]:
    """Return the findings that keep a server out of the lock: character and name rules that cannot be wrong."""
    from keel.rules.registry import RULES  # noqa: PLC0415

    codes = {rule.meta.id for rule in RULES if rule.meta.blocks_freeze}
    return tuple(item for item in findings if item.code in codes and item.severity is Severity.ERROR)


def _others(name: str, surfaces: Mapping[str, Surface]) -> Iterator[tuple[str, str]]:
    for other, surface in surfaces.items():
        if other != name:
            server = "" if other == NATIVE_SURFACE else other
            yield from ((server, str(tool["name"])) for tool in surface.tools)


def _weighed(item: Finding, referenced: Collection[str]) -> Finding:
    if item.code in CODES and item.severity is Severity.ERROR and item.location.key not in referenced:
        return item.with_severity(Severity.WARNING)
    return item
