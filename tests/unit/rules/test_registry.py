import json
import re
from pathlib import Path

import pytest

from keel.core.codes import CODES
from keel.rules.config.registry import CONFIG_RULES
from keel.rules.docs import pages
from keel.rules.ids import RULE_IDS
from keel.rules.interface import Category
from keel.rules.registry import BY_ID, RULES

ROOT = Path(__file__).parents[3]
PACKAGE = ROOT / "src/keel/rules"
SHARED = {"__init__", "shared", "free_parameter", "target_rule", "providers"}
SHARED |= {"interface", "known", "launchers", "packages", "registry"}

GATE_ONE = {"dangling-ref", "duplicate-name", "external-ref", "invalid-schema"}
"""Rules whose findings gate 1 knows too."""


def test_rules_are_sorted_and_named_in_kebab_case():
    for rules in (RULES, CONFIG_RULES):
        assert [rule.meta.id for rule in rules] == sorted({rule.meta.id for rule in rules})
    ids = list(BY_ID)
    assert set(ids) == RULE_IDS
    assert len(ids) == len(RULES) + len(CONFIG_RULES)
    assert not set(ids) & set(CODES) - GATE_ONE
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)*", name) for name in ids)
    assert not [name for name in ids if name.startswith(("avoid-", "use-", "prefer-"))]


def test_files_are_the_registry():
    files = {
        (folder.value, path.stem)
        for folder in Category
        for path in (PACKAGE / folder.value).glob("*.py")
        if path.stem not in SHARED
    }
    assert files == {(rule.meta.category.value, rule.meta.id.replace("-", "_")) for rule in BY_ID.values()}


def test_pages_and_fixtures_are_the_registry():
    assert {path.name for path in (ROOT / "docs/rules").iterdir()} == {f"{name}.md" for name in BY_ID} | {"index.md"}
    assert {path.name for path in (ROOT / "fixtures/rules").iterdir()} == set(BY_ID)


@pytest.mark.parametrize(("name", "text"), sorted(pages().items()))
def test_pages_are_generated(name, text):
    assert (ROOT / "docs/rules" / name).read_text("utf-8") == text


@pytest.mark.parametrize("rule", BY_ID.values(), ids=lambda rule: rule.meta.id)
def test_documentation_is_complete(rule):
    meta = rule.meta
    assert json.loads(meta.example)
    assert meta.why.endswith(".")
    assert not meta.summary.endswith(".")
    assert not meta.next.endswith(".")
    assert meta.references
