"""A hostile server over stdio: each misbehaviour ends in bounded time, with the right code, and leaves no process."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest

from keel.capture.interface import Captured, Failure, Launch
from keel.capture.run import capture_all
from keel.core.digest import surface_digest
from keel.core.model import Transport, VolatileMask

HOSTILE = Path(__file__).parents[1] / "fakes" / "hostile.py"
MARK = "KEEL_TEST_MARK"


def launch(behaviour, **more):
    mark = uuid.uuid4().hex
    env = {"PATH": os.environ["PATH"], MARK: mark, **more.pop("env", {})}
    settings = {"timeout_s": 20.0, "protocol": "2025-11-25", **more}
    return Launch("srv", Transport.STDIO, argv=(sys.executable, str(HOSTILE), behaviour), env=env, **settings)


def survivors(mark):
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"{MARK}={mark}".encode() in path.read_bytes().split(b"\0"):
                found.append(path.parent.name)
        except OSError:
            continue
    return found


def capture(behaviour, *, within=10.0, allow_empty=False, twice=False, **more):
    one = launch(behaviour, **more)
    start = time.monotonic()
    (outcome,) = capture_all([one], allow_empty=allow_empty, second_start=twice).values()
    assert time.monotonic() - start < within
    assert survivors(one.env[MARK]) == []
    return outcome


def captured(behaviour, **more):
    outcome = capture(behaviour, **more)
    assert isinstance(outcome, Captured), outcome
    return outcome


def failed(behaviour, code, **more):
    outcome = capture(behaviour, **more)
    assert isinstance(outcome, Failure), outcome
    assert outcome.gap.code == code, outcome.gap
    assert outcome.gap.what == "srv"
    assert outcome.gap.why.isprintable()
    return outcome.gap


def names(outcome):
    return [tool["name"] for tool in outcome.surface.tools]


def codes(outcome):
    return [(finding.code, finding.location.key, finding.location.pointer) for finding in outcome.findings]


@pytest.fixture(scope="module")
def quiet():
    return captured("quiet")


def test_a_quiet_server_is_captured_whole(quiet):
    assert names(quiet) == ["alpha", "beta"]
    assert quiet.findings == ()
    assert quiet.pages == 1
    assert quiet.surface.initialize == {
        "protocolVersion": "2025-11-25",
        "serverInfo": {"name": "hostile", "version": "1.0"},
        "capabilities": {"tools": {"listChanged": True}, "x-vendor": {"kept": 1}},
        "instructions": "Be careful.",
    }


@pytest.mark.parametrize(
    ("behaviour", "lines", "first"),
    [
        ("noise", 3, "== MyServer 3 =="),
        ("json-noise", 6, '{"level":"info","msg":"up"}'),
        ("binary-noise", 2, "\N{REPLACEMENT CHARACTER}"),
    ],
)
def test_c001_noise_is_one_warning_and_changes_nothing(quiet, behaviour, lines, first):
    outcome = captured(behaviour)
    (only,) = outcome.findings
    assert (only.code, only.location.key) == ("stdout-noise", "srv")
    assert f"{lines} lines" in only.message
    assert first in only.message
    assert only.message.isprintable()
    assert surface_digest(outcome.surface) == surface_digest(quiet.surface)


def test_c003_pages_are_read_to_the_end():
    outcome = captured("two-pages")
    assert names(outcome) == ["alpha", "beta", "gamma"]
    assert outcome.pages == 2


def test_c005_null_ends_a_list_and_an_empty_cursor_does_so_with_an_info():
    assert captured("cursor-null").findings == ()
    assert codes(captured("cursor-empty")) == [("cursor-empty", "srv", "")]


def test_c006_duplicates_across_pages():
    equal = captured("duplicates-equal")
    assert names(equal) == ["alpha", "beta"]
    assert codes(equal) == [("duplicate-tool", "srv/alpha", "")]
    different = captured("duplicates-different")
    assert names(different) == ["beta"]
    assert codes(different) == [("duplicate-tool", "srv/alpha", "")]
    assert codes(captured("same-page-duplicates")) == [("duplicate-tool", "srv/alpha", "")]


@pytest.mark.parametrize(
    ("behaviour", "words"),
    [
        ("repeating", "came twice"),
        ("endless", "1,000 pages"),
        ("growing", "cursor grew"),
        ("flood", "20,000 entries"),
    ],
)
def test_a_listing_without_an_end_is_noticed(behaviour, words):
    assert words in failed(behaviour, "pagination-loop", within=15).why


def test_c008_a_list_that_changes_between_pages_is_read_again():
    assert names(captured("changed-between")) == ["alpha", "beta", "gamma"]
    assert names(captured("chatty")) == ["alpha", "beta"]
    assert "4 times" in failed("changed-always", "unstable").why


def test_an_empty_list_that_fills_is_read_again():
    assert names(captured("empty-then-full")) == ["alpha", "beta"]


def test_an_empty_list_is_no_surface_unless_allowed():
    assert "--allow-empty" in failed("empty", "empty-listing").next
    assert captured("empty", allow_empty=True).surface.tools == ()


def test_one_bad_tool_costs_no_other():
    outcome = captured("bad-tool")
    assert names(outcome) == ["alpha", "beta", "broken"]
    assert codes(outcome) == [("invalid-schema", "srv", "/tools/3"), ("invalid-schema", "srv", "/tools/4")]


@pytest.mark.parametrize(
    ("behaviour", "code", "pointer"),
    [
        ("bad-utf8", "control-text", "/description"),
        ("repeated-key", "control-text", "/title"),
        ("huge-number", "control-text", "/inputSchema/maximum"),
        ("surrogate", "control-text", "/description"),
        ("digits", "control-text", "/inputSchema/maximum"),
        ("deep", "schema-too-complex", "/inputSchema/enum/0/0/0"),
        ("abyss", "schema-too-complex", "/inputSchema/enum/0/0/0"),
    ],
)
def test_json_that_parsers_disagree_on_is_a_finding_on_its_tool(behaviour, code, pointer):
    outcome = captured(behaviour)
    assert names(outcome) == ["alpha"]
    ((found, key, where),) = codes(outcome)
    assert (found, key) == (code, "srv/broken")
    assert where.startswith(pointer)


def test_exact_numbers_survive():
    (alpha,) = captured("huge-number").surface.tools
    assert alpha["inputSchema"] == {"maximum": 10**400}


def test_a_repeated_list_hides_tools_and_is_said():
    outcome = captured("repeated-tools", allow_empty=True)
    assert codes(outcome) == [("control-text", "srv", "/result/tools")]


def test_a_surrogate_in_the_instructions_is_a_finding():
    outcome = captured("surrogate-handshake")
    assert names(outcome) == ["alpha", "beta"]
    assert codes(outcome) == [("control-text", "srv", "/initialize/instructions")]
    assert outcome.surface.instructions is None


def test_nine_megabytes_in_one_line():
    assert len(captured("big").surface.tools) == 1000


@pytest.mark.parametrize(
    ("behaviour", "code", "words"),
    [
        ("list-error", "server-failed", "database \\u{1b}[31m is down"),
        ("list-garbage", "server-failed", "not the protocol"),
        ("nan", "server-failed", "NaN is not JSON"),
        ("not-a-list", "server-failed", "not the protocol"),
        ("cursor-number", "server-failed", "nextCursor"),
        ("broken-handshake", "server-failed", "capabilities"),
        ("old-future", "server-failed", "1999-01-01"),
        ("long-line", "server-failed", "32 MiB"),
        ("crash-start", "server-exited", "code 3"),
        ("crash-list", "server-exited", "code 4"),
        ("killed", "server-exited", "signal 9"),
        ("closes-stdout", "server-exited", "closed its standard output"),
    ],
)
def test_a_broken_server_is_never_an_empty_surface(behaviour, code, words):
    assert words in failed(behaviour, code).why


def test_c019_last_words_are_quoted_and_the_environment_is_hinted_at():
    gap = failed("crash-start", "server-exited")
    assert "ImportError: no module named" in gap.why
    assert "pass_env" in gap.next


def test_silence_times_out_and_says_in_which_phase_and_how_to_allow_more():
    gap = failed("silence", "timed-out", timeout_s=1.0, within=6)
    assert "`first reply`" in gap.why
    assert re.search(r"within 1\.\d s", gap.why)
    assert "--timeout 2" in gap.next


@pytest.mark.parametrize("behaviour", ["slow-start", "stderr-flood", "grandchild", "fails-at-close", "asks"])
def test_odd_manners_change_nothing(quiet, behaviour):
    outcome = captured(behaviour)
    assert surface_digest(outcome.surface) == surface_digest(quiet.surface)
    assert outcome.findings == ()


@pytest.mark.parametrize("behaviour", ["stubborn", "stubborn-family", "daemon"])
def test_the_stubborn_are_killed_with_their_families(quiet, behaviour):
    assert surface_digest(captured(behaviour).surface) == surface_digest(quiet.surface)


def test_c016_both_eras_are_captured_and_envelopes_are_dropped(quiet):
    modern = captured("modern", protocol="2026-07-28")
    assert modern.surface.tools == quiet.surface.tools
    assert modern.surface.initialize == {
        "protocolVersion": "2026-07-28",
        "serverInfo": {"name": "hostile", "version": "1.0"},
        "capabilities": {"tools": {}},
        "instructions": "Be modern.",
    }
    for known in (None, "2025-11-25"):
        assert captured("modern", protocol=known).surface == modern.surface


def test_the_frozen_era_is_asked_first(quiet):
    assert captured("ignores-unknown", within=5).surface == quiet.surface


def test_prompts_and_resources_only_when_asked(quiet):
    assert quiet.surface.prompts is None
    outcome = captured("primitives", primitives=("tools", "prompts", "resources"))
    assert outcome.surface.prompts == ({"name": "p", "x": 1},)
    assert outcome.surface.resources == ({"uri": "file:///a", "name": "a"},)
    assert outcome.surface.resource_templates == ({"uriTemplate": "file:///{a}", "name": "t"},)
    undeclared = captured("quiet", primitives=("tools", "prompts"))
    assert undeclared.surface.prompts == ()


SECRET = "tok-5ecret-Value/9"


def test_a_secret_that_comes_back_is_an_error():
    outcome = captured("echo-secret", env={"HOSTILE_SECRET": SECRET}, secrets=(SECRET,))
    assert codes(outcome) == [("secret-echoed", "srv/alpha", "")]
    assert SECRET not in repr(outcome.findings)


def test_a_secret_in_the_instructions_is_an_error_too():
    outcome = captured("echo-instructions", env={"HOSTILE_SECRET": SECRET}, secrets=(SECRET,))
    assert codes(outcome) == [("secret-echoed", "srv", "")]


@pytest.mark.parametrize("behaviour", ["crash-start", "crash-list"])
def test_secrets_are_masked_in_last_words(behaviour):
    gap = failed(behaviour, "server-exited", env={"HOSTILE_SECRET": SECRET}, secrets=(SECRET,))
    assert SECRET not in repr(gap)
    assert "\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}secret" in gap.why


def test_c012_c013_commands_that_cannot_start(tmp_path):
    env = {"PATH": os.environ["PATH"]}
    plain = tmp_path / "plain.txt"
    plain.write_text("x")
    outcomes = capture_all(
        [
            Launch("gone", Transport.STDIO, argv=("keel-no-such-command",), env=env),
            Launch("spaces", Transport.STDIO, argv=("npx -y pkg",), env=env),
            Launch("cwd", Transport.STDIO, argv=(sys.executable,), env=env, cwd=tmp_path / "missing"),
            Launch("plain", Transport.STDIO, argv=(str(plain),), env=env),
            Launch("nul", Transport.STDIO, argv=("a\0b",), env=env),
        ]
    )
    assert {outcome.gap.code for outcome in outcomes.values()} == {"unreachable"}
    assert "command not found: keel-no-such-command" in outcomes["gone"].gap.why
    assert '["npx", "-y", "pkg"]' in outcomes["spaces"].gap.next
    assert "working directory `missing`" in outcomes["cwd"].gap.why
    assert "Permission denied" in outcomes["plain"].gap.why


def test_a_command_may_stand_in_the_home_of_the_child(quiet, tmp_path):
    script = tmp_path / "serve.sh"
    script.write_text(f"#!/bin/sh\nexec {sys.executable} {HOSTILE} quiet\n")
    script.chmod(0o755)
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    outcome = capture_all([Launch("srv", Transport.STDIO, argv=("~/serve.sh",), env=env, protocol="2025-11-25")])["srv"]
    assert outcome.surface == quiet.surface


def test_nothing_is_printed(capfd):
    capture_all([launch("bad-tool"), launch("list-garbage"), launch("crash-start")])
    assert capfd.readouterr() == ("", "")


def test_servers_are_captured_side_by_side_and_one_that_fails_takes_none_with_it():
    behaviours = ["slow-start"] * 4 + ["crash-start", "list-error"]
    launches = [launch(name) for name in behaviours]
    launches = [
        Launch(f"s{index}", one.transport, one.argv, one.env, protocol=one.protocol)
        for index, one in enumerate(launches)
    ]
    seen = []
    outcomes = capture_all(launches, progress=lambda name, phase: seen.append((name, phase)))
    assert list(outcomes) == [f"s{index}" for index in range(6)]
    assert [isinstance(outcome, Captured) for outcome in outcomes.values()] == [True] * 4 + [False] * 2
    assert ("s0", "spawn") in seen
    assert ("s0", "done") in seen
    assert ("s5", "failed") in seen


def test_no_launch_no_loop():
    assert capture_all([]) == {}


ZONE_MASK = VolatileMask("alpha", "/description", "'[A-Za-z/]+'")


def test_a_second_start_finds_what_differs_by_machine_and_how_to_settle_it(quiet):
    assert captured("quiet", twice=True).findings == quiet.findings
    outcome = captured("time-zone", twice=True)
    assert codes(outcome) == [("unstable-definition", "srv/alpha", "/description")]
    assert "Pacific/Kiritimati" in outcome.findings[0].message
    assert '- {tool: "alpha", pointer: "/description", match: "' in outcome.findings[0].next
    settled = captured("time-zone", twice=True, volatile=(ZONE_MASK,))
    assert settled.findings == ()
    assert "Etc/UTC" in settled.surface.tools[0]["description"]
    assert codes(captured("set-order", twice=True)) == [("unstable-definition", "srv/alpha", "/description")]


def test_a_second_start_that_fails_is_said_and_takes_nothing_away(quiet):
    outcome = captured("only-here", twice=True)
    assert outcome.surface == quiet.surface
    assert codes(outcome) == [("stability-unverified", "srv", "")]
    assert "code 5" in outcome.findings[0].message


def test_other_paths_are_probed_when_asked(quiet):
    one = launch("home")
    plain = capture_all([one], second_start=True)["srv"]
    assert plain.findings == ()
    probed = capture_all([one], second_start=["srv"], probe_paths=True)["srv"]
    assert codes(probed) == [("unstable-definition", "srv/alpha", "/description")]


def test_servers_that_cannot_run_side_by_side_are_started_one_after_the_other(tmp_path):
    assert captured("one-at-a-time", twice=True, env={"HOSTILE_LOCK": str(tmp_path / "lock")}).findings == ()


def test_a_mask_that_would_hide_a_sentence_is_reported():
    outcome = captured("quiet", volatile=(VolatileMask("alpha", "/description", "Does.*"),))
    assert codes(outcome) == [("volatile-too-wide", "srv/alpha", "/description")]


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, "interrupted"), (signal.SIGTERM, -signal.SIGTERM)])
def test_an_interrupted_capture_leaves_no_process(number, status):
    mark = uuid.uuid4().hex
    program = f"""
import sys
from keel.capture.interface import Launch
from keel.capture.run import capture_all
from keel.core.model import Transport
env = {{"PATH": {os.environ["PATH"]!r}, {MARK!r}: {mark!r}}}
launches = [
    Launch(name, Transport.STDIO, argv=(sys.executable, {str(HOSTILE)!r}, name), env=env, protocol="2025-11-25")
    for name in ("silence", "closes-stdout", "grandchild-silence")
]
try:
    capture_all(launches, progress=lambda *seen: print(*seen, flush=True))
except KeyboardInterrupt:
    print("interrupted")
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as keel:
        for _ in range(6):
            keel.stdout.readline()
        time.sleep(0.5)
        assert survivors(mark)
        start = time.monotonic()
        keel.send_signal(number)
        output, _ = keel.communicate(timeout=20)
        assert time.monotonic() - start < 8
    assert survivors(mark) == []
    assert keel.returncode == status or status in output


def test_loading_the_capture_loads_no_sdk():
    program = "import sys, keel.capture.run, keel.capture.replay; print([n for n in ('mcp', 'anyio', 'httpx2', 'pydantic') if n in sys.modules])"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "[]\n"
