"""What saves time changes nothing: rules that are not run would find nothing, and a quick look misses no concept."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keel.rules.interface import RuleContext
from keel.rules.language import english, germanic, romance, slavic, unspaced
from keel.rules.language.frames import total
from keel.rules.language.grammar import Reading
from keel.rules.registry import RULES
from keel.rules.run import lint_surface
from keel.rules.view import ToolView

ROOT = Path(__file__).parents[3]
CASES = [json.loads(line) for line in (ROOT / "fixtures/tool-lint.jsonl").read_text().splitlines()]
WORDS = sorted(
    {
        word.replace("_", " ").strip("*")
        for module in (english, germanic, romance, slavic, unspaced)
        for text in module.WORDS.values()
        for word in text.split()
    }
)


@pytest.mark.parametrize("block", range(8))
def test_every_rule_finds_what_it_finds_when_none_is_left_out(block):
    for case in CASES[block::8]:
        tools = [case["tool"], *(case["siblings"] if "siblings_server" not in case else ())]
        others = [(case["siblings_server"], item["name"]) for item in case["siblings"] if "siblings_server" in case]
        targets = ("anthropic", "openai-strict")
        found, gaps = lint_surface("s", tools, others=others, targets=targets, judged=1)
        views = tuple(ToolView(tool, "s", index) for index, tool in enumerate(tools))
        context = RuleContext("s", views, tuple(sorted(set(others))), targets)
        every = {item for rule in RULES for item in rule.check(views[0], context)}
        assert set(found) == every
        assert gaps == ()


@given(st.lists(st.sampled_from([*WORDS, "n'", "of", "after", "3", "calls", "API_KEY", ",", ".", "'"]), max_size=14))
def test_a_quick_look_sees_every_concept(words):
    for glue in (" ", ""):
        reading = Reading(glue.join(words))
        assert total(reading.marks) & ~reading.could == 0
