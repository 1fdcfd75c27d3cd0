"""Orders, heaviest ways, truths carried backwards, what was seen."""

from keel.analysis.facts import backwards, canonical
from keel.analysis.longest import longest
from keel.analysis.must import held
from keel.analysis.order import topological
from keel.analysis.provenance import Seen, expansion, visible
from keel.core.graph import Edge, Graph, Kind, Label, Node, Span, Value, ValueKind

AT = Span("f.py", 1)


def graph(kinds, edges, values=()):
    nodes = tuple(kind if isinstance(kind, Node) else Node(kind, AT) for kind in kinds)
    return Graph(nodes, tuple(edge if isinstance(edge, Edge) else Edge(*edge) for edge in edges), tuple(values))


def test_edges_that_close_a_loop_do_not_count_for_order_and_weight():
    made = graph([Kind.ENTRY, Kind.LOOP, Kind.CALL, Kind.RETURN], [(0, 1), (1, 2), (2, 1), (1, 3)])
    assert topological(made)[:2] == [0, 1]
    assert longest(made, {2: 5}, 4) == (5, 2)


def test_the_heaviest_of_two_arms_counts():
    made = graph([Kind.ENTRY, Kind.CALL, Kind.CALL, Kind.JOIN, Kind.CALL], [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4)])
    assert longest(made, {1: 1, 2: 3, 4: 1}, 3) == (4, 4)


def test_answers_meet_by_intersection():
    values = [Value(ValueKind.APPROVAL, node=1), Value(ValueKind.APPROVAL, node=2)]
    nodes = [
        Node(Kind.ENTRY, AT),
        Node(Kind.GATE, AT, value=0),
        Node(Kind.GATE, AT, value=1),
        Node(Kind.JOIN, AT),
        Node(Kind.CALL, AT),
    ]
    both = graph(nodes, [(0, 1), Edge(1, 2, fact=(0, True)), Edge(2, 4, fact=(1, True))], values)
    assert held(both)[1][4] == 0b11
    one = graph(nodes, [(0, 1), Edge(1, 3, fact=(0, True)), (0, 3), (3, 4)], values)
    assert held(one)[1][4] == 0


def test_a_flag_that_was_merged_leads_back_to_the_answer_or_to_nowhere():
    values = [
        Value(ValueKind.APPROVAL, node=1),
        Value(ValueKind.LITERAL, key="false"),
        Value(ValueKind.MERGED, (0, 1), node=3),
    ]
    made = graph([Kind.ENTRY] * 4, [], values)
    facts = frozenset({(2, True)})
    assert backwards(made, facts, Edge(1, 3, merges=((2, 0),))) == {(0, True)}
    assert backwards(made, facts, Edge(2, 3, merges=((2, 1),))) is None


def test_names_and_bool_and_approved_stand_for_the_answer():
    values = [
        Value(ValueKind.APPROVAL, node=1),
        Value(ValueKind.PART, (0,), key=".approved"),
        Value(ValueKind.DERIVED, (1,), "bool"),
        Value(ValueKind.BOUND, (2,), "ok"),
    ]
    assert canonical(graph([Kind.ENTRY], [], values), (3, False)) == (0, False)


def never(value: int, since: int) -> bool:
    """Nothing is changed."""
    del value, since
    return False


def test_seen_is_what_follows_from_what_was_shown():
    values = [
        Value(ValueKind.PARAMETER, name="a"),
        Value(ValueKind.PARAMETER, name="b"),
        Value(ValueKind.LITERAL, key='"x"'),
        Value(ValueKind.RENDERED, (0, 2), "text"),
        Value(ValueKind.DERIVED, (0, 2), "f"),
        Value(ValueKind.DERIVED, (0, 1), "g"),
        Value(ValueKind.DERIVED, (0,), "len"),
    ]
    made = graph([Kind.ENTRY], [], values)
    seen = Seen(made, frozenset(visible(made, [(3, -1)], never, lambda index: values[index].operands)))
    assert [seen.all_of(index) for index in range(6)] == [True, False, True, True, True, False]
    assert not Seen(made, frozenset({6})).all_of(0), "a length is not the thing"


def test_merged_values_of_a_loop_may_depend_on_themselves():
    values = [
        Value(ValueKind.PARAMETER, name="a"),
        Value(ValueKind.MERGED, (0, 2)),
        Value(ValueKind.DERIVED, (1,), "half"),
    ]
    made = graph([Kind.ENTRY], [], values)
    assert Seen(made, frozenset({0})).all_of(1)
    assert expansion(made, [1], hidden=False) == {0, 1, 2}


def test_labels_are_words():
    assert [label.value for label in Label] == ["next", "true", "false", "exception", "again", "leave"]
