"""One approval for many calls: every element of what was shown, once; and how often loops call at most."""

from dataclasses import replace

import pytest

from keel.core.model import Effect, Grant, Idempotency
from tests.unit.gates.harness import PAY, errors, judge

FLOW = """
import itertools
@flow
async def f(cs: list[str], ds: list[str]):
    {before}
    await human_gate(f"refund 5 on {{cs}}?")
    {middle}
    for c in {iterated}:
        await refund(c=c)
"""


@pytest.mark.parametrize(
    "iterated",
    [
        "cs * 3",
        "cs + cs",
        "[*cs, *cs]",
        "[cs[0], *cs]",
        "itertools.cycle(cs)",
        "itertools.chain(cs, cs)",
        "itertools.chain.from_iterable([cs, cs])",
        "(c for c, _ in itertools.product(cs, range(3)))",
        "[c for c in cs for _ in range(3)]",
        "[c for _ in range(3) for c in cs]",
        "[cs[0] for _ in range(3)]",
        "[c for c in cs * 2]",
        "sorted(cs + cs)",
        "reversed(list(cs * 2))",
        "zip(cs, cs)",
        "again",
        "filled",
    ],
)
def test_an_element_is_not_taken_twice(iterated):
    before = "again = []; [again.extend(cs) for _ in range(2)]; filled = list(cs); filled += cs"
    assert errors(FLOW.format(before=before, middle="pass", iterated=iterated)) >= {"approval-missing"}


@pytest.mark.parametrize(
    "iterated",
    [
        "cs",
        "sorted(cs)",
        "sorted(cs, key=len, reverse=True)",
        "reversed(cs)",
        "list(cs)",
        "set(cs)",
        "set(cs + cs)",
        "cs[1:]",
        "[c for c in cs if c]",
        "[c.strip() for c in cs]",
        "(c for c in sorted(cs))",
        "twice",
    ],
)
def test_every_element_of_what_was_shown_is_taken(iterated):
    before = "twice = cs * 2; cs = twice" if iterated == "twice" else "pass"
    assert errors(FLOW.format(before=before, middle="pass", iterated=iterated)) == set()


def test_a_collection_beside_the_shown_one_is_named():
    text = """
@flow
async def f(cs: list[str], ds: list[float]):
    await human_gate(f"refund {cs}?")
    for c, d in zip(cs, ds):
        await refund(c=c, n=d)
"""
    found = next(item for item in judge(text) if item.code == "approval-missing")
    assert "`ds`" in found.next
    assert "`cs`" not in found.next


def test_calls_of_a_nested_comprehension_are_not_covered_by_what_one_clause_iterates():
    text = """
@flow
async def f(cs: list[str]):
    await human_gate(f"refund {cs}?")
    await asyncio.gather(*[refund(c=c) for c in cs for _ in range(3)])
"""
    assert errors(text) == {"approval-missing"}


LISTED = """
@flow
async def f(cs: list[str]):
    {made}
    await human_gate("Refund?" + {text})
    for c in cs:
        await refund(c=c)
"""


@pytest.mark.parametrize(
    ("made", "text"),
    [
        ("pass", '"\\n".join(f"- {c}" for c in cs)'),
        ("pass", '"\\n".join(cs)'),
        ("pass", '", ".join(map(repr, cs))'),
        ("pass", '"\\n".join([f"{i}. {c}" for i, c in enumerate(cs, 1)])'),
        ('lines = [f"- {c}" for c in sorted(cs)]', '"\\n".join(lines)'),
        ('text = ""\n    for c in cs:\n        text += f"\\n- {c}"', "text"),
        ('text = ""\n    for i, c in enumerate(cs, 1):\n        text = text + f"\\n{i}. {c}"', "text"),
    ],
)
def test_a_list_of_lines_shows_every_element(made, text):
    assert errors(LISTED.format(made=made, text=text)) == set()


@pytest.mark.parametrize(
    ("made", "text"),
    [
        ("pass", '"\\n".join(f"- {c}" for c in cs if len(c) < 9)'),
        ("pass", '"\\n".join("-" for c in cs)'),
        ("pass", '"\\n".join(map(len, cs))'),
        ("pass", '"\\n".join(f"- {c}" for c in cs[:3])'),
        ('text = ""\n    for c in cs:\n        if len(c) < 9:\n            text += f"\\n- {c}"', "text"),
        ('text = ""\n    for c in cs:\n        if len(c) > 9:\n            break\n        text += f"\\n- {c}"', "text"),
        ('text = ""\n    for c in cs:\n        if len(c) > 9:\n            continue\n        text += c', "text"),
        (
            'text = ""\n    try:\n        for c in cs:\n            text += f"{c[9]}{c}"\n    except IndexError: pass',
            "text",
        ),
        ('text = ""\n    for c in cs:\n        text = f"- {c}"', "text"),
    ],
)
def test_a_list_of_some_lines_shows_not_every_element(made, text):
    assert errors(LISTED.format(made=made, text=text)) >= {"approval-missing"}


def test_lines_show_the_parts_that_stand_in_them():
    text = """
@flow
async def f(a: str):
    plan = (await get(a=a))["charges"]
    lines = [f"- {x['id']}: {x['amount']}" for x in plan]
    await human_gate("Refund?" + chr(10).join(lines))
    for x in plan:
        await refund(c=x["id"], n=x["amount"], why=x["why"])
"""
    shown = [item.message for item in judge(text) if item.code.startswith("approval")]
    assert len(shown) == 1
    assert "`why`" in shown[0]


FEW = replace(PAY, tools=(Grant("pay/get", Effect.READ, Idempotency.NATIVE, max_calls=3),))


@pytest.mark.parametrize(
    ("calls", "wanted"),
    [
        ("asyncio.gather(*[get(a=i) for i in IDS])", True),
        ("asyncio.gather(*(get(a=i) for i in ('a', 'b', 'c', 'd')))", True),
        ("asyncio.gather(*(get(a=i) for i in ('a', 'b') for _ in range(2)))", True),
        ("asyncio.gather(*(get(a=i) for i in IDS[:2]))", False),
        ("asyncio.gather(*(get(a=i) for i in ('a', 'b', 'c')))", False),
        ("race(*[get(a=i) for i in IDS])", True),
    ],
)
def test_max_calls_counts_branches(calls, wanted):
    text = f"IDS = ('a', 'b', 'c', 'd')\n@flow\nasync def f():\n    await {calls}\n"
    assert ("max-calls-exceeded" in errors(text, manifest=FEW)) is wanted
