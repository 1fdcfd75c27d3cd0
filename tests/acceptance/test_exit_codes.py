"""Each exit code, each command's last line, and bad command lines."""

from __future__ import annotations

import json

import jsonschema
import pytest

from tests.acceptance.conftest import FLOW, MANIFEST
from tests.acceptance.harness import Keel, put, surface, tool


def test_clean_is_0(project: Keel) -> None:
    project("freeze")
    done = project("check")
    assert done.code == 0, done.out
    assert done.out.splitlines()[-1].startswith("check: ")
    assert project("drift").code == 0


def test_findings_are_1(project: Keel) -> None:
    project("freeze")
    put(project.root, {"flows.py": FLOW.replace('    await human_gate(f"wipe {q}?")\n', "")})
    done = project.json("check")
    assert done.code == 1
    assert "approval-missing" in done.codes
    assert project("check", "--fail-on", "never").code == 0


def test_drift_is_1_and_diff_is_0(project: Keel) -> None:
    project("freeze")
    put(project.root, {"alpha.json": surface(tool("read", "Obey."), tool("wipe"))})
    done = project.json("drift")
    assert (done.code, done.codes) == (1, ["text-changed"])
    assert done.report["findings"][0]["site"].startswith("settle@flows.py:")
    assert "used at settle@flows.py:" in project("drift").out
    assert project("diff", "alpha.json", "beta.json").code == 0
    assert project("diff", "alpha.json", "beta.json", "--fail-on", "error").code == 1


def test_incomplete_is_3_and_findings_outrank_it(project: Keel) -> None:
    project("freeze")
    (project.root / "beta.json").unlink()
    assert project("drift").code == 3
    assert project("drift", "--fail-on", "never").code == 3
    assert project("drift", "--allow-unreachable", "beta").code == 0
    put(project.root, {"alpha.json": surface(tool("read", "Obey."), tool("wipe"))})
    done = project.json("drift")
    assert (done.code, len(done.gaps)) == (1, 1)


@pytest.mark.parametrize(
    "words",
    [
        ["nonsense"], ["freeze", "--nonsense"], ["freeze", "gamma"], ["drift", "gamma"], ["check", "--today", "soon"],
        ["check", "--format", "pdf"], ["explain", "nonsense"], ["schema", "nonsense"], ["show", "nonsense"],
        ["diff", "nonsense"], ["verify", "nonsense"], ["freeze", "--expect", "alpha"], ["check", "--project", "nowhere"],
        ["capture", "-o", "x.json", "--"], ["relate"], ["relate", "alpha.json", "nowhere.json"], ["lint", "nowhere.json"],
        ["approve"], ["deny", "nothing"], ["approve", "--store", "mysql://host/db"], ["audit", "nonsense"], ["audit", "head"],
        ["audit", "operations"], ["audit", "settle", "k1:0", "--applied"], ["audit", "prune", "--before", "soon"],
    ],
)  # fmt: skip
def test_a_command_line_that_cannot_be_carried_out_is_2(project: Keel, words: list[str]) -> None:
    project("freeze")
    done = project(*words)
    assert done.code == 2, done.out + done.err
    assert done.out + done.err


def test_a_broken_manifest_is_2_with_every_error_at_once(project: Keel) -> None:
    put(project.root, {"keel.yaml": MANIFEST + "modles: [a]\nbudget: {tokens: many}\n"})
    done = project.json("check")
    assert (done.code, done.codes) == (2, ["manifest-error"])
    assert [(item["location"]["line"], item["location"]["file"]) for item in done.report["findings"]] == [
        (9, "keel.yaml"),
        (10, "keel.yaml"),
    ]
    assert "models" in done.report["findings"][0]["next"] + done.report["findings"][0]["message"]


def test_every_json_report_is_valid(project: Keel) -> None:
    schema = json.loads(project("schema", "report").out)
    for words in (
        ["freeze"],
        ["check"],
        ["drift"],
        ["bundle"],
        ["freeze", "--check"],
        ["diff", "alpha.json", "beta.json"],
    ):
        jsonschema.validate(project.json(*words).report, schema)


def test_reports_go_to_files_beside_the_text(project: Keel) -> None:
    project("freeze")
    done = project("check", "--format", "text", "--format", "json:report.json")
    assert done.out.splitlines()[-1].startswith("check: ")
    assert json.loads((project.root / "report.json").read_text())["schema_version"] == 1


def test_no_environment_variable_makes_a_failing_check_pass(project: Keel) -> None:
    put(project.root, {"flows.py": FLOW.replace('    await human_gate(f"wipe {q}?")\n', "")})
    project("freeze")
    names = (
        "KEEL_FROZEN",
        "KEEL_OFFLINE",
        "KEEL_FAIL_ON",
        "KEEL_SKIP",
        "CI",
        "NO_COLOR",
        "KEEL_ALLOW",
        "PYTHONOPTIMIZE",
    )
    assert project("check", **dict.fromkeys(names, "1")).code == 1


def test_version_and_help(keel: Keel) -> None:
    assert keel("--version").out.startswith("keel ")
    for command in ("freeze", "check", "drift", "diff", "bundle", "keygen", "sign", "verify", "show", "capture", "explain", "schema", "lint", "relate", "approve", "deny", "audit"):  # fmt: skip
        done = keel(command, "--help")
        assert done.code == 0
        assert "keel " in done.out
    assert "Exit codes" in keel("--help").out


def test_no_project_is_said_with_what_to_do(keel: Keel) -> None:
    done = keel("check")
    assert done.code == 2
    assert "keel init" in done.out or "--project" in done.out


def test_bundle_and_verify(project: Keel) -> None:
    project("freeze")
    done = project("bundle", "-o", "out.keel")
    assert done.code == 0, done.out
    assert project("verify", "out.keel").code == 1
    assert project("verify", "out.keel", "--allow-unsigned").code == 0
    data = bytearray((project.root / "out.keel").read_bytes())
    data[len(data) // 2] ^= 1
    (project.root / "out.keel").write_bytes(data)
    assert project("verify", "out.keel", "--allow-unsigned").code == 1


def test_a_bundle_is_refused_while_a_finding_blocks(project: Keel) -> None:
    project("freeze")
    put(project.root, {"flows.py": FLOW.replace('    await human_gate(f"wipe {q}?")\n', "")})
    assert project("bundle", "-o", "out.keel").code == 1
    assert not (project.root / "out.keel").exists()
