"""Finding and parsing modules: patterns, source roots, names outside them, text that does not parse."""

import pytest

from keel.flow.modules import MemorySources, Project, glob_match, matching
from tests.unit.gates.harness import read


@pytest.mark.parametrize(
    ("file", "pattern", "wanted"),
    [
        ("flows/a.py", "flows/*.py", True),
        ("flows/x/a.py", "flows/*.py", False),
        ("flows/x/a.py", "flows/**/*.py", True),
        ("flows/a.py", "flows/**/*.py", True),
        ("a/b/flows.py", "**/flows.py", True),
        ("flows.py", "**/flows.py", True),
        ("xflows.py", "**/flows.py", False),
    ],
)
def test_globs(file, pattern, wanted):
    assert glob_match(file, pattern) is wanted


def test_a_pattern_may_be_a_module_name():
    files = ("src/app/flows.py", "src/app/pack/__init__.py")
    found = matching(files, ("app.flows", "app.pack", "app.none"), (".", "src"))
    assert found == {"app.flows": ("src/app/flows.py",), "app.pack": ("src/app/pack/__init__.py",), "app.none": ()}


def test_members_of_packages_and_the_standard_library_are_not_outside_the_roots():
    project = Project(
        MemorySources({"lib/steps.py": "", "app/__init__.py": "", "app/redis.py": "", "x/json.py": ""}), (".",)
    )
    assert project.outside_roots("steps") == "lib/steps.py"
    assert project.outside_roots("redis") is None
    assert project.outside_roots("json") is None


@pytest.mark.parametrize(
    "text",
    [
        "def f(:\n",
        "x = " + "(" * 400 + ")" * 400,
        "x = 1\0",
        "def f():\n" + "".join(f"{' ' * (4 + n)}if x:\n" for n in range(120)) + " " * 130 + "pass\n",
    ],
    ids=["syntax", "parentheses", "null", "indentation"],
)
def test_what_cannot_be_parsed_is_one_finding(text):
    program = read("", {"other.py": text}, header="import other\nfrom keel import flow\n")
    assert [(item.code, item.location.file) for item in program.findings] == [("syntax-error", "other.py")]


@pytest.mark.parametrize("depth", [500, 5_000])
def test_long_chains_are_no_matter_of_depth(depth):
    chain = " + ".join(["a"] * depth)
    elifs = "".join(f"    elif a == {n}:\n        pass\n" for n in range(depth // 10))
    program = read(
        f"@flow\nasync def f(a: str):\n    x = {chain}\n    if a == -1:\n        pass\n{elifs}    await get(a=x)\n"
    )
    assert [item.code for item in program.findings] in ([], ["syntax-error"])
    assert program.findings or [node.key for node in program.flows[0].graph.nodes if node.key] == ["pay/get"]


def test_names_follow_imports_through_packages_and_stars():
    others = {
        "pack/__init__.py": "from .inner import *\nfrom pack.other import pay as settle\n",
        "pack/inner.py": "from keel import mcp_tool\nlook = mcp_tool('pay', 'get')\n",
        "pack/other.py": "from . import inner\nfrom keel import mcp_tool\npay = mcp_tool('pay', 'refund')\n",
    }
    program = read(
        "import pack\nfrom pack import look\n@flow\nasync def f():\n    await look()\n    await pack.settle()\n", others
    )
    assert not program.findings
    assert [node.key for node in program.flows[0].graph.nodes if node.key] == ["pay/get", "pay/refund"]


def test_definitions_are_found_across_modules():
    program = read(
        "from models import Order\n", {"models.py": "from base import Order\n", "base.py": "class Order: ...\n"}
    )
    found = program.find("flow", "Order")
    assert found is not None
    assert (found.module, type(found.node).__name__) == ("base", "ClassDef")
    assert program.find("flow", "nothing") is None
