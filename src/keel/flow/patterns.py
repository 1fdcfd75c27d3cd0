"""Reads `match`: each case is tried where those before it failed."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from keel.flow.build import Point
from keel.flow.statements import READERS, Statements
from keel.flow.values import (
    AV,
    Answer,
    Const,
    Items,
)


class Patterns(Statements):
    """Patterns."""

    def match(self, node: ast.Match) -> None:
        """Read `match`: each case is tried where those before it failed."""
        subject = self.expr(node.subject)
        if self.is_live(subject) and not isinstance(subject.static, Items):
            self.plain(subject, node, "matched against patterns")
        ends: list[Point | None] = []
        for case in node.cases:
            if self.here is None:
                break
            matched, failed = self._case(case, subject)
            self.here = matched
            self.block(case.body)
            ends.append(self.here)
            self.here = failed
        ends.append(self.here)
        self.here = self.join(ends, node, (subject.value,))

    def _case(self, case: ast.match_case, subject: AV) -> tuple[Point | None, Point | None]:
        true, false = self.pattern(case.pattern, subject)
        if case.guard is None:
            return true, false
        self.here = true
        passed, refused, _ = self.test(case.guard)
        return passed, self.join([false, refused], case.pattern)

    def pattern(self, node: ast.pattern, subject: AV) -> tuple[Point | None, Point | None]:
        """Read a pattern; returns where control goes when it fits and when it does not."""
        if self.here is None:
            return None, None
        if isinstance(node, ast.MatchSingleton | ast.MatchValue):
            return self._literal_pattern(node, subject)
        if isinstance(node, ast.MatchOr):
            fitting: list[Point | None] = []
            for item in node.patterns:
                fits, fails = self.pattern(item, subject)
                fitting.append(fits)
                self.here = fails
                if fails is None:
                    break
            return self.join(fitting, node), self.here
        if isinstance(node, ast.MatchAs) and node.pattern is not None:
            fits, fails = self.pattern(node.pattern, subject)
            self.here = fits
            if node.name and self.here is not None:
                self.bind(node.name, subject, node)
            return self.here, fails
        if isinstance(node, ast.MatchAs):
            if node.name:
                self.bind(node.name, subject, node)
            return self.here, None
        return self._structure(node, subject)

    def _literal_pattern(
        self, node: ast.MatchSingleton | ast.MatchValue, subject: AV
    ) -> tuple[Point | None, Point | None]:
        wanted: Any = node.value if isinstance(node, ast.MatchSingleton) else None
        if isinstance(node, ast.MatchValue):
            value = self.expr(node.value)
            wanted = value.static.value if isinstance(value.static, Const) else None
        fact: tuple[int, bool] | None = None
        if isinstance(wanted, bool) and self.is_flag(subject.value):
            fact = (subject.value, wanted)
        value_index = self.b.derived((subject.value,), "case")
        true, false, _ = self.branch(AV(None, value_index), node, fact if fact is not None else (value_index, True))
        return true, false

    def _structure(self, node: ast.pattern, subject: AV) -> tuple[Point | None, Point | None]:
        """Read a pattern that looks inside: it fits or not, and binds parts of the subject."""
        if isinstance(node, ast.MatchClass) and self._attribute_pattern(node, subject) is not None:
            return self._match_attributes(node, subject)
        value = AV(None, self.b.derived((subject.value,), "case"))
        true, false, _ = self.branch(value, node)
        self.here = true
        for name in pattern_names(node):
            self.bind(name, AV(None, self.b.part(subject.value, None)), node)
        if isinstance(subject.static, Items) and self.is_live(subject):
            self.dynamic(node, "a pattern takes tools out of a sequence")
        return self.here, false

    def _attribute_pattern(self, node: ast.MatchClass, subject: AV) -> ast.pattern | None:
        """Return the pattern for `approved` in `case Approval(approved=…)`."""
        if not isinstance(subject.static, Answer) or node.patterns:
            return None
        pairs = dict(zip(node.kwd_attrs, node.kwd_patterns, strict=True))
        return pairs.get("approved") if set(pairs) == {"approved"} else None

    def _match_attributes(self, node: ast.MatchClass, subject: AV) -> tuple[Point | None, Point | None]:
        inner = self._attribute_pattern(node, subject)
        assert inner is not None
        return self.pattern(inner, AV(None, self.b.part(subject.value, ".approved")))


def pattern_names(node: ast.pattern) -> Iterator[str]:
    """Yield the names that a pattern binds, in source order."""
    for item in ast.walk(node):
        if isinstance(item, ast.MatchAs | ast.MatchStar) and item.name:
            yield item.name
        elif isinstance(item, ast.MatchMapping) and item.rest:
            yield item.rest


READERS[ast.Match] = Patterns.match
