"""A container that holds itself is read, or refused with a reason; it ends neither the reader nor the process."""

from __future__ import annotations

import pytest

from keel.flow.values import AV, Items, Table, Unclear


def test_a_container_that_holds_itself_is_live_only_by_what_else_it_holds() -> None:
    items = Items([])
    items.elements.append(AV(items, 0))
    assert not items.live
    items.elements.append(AV(Table({"self": AV(items, 0), "tool": AV(Unclear("x"), 0)}), 0))
    assert items.live
    assert not items.asked


@pytest.mark.parametrize("holder", ["items", "table"])
def test_two_that_hold_each_other(holder: str) -> None:
    items, table = Items([]), Table({})
    items.elements.append(AV(table, 0))
    table.members["back"] = AV(items, 0)
    assert not (items if holder == "items" else table).live
