"""Whether the flows that use a changed tool still fit it: what they pass, and what they read of its results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from keel.drift.affected import Affected, Impact
from keel.drift.arguments import Fit, arguments_fit, handed_fits
from keel.drift.results import read_changes
from keel.drift.usage import Usage, Use
from keel.gates.validators import Validators

Wire = Mapping[str, Any]


@dataclass(frozen=True)
class Impacts:
    """Judges changes of tools by the flows of one program."""

    usage: Usage
    before: Mapping[str, Wire]
    """Tool key to its definition before the change."""
    after: Mapping[str, Wire]
    """The same after it; a tool that is gone is absent."""

    def input(self, key: str) -> Impact:
        """Judge what flows pass to a tool whose input schema changed."""
        old, new = self._schema(self.before, key, "inputSchema"), self._schema(self.after, key, "inputSchema")
        fit = Fit(old, new, self._output_before, self._output_after, self._validators)
        places = (
            _at(use, *found) for use in self.usage.calls(key) for found in arguments_fit(use.flow.graph, use.node, fit)
        )
        return self._impact((key,), places)

    def output(self, key: str) -> Impact:
        """Judge what flows do with the results of a tool whose output schema changed."""
        return self._impact((key,), (*self._reads(key), *self._handed(key)))

    def gone(self, *keys: str) -> Impact:
        """Judge the removal of tools."""
        uses = (use for key in keys for use in self.usage.calls(key))
        return self._impact(keys, (_at(use, f"`{use.node.key}` is gone") for use in uses))

    def uses(self, key: str) -> Impact:
        """Name the uses of a tool of which something else changed than its schemas."""
        return self._impact((key,), ())

    def _reads(self, key: str) -> Iterator[Affected]:
        old, new = self._output_before(key), self._output_after(key)
        for read in self.usage.reads(key):
            for what, certain in read_changes(read, key, old, new):
                yield Affected(read.use.name, f"{read.use.name}@{read.span}", read.span, what, certain)

    def _handed(self, key: str) -> Iterator[Affected]:
        for handed in self.usage.handed(key):
            target = handed.use.node.key
            schema = self._schema(self.before, target, "inputSchema")
            if target == key or schema is None:
                # What the tool itself takes is judged with its input.
                continue
            found = handed_fits(handed.use.flow.graph, handed.argument, schema, self._output_before, self._output_after)
            for what, certain in found:
                yield _at(handed.use, f"{what} of `{target}`", certain=certain)

    def _impact(self, keys: Iterable[str], affected: Iterable[Affected]) -> Impact:
        distinct = {(item.site, item.what): item for item in affected}
        ordered = sorted(
            distinct.values(), key=lambda item: (not item.certain, item.span.file, item.span.line, item.flow, item.what)
        )
        uses = {use.site for key in keys for use in self.usage.calls(key)}
        holders = {name for key in keys for name in self.usage.holders(key)}
        return Impact(tuple(ordered), tuple(sorted(uses)), tuple(sorted(holders)))

    def _output_before(self, key: str) -> Any:
        return self._schema(self.before, key, "outputSchema")

    def _output_after(self, key: str) -> Any:
        return self._schema(self.after, key, "outputSchema")

    @staticmethod
    def _schema(wires: Mapping[str, Wire], key: str, name: str) -> Any:
        wire = wires.get(key)
        return wire.get(name) if wire is not None else None

    @cached_property
    def _validators(self) -> Validators:
        return Validators()


def _at(use: Use, what: str, certain: bool = True) -> Affected:  # noqa: FBT001, FBT002 - a pair is spread into it
    return Affected(use.name, use.site, use.node.span, what, certain)
