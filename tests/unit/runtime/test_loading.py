"""What runs is what was verified: bytes are compared, compiled from the bundle, and nothing else is imported."""

from __future__ import annotations

import importlib
import py_compile
import sys
import types
from collections.abc import Iterator
from pathlib import Path

import pytest

from keel.core.finding import InputErrors
from keel.runtime.loading import Loaded, load
from tests.unit.runtime.projects import Made, make

FLOWS = """
from help import double

@flow
async def settle(ticket: str) -> int:
    hit = await look(ticket)
    return double(hit["amount"])
"""
HERE_ONLY = """
import os
if os.environ.get("PYTEST_CURRENT_TEST"):
    raise ValueError("broken")
"""
HELP = "def double(x):\n    return 2 * x\n"


@pytest.fixture
def made(tmp_path: Path) -> Made:
    return make(tmp_path / "project", FLOWS, extra={"help.py": HELP})


@pytest.fixture
def loaded(made: Made) -> Iterator[Loaded]:
    found = load(made.bundle, made.root)
    yield found
    found.unload()


def codes(made: Made) -> list[str]:
    with pytest.raises(InputErrors) as found:
        load(made.bundle, made.root)
    assert "flows" not in sys.modules
    return [f"{item.code} {item.location.file}: {item.message}" for item in found.value.findings]


def test_flows_and_natives_are_those_of_the_bundle(made: Made, loaded: Loaded) -> None:
    assert set(loaded.flows) == {"settle"}
    assert set(loaded.natives) == {"look", "wipe"}
    assert loaded.name_of(loaded.flows["settle"]) == "settle"
    assert loaded.flows["settle"].__code__.co_filename == str(made.root.resolve() / "flows.py")
    import flows  # type: ignore[import-not-found]

    assert flows.settle is loaded.flows["settle"]


def test_unloading_forgets_the_modules(made: Made) -> None:
    before = list(sys.meta_path)
    load(made.bundle, made.root).unload()
    assert {"flows", "help"}.isdisjoint(sys.modules)
    assert sys.meta_path == before
    load(made.bundle, made.root).unload()


def test_every_changed_source_is_named(made: Made) -> None:
    (made.root / "flows.py").write_text((made.root / "flows.py").read_text() + "\n")
    (made.root / "help.py").unlink()
    first, second = codes(made)
    assert first.startswith("source-changed flows.py: `flows.py` differs from the bundle's")
    assert second.startswith("source-changed help.py")


def test_a_stale_cache_is_not_run(made: Made, tmp_path: Path) -> None:
    evil = tmp_path / "evil.py"
    evil.write_text("def double(x):\n    return 1_000_000\n")
    source = made.root / "help.py"
    cached = importlib.util.cache_from_source(str(source))
    py_compile.compile(str(evil), cfile=cached, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    sys.path.insert(0, str(made.root))
    try:
        found = load(made.bundle, made.root)
        import help as helper  # type: ignore[import-not-found]

        assert helper.double(2) == 4
        found.unload()
    finally:
        sys.path.remove(str(made.root))


def test_a_module_that_was_imported_before_is_refused(made: Made) -> None:
    sys.modules["help"] = types.ModuleType("help")
    try:
        (message,) = codes(made)
    finally:
        del sys.modules["help"]
    assert "`help` was imported before the bundle was opened" in message


def test_a_module_of_the_project_that_is_not_in_the_bundle_cannot_be_imported(made: Made, loaded: Loaded) -> None:
    assert loaded
    (made.root / "late.py").write_text("")
    with pytest.raises(ImportError, match="not in the bundle"):
        importlib.import_module("late")


def test_a_change_after_the_check_is_not_run(made: Made, loaded: Loaded) -> None:
    assert loaded
    (made.root / "help.py").write_text("def double(x):\n    return 0\n")
    del sys.modules["help"]
    assert importlib.import_module("help").double(2) == 4


def test_a_module_that_cannot_be_imported_is_named(tmp_path: Path) -> None:
    made = make(tmp_path / "project", FLOWS, extra={"help.py": HELP + HERE_ONLY})
    found = codes(made)
    assert any("module `help` cannot be imported: `ValueError: broken" in item for item in found)


def test_helpers_below_a_source_root_that_holds_no_flow(tmp_path: Path) -> None:
    made = make(
        tmp_path / "project",
        FLOWS,
        settings='source-roots = ["./lib/more/", "."]\n',
        extra={"lib/more/help.py": HELP, "lib/more/kit/__init__.py": ""},
    )
    assert made.bundle.source_roots == ("lib/more", ".")
    found = load(made.bundle, made.root)
    assert found.flows["settle"].__globals__["double"](3) == 6
    with pytest.raises(ImportError, match="not in the bundle"):
        importlib.import_module("kit")
    found.unload()


def test_a_flow_below_no_source_root_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputErrors) as found:
        make(tmp_path / "project", FLOWS, settings='source-roots = ["lib"]\n', extra={"lib/help.py": HELP})
    (item,) = found.value.findings
    assert (item.code, item.location.file, item.location.line) == ("config-error", "keel.toml", 2)
    assert "`flows.py` lies below no folder of `source-roots`" in item.message


def test_packages_and_namespace_packages_below_a_source_root(tmp_path: Path) -> None:
    made = make(
        tmp_path / "project",
        "from shop.inner.parts import one\n" + FLOWS.replace("from help import double", "double = one"),
        extra={"src/shop/inner/parts.py": "def one(x):\n    return x\n"},
    )
    assert "src/shop/inner/parts.py" in made.bundle.sources
    found = load(made.bundle, made.root)
    assert found.flows["settle"].__globals__["one"](3) == 3
    found.unload()
