"""Schemas that their own dialect does not accept."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

from keel.core.finding import Finding
from keel.core.jsontext import escape_token
from keel.core.text import excerpt
from keel.rules.interface import Rule, RuleContext, Severity, ToolView
from keel.rules.schema.shared import DIALECTS, dialect, schema_meta

_MOST = 20


class InvalidSchema(Rule):
    """Validates both schemas against the meta-schema of the dialect they declare."""

    meta = schema_meta(
        "invalid-schema",
        "an input or output schema is not a valid JSON Schema object",
        "Nothing can be validated against a schema that is itself invalid.",
        '{"inputSchema": {"type": "object", "properties": {"n": {"type": "strin"}}}}',
    )

    def check(self, tool: ToolView, context: RuleContext) -> Iterator[Finding]:
        """Yield one finding for each place, at most twenty, or a warning for a dialect keel does not know."""
        for field in ("inputSchema", "outputSchema"):
            schema = tool.wire.get(field)
            if not isinstance(schema, dict):
                continue
            uri = dialect(schema)
            if uri is None:
                message = f"`{field}` declares the dialect `{excerpt(schema['$schema'])}`, which keel does not know"
                yield self.finding(tool, f"/{field}/$schema", message, severity=Severity.WARNING)
                continue
            for at, message in _errors(schema, uri):
                yield self.finding(tool, f"/{field}{at}", f"`{field}` is not valid: {message}")


@cache
def _meta_validator(uri: str) -> Any:
    import jsonschema_rs  # noqa: PLC0415 - only lint needs it

    validator = getattr(jsonschema_rs, DIALECTS[uri])
    anchor = "#" if "draft-0" in uri else ""
    # Patterns have a rule of their own, which knows ECMA-262; other formats of the meta-schema are advisory.
    return validator({"$ref": uri + anchor}, validate_formats=False)


def _errors(schema: Any, uri: str) -> list[tuple[str, str]]:
    """Return (pointer, what is wrong), the innermost place of each error, sorted."""
    validator = _meta_validator(uri)
    try:
        if validator.is_valid(schema):
            return []
    except UnicodeEncodeError:
        # Lone surrogates have a rule of their own; here they only stand in the way.
        return _errors(json.loads(json.dumps(schema, ensure_ascii=False).encode("utf-8", "replace")), uri)
    found: dict[str, str] = {}
    for error in validator.iter_errors(schema):
        at = "".join(f"/{escape_token(str(token))}" for token in error.instance_path)
        found.setdefault(at, excerpt(error.message, 160))
        if len(found) == _MOST:
            break
    return sorted(found.items())
