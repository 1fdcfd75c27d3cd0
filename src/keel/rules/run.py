"""Running the rules over tools: every rule on every tool, and a gap, never silence, where one could not run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from keel.core.finding import Finding, Location, NotChecked, finding
from keel.core.schema import size
from keel.core.text import escape, excerpt
from keel.rules.interface import Category, Profile, Rule, RuleContext
from keel.rules.registry import RULES
from keel.rules.view import Sign, ToolView

MAX_NODES = 50_000
MAX_DEPTH = 128
"""Definitions beyond these (DESIGN 11) are reported and not judged further."""


def lint_tool(
    tool: ToolView, context: RuleContext, rules: Sequence[Rule] = RULES
) -> tuple[tuple[Finding, ...], tuple[NotChecked, ...]]:
    """Run rules over one tool.

    Returns:
        (findings, gaps), both sorted. A rule that raises is a gap with the code `rule-not-run`.
    """
    found, gaps = _judge(tool, context, Selection(rules, context))
    return tuple(sorted(set(found), key=lambda item: item.sort_key)), tuple(gaps)


class Selection:
    """Which of some rules can find anything, by the signs that a tool shows."""

    def __init__(self, rules: Iterable[Rule], context: RuleContext) -> None:
        self._strict = context.profile is Profile.STRICT
        self._rules = [rule for rule in rules if context.own or self._strict or not rule.meta.own_only]
        self._around = (Sign.OTHERS if context.others else 0) | (Sign.TARGETS if context.targets else 0)
        self._by_signs: dict[int, list[Rule]] = {}

    def for_tool(self, tool: ToolView) -> list[Rule]:
        """Return the rules that are worth running on a tool."""
        try:
            signs = tool.signs
        except Exception:  # noqa: BLE001 - each rule meets the same fault, and reports it as a gap
            return self._rules
        found = self._by_signs.get(signs)
        if found is None:
            missing = ~(signs | self._around)
            found = self._by_signs[signs] = [rule for rule in self._rules if not rule.needs & missing]
        return found

    def weigh(self, rule: Rule, found: list[Finding]) -> list[Finding]:
        """Return findings with the severity that the profile gives them."""
        stricter = rule.meta.strict_severity
        if not self._strict or stricter is None:
            return found
        return [item.with_severity(stricter) if item.severity.rank > stricter.rank else item for item in found]


def _judge(tool: ToolView, context: RuleContext, selection: Selection) -> tuple[list[Finding], list[NotChecked]]:
    found: list[Finding] = []
    gaps: list[NotChecked] = []
    for rule in selection.for_tool(tool):
        try:
            more = list(rule.check(tool, context))
        except Exception as error:  # noqa: BLE001 - a defect of one rule must not hide what the others find
            gaps.append(_gap(rule, tool, error))
            continue
        if more:
            found.extend(selection.weigh(rule, more))
    return found, gaps


def _gap(rule: Rule, tool: ToolView, error: Exception) -> NotChecked:
    reason = excerpt(f"{type(error).__name__}: {error}", 160)
    return NotChecked(
        what=f"rule `{rule.meta.id}` on `{excerpt(tool.key)}`",
        code="rule-not-run",
        why=f"the rule stopped with {reason}",
        next="report it to the maintainers of keel with the definition",
    )


def lint_surface(  # noqa: PLR0913 - each keyword is one fact about the surroundings
    server: str,
    tools: Iterable[Any],
    *,
    others: Iterable[tuple[str, str]] = (),
    instructions: str | None = None,
    targets: Iterable[str] = (),
    own: bool = True,
    native: bool = False,
    profile: Profile = Profile.DEFAULT,
    identity_names: Iterable[str] = (),
    revision: str = "",
    judged: int | None = None,
    rules: Sequence[Rule] = RULES,
) -> tuple[tuple[Finding, ...], tuple[NotChecked, ...]]:
    """Run the rules over every tool of one server, and the character and text rules over its instructions.

    Args:
        server: server name; empty for native tools.
        tools: wire objects, of any shape.
        others: (server, tool name) of every tool of every other server.
        instructions: the server's instructions to the model, if it sends any.
        targets: declared providers.
        own: whether quality rules apply.
        native: whether these are the project's own functions.
        profile: how demanding to be.
        identity_names: further argument names that belong to the trusted context.
        revision: negotiated protocol revision.
        judged: how many of the first tools to report on, the rest being there to compare with; all by default.
        rules: which rules to run.

    Returns:
        (findings, gaps), both sorted; the same for every order of keys.
    """
    wires = list(tools)
    views = tuple(ToolView(wire, server, index) for index, wire in enumerate(wires) if isinstance(wire, Mapping))
    context = RuleContext(
        server=server,
        tools=views,
        others=tuple(sorted(set(others))),
        targets=tuple(sorted(set(targets))),
        own=own,
        native=native,
        profile=profile,
        identity_names=tuple(sorted(set(identity_names))),
        revision=revision,
    )
    found = [_not_a_tool(server, index, wire) for index, wire in enumerate(wires) if not isinstance(wire, Mapping)]
    gaps: list[NotChecked] = []
    selection = Selection(rules, context)
    for view in views:
        if judged is not None and view.index >= judged:
            continue
        more, missing = _guarded(view, context, selection)
        found.extend(more)
        gaps.extend(missing)
    if instructions:
        more, missing = _instructions(instructions, context, rules)
        found.extend(more)
        gaps.extend(missing)
    unique = sorted(set(found), key=lambda item: item.sort_key)
    return tuple(unique), tuple(sorted(set(gaps), key=lambda gap: (gap.what, gap.why)))


def _guarded(
    view: ToolView, context: RuleContext, selection: Selection
) -> tuple[Sequence[Finding], Sequence[NotChecked]]:
    nodes, depth = size(view.wire)
    if nodes <= MAX_NODES and depth <= MAX_DEPTH:
        return _judge(view, context, selection)
    message = (
        f"`{escape(view.key)}` has {nodes:,} values in {depth:,} levels; "
        f"keel judges at most {MAX_NODES:,} in {MAX_DEPTH}"
    )
    excess = finding("schema-too-complex", message, location=Location(key=view.key))
    gap = NotChecked(
        f"all rules on `{excerpt(view.key)}`", "rule-not-run", "the definition is too complex", excess.next
    )
    return (excess,), (gap,)


def _not_a_tool(server: str, index: int, wire: Any) -> Finding:
    kind = "null" if wire is None else type(wire).__name__
    key = f"{server}/#{index}" if server else f"#{index}"
    return finding(
        "input-error", f"entry {index} of the tool list is {kind}, not an object", location=Location(key=key)
    )


_TEXT_CATEGORIES = frozenset({Category.CHARACTERS, Category.TEXT})


def _instructions(
    text: str, context: RuleContext, rules: Sequence[Rule]
) -> tuple[tuple[Finding, ...], tuple[NotChecked, ...]]:
    view = _InstructionsView({"instructions": text}, context.server)
    return lint_tool(view, context, [rule for rule in rules if rule.meta.category in _TEXT_CATEGORIES])


class _InstructionsView(ToolView):
    """A server's instructions seen as a tool of one field, located by the server's name."""

    @property
    def key(self) -> str:
        """The server's name."""
        return self.server
