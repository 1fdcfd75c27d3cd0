import json
from pathlib import Path

import pytest

from keel.core.finding import Gate
from keel.rules.config.registry import CONFIG_RULES, lint_config
from tests.unit.rules.config.project import context

FIXTURES = Path(__file__).parents[4] / "fixtures/rules"


def lint(rule, name):
    return lint_config(context(**json.loads((FIXTURES / rule.meta.id / f"{name}.json").read_text("utf-8"))))


@pytest.mark.parametrize("rule", CONFIG_RULES, ids=lambda rule: rule.meta.id)
def test_bad_fires_exactly_its_rule_with_a_place(rule):
    findings = lint(rule, "bad")
    assert {item.code for item in findings} - {"unpinned-tree"} | {rule.meta.id} == {rule.meta.id}
    assert rule.meta.id in {item.code for item in findings}
    for item in findings:
        assert item.gate is Gate.LINT
        assert item.location.file
        assert item.location.line
        assert item.location.key
        assert all(char.isprintable() for char in item.message)


@pytest.mark.parametrize("rule", CONFIG_RULES, ids=lambda rule: rule.meta.id)
def test_good_is_clean(rule):
    assert [(item.code, item.message) for item in lint(rule, "good")] == []
