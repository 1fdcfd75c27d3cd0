import json
from pathlib import Path

import pytest

from keel.core.finding import Gate
from keel.rules.documents import lint_document
from keel.rules.registry import RULES

FIXTURES = Path(__file__).parents[3] / "fixtures/rules"


def lint(rule, name):
    targets = (rule.meta.id.removeprefix("target-"),) if rule.meta.id.startswith("target-") else ()
    value = json.loads((FIXTURES / rule.meta.id / f"{name}.json").read_text("utf-8"))
    findings, gaps = lint_document(value, targets=targets)
    assert gaps == ()
    return findings


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.meta.id)
def test_bad_fires_exactly_its_rule(rule):
    findings = lint(rule, "bad")
    assert {item.code for item in findings} == {rule.meta.id}
    for item in findings:
        assert item.gate is Gate.LINT
        assert item.location.key
        assert item.digest.startswith("k1:")
        assert item.message
        assert "\n" not in item.message
        assert all(char.isprintable() for char in item.message)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.meta.id)
def test_good_is_clean(rule):
    findings = lint(rule, "good")
    assert [(item.code, item.location.pointer) for item in findings] == []
