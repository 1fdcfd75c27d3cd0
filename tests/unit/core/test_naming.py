import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keel.core.naming import NAME_RULES, exposed_name

TARGETS = sorted(NAME_RULES)


def test_server_and_tool_are_joined_and_native_names_stand_alone():
    assert exposed_name("github", "create_issue", "openai") == "github__create_issue"
    assert exposed_name("", "lookup_ticket", "openai") == "lookup_ticket"


def test_refused_characters_become_underscores():
    assert exposed_name("my.server", "get user", "openai") == "my_server__get_user"
    assert exposed_name("my.server", "get user", "") == "my.server__get_user"
    assert exposed_name("9lives", "x", "gemini-parameters") == "_9lives__x"


def test_c058_long_names_are_cut_with_six_hash_characters():
    whole = exposed_name("chrome-devtools-mcp", "chrome_devtools_performance_analyze_insight", "anthropic")
    assert whole == "chrome-devtools-mcp__chrome_devtools_performance_analyze_insight"
    name = exposed_name("mcp__chrome-devtools-mcp", "chrome_devtools_performance_analyze_insight", "anthropic")
    assert len(name) == 64
    assert re.fullmatch(r"mcp__chrome-devtools-mcp__chrome_devtools_performance_ana_[0-9a-f]{6}", name)
    assert name != exposed_name("mcp__chrome-devtools-mcp", "chrome_devtools_performance_analyze_insights", "anthropic")


@pytest.mark.parametrize("target", TARGETS)
@given(st.text(max_size=70), st.text(st.characters(exclude_categories=()), min_size=1, max_size=140))
def test_every_name_is_accepted_by_its_target(target, server, tool):
    rule = NAME_RULES[target]
    name = exposed_name(server, tool, target)
    assert re.fullmatch(f"[{rule.letters}]{{1,{rule.longest}}}", name)
    assert not rule.first or re.match(f"[{rule.first}]", name)
