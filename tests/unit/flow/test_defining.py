"""Where names get their values, so that a stale native tool is seen without importing anything."""

from __future__ import annotations

import ast

import pytest

from keel.flow.defining import definition
from keel.flow.modules import MemorySources, Project
from keel.flow.read import read_flows
from keel.native.fingerprint import Fingerprints

FILES = {
    "tools.py": "from models import Ticket as T, Level\nimport models\nimport shared.kinds as kinds\nfrom star import *\n"
    "from pydantic import EmailStr\nimport datetime as dt\nif True:\n    Size = int\nelse:\n    Size = str\n",
    "models.py": "class Ticket: ...\nLevel = 1\n",
    "shared/__init__.py": "",
    "shared/kinds.py": "KIND = 3\n",
    "star.py": "Star = 1\n",
}


def find(name: str) -> tuple[str, str, str] | None:
    found = definition(Project(MemorySources(FILES), (".",)), "tools", name)
    return None if found is None else (found.module, found.name, ast.unparse(found.node).partition("\n")[0])


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("T", ("models", "Ticket", "class Ticket:")),
        ("models.Ticket", ("models", "Ticket", "class Ticket:")),
        ("kinds.KIND", ("shared.kinds", "KIND", "KIND = 3")),
        ("Star", ("star", "Star", "Star = 1")),
        ("EmailStr", ("tools", "EmailStr", "from pydantic import EmailStr")),
        ("dt", ("tools", "dt", "import datetime as dt")),
        ("Size", ("tools", "Size", "if True:")),
        ("Level.x", None),
        ("str", None),
        ("models.Nothing", None),
    ],
)
def test_a_name_is_found_where_it_is_bound(name: str, expected: tuple[str, str, str] | None) -> None:
    assert find(name) == expected


TOOL = "from keel import tool\n{imports}\n@tool()\ndef look(kind: {kind}) -> str:\n    '''Look.'''\n    return ''\n"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("from pydantic import EmailStr as K", "from pydantic import AnyUrl as K"),
        ("K = int", "K = str"),
        ("K = int\nK = str", "K = int\nK = bool"),
        ("if 1:\n    K = int\nelse:\n    K = str", "if 1:\n    K = bool\nelse:\n    K = str"),
        ("from kinds import K", "from kinds import L as K"),
    ],
)
def test_a_change_behind_a_name_changes_the_fingerprint(one: str, other: str) -> None:
    def mark(imports: str) -> str:
        files = {"flows.py": TOOL.format(imports=imports, kind="K"), "kinds.py": "K = int\nL = str\n"}
        program = read_flows(MemorySources(files), flows=("flows.py",), source_roots=(".",))
        assert [tool.key for tool in program.native_tools] == ["look"]
        return Fingerprints(program).of("flows", "look").interface

    assert mark(one) == mark(one)
    assert mark(one) != mark(other)
