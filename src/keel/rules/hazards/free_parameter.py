"""The shape of the five `free-…` rules: an argument of a telling name, unbounded, that the text says is acted on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar

from keel.core.finding import Finding
from keel.core.text import excerpt
from keel.rules.hazards.shared import free_string, says
from keel.rules.interface import Rule, RuleContext, ToolView
from keel.rules.view import Parameter


class FreeParameter(Rule):
    """Reports arguments whose name is telling, whose schema bounds nothing, and whose use the text confirms."""

    names: ClassVar[frozenset[str]]
    """Last words, or whole joined names, of telling arguments."""
    described: ClassVar[re.Pattern[str] | None] = None
    """What the argument's own text says, within one line, where its name tells nothing."""
    use: ClassVar[re.Pattern[str]]
    """What the text says where the value is acted on."""
    power: ClassVar[str]
    """What the value can be, completing `accepts …`."""

    def check(self, tool: ToolView, context: RuleContext) -> Iterator[Finding]:
        """Yield one finding for each argument."""
        if self.names.isdisjoint(tool.telling) and not (self.described and self.described.search(tool.abouts)):
            return
        for parameter in tool.parameters:
            if self.telling(parameter) and self.free(parameter) and says(tool, parameter, self.use):
                message = f"`{excerpt(parameter.name)}` accepts {self.power}"
                yield self.finding(tool, parameter.pointer, message)

    def telling(self, parameter: Parameter) -> bool:
        """Tell whether the name speaks of the power."""
        words = parameter.words
        if words and (words[-1] in self.names or parameter.joined in self.names):
            return True
        return self.described is not None and self.described.search(parameter.about) is not None

    def free(self, parameter: Parameter) -> bool:
        """Tell whether the schema leaves the value unbounded."""
        return free_string(parameter)
