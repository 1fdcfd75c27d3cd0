"""What the pages say is true: links resolve, command lines parse, examples are valid, reference pages are complete."""

from __future__ import annotations

import importlib.util
import io
import re
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from keel.core.codes import CODES, Gate
from keel.errors import ExitCode
from keel.manifest.config_model import PLACES as CONFIG_PLACES
from keel.manifest.model import PLACES
from keel.manifest.parse import parse_manifest
from keel.report.registry import FORMATS
from tests.command_lines import PAGES, ROOT, in_page, parse

LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
IDS = [page.relative_to(ROOT).as_posix() for page in PAGES]


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page as GitHub makes them of its headings."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_relative_links_resolve(page: Path) -> None:
    for target in LINK.findall(
        re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    ):
        if target.startswith(("https://", "http://", "mailto:")):
            continue
        file, _, anchor = target.partition("#")
        path = (page.parent / file).resolve() if file else page
        assert path.exists(), f"{page.name}: {target}"
        if anchor and path.suffix == ".md":
            assert anchor in anchors(path), f"{page.name}: {target}"


@pytest.mark.parametrize(
    ("page", "line"),
    sorted({(page.name, line) for page in PAGES for line in in_page(page.read_text(encoding="utf-8"))}),
)
def test_command_lines_parse(page: str, line: str) -> None:
    assert page
    parse(line)


@pytest.mark.parametrize("line", ["keel chek", "keel check --formt text", "keel freeze -x", "keel --nope"])
def test_wrong_command_lines_are_found(line: str) -> None:
    with pytest.raises(Exception, match=r"No such command|no option"):
        parse(line)


def test_every_page_is_reachable_from_the_readme() -> None:
    seen, todo = set(), [ROOT / "README.md"]
    while todo:
        page = todo.pop()
        if page in seen:
            continue
        seen.add(page)
        links = (link.partition("#")[0] for link in LINK.findall(page.read_text(encoding="utf-8")))
        todo.extend((page.parent / link).resolve() for link in links if link.endswith(".md") and "://" not in link)
    assert {page for page in PAGES if page.parent == ROOT / "docs"} <= seen


def regions() -> Any:
    """Return the tool that makes the generated parts."""
    spec = importlib.util.spec_from_file_location("regions", ROOT / "tools" / "regions.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def fields(schema: Any) -> list[str]:
    """Return the keys of a record of the grammar."""
    return list(schema["fields"])


def rows(text: str, heading: str) -> set[str]:
    """Return the first cells of the table below a heading."""
    _, found, after = text.partition(f"\n{heading}\n")
    assert found, heading
    section = re.split(
        r"^#", re.sub(r"^```.*?^```$", "", after, flags=re.MULTILINE | re.DOTALL), maxsplit=1, flags=re.MULTILINE
    )[0]
    section = section.partition("<!-- generated")[2] or section
    return set(re.findall(r"^\| `([^`]+)`", section, re.MULTILINE))


def test_the_manifest_reference_has_every_key_and_no_other() -> None:
    text = (ROOT / "docs" / "manifest.md").read_text(encoding="utf-8")
    for place, record in PLACES.items():
        heading = "## Sections" if not place else f"## `{'.'.join(place)}`"
        assert rows(text, heading) == set(fields(record)), heading
    for place, record in CONFIG_PLACES.items():
        heading = "## `keel.toml`" if not place else f"## `{'.'.join(place)}`"
        assert rows(text, heading) == set(fields(record)), heading


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda page: page.name)
def test_generated_parts_are_as_the_code_has_them(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert regions().renewed(text) == text, "run `make docs`"


def test_examples_of_manifests_are_valid() -> None:
    found = [
        text
        for page in PAGES
        for kind, text in BLOCK.findall(page.read_text(encoding="utf-8"))
        if kind == "yaml" and re.search(r"^version: 1$", text, re.MULTILINE)
    ]
    assert found
    for text in found:
        parse_manifest(text, "keel.yaml")


def test_yaml_blocks_are_yaml() -> None:
    found = [text for page in PAGES for kind, text in BLOCK.findall(page.read_text(encoding="utf-8")) if kind == "yaml"]
    assert found
    for text in found:
        YAML(typ="safe", pure=True).load(io.StringIO(text))


def test_the_page_of_gates_names_every_code_of_its_gates() -> None:
    text = (ROOT / "docs" / "gates.md").read_text(encoding="utf-8")
    gates = (Gate.FREEZE, Gate.VALIDATE, Gate.CAPABILITY, Gate.APPROVAL, Gate.RACE)
    assert {code for code, info in CODES.items() if info.gate in gates and f"`{code}`" not in text} == set()


def test_the_page_of_drift_names_every_kind() -> None:
    text = (ROOT / "docs" / "drift.md").read_text(encoding="utf-8")
    assert {
        code for code, info in CODES.items() if info.gate in (Gate.DRIFT, Gate.NOT_CHECKED) and f"`{code}`" not in text
    } == set()


def test_the_page_of_ci_names_every_format_and_exit_code() -> None:
    text = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    assert rows(text, "## Report formats") == set(FORMATS)
    table = (ROOT / "docs" / "exit-codes.md").read_text(encoding="utf-8")
    assert all(f"| {int(code)} |" in table for code in ExitCode)
