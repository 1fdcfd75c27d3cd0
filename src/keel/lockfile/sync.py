"""What a freeze has to do: which servers to take, keep, refuse or drop, and what changed when it is done."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from keel.lockfile.model import LockedServer, LockedTool, LockIndex


@dataclass(frozen=True, slots=True)
class Plan:
    """Every configured or frozen server, by what happens to it."""

    take: tuple[str, ...] = ()
    """To be captured."""
    keep: tuple[str, ...] = ()
    """Kept as frozen and not contacted."""
    refused: tuple[str, ...] = ()
    """Kept as frozen although the launch changed: only naming the server accepts that."""
    drop: tuple[str, ...] = ()
    """No longer configured."""


def plan(launches: Mapping[str, str], index: LockIndex, *, named: Collection[str] = (), update: bool = False) -> Plan:
    """Decide what a freeze does.

    Args:
        launches: configured server to the fingerprint of its launch.
        index: the lock as it is.
        named: servers named on the command line, whose launch that accepts; the others are kept.
        update: take every server again whose launch is unchanged.
    """
    frozen = {server.name: server.launch for server in index.servers}
    groups: dict[str, list[str]] = {"take": [], "keep": [], "refused": []}
    for name, launch in sorted(launches.items()):
        if name in named or (name not in frozen and not named):
            groups["take"].append(name)
        elif name not in frozen:
            continue  # new, and other servers were asked for
        elif frozen[name] != launch:
            groups["refused"].append(name)
        else:
            groups["take" if update and not named else "keep"].append(name)
    dropped = sorted(frozen.keys() - launches.keys())
    return Plan(tuple(groups["take"]), tuple(groups["keep"]), tuple(groups["refused"]), tuple(dropped))


def change_lines(old: LockIndex, new: LockIndex) -> tuple[str, ...]:
    """Return `+ key`, `~ key (what)` and `- key` for every server and tool that differs, sorted by key."""
    lines = [*_servers(old, new), *_tools(old, new)]
    return tuple(text for _, text in sorted(lines))


def unchanged(old: LockIndex, new: LockIndex) -> int:
    """Return how many tools are the same in both."""
    return len(set(old.tools) & set(new.tools))


def _servers(old: LockIndex, new: LockIndex) -> Iterator[tuple[str, str]]:
    before = {server.name: server for server in old.servers}
    after = {server.name: server for server in new.servers}
    for name in after.keys() - before.keys():
        yield name, f"+ {name} ({after[name].identity or 'no identity'})"
    for name in before.keys() - after.keys():
        yield name, f"- {name}"
    for name in before.keys() & after.keys():
        facts = _facts(before[name], after[name])
        if facts:
            yield name, f"~ {name} ({', '.join(facts)})"


def _facts(old: LockedServer, new: LockedServer) -> list[str]:
    names = ("identity", "protocol", "capabilities", "instructions", "policy", "launch")
    changed = [name for name in names if getattr(old, name) != getattr(new, name)]
    return changed or (["surface"] if old.surface != new.surface else [])


def _tools(old: LockIndex, new: LockIndex) -> Iterator[tuple[str, str]]:
    before, after = ({tool.key: tool for tool in index.tools} for index in (old, new))
    for key in after.keys() - before.keys():
        yield key, f"+ {key} ({_contract(after[key])})"
    for key in before.keys() - after.keys():
        yield key, f"- {key}"
    for key in before.keys() & after.keys():
        if before[key] != after[key]:
            yield key, f"~ {key} ({', '.join(_differences(before[key], after[key]))})"


def _differences(old: LockedTool, new: LockedTool) -> Iterator[str]:
    if old.definition != new.definition:
        yield "definition"
    if old.contract != new.contract:
        yield f"contract {_contract(old)} → {_contract(new)}"
    if old.source != new.source and old.definition == new.definition:
        yield "source"
    if old.body != new.body and old.source == new.source:
        yield "body"


def _contract(tool: LockedTool) -> str:
    return f"{tool.effect}/{tool.idempotency}{'' if tool.asserted else ' unasserted'}"
