"""What the child does with a request, here in the test's own process."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pydantic
import pytest

from keel.core.finding import Location
from keel.core.finding import finding as make
from keel.native import introspect as child
from keel.native.request import Answer, ModuleRef, NativeDefinition, Request, ToolRef

FLOWS = "from keel import tool\n\n@tool\ndef look(a: int) -> int:\n    return a\n"


@pytest.fixture(autouse=True)
def _restored(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "argv", list(sys.argv))
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if name.startswith("probe_"):
            del sys.modules[name]


def ask(
    project: Path, tools: list[ToolRef], roots: tuple[str, ...] = (".",), **modules: str
) -> tuple[Answer, list[str]]:
    for name, text in modules.items():
        (project / f"{name}.py").write_text(text, encoding="utf-8")
    announced: list[str] = []
    references = tuple(ModuleRef(name, f"{name}.py") for name in modules)
    answer = child.introspect(Request(str(project), roots, references, tuple(tools)), announced.append)
    return answer, announced


def test_modules_are_announced_and_their_tools_described(tmp_path: Path) -> None:
    wanted = ToolRef("probe_b", "look", "look", 4)
    answer, announced = ask(tmp_path, [wanted], probe_a="x = 1\n", probe_b=FLOWS)
    assert announced == ["probe_a", "probe_b"]
    assert answer.findings == ()
    assert [item.tool for item in answer.definitions] == [wanted]


def test_the_first_root_wins(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "probe_c.py").write_text("x = 1\n", encoding="utf-8")
    answer, _ = ask(tmp_path, [], roots=("src", "."), probe_c="")
    assert [item.message for item in answer.findings] == [
        "`import probe_c` gives another module (`src/probe_c.py`) than `probe_c.py`"
    ]


def test_tools_of_a_module_that_failed_are_not_reported_again(tmp_path: Path) -> None:
    answer, _ = ask(tmp_path, [ToolRef("probe_d", "look", "look", 4)], probe_d="1 / 0\n")
    assert [item.message for item in answer.findings] == [
        "module `probe_d` cannot be imported: `ZeroDivisionError: division by zero`"
    ]


def test_an_error_of_an_authoring_name_gives_its_own_advice(tmp_path: Path) -> None:
    text = "from keel import tool\n\n@tool(effect='reed')\ndef look(a: int): ...\n"
    answer, _ = ask(tmp_path, [], probe_e=text)
    (found,) = answer.findings
    assert "InvalidOption: `effect` must be one of" in found.message
    assert found.next == "did you mean `read`?"
    assert (found.location.file, found.location.line) == ("probe_e.py", 3)


def test_a_failure_inside_a_library_is_reported_at_the_module(tmp_path: Path) -> None:
    packages = tmp_path / "env" / "site-packages"
    packages.mkdir(parents=True)
    (packages / "probe_lib.py").write_text("raise OSError('offline')\n", encoding="utf-8")
    sys.path.append(str(packages))
    answer, _ = ask(tmp_path, [], probe_f="\nimport probe_lib\n")
    assert (answer.findings[0].location.file, answer.findings[0].location.line) == ("probe_f.py", 2)


def test_tools_of_a_library_are_not_the_projects(tmp_path: Path) -> None:
    packages = tmp_path / "env" / "site-packages"
    packages.mkdir(parents=True)
    (packages / "probe_tools.py").write_text(FLOWS, encoding="utf-8")
    sys.path.append(str(packages))
    answer, _ = ask(tmp_path, [], probe_g="from probe_tools import look\n")
    assert answer == Answer()


def test_a_tool_below_a_wrapper_of_another_file_is_found_at_its_own_place(tmp_path: Path) -> None:
    helper = (
        "import functools\n\ndef logged(function):\n    @functools.wraps(function)\n"
        "    def inner(*args, **kwargs):\n        return function(*args, **kwargs)\n    return inner\n"
    )
    flows = "from keel import tool\nfrom probe_h import logged\n\n@tool\n@logged\ndef look(a: int, b): ...\n"
    answer, _ = ask(tmp_path, [ToolRef("probe_i", "look", "look", 6)], probe_h=helper, probe_i=flows)
    assert [(item.location.file, item.location.line, item.location.column) for item in answer.findings] == [
        ("probe_i.py", 6, 18)
    ]


@pytest.mark.parametrize(("version", "refused"), [("1.10.2", True), ("2.8.2", True), ("2.9.0", False), ("3.0", False)])
def test_an_old_pydantic_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, refused: bool) -> None:
    monkeypatch.setattr(pydantic, "VERSION", version)
    answer, _ = ask(tmp_path, [ToolRef("probe_j", "look", "look", 4)], probe_j=FLOWS)
    assert bool(answer.findings) is refused
    if refused:
        assert f"has pydantic {version}, and keel needs 2.9 or later" in answer.findings[0].message


def test_without_tools_pydantic_is_not_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pydantic", None)  # type: ignore[arg-type]
    answer, _ = ask(tmp_path, [], probe_k="x = 1\n")
    assert answer == Answer()
    answer, _ = ask(tmp_path, [ToolRef("probe_l", "look", "look", 4)], probe_l=FLOWS)
    assert "cannot import pydantic" in answer.findings[0].message


def test_request_and_answer_survive_json() -> None:
    tool = ToolRef("flows", "look", "look", 4)
    request = Request("/p", (".", "src"), (ModuleRef("flows", "flows.py"),), (tool,))
    assert Request.from_json(json.loads(json.dumps(request.to_json()))) == request
    found = make("native-tool", "no", location=Location("flows.py", 1, 2, "look"), next="do")
    answer = Answer((NativeDefinition(tool, {"name": "look"}, "read", idempotent=True),), (found,))
    assert Answer.from_json(json.loads(json.dumps(answer.to_json()))) == answer


@pytest.mark.parametrize(
    ("text", "message", "next_"),
    [
        ("import sys\nsys.exit()\n", "calls `sys.exit` while it is imported", "guard it with"),
        ("import probe_nothing\n", "cannot be imported: there is no module `probe_nothing`", "install it"),
        ("x = (\n", "cannot be imported: `SyntaxError: '(' was never closed (probe_m.py, line 1)`", "correct"),
        ("raise ValueError(object())\n", "cannot be imported: `ValueError: <object object>`", "correct"),
        ("raise KeyboardInterrupt\n", "cannot be imported: `KeyboardInterrupt`", "correct"),
        ("from keel import human_gate\nhuman_gate('?')\n", "cannot be imported: `NoRuntime:", "only inside functions"),
        ("from keel import mcp_tool\nmcp_tool('', 'a')\n", "cannot be imported: `InvalidOption:", "correct"),
    ],
)
def test_every_way_to_fail_has_its_sentence(tmp_path: Path, text: str, message: str, next_: str) -> None:
    answer, _ = ask(tmp_path, [], probe_m=text)
    (found,) = answer.findings
    assert found.message.startswith(f"module `probe_m` {message}")
    assert next_ in found.next
    assert found.location.file == "probe_m.py"


def test_differences_between_source_and_running_module_are_named(tmp_path: Path) -> None:
    text = (
        FLOWS
        + "class Desk:\n    @tool(name='held')\n    def hold(a: int): ...\nlook = 5\nextra = tool(name='e')(lambda a: a)\n"
    )
    wanted = [
        ToolRef("probe_n", "look", "look", 4),
        ToolRef("probe_n", "Desk.hold", "hold", 8),
        ToolRef("probe_n", "Desk.gone", "gone", 9),
    ]
    answer, _ = ask(tmp_path, wanted, probe_n=text)
    assert [item.message for item in answer.findings] == [
        "the source declares native tool `look` as `look`, which is a `int` when module `probe_n` runs",
        "native tool `Desk.hold` is called `hold` in the source and `held` when module `probe_n` runs",
        "the source declares native tool `gone` as `Desk.gone`, which is not there when module `probe_n` runs",
        "module `probe_n` makes native tool `e`, which its source does not show",
    ]


def test_a_tool_of_a_lambda_in_another_file_has_at_least_its_own_line(tmp_path: Path) -> None:
    flows = "from keel import tool\nfrom probe_o import make\nlook = tool(name='look')(make())\n"
    helper = "def make():\n    def look(a): ...\n    return look\n"
    answer, _ = ask(tmp_path, [ToolRef("probe_p", "look", "look", 3)], probe_o=helper, probe_p=flows)
    assert [(item.location.file, item.location.line) for item in answer.findings] == [("probe_p.py", 3)]


def test_a_type_that_raises_is_a_finding(tmp_path: Path) -> None:
    text = (
        "from keel import tool\n\nclass Odd:\n    @classmethod\n    def __get_pydantic_core_schema__(cls, *rest):\n"
        "        raise SystemExit(3)\n\n@tool\ndef look(a: Odd): ...\n"
    )
    answer, _ = ask(tmp_path, [ToolRef("probe_q", "look", "look", 9)], probe_q=text)
    assert [item.message for item in answer.findings] == ["native tool `look` cannot be described: `SystemExit: 3`"]
