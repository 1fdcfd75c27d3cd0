"""`keel diff`: two locks, surface files or git revisions against each other, and what the manifest loosened."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from keel.app.context import Context
from keel.app.flows import read_flows
from keel.app.garbled import garbled, unread, without
from keel.app.outcome import Outcome
from keel.capture.replay import read_surface
from keel.core.codes import Severity
from keel.core.finding import Finding, Report
from keel.core.model import Manifest, Surface
from keel.core.text import plural
from keel.drift.locks import compare_locks, compare_surface_files
from keel.drift.loosened import loosened
from keel.drift.usage import Usage
from keel.errors import UsageError
from keel.lockfile.model import Lock, LockIndex
from keel.lockfile.read import read_lock
from keel.manifest.parse import parse_manifest
from keel.store.files import PENDING, read_bytes
from keel.store.git import Repository
from keel.store.locks import LockFiles, load


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a difference: a whole project state, or a single surface."""

    name: str
    """As messages show it."""
    lock: Lock | None = None
    manifest: Manifest | None = None
    """None where the side has no project, as for a file."""
    surface: Surface | None = None
    findings: tuple[Finding, ...] = ()
    """What reading the surface had to say, such as a tool that cannot be judged and is left out."""


def diff_files(old: Path, new: Path) -> Outcome:
    """Compare two files: surface files with each other, or locks with each other.

    Raises:
        InputErrors: if a file cannot be read as either.
        UsageError: if they are not of one kind.
    """
    if os.devnull in (str(old), str(new)):
        other = _file(new if str(old) == os.devnull else old)
        # Git names the null device where a file was added or removed.
        nothing = Side("nothing", Lock() if other.surface is None else None, None, other.surface and Surface())
        return _outcome(nothing, other) if str(old) == os.devnull else _outcome(other, nothing)
    return _outcome(_file(old), _file(new))


def diff_revisions(context: Context, old: str, new: str) -> Outcome:
    """Compare the lock and the manifest of two states of the project.

    Args:
        context: the run.
        old: a git revision, or `A...B` with an empty `new` for the merge base of A and B against B.
        new: a git revision; empty for the working tree.

    Raises:
        GitError: if a revision cannot be read.
        InputErrors: if a lock or a manifest cannot be read.
    """
    repository = Repository.containing(context.project.root)
    if "..." in old and not new:
        first, _, second = old.partition("...")
        commit = repository.merge_base(first or "HEAD", second or "HEAD")
        left, right = _revision(context, repository, commit, old), _revision(context, repository, second or "HEAD", old)
        return _outcome(left, right, read_flows(context).usage)
    if ".." in old and not new:
        old, _, new = old.partition("..")
    left = _revision(context, repository, repository.commit(old or "HEAD"), old)
    right = _revision(context, repository, repository.commit(new), new) if new else _working_tree(context)
    return _outcome(left, right, read_flows(context).usage)


def diff_blobs(context: Context, old: str, new: str) -> Outcome:
    """Compare `REV:PATH` with another one, or with a file.

    Raises:
        GitError, InputErrors, UsageError: as the other forms do.
    """
    return _outcome(_blob_or_file(context, old), _blob_or_file(context, new))


def _outcome(old: Side, new: Side, usage: Usage | None = None) -> Outcome:
    looked_at = f"{old.name} → {new.name}"
    if old.surface is not None and new.surface is not None:
        return Outcome(_surfaces(old, new, old.surface, new.surface), looked_at=looked_at)
    if (old.surface is None) != (new.surface is None):
        raise UsageError(f"`{old.name}` and `{new.name}` are not of one kind", hint="compare two locks or two surfaces")
    before, after = old.lock or Lock(), new.lock or Lock()
    findings = compare_locks(before, after, usage)
    if old.manifest is not None and new.manifest is not None:
        findings = (*findings, *loosened(old.manifest, new.manifest))
    looked_at += f", {plural(len(after.index.tools), 'tool')}"
    return Outcome(Report.of(findings), looked_at=looked_at, hints=_freezes(before.index, after.index))


def _surfaces(old: Side, new: Side, before: Surface, after: Surface) -> Report:
    """Compare what both surfaces say soundly."""
    names = garbled((*old.findings, *new.findings))
    findings = compare_surface_files(_common_name(old, new), without(before, names), without(after, names))
    hint = "correct it, or capture the server again"
    gaps = [gap for side in (old, new) for gap in unread(side.name, side.findings, hint)]
    return Report.of((*findings, *old.findings, *new.findings), gaps)


def _common_name(old: Side, new: Side) -> str:
    """Return the server that two surface files are of, where both are named after it."""
    names = {side.name.rpartition("/")[2].removesuffix(".json") for side in (old, new) if side.name != "nothing"}
    return names.pop() if len(names) == 1 else "surface"


def _freezes(old: LockIndex, new: LockIndex) -> tuple[str, ...]:
    """Return the commands that take exactly the surfaces of the new side, for those that differ."""
    held = {server.name: server.surface for server in old.servers}
    changed = [server for server in new.servers if held.get(server.name) != server.surface]
    return tuple(
        f"`keel freeze {server.name} --expect {server.name}={server.surface}` accepts what is shown here"
        for server in changed
    )


def _working_tree(context: Context) -> Side:
    return Side("working tree", load(context.files) or Lock(), context.project.manifest)


def _revision(context: Context, repository: Repository, commit: str, shown: str) -> Side:
    files = context.files
    read = _reader(repository, commit)
    index = read(repository.relative(files.index.parent) + "/" + files.index.name)
    manifest_file = context.project.manifest.file
    manifest = Manifest()
    if manifest_file:
        held = read(repository.relative(context.project.root / manifest_file))
        manifest = (
            parse_manifest(held.decode("utf-8-sig", "replace"), manifest_file) if held is not None else Manifest()
        )
    name = shown if "..." not in shown else commit[:12]
    if index is None:
        return Side(name, Lock(), manifest)
    text = index.decode("utf-8-sig", "replace").replace("\r\n", "\n")
    return Side(
        name, read_lock(text, f"{name}:{files.shown(files.index)}", _candidates(repository, files, read)), manifest
    )


def _reader(repository: Repository, commit: str) -> Callable[[str], bytes | None]:
    def read(path: str) -> bytes | None:
        return repository.read(commit, path.removeprefix("./"))

    return read


def _candidates(
    repository: Repository, files: LockFiles, read: Callable[[str], bytes | None]
) -> Callable[[str], Iterator[tuple[str, bytes]]]:
    folder = repository.relative(files.index.parent) + "/" + files.folder.name

    def candidates(name: str) -> Iterator[tuple[str, bytes]]:
        for file in (f"{name}.json", f"{name}.json{PENDING}"):
            data = read(f"{folder}/{file}")
            if data is not None:
                yield f"{files.folder.name}/{file}", data

    return candidates


def _file(path: Path) -> Side:
    data = read_bytes(path)
    if path.suffix == ".json":
        return _surface(data, path.stem, path.name)
    files = LockFiles(path.parent, path)
    return Side(path.name, lock=load(files))


def _blob_or_file(context: Context, text: str) -> Side:
    revision, colon, path = text.partition(":")
    if not colon or Path(text).exists():
        return _file(Path(text))
    repository = Repository.containing(context.project.root)
    commit = repository.commit(revision)
    data = repository.read(commit, path)
    if data is None:
        raise UsageError(
            f"`{path}` does not exist at `{revision}`", hint=f"`git ls-tree -r {revision}` lists what does"
        )
    if not path.endswith(".json"):
        return replace(_revision(context, repository, commit, revision), name=text, manifest=None)
    return _surface(data, Path(path).stem, text)


def _surface(data: bytes, name: str, file: str) -> Side:
    surface, findings = read_surface(data, name, file)
    return Side(file, surface=surface, findings=tuple(item for item in findings if item.severity is Severity.ERROR))
