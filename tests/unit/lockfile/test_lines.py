"""Lines of an index, as reports point at them."""

from __future__ import annotations

from keel.core.model import Contract, Policy, Surface
from keel.lockfile.lines import line_numbers
from keel.lockfile.model import LockIndex
from keel.lockfile.write import index_text, locked_server, locked_tool


def test_every_entry_is_found_at_its_own_line() -> None:
    keys = ["a/x", "a.b/y z", 'a/"q"\\', "native", "ключ"]
    server = locked_server("a.b", Surface(), policy=Policy.PIN, launch="k1:00")
    text = index_text(LockIndex((server,), tuple(locked_tool(key, {"name": "x"}, Contract()) for key in keys)))
    lines = text.splitlines()
    found = line_numbers(text)
    assert set(found) == {*keys, "a.b", "version"}
    assert lines[found["a.b"] - 1].startswith('"a.b".capabilities')
    assert all("definition" in lines[found[key] - 1] for key in keys)


def test_a_conflict_is_no_entry() -> None:
    assert line_numbers("<<<<<<< HEAD\na = { x = 1 }\n=======\na = { x = 2 }\n>>>>>>> b\n") == {"a": 2}
