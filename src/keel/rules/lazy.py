"""Regular expressions that are compiled when they are first used: most runs need a part of them."""

from __future__ import annotations

import re
from typing import Any, cast


class Lazy:
    """Stands in for a compiled expression; each method is fetched from it once and then found on the instance."""

    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern = pattern
        self.flags = flags

    def __getattr__(self, name: str) -> Any:
        """Compile on the first use of a method, and keep the method."""
        found = getattr(re.compile(self.pattern, self.flags), name)
        setattr(self, name, found)
        return found


def lazy(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return what behaves like `re.compile(pattern, flags)` and costs nothing until it is used."""
    return cast("re.Pattern[str]", Lazy(pattern, flags))
