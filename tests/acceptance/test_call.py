"""`keel call`: the outcomes of one dispatch, their exit codes, and what a run leaves behind."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.acceptance.gateways import Bundled
from tests.acceptance.harness import Keel, put
from tests.fakes import workshop

SECRET = "s3cr3t/value+of the-test"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Bundled:
    return Bundled(Keel(tmp_path_factory.mktemp("call")), secret=SECRET)


def test_a_result_is_0_and_json(shared: Bundled) -> None:
    code, result, said = shared.call("w/echo", text="hi")
    assert (code, said) == (0, "")
    assert {name: result[name] for name in ("tool_name", "ok", "data", "error")} == {
        "tool_name": "w/echo", "ok": True, "data": {"text": "hi"}, "error": None,
    }  # fmt: skip
    assert result["tool_version"].startswith("k1:")


@pytest.mark.parametrize(
    ("key", "arguments", "expected", "exit_code"),
    [
        ("w/nope", {}, "unknown_tool", 1),
        ("w/garbage", {}, "not_granted", 1),
        ("w/echo", {"txt": "hi"}, "invalid_arguments", 1),
        ("w/fail", {"text": "x"}, "approval_required", 1),
        ("w/say", {"text": "x", "delay": 4}, "outcome_unknown", 3),
        ("w/die", {}, "outcome_unknown", 3),
    ],
)
def test_a_refusal_is_1_and_what_could_not_be_completed_3(
    shared: Bundled, key: str, arguments: dict[str, object], expected: str, exit_code: int
) -> None:
    before = len(shared.events("called"))
    code, result, _ = shared.call(key, **arguments)
    assert (result["ok"], result["error"]["code"], code) == (False, expected, exit_code)
    assert len(shared.events("called")) - before == (1 if exit_code == 3 else 0)


def test_a_server_that_is_not_there_is_3(keel: Keel) -> None:
    bundled = Bundled(keel)
    (keel.root / "journal").mkdir()  # the workshop cannot write it, and ends
    code, result, _ = bundled.call("w/echo", text="x")
    assert (code, result["error"]["code"], result["error"]["retryable"]) == (3, "surface_drift", True)


def test_an_unknown_argument_never_reaches_the_server(keel: Keel) -> None:
    bundled = Bundled(keel)
    code, result, _ = bundled.call("w/die", tenant="other")
    assert (code, result["error"]["code"]) == (1, "invalid_arguments")
    assert bundled.events("called") == []


def test_an_approval_is_asked_given_used_once_and_bound_to_the_arguments(shared: Bundled) -> None:
    code, result, said = shared.call("w/fail", text="once")
    approval = result["error"]["detail"]["approval"]
    assert code == 1
    assert f"keel approve {approval}" in said
    assert shared.call("w/fail", text="once")[1]["error"]["detail"]["approval"] == approval
    assert shared.keel("approve", approval).code == 0
    assert shared.call("w/fail", text="other")[1]["error"]["code"] == "approval_required"
    assert shared.call("w/fail", "--subject", "mallory", text="once")[1]["error"]["code"] == "approval_required"
    assert shared.call("w/fail", "--tenant", "other", text="once")[1]["error"]["code"] == "approval_required"
    done = shared.call("w/fail", text="once")[1]["error"]
    assert (done["code"], done["detail"]["code"]) == ("tool_failed", "not_found")
    again = shared.call("w/fail", text="once")[1]["error"]
    assert (again["code"], again["detail"]["approval"] != approval) == ("approval_required", True)


def test_a_denied_approval_admits_nothing(shared: Bundled) -> None:
    approval = shared.call("w/fail", text="denied")[1]["error"]["detail"]["approval"]
    assert shared.keel("deny", approval).code == 0
    before = len(shared.events("called"))
    assert shared.call("w/fail", text="denied")[1]["error"]["code"] == "approval_required"
    assert len(shared.events("called")) == before


def test_the_same_operation_is_done_once(shared: Bundled) -> None:
    before = len(shared.events("called"))
    first = shared.call("w/say", "--operation", "op-1", text="once")[1]
    again = shared.call("w/say", "--operation", "op-1", text="once")[1]
    assert (first["data"], again["data"], again["replayed"]) == (again["data"], first["data"], True)
    assert len(shared.events("called")) - before == 1


def test_arguments_come_from_a_file_or_standard_input(shared: Bundled) -> None:
    put(shared.keel.root, {"in.json": '{"text": "é"}'})
    words = ("call", "w/echo", "--bundle", "b.keel", "--allow-unsigned", "--input")
    for given, stdin in (("@in.json", ""), ("-", '{"text": "é"}')):
        done = shared.keel(*words, given, stdin=stdin, W_KEY=SECRET)
        assert json.loads(done.out)["data"] == {"text": "é"}


@pytest.mark.parametrize(
    "words",
    [
        ["--input", '{"a":1,"a":2}'], ["--input", "@nowhere.json"], ["--secret", "key=literal:hunter2"],
        ["--tool-url", "native=https://x"], ["--store", "ftp://x"], ["--signer", "nowhere"], ["--bundle", "nowhere"],
        ["--min-sequence", "5"], ["--input", "@."], ["--input", "@latin.json"], ["--secret", "kye=env:W_KEY"],
    ],
)  # fmt: skip
def test_a_command_line_that_cannot_be_carried_out_is_2_and_prints_no_result(shared: Bundled, words: list[str]) -> None:
    bundle = [] if "--bundle" in words else ["--bundle", "b.keel"]
    (shared.keel.root / "latin.json").write_bytes('{"text": "é"}'.encode("latin-1"))
    done = shared.keel("call", "w/echo", *bundle, "--allow-unsigned", *words, W_KEY=SECRET)
    assert (done.code, done.out) == (2, "")
    assert done.err
    assert "hunter2" not in done.err


def test_an_unsigned_bundle_is_opened_only_where_that_is_said(shared: Bundled) -> None:
    done = shared.keel("call", "w/echo", "--bundle", "b.keel", "--input", '{"text":"x"}', W_KEY=SECRET)
    assert (done.code, done.out) == (2, "")
    assert "sign" in done.err


def test_a_secret_that_is_missing_or_short_stops_the_call_before_anything_starts(shared: Bundled) -> None:
    before = len(shared.events("started"))
    words = ("call", "w/echo", "--bundle", "b.keel", "--allow-unsigned", "--input", '{"text":"x"}')
    for value in ("", "short"):
        done = shared.keel(*words, W_KEY=value)
        assert done.code == 3, done.out
        assert "`key`" in json.loads(done.out)["error"]["message"]
    assert len(shared.events("started")) == before


def test_the_operator_overrides_where_a_secret_comes_from(shared: Bundled, tmp_path: Path) -> None:
    (tmp_path / "key").write_text("value-from-the-file\n")
    words = ("call", "w/leak", "--bundle", "b.keel", "--allow-unsigned")
    for source in (["--secret", f"key=file:{tmp_path / 'key'}"], ["--secret-command", f"key=cat {tmp_path / 'key'}"]):  # fmt: skip
        done = shared.keel(*words, *source)
        assert json.loads(done.out)["error"]["message"] == "`w/leak` failed: the key is ‹secret›"


def test_no_file_and_no_output_holds_a_secret(keel: Keel) -> None:
    bundled = Bundled(keel, secret=SECRET)
    said = [str(bundled.call(key, **arguments)) for key, arguments in _LEAKS]
    said += [keel("audit", "show").out, keel("audit", "verify").out]
    data = SECRET.encode()
    forms = {data, base64.b64encode(data), base64.urlsafe_b64encode(data), quote(SECRET, safe="").encode(), quote(SECRET).encode()}  # fmt: skip
    forms |= {base64.b64encode(b"x" * n + data)[4:-4] for n in range(1, 3)}
    files = {path: path.read_bytes() for path in keel.root.rglob("*") if path.is_file()}
    assert {".keel/state.sqlite", ".keel/audit.jsonl"} <= {path.relative_to(keel.root).as_posix() for path in files}
    holders = {path.name for path, held in files.items() for form in forms if form in held}
    # The server itself was given it, and wrote its own journal from the arguments that were sent to it.
    assert holders <= {"journal"}
    assert not any(form.decode() in text for form in forms for text in said)


_LEAKS = (
    ("w/leak", {}),
    ("w/echo", {"text": "hi"}),
    ("w/say", {"text": SECRET}),
    ("w/echo", {"text": base64.b64encode(SECRET.encode()).decode()}),
    ("w/fail", {"text": quote(SECRET, safe="")}),
    ("w/echo", {"txt": SECRET}),
    (f"w/{SECRET}", {}),
)


NATIVE = '''\
"""A native tool."""

from typing import Any

from keel import flow, tool


@tool(effect="read", idempotent=True)
def lookup_ticket(ticket: str) -> dict[str, Any]:
    """Find one support ticket by its number, which looks like T-1.

    Args:
        ticket: number of the ticket.
    """
    print("looking it up")
    return {"ticket": ticket, "state": "open"}


@flow
def main(ticket: str) -> dict[str, Any]:
    return lookup_ticket(ticket)
'''


def test_a_native_tool_runs_from_the_bundles_sources_or_behind_a_url(keel: Keel) -> None:
    put(keel.root, {"keel.yaml": "version: 1\nservers: {}\n", "flows.py": NATIVE})
    for words in (("freeze",), ("bundle",)):
        done = keel(*words)
        assert done.code == 0, done.out + done.err
    words = ("call", "lookup_ticket", "--allow-unsigned", "--input", '{"ticket": "T-1"}')
    done = keel(*words)
    assert json.loads(done.out)["data"] == {"ticket": "T-1", "state": "open"}, done.err
    assert "looking it up" in done.err
    hall = workshop.http_workshop()
    try:
        done = keel(*words, "--tool-url", f"lookup_ticket=http://127.0.0.1:{hall.server_address[1]}/tool")
    finally:
        hall.shutdown()
        hall.server_close()
    assert (done.code, json.loads(done.out)["error"]["code"]) == (1, "invalid_result")
    put(keel.root, {"flows.py": NATIVE.replace('"open"', '"closed"')})
    done = keel(*words)
    assert (done.code, done.out) == (2, "")
    assert "flows.py" in done.err


def test_without_a_bundle_the_one_of_the_project_is_meant(keel: Keel) -> None:
    put(keel.root, {"keel.yaml": "version: 1\nservers: {}\n"})
    for words in (("call", "x"), ("run", "x"), ("serve",)):
        done = keel(*words)
        assert (done.code, done.out) == (2, "")
        assert f"dist/{keel.root.name}.keel` cannot be read" in done.err
        assert "`keel bundle` writes one" in done.err
    (keel.root / "keel.yaml").unlink()
    done = keel("call", "x")
    assert (done.code, done.out) == (2, "")
    assert "no bundle is named, and there is no project here" in done.err


@pytest.mark.parametrize("command", ["call", "serve"])
def test_help_has_examples(keel: Keel, command: str) -> None:
    done = keel(command, "--help")
    assert done.code == 0
    assert "dist/support.keel" in done.out
