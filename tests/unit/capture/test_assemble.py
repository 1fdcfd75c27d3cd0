"""What assembling keeps, names and refuses."""

from __future__ import annotations

from keel.capture.assemble import Entries, FirstReply, assemble
from keel.core.codes import Severity
from keel.core.digest import definition_digest, surface_digest
from keel.core.jsontext import parse

SCHEMA = {"type": "object"}


def surface_of(*pages, first=None):
    return assemble("srv", FirstReply(first or {}), {"tools": [Entries(tuple(page)) for page in pages]})


def tool(name, **more):
    return {"name": name, "inputSchema": SCHEMA, **more}


def test_tools_of_all_pages_are_sorted_by_name():
    surface, findings = surface_of([tool("b"), tool("c")], [tool("a")])
    assert [item["name"] for item in surface.tools] == ["a", "b", "c"]
    assert findings == ()


def test_c038_page_and_tool_order_change_no_digest():
    one, _ = surface_of([tool("b"), tool("c")], [tool("a")])
    two, _ = surface_of([tool("a"), tool("b"), tool("c")])
    assert surface_digest(one) == surface_digest(two)


def test_c006_equal_duplicates_are_kept_once_with_a_warning():
    surface, (only,) = surface_of([tool("a", description=None)], [tool("a")])
    assert len(surface.tools) == 1
    assert (only.code, only.severity, only.location.key) == ("duplicate-tool", Severity.WARNING, "srv/a")


def test_c006_different_duplicates_are_an_error_with_both_digests():
    first, second = tool("a", description="x"), tool("a", description="y")
    surface, (only,) = surface_of([first], [second])
    assert surface.tools == ()
    assert (only.code, only.severity) == ("duplicate-tool", Severity.ERROR)
    assert definition_digest(first) in only.message
    assert definition_digest(second) in only.message


def test_entries_without_a_usable_name_are_named_by_their_place():
    surface, findings = surface_of([tool("a"), 7, {"x": 1}], [{"name": None}, {"name": ""}])
    assert [item["name"] for item in surface.tools] == ["a"]
    assert [(item.code, item.location.pointer) for item in findings] == [
        ("invalid-schema", f"/tools/{index}") for index in (1, 2, 3, 4)
    ]


def test_unknown_fields_stay_and_known_nulls_are_absent():
    surface, _ = surface_of([tool("a", title=None, **{"x-vendor": None, "icons": [1]})])
    assert surface.tools[0] == {"name": "a", "inputSchema": SCHEMA, "x-vendor": None, "icons": [1]}


def test_a_fault_costs_only_its_tool_and_names_tool_and_pointer():
    items, faults = parse(
        '[{"name":"a","inputSchema":{"minimum":1e4000}},{"name":"b"},{"name":"c","description":"\\ud800"},'
        '{"name":"d","title":"x","title":"y"}]'
    )
    surface, findings = assemble("srv", FirstReply({}), {"tools": [Entries(tuple(items), faults)]})
    assert [item["name"] for item in surface.tools] == ["b"]
    assert sorted((item.code, item.location.key, item.location.pointer) for item in findings) == [
        ("control-text", "srv/a", "/inputSchema/minimum"),
        ("control-text", "srv/c", "/description"),
        ("control-text", "srv/d", "/title"),
    ]


def test_too_deep_a_tool_is_too_complex():
    deep = "[" * 200 + "]" * 200
    items, faults = parse(f'[{{"name":"a","inputSchema":{deep}}},{{"name":"b"}}]')
    surface, (only,) = assemble("srv", FirstReply({}), {"tools": [Entries(tuple(items), faults)]})
    assert [item["name"] for item in surface.tools] == ["b"]
    assert (only.code, only.location.key) == ("schema-too-complex", "srv/a")


def test_envelope_fields_of_the_first_reply_are_dropped():
    first = {"protocolVersion": "2026-07-28", "serverInfo": {"name": "x"}, "ttlMs": 5, "resultType": "complete"}
    surface, _ = surface_of([], first=first)
    assert surface.initialize == {"protocolVersion": "2026-07-28", "serverInfo": {"name": "x"}}


def test_a_fault_in_the_instructions_is_an_error_and_leaves_them_out():
    value, faults = parse('{"protocolVersion":"2025-11-25","instructions":"\\udead"}')
    surface, (only,) = assemble("srv", FirstReply(value, faults), {"tools": []})
    assert surface.initialize == {"protocolVersion": "2025-11-25"}
    assert (only.code, only.location.key, only.location.pointer) == ("control-text", "srv", "/initialize/instructions")


def test_other_primitives_are_kept_only_when_they_were_asked_for():
    lists = {
        "tools": [],
        "prompts": [Entries(({"name": "q"}, {"name": "p"}))],
        "resources": [Entries(({"uri": "b:"}, {"uri": "a:"}, {"name": "no uri"}))],
    }
    surface, (only,) = assemble("srv", FirstReply({}), lists)
    assert surface.prompts == ({"name": "p"}, {"name": "q"})
    assert surface.resources == ({"uri": "a:"}, {"uri": "b:"})
    assert surface.resource_templates is None
    assert only.location.pointer == "/resources/2"


def test_hostile_names_are_escaped_in_messages():
    _, (only,) = surface_of([tool("a\x1b[31m", description="x"), tool("a\x1b[31m", description="y")])
    assert "\x1b" not in only.message
    assert "\x1b" not in only.location.key
