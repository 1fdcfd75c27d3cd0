"""Servers that misbehave, seen through the command line: the right code for each, the others unharmed, nothing left."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.acceptance.harness import Keel, Result, put
from tests.acceptance.servers import Servers, bytes_of, serving, url_of

FROZEN: dict[str, tuple[str, ...]] = {
    "quiet": (), "noise": ("stdout-noise",), "json-noise": ("stdout-noise",), "binary-noise": ("stdout-noise",),
    "slow-start": (), "stderr-flood": (), "grandchild": (), "fails-at-close": (), "asks": (), "daemon": (),
    "stubborn": (), "stubborn-family": (), "two-pages": (), "cursor-null": (), "cursor-empty": ("cursor-empty",),
    "changed-between": (), "chatty": (), "empty-then-full": (), "big": (), "modern": (), "ignores-unknown": (),
    "bad-tool": ("invalid-schema",), "duplicates-equal": ("duplicate-tool",), "duplicates-different": ("duplicate-tool",),
    "bad-utf8": ("control-text",), "repeated-key": ("control-text",), "huge-number": ("control-text",),
    "digits": ("control-text",), "surrogate": ("control-text",), "surrogate-handshake": ("control-text",),
    "deep": ("schema-too-complex",), "abyss": ("schema-too-complex",),
}  # fmt: skip
GAPS = {
    "repeating": "pagination-loop", "endless": "pagination-loop", "growing": "pagination-loop",
    "flood": "pagination-loop", "changed-always": "unstable", "empty": "empty-listing",
    "same-page-duplicates": "empty-listing", "list-error": "server-failed", "list-garbage": "server-failed",
    "nan": "server-failed", "not-a-list": "server-failed", "cursor-number": "server-failed",
    "broken-handshake": "server-failed", "old-future": "server-failed", "long-line": "server-failed",
    "huge": "server-failed", "crash-start": "server-exited", "crash-list": "server-exited", "killed": "server-exited",
    "closes-stdout": "server-exited", "silence": "timed-out", "grandchild-silence": "timed-out",
}  # fmt: skip
PATIENCE = {"silence": 2.0, "grandchild-silence": 2.0}
"""Only those that never answer need a short deadline, in seconds."""


@dataclass(frozen=True)
class Seen:
    """One run over all servers and what it left."""

    result: Result
    lock: dict[str, bytes]
    survivors: list[str]

    def findings(self, server: str) -> list[str]:
        """Return the codes of errors and warnings about one server."""
        found = self.result.report["findings"]
        return sorted({item["code"] for item in found if item["location"]["key"].split("/")[0] == server})

    def gap(self, server: str) -> str:
        """Return the code with which one server was not checked, or an empty string."""
        return next((item["code"] for item in self.result.report["not_checked"] if item["what"] == server), "")


@pytest.fixture(scope="module")
def stdio(tmp_path_factory: pytest.TempPathFactory) -> tuple[Servers, Seen]:
    """Freeze a project in which every server is new and misbehaves in its own way."""
    keel = Keel(tmp_path_factory.mktemp("stdio"))
    names = [*FROZEN, *GAPS]
    project = Servers(keel, names)
    for name, seconds in PATIENCE.items():
        project.servers[name]["timeout_s"] = seconds
    project.write()
    project.behave({name: name for name in names})
    done = keel.json("freeze", "--jobs", "4")
    return project, Seen(done, bytes_of(keel.root), project.survivors())


@pytest.mark.parametrize("name", FROZEN)
def test_what_can_be_frozen_is_and_says_what_was_odd(stdio: tuple[Servers, Seen], name: str) -> None:
    _, seen = stdio
    assert seen.gap(name) == ""
    assert seen.findings(name) == sorted(FROZEN[name])
    assert f"keel.lock.d/{name}.json" in seen.lock
    assert f"\n{name}.surface = ".encode() in seen.lock["keel.lock"]


@pytest.mark.parametrize("name", GAPS)
def test_what_cannot_be_looked_at_has_its_code_and_is_not_in_the_lock(stdio: tuple[Servers, Seen], name: str) -> None:
    _, seen = stdio
    assert seen.gap(name) == GAPS[name]
    assert f"keel.lock.d/{name}.json" not in seen.lock
    assert f"\n{name}.surface = ".encode() not in seen.lock["keel.lock"]


def test_one_run_ends_with_findings_first_no_process_and_no_stray_file(stdio: tuple[Servers, Seen]) -> None:
    _, seen = stdio
    assert seen.result.code == 1
    assert seen.result.err == ""
    assert seen.survivors == []
    assert set(seen.lock) == {"keel.lock", *(f"keel.lock.d/{name}.json" for name in FROZEN)}


def test_noise_changes_no_byte_of_the_surface(stdio: tuple[Servers, Seen]) -> None:
    _, seen = stdio
    quiet = seen.lock["keel.lock.d/quiet.json"]
    for name in ("noise", "json-noise", "binary-noise", "slow-start", "stubborn", "asks", "grandchild", "chatty"):
        assert seen.lock[f"keel.lock.d/{name}.json"] == quiet


def test_envelope_fields_of_both_eras_are_in_no_file_and_no_digest(stdio: tuple[Servers, Seen]) -> None:
    _, seen = stdio
    index = seen.lock["keel.lock"].decode()
    lines = {
        server: [line.partition(" = ")[2] for line in index.splitlines() if line.startswith(f'"{server}/')]
        for server in ("modern", "quiet")
    }
    assert lines["modern"] == lines["quiet"] != []
    assert 'modern.protocol = "2026-07-28"' in index
    assert 'quiet.protocol = "2025-11-25"' in index
    assert 'quiet.capabilities = ["tools", "x-vendor"]' in index
    for word in (b"ttlMs", b"cacheScope", b"resultType"):
        assert all(word not in data for data in seen.lock.values())


@pytest.fixture(scope="module")
def drifted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Servers, Seen, dict[str, bytes]]:
    """Freeze well-behaved servers, let each misbehave in its own way, and look for drift."""
    keel = Keel(tmp_path_factory.mktemp("drift"))
    project = Servers(keel, [*FROZEN, *GAPS])
    frozen = keel("freeze", "--once", "--jobs", "4")
    assert frozen.code == 0, frozen.out
    for name, seconds in {**PATIENCE, "ignores-unknown": 5.0}.items():
        project.servers[name]["timeout_s"] = seconds
    project.write()
    before = bytes_of(keel.root)
    project.behave({name: name for name in project.servers})
    done = keel.json("drift", "--jobs", "4")
    return project, Seen(done, bytes_of(keel.root), project.survivors()), before


@pytest.mark.parametrize("name", GAPS)
def test_a_server_that_fails_later_is_neither_changed_nor_clean(
    drifted: tuple[Servers, Seen, dict[str, bytes]], name: str
) -> None:
    _, seen, _ = drifted
    assert seen.gap(name) == GAPS[name]
    assert "tool-removed" not in seen.findings(name)


SAME = ("quiet", "noise", "slow-start", "stubborn", "grandchild", "asks", "chatty", "modern", "ignores-unknown")


@pytest.mark.parametrize("name", SAME)
def test_odd_manners_are_no_drift(drifted: tuple[Servers, Seen, dict[str, bytes]], name: str) -> None:
    _, seen, _ = drifted
    assert seen.gap(name) == ""
    assert set(seen.findings(name)) <= {"stdout-noise", "identity-changed", "instructions-changed"}


def test_drift_writes_nothing_and_leaves_nothing(drifted: tuple[Servers, Seen, dict[str, bytes]]) -> None:
    _, seen, before = drifted
    assert seen.lock == before
    assert seen.survivors == []
    assert seen.result.err == ""


def test_an_update_of_failing_servers_keeps_what_was_frozen(keel: Keel) -> None:
    names = ["silence", "crash-start", "list-error", "empty", "endless", "quiet"]
    project = Servers(keel, names)
    assert keel("freeze", "--once").code == 0
    before = bytes_of(keel.root)
    project.servers["silence"]["timeout_s"] = 2
    project.write()
    project.behave({name: name for name in names})
    for command in (["--update"], names, ["--update", "--once"]):
        done = keel.json("freeze", *command)
        assert (done.code, len(done.gaps)) == (3, 5), done.out
        assert bytes_of(keel.root) == before
    assert project.survivors() == []


HTTP_FROZEN = {
    "quiet": (), "gzip": (), "sse-crlf": (), "redirect-same": (), "big": (), "two-pages": (), "modern": (),
    "bad-utf8": ("control-text",), "deep": ("schema-too-complex",), "duplicates-different": ("duplicate-tool",),
}  # fmt: skip
HTTP_GAPS = {
    "401": "needs-authentication", "401-oauth": "needs-authentication", "403": "needs-authentication",
    "404": "server-failed", "429": "server-failed", "500": "server-failed", "502": "server-failed", "html": "server-failed",
    "redirect-loop": "server-failed", "redirect-cross": "server-failed", "list-error": "server-failed",
    "repeating": "pagination-loop", "empty": "empty-listing", "sse-endless": "timed-out", "sse-cut": "server-failed",
}  # fmt: skip


@pytest.fixture(scope="module", params=[False, True], ids=["json", "sse"])
def http(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Seen, list[str]]]:
    """Freeze HTTP servers with credentials set, each misbehaving in its own way."""
    keel = Keel(tmp_path_factory.mktemp("http"), {"TOKEN": "tok-5ecret-Value/9"})
    with serving(["quiet"]) as other, serving([*HTTP_FROZEN, *HTTP_GAPS], sse=request.param) as servers:
        server, leaked = other["quiet"]
        for bound, _ in servers.values():
            bound.RequestHandlerClass.elsewhere = url_of(server).removesuffix("/mcp")
        entries = {
            name: {
                "url": url_of(bound),
                "headers": {"x-key": "${TOKEN}"},
                "timeout_s": 2 if name == "sse-endless" else 30,
            }
            for name, (bound, _) in servers.items()
        }
        put(keel.root, {"keel.yaml": json.dumps({"version": 1, "servers": entries})})
        done = keel.json("freeze", "--jobs", "8")
        yield Seen(done, bytes_of(keel.root), []), leaked


def test_every_http_misbehaviour_has_its_code(http: tuple[Seen, list[str]]) -> None:
    seen, leaked = http
    assert {name: seen.gap(name) for name in HTTP_GAPS} == HTTP_GAPS
    assert {name: tuple(seen.findings(name)) for name in HTTP_FROZEN} == HTTP_FROZEN
    assert {name: seen.gap(name) for name in HTTP_FROZEN} == dict.fromkeys(HTTP_FROZEN, "")
    assert leaked == []
    assert seen.result.err == ""
    assert "tok-5ecret" not in seen.result.out


def test_primitives_are_frozen_when_they_are_asked_for(keel: Keel) -> None:
    project = Servers(keel, ["plain", "all"])
    project.servers["all"]["primitives"] = ["tools", "prompts", "resources"]
    project.write()
    project.behave({"plain": "primitives", "all": "primitives"})
    assert keel("freeze").code == 0
    held = {name: json.loads((keel.root / f"keel.lock.d/{name}.json").read_text()) for name in ("plain", "all")}
    assert "prompts" not in held["plain"]
    assert held["all"]["prompts"] == [{"name": "p", "x": 1}]
    assert held["all"]["resources"] == [{"name": "a", "uri": "file:///a"}]
    assert held["all"]["resourceTemplates"] == [{"name": "t", "uriTemplate": "file:///{a}"}]
    assert 'all.capabilities = ["prompts", "resources", "tools"]' in (keel.root / "keel.lock").read_text()
    assert keel("freeze", "--check").code == 0
    assert keel.json("drift").codes == []
