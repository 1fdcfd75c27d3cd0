"""What a change of the manifest loosens."""

from __future__ import annotations

import pytest

from keel.drift.loosened import loosened
from keel.manifest.parse import parse_manifest

BASE = """\
version: 1
defaults: {unasserted_effect: dangerous, returns: untrusted}
servers:
  s:
    url: https://s.example/mcp
    version: "<2"
    max_data_class: internal
    review_expires_at: 2027-01-01
tools:
  - {tool: s/pay, effect: dangerous, idempotency: none, approval: true, max_calls: 1}
  - {tool: s/read, effect: write, idempotency: none, returns: untrusted}
models: [a]
network: [s.example]
budget: {cost_usd: 1}
"""


def judge(old: str, new: str) -> list[str]:
    return [item.message for item in loosened(parse_manifest(old, "keel.yaml"), parse_manifest(new, "keel.yaml"))]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (", approval: true", "", "approval"),
        ("max_calls: 1", "max_calls: 9", "max_calls"),
        (", max_calls: 1", "", "unbounded"),
        ("effect: write", "effect: read", "write → read"),
        (
            "{tool: s/read, effect: write, idempotency: none",
            "{tool: s/read, effect: write, idempotency: native",
            "repeated",
        ),
        (", returns: untrusted}\nmodels", "}\nmodels", "no longer untrusted"),
        ("models: [a]", "models: [a, b]", "`b`"),
        ("models: [a]\n", "", "everything is allowed"),
        ("network: [s.example]", 'network: [s.example, "*.evil.example"]', "*.evil.example"),
        ("cost_usd: 1", "cost_usd: 2", "cost_usd"),
        ("budget: {cost_usd: 1}\n", "", "unbounded"),
        ('version: "<2"', 'version: "<3"', "accepted version"),
        ("max_data_class: internal", "max_data_class: restricted", "cleared"),
        ("2027-01-01", "2028-01-01", "review expires"),
        ("unasserted_effect: dangerous", "unasserted_effect: write", "unasserted tools"),
        ("    version:", "    policy: names\n    version:", "compares less"),
        ("tools:\n", "tools:\n  - s/*\n", "`s/*` is now granted"),
        ("version: 1\n", "version: 1\nfail_on: {widened: never}\n", "never"),
    ],
)
def test_each_loosening_is_said_once(old: str, new: str, said: str) -> None:
    assert BASE.replace(old, new) != BASE
    found = judge(BASE, BASE.replace(old, new))
    assert any(said in text for text in found), found
    assert judge(BASE.replace(old, new), BASE) == [] or "version" in said or said == "never"


def test_no_change_is_silence() -> None:
    assert judge(BASE, BASE) == []
