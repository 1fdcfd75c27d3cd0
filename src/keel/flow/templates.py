"""Which arguments a constant template writes into its text: `str.format` and `string.Template`."""

from __future__ import annotations

from collections.abc import Iterable


def written_by_format(template: str) -> frozenset[str] | None:
    """Return the arguments that `template.format(…)` writes: names, and positions as text; None if it is malformed.

    Source: Python library reference, "Format String Syntax".
    """
    from string import Formatter  # noqa: PLC0415 - few flows need it

    found: set[str] = set()
    automatic = 0
    waiting = [template]
    try:
        while waiting:
            for _, field, specification, _ in Formatter().parse(waiting.pop()):
                if field is None:
                    continue
                name = field.split(".")[0].split("[")[0]
                found.add(name or str(automatic))
                automatic += not name
                waiting.append(specification or "")
    except ValueError:
        return None
    return frozenset(found)


def written_by_template(template: str) -> frozenset[str]:
    """Return the names that `string.Template(template)` writes."""
    from string import Template  # noqa: PLC0415 - few flows need it

    return frozenset(Template(template).get_identifiers())


def is_written(written: Iterable[str] | None, name: str, position: int) -> bool:
    """Tell whether an argument is among those that a template writes.

    Args:
        written: what the template writes; None when that is not known.
        name: of a keyword argument; empty for a positional one.
        position: of a positional argument.
    """
    return written is None or (name or str(position)) in written
