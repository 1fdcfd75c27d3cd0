import json
import re
from pathlib import Path

import pytest

from keel.rules.docs import pages
from keel.rules.interface import Category
from keel.rules.registry import BY_ID, RULES

ROOT = Path(__file__).parents[3]
PACKAGE = ROOT / "src/keel/rules"
SHARED = {"__init__", "shared", "free_parameter", "target_rule", "providers"}


def test_rules_are_sorted_and_named_in_kebab_case():
    ids = [rule.meta.id for rule in RULES]
    assert ids == sorted(set(ids))
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)*", name) for name in ids)
    assert not [name for name in ids if name.startswith(("avoid-", "use-", "prefer-"))]


def test_files_are_the_registry():
    files = {
        (folder.value, path.stem)
        for folder in Category
        for path in (PACKAGE / folder.value).glob("*.py")
        if path.stem not in SHARED
    }
    assert files == {(rule.meta.category.value, rule.meta.id.replace("-", "_")) for rule in RULES}


def test_pages_and_fixtures_are_the_registry():
    assert {path.name for path in (ROOT / "docs/rules").iterdir()} == {f"{name}.md" for name in BY_ID} | {"index.md"}
    assert {path.name for path in (ROOT / "fixtures/rules").iterdir()} == set(BY_ID)


@pytest.mark.parametrize(("name", "text"), sorted(pages().items()))
def test_pages_are_generated(name, text):
    assert (ROOT / "docs/rules" / name).read_text("utf-8") == text


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.meta.id)
def test_documentation_is_complete(rule):
    meta = rule.meta
    assert json.loads(meta.example)
    assert meta.why.endswith(".")
    assert not meta.summary.endswith(".")
    assert not meta.next.endswith(".")
    assert meta.references
