"""Prompts that are built line by line, answers that are collected, and templates: what a person was really shown."""

import pytest

from tests.unit.gates.harness import errors

LINES = """
@flow
async def f(cs: list[dict]):
    lines = ["these?"]
    for c in cs:
        {body}
    {after}
    await human_gate("\\n".join(lines))
    for c in cs:
        await refund(c=c["id"])
"""
LINE = "lines.append(f\"- {c['id']}\")"


def lines(body: str, after: str = "pass") -> set[str]:
    return errors(LINES.format(body=body.replace("\n", "\n        "), after=after))


@pytest.mark.parametrize(
    ("body", "after"),
    [
        (LINE, "pass"),
        (LINE, 'lines.append("that is all")'),
        (LINE, 'lines.insert(0, "hello")'),
        ("line = f\"- {c['id']}\"\nlines.append(line)", "pass"),
        ("lines += [f\"- {c['id']}\"]", "pass"),
        ("lines.extend([f\"- {c['id']}\", '---'])", "pass"),
        (f'if c["x"]:\n    lines.append("!")\n{LINE}', "pass"),
        (f'{LINE}\nif c["x"]:\n    continue', "pass"),
    ],
)
def test_a_line_for_every_element_shows_all(body, after):
    assert lines(body, after) == set()


@pytest.mark.parametrize(
    ("body", "after"),
    [
        (f"if c['x']:\n    {LINE}", "pass"),
        (f"if c['x']:\n    continue\n{LINE}", "pass"),
        (f"{LINE}\nif c['x']:\n    break", "pass"),
        (f"{LINE}\nlines.pop()", "pass"),
        (f"lines = []\n{LINE}", "pass"),
        (f"lines = ['these?']\n{LINE}", "pass"),
        (f"lines[0] = f'{{c}}'\n{LINE}", "pass"),
        (LINE, "lines.clear()"),
        (LINE, "lines = lines[:1]"),
        (LINE, "del lines[1:]"),
        (LINE, "other = lines\n    other.clear()"),
        (LINE, "drop = lines.clear\n    drop()"),
        (f"{LINE}\nc['id'] = 5", "pass"),
        (f"try:\n    if c['x']:\n        raise ValueError\n    {LINE}\nexcept ValueError:\n    pass", "pass"),
    ],
)
def test_a_line_for_some_elements_does_not(body, after):
    assert lines(body, after)


def test_each_of_fixed_rounds_needs_its_own_list():
    text = """
@flow
async def f(a: dict, b: dict):
    for t in (a, b):
        lines = ["these?"]
        lines.append(f"{t}")
    await human_gate("\\n".join(lines))
    for t in (a, b):
        await refund(c=t)
"""
    assert errors(text)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("lines.append(c)", "pass", set()),
        ("pass", "lines.append(c)", {"approval-unseen-call"}),
        ("if flag: lines.append(c)", "pass", {"approval-unseen-call"}),
        ("lines.append(c) if flag else None", "pass", {"approval-unseen-call"}),
        ("lines.sort(key=lambda line: c)", "pass", {"approval-unseen-call"}),
    ],
)
def test_a_line_counts_where_it_is_written_on_every_way(before, after, expected):
    text = f"""
@flow
async def f(c: str, flag: bool):
    lines = ["go on?"]
    {before}
    await human_gate("\\n".join(lines))
    {after}
    await refund(c=c)
"""
    assert errors(text) == expected


def test_a_helper_may_write_the_lines():
    text = """
def table(rows):
    out = []
    for row in rows:
        out.append(f"{row['id']:<20} {row['amount']:>10.2f}")
    return "\\n".join(out)
@flow
async def f(cs: list[dict]):
    await human_gate(f"These?\\n{table(cs)}")
    for c in cs:
        await refund(c=c["id"])
"""
    assert errors(text) == set()


ANSWERS = (
    'oks = [await human_gate(f"{w}: {c}?", on_reject="return") for w in ("x", "y")]',
    'oks = await asyncio.gather(human_gate(f"{c}", on_reject="return"), human_gate(f"{c}?", on_reject="return"))',
)


def collected(answers: str, condition: str) -> set[str]:
    return errors(f"""
@flow
async def f(c: str, who: list[str], flag: bool):
    {answers}
    if {condition}:
        await refund(c=c)
""")


@pytest.mark.parametrize("answers", ANSWERS)
@pytest.mark.parametrize(
    "condition",
    [
        "all(oks)",
        "all(ok.approved for ok in oks)",
        "all([bool(ok) for ok in oks])",
        "(fine := all(oks))",
        "all(tuple(oks)) and all(oks)",
    ],
)
def test_all_answers_are_yes(answers, condition):
    assert collected(answers, condition) == set()


@pytest.mark.parametrize("answers", ANSWERS)
@pytest.mark.parametrize(
    "condition",
    [
        "any(oks)", "not any(oks)", "not all(oks)", "oks", "all(ok.approved for ok in oks if flag)", "flag or all(oks)",
        "all(ok.reason for ok in oks)", "all(oks[1:])", "all(list(oks) if flag else [])", "all(not ok for ok in oks)",
    ],
)  # fmt: skip
def test_that_is_not_what_other_conditions_say(answers, condition):
    assert collected(answers, condition)


@pytest.mark.parametrize(
    "answers",
    [
        'oks = [await human_gate(f"{w}: {c}?", on_reject="return") for w in who]',
        'oks = [await human_gate(f"{w}: {c}?", on_reject="return") for w in ("x", "y") if flag]',
        'oks = await asyncio.gather(*[human_gate(f"{w}: {c}?", on_reject="return") for w in who])',
        'oks = [(await human_gate(f"{w}: {c}?", on_reject="return")) or flag for w in ("x", "y")]',
        'oks = [await human_gate(f"{w}: {c}?", on_reject="return") for w in ("x", "y")]; oks.clear()',
        'oks = [await human_gate(f"{w}: {c}?", on_reject="return") for w in ("x", "y")]; oks[0] = True',
        'oks = await asyncio.gather(human_gate(f"{c}", on_reject="return"), return_exceptions=True)',
    ],
)
def test_answers_may_be_none_or_others(answers):
    assert collected(answers, "all(oks)")


@pytest.mark.parametrize(
    ("prompt", "shown"),
    [
        ('"go {}?".format(c)', True),
        ('"go {0.x} {who:{c}}?".format(flag, who=who, c=c)', True),
        ('"go {who}?".format(who=who, c=c)', False),
        ('"go?".format(c)', False),
        ('"go {0}?".format(who, c)', False),
        ('Template("go $c?").substitute(c=c)', True),
        ('Template("go ${c}?").safe_substitute(c=c)', True),
        ('Template("go $who?").substitute(who=who, c=c)', False),
        ("TEXT.substitute(c=c)", True),
        ('"x".strip(c)', False),
        ('"".ljust(5, c)', False),
        ("c.strip('x').ljust(50, '.')", True),
    ],
)
def test_a_template_shows_what_it_writes(prompt, shown):
    text = f"""
from string import Template
TEXT = Template("go $c?")
@flow
async def f(c: str, who: str, flag: str):
    await human_gate({prompt})
    await refund(c=c)
"""
    assert errors(text) == (set() if shown else {"approval-unseen-call"})
