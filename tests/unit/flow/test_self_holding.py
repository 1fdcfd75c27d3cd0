"""A container that holds itself is read, or refused with a reason; it ends neither the reader nor the process."""

from __future__ import annotations

import pytest

from keel.flow.values import AV, Attribute, Items, Table, Unclear
from tests.unit.gates.harness import read


def test_a_container_that_holds_itself_is_live_only_by_what_else_it_holds() -> None:
    items = Items([])
    items.elements.append(AV(items, 0))
    assert not items.live
    items.elements.append(AV(Table({"self": AV(items, 0), "tool": AV(Unclear("x"), 0)}), 0))
    assert items.live


@pytest.mark.parametrize("holder", ["items", "table"])
def test_two_that_hold_each_other(holder: str) -> None:
    items, table = Items([]), Table({})
    items.elements.append(AV(table, 0))
    table.members["back"] = AV(items, 0)
    assert not (items if holder == "items" else table).live


def test_a_container_that_is_held_many_times_over_is_looked_into_once() -> None:
    held = Items([])
    for _ in range(200):  # 2 ** 200 ways lead to the innermost one
        held = Items([AV(held, 0), AV(held, 0)])
    assert not held.live
    assert not Attribute(AV(held, 0), "append").live


def test_flows_that_build_such_containers_are_read() -> None:
    pairs = "    pair = [pair, pair]\n" * 100
    source = f"""
@flow
async def nested(n: int):
    pair = [n]
{pairs}
    own = [pair]
    own.append(own)
    own.append(own.append)
    names = {{"own": own}}
    names["names"] = names
    await gated(refund)(amount=n)
    return len(own)

@flow
async def handed(n: int):
    own = [refund]
    own.append(own)
    ok = await human_gate(f"refund {{n}}?", show=own)
    await refund(amount=n)
"""
    assert {item.code for item in read(source).findings} == {"dynamic-tool"}
