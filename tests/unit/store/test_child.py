"""The introspection child: whatever a module does while it is imported, the answer is definitions or findings."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from keel.core.finding import Finding
from keel.native.request import Answer, ModuleRef, Request, ToolRef
from keel.store import child

PYTHON = Path(sys.executable)


def ask(project: Path, *tools: ToolRef, timeout_s: float = 30, python: Path = PYTHON, **modules: str) -> Answer:
    for name, text in modules.items():
        (project / f"{name}.py").write_text(text, encoding="utf-8")
    references = tuple(ModuleRef(name, f"{name}.py") for name in modules)
    request = Request(str(project), (".",), references, tools)
    return child.introspect(python, request, cwd=project, timeout_s=timeout_s, env=dict(os.environ))


def only(answer: Answer) -> Finding:
    assert answer.definitions == ()
    assert len(answer.findings) == 1, answer.findings
    return answer.findings[0]


GOOD = '''from keel import tool

print("noise on stdout")

@tool(effect="read", idempotent=True)
def lookup(ticket: str, limit: int = 5) -> dict[str, str]:
    """Find one ticket."""
    return {}
'''
LOOKUP = ToolRef("flows", "lookup", "lookup", 6)


def test_definitions_come_back_whatever_the_module_prints(tmp_path: Path) -> None:
    answer = ask(
        tmp_path, LOOKUP, flows=GOOD + "import os\nos.write(1, b'{\"answer\": 1}\\n')\nos.write(2, b'\\xff')\n"
    )
    assert answer.findings == ()
    (definition,) = answer.definitions
    assert definition.tool == LOOKUP
    assert (definition.effect, definition.idempotent) == ("read", True)
    assert definition.wire == {
        "name": "lookup",
        "description": "Find one ticket.",
        "inputSchema": {
            "type": "object",
            "additionalProperties": False,
            "properties": {"ticket": {"type": "string"}, "limit": {"type": "integer", "default": 5}},
            "required": ["ticket"],
        },
        "outputSchema": {"type": "object", "additionalProperties": {"type": "string"}},
    }


def test_a_request_longer_than_a_pipe_holds_is_answered(tmp_path: Path) -> None:
    text = "from keel import tool\n" + "".join(f"@tool\ndef tool_{i:04}(x: int) -> None: ...\n" for i in range(1500))
    tools = [ToolRef("flows", f"tool_{i:04}", f"tool_{i:04}", 3 + 2 * i) for i in range(1500)]
    answer = ask(tmp_path, *tools, flows=text)
    assert answer.findings == ()
    assert [item.tool for item in answer.definitions] == tools


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("\nimport sys\nsys.exit(3)\n", "module `flows` calls `sys.exit` while it is imported", 3),
        ("import no_such_thing\n", "module `flows` cannot be imported: there is no module `no_such_thing`", 1),
        ("x = 1\nraise KeyboardInterrupt\n", "module `flows` cannot be imported: `KeyboardInterrupt`", 2),
        ("def f(:\n", "module `flows` cannot be imported: `SyntaxError: invalid syntax (flows.py, line 1)`", 1),
        (
            "from keel import mcp_tool\nsend = mcp_tool('mail', 'send')\n\nsend(to='x')\n",
            "module `flows` cannot be imported: `NoRuntime: `mail/send` needs a keel runtime, and none is active here`",
            4,
        ),
    ],
)
def test_an_import_that_fails_is_a_finding_at_its_line(tmp_path: Path, text: str, message: str, line: int) -> None:
    found = only(ask(tmp_path, flows=text))
    assert found.code == "native-tool"
    assert found.message == message
    assert (found.location.file, found.location.line) == ("flows.py", line)
    assert found.next


def test_the_line_is_that_of_the_project_not_of_a_library(tmp_path: Path) -> None:
    found = only(
        ask(
            tmp_path, helper="import json\n\ndef load():\n    json.loads('{')\n", flows="import helper\nhelper.load()\n"
        )
    )
    assert (found.location.file, found.location.line) == ("helper.py", 4)


def test_every_module_that_fails_is_reported(tmp_path: Path) -> None:
    answer = ask(tmp_path, LOOKUP, one="raise ValueError('a')\n", two="raise ValueError('b')\n", flows=GOOD)
    assert [item.location.file for item in answer.findings] == ["one.py", "two.py"]
    assert [item.tool.name for item in answer.definitions] == ["lookup"]


def test_a_hang_names_the_module(tmp_path: Path) -> None:
    start = time.monotonic()
    found = only(ask(tmp_path, timeout_s=1.5, first="", flows="import time\ntime.sleep(600)\n"))
    assert time.monotonic() - start < 10
    assert found.message == "importing module `flows` did not finish within 1.5 s"
    assert found.location.file == "flows.py"


def test_endless_output_neither_blocks_nor_fills_the_memory(tmp_path: Path) -> None:
    found = only(ask(tmp_path, timeout_s=1.5, flows="while True:\n    print('x' * 100000)\n"))
    assert "did not finish" in found.message


def alive(pid: int) -> bool:
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True)
    return state.stdout.strip() not in ("", "Z")


@pytest.mark.parametrize("ending", ["time.sleep(600)", "pass", "os._exit(0)"])
def test_processes_that_a_module_starts_are_gone_afterwards(tmp_path: Path, ending: str) -> None:
    text = (
        "import os, subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"open('pid', 'w').write(str(child.pid))\n{ending}\n"
    )
    ask(tmp_path, timeout_s=3, flows=text)
    pid = int((tmp_path / "pid").read_text())
    deadline = time.monotonic() + 5
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not alive(pid)


def test_a_module_that_ends_the_process_is_named_with_its_last_words(tmp_path: Path) -> None:
    found = only(ask(tmp_path, flows="import os, sys\nprint('no database', flush=True)\nos._exit(7)\n"))
    assert found.message == (
        "importing module `flows` ended its process (exit status 7); its last output was `no database`"
    )


def test_a_module_that_kills_the_process_is_named_with_the_signal(tmp_path: Path) -> None:
    found = only(ask(tmp_path, flows="import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n"))
    assert "ended its process (signal SIGKILL)" in found.message


def test_a_module_that_forks_gives_one_answer(tmp_path: Path) -> None:
    answer = ask(tmp_path, LOOKUP, flows=GOOD + "import os\nos.fork()\n")
    assert answer.findings == ()
    assert len(answer.definitions) == 1


def test_threads_that_a_module_leaves_running_do_not_keep_the_child(tmp_path: Path) -> None:
    start = time.monotonic()
    text = GOOD + "import threading, time\nthreading.Thread(target=time.sleep, args=(600,)).start()\n"
    assert len(ask(tmp_path, LOOKUP, flows=text).definitions) == 1
    assert time.monotonic() - start < 15


def test_a_missing_interpreter_is_a_config_error(tmp_path: Path) -> None:
    found = only(ask(tmp_path, python=tmp_path / "nowhere" / "python", flows=""))
    assert found.code == "config-error"
    assert found.message == ("the project's interpreter `nowhere/python` cannot be started: No such file or directory")
    assert "`python`" in found.next


def test_an_interpreter_that_is_too_old_says_so(tmp_path: Path) -> None:
    fake = tmp_path / "python3.8"
    fake.write_text(
        f"#!{PYTHON}\nimport sys\nsys.version_info = (3, 8, 18)\nsys.argv = ['-c', *sys.argv[3:]]\n"
        f"exec({child._BOOT!r})\n",
        encoding="utf-8",
    )
    fake.chmod(0o755)
    found = only(ask(tmp_path, python=fake, flows=""))
    assert found.code == "config-error"
    assert found.message == "the project's interpreter is Python 3.8; keel needs 3.11 or later"


def test_an_interpreter_that_is_none_is_reported_with_what_it_said(tmp_path: Path) -> None:
    fake = tmp_path / "python"
    fake.write_text("#!/bin/sh\necho not me\nexit 5\n", encoding="utf-8")
    fake.chmod(0o755)
    found = only(ask(tmp_path, python=fake, flows=""))
    assert found.code == "config-error"
    assert "ended its process (exit status 5); its last output was `not me`" in found.message


def test_an_interpreter_without_pydantic_or_keel_says_what_to_install(tmp_path: Path) -> None:
    # A bare interpreter: no site-packages at all, so neither keel nor pydantic come from the environment.
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nexec "{PYTHON}" -S "$@"\n', encoding="utf-8")
    bare.chmod(0o755)
    found = only(ask(tmp_path, LOOKUP, python=bare, flows=GOOD))
    assert "the project's interpreter cannot import pydantic" in found.message
    assert "keel-toolchain" in found.next


def test_another_keel_in_the_project_does_not_get_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "keel").mkdir()
    (tmp_path / "keel" / "__init__.py").write_text("raise RuntimeError('the other keel')\n", encoding="utf-8")
    assert len(ask(tmp_path, LOOKUP, flows=GOOD).definitions) == 1


def test_a_module_that_is_another_one_under_that_name_is_refused(tmp_path: Path) -> None:
    found = only(ask(tmp_path, json="x = 1\n"))
    assert found.message == "`import json` gives another module (`outside the project`) than `json.py`"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "lookup = 1\n",
            "the source declares native tool `lookup` as `lookup`, which is a `int` when module `flows` runs",
        ),
        ("", "the source declares native tool `lookup` as `lookup`, which is not there when module `flows` runs"),
        (
            "from keel import tool\n@tool(name='other')\ndef lookup(x: int) -> None: ...\n",
            "native tool `lookup` is called `lookup` in the source and `other` when module `flows` runs",
        ),
    ],
)
def test_a_tool_of_the_source_that_does_not_exist_is_named(tmp_path: Path, text: str, message: str) -> None:
    assert only(ask(tmp_path, LOOKUP, flows=text)).message == message


def test_a_tool_that_the_source_does_not_show_is_named(tmp_path: Path) -> None:
    text = GOOD + "hidden = [tool(name=f'secret_{i}')(lambda x: x) for i in range(1)]\n"
    answer = ask(tmp_path, LOOKUP, flows=text)
    assert [item.message for item in answer.findings] == [
        "module `flows` makes native tool `secret_0`, which its source does not show"
    ]
    assert answer.findings[0].location.line == 9
    assert [item.tool.name for item in answer.definitions] == ["lookup"]


def test_options_of_a_tool_are_no_second_tool(tmp_path: Path) -> None:
    assert ask(tmp_path, LOOKUP, flows=GOOD + "patient = lookup.options(timeout_s=60)\n").findings == ()


def test_a_parameter_without_type_is_found_at_its_own_line(tmp_path: Path) -> None:
    text = "from keel import tool\n@tool\ndef lookup(\n    tïcket: str, anything,\n) -> None: ...\n"
    found = only(ask(tmp_path, LOOKUP, flows=text))
    assert found.message == "parameter `anything` of native tool `lookup` has no type"
    assert (found.location.file, found.location.line, found.location.column) == ("flows.py", 4, 18)
    assert found.location.key == "lookup"


def test_annotations_that_end_the_process_do_not(tmp_path: Path) -> None:
    text = "from keel import tool\nimport sys\n@tool\ndef lookup(a: 'sys.exit(3)') -> None: ...\n"
    assert (
        only(ask(tmp_path, LOOKUP, flows=text)).message == "native tool `lookup` cannot be described: `SystemExit: 3`"
    )


def test_the_answer_does_not_depend_on_hash_seed_or_optimisation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = GOOD.replace("limit: int = 5", "kinds: frozenset[str] = frozenset({'a', 'b', 'c', 'd'})")
    first = ask(tmp_path, LOOKUP, flows=text)
    monkeypatch.setenv("PYTHONHASHSEED", "77")
    monkeypatch.setenv("PYTHONOPTIMIZE", "2")
    assert ask(tmp_path, LOOKUP, flows=text) == first
    assert first.definitions[0].wire["inputSchema"]["properties"]["kinds"]["default"] == ["a", "b", "c", "d"]
    assert not list(tmp_path.rglob("__pycache__"))


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ('{"answer": 5}\n', "gave an answer that cannot be read"),
        ('{"other": 5}\n', "gave an answer that cannot be read"),
        ("5\nnonsense\n", "ended its process (exit status 0)"),
        ("x" * 3000, "gave an answer of more than 1,000 bytes"),
    ],
)
def test_an_answer_that_is_none_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str, message: str
) -> None:
    monkeypatch.setattr(child, "MAX_ANSWER_BYTES", 1000)
    fake = tmp_path / "python"
    fake.write_text(
        f"#!{PYTHON}\nimport os, sys, time\nos.write(int(sys.argv[4]), {answer.encode()!r})\n"
        f"time.sleep(0 if len({answer!r}) < 1000 else 60)\n",
        encoding="utf-8",
    )
    fake.chmod(0o755)
    assert only(ask(tmp_path, python=fake, flows="")).message == f"the project's interpreter {message}"


class TestChoosePython:
    def interpreter(self, environment: Path) -> Path:
        path = environment / "bin" / "python"
        path.parent.mkdir(parents=True)
        path.write_text("")
        return path

    def test_the_configured_one_comes_first(self, tmp_path: Path) -> None:
        self.interpreter(tmp_path / ".venv")
        assert child.choose_python(tmp_path, "tools/python", {}) == tmp_path / "tools" / "python"

    def test_a_configured_environment_gives_its_interpreter(self, tmp_path: Path) -> None:
        path = self.interpreter(tmp_path / "env")
        assert child.choose_python(tmp_path, "env", {}) == path

    def test_a_configured_command_is_found_on_the_path(self, tmp_path: Path) -> None:
        command = tmp_path / "python9"
        command.write_text("#!/bin/sh\n")
        command.chmod(0o755)
        assert child.choose_python(tmp_path / "x", "python9", {"PATH": str(tmp_path)}) == command
        assert child.choose_python(tmp_path / "x", "python8", {"PATH": str(tmp_path)}) == Path("python8")

    def test_then_the_active_environment_then_the_projects_own(self, tmp_path: Path) -> None:
        own = self.interpreter(tmp_path / ".venv")
        active = self.interpreter(tmp_path / "active")
        assert child.choose_python(tmp_path, None, {"VIRTUAL_ENV": str(tmp_path / "active")}) == active
        assert child.choose_python(tmp_path, None, {"VIRTUAL_ENV": str(tmp_path / "gone")}) == own
        assert child.choose_python(tmp_path, None, {}) == own

    def test_else_the_running_one(self, tmp_path: Path) -> None:
        assert child.choose_python(tmp_path, None, {}) == Path(sys.executable)
