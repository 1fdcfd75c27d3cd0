"""The JSON Schema of surface files, as they are written by `keel capture` and kept in `keel.lock.d`."""

from __future__ import annotations

from typing import Any


def surface_schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of a surface file; other keys are ignored on reading."""
    text = {"type": "string"}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "keel surface file",
        "description": "What one MCP server says of itself. A bare tools/list result and a bare list are read too.",
        "type": "object",
        "properties": {
            "initialize": {
                "type": "object",
                "description": "The server's first reply.",
                "properties": {
                    "protocolVersion": text,
                    "serverInfo": {"type": "object", "properties": {"name": text, "version": text}},
                    "capabilities": {"type": "object"},
                    "instructions": {"type": "string", "description": "What the server tells the model."},
                },
            },
            "tools": {
                "type": "array",
                "description": "Wire objects, with every field that was sent.",
                "items": {
                    "type": "object",
                    "properties": {"name": {"type": "string", "minLength": 1}, "inputSchema": {"type": "object"}},
                    "required": ["name"],
                },
            },
            "prompts": {"type": "array", "items": {"type": "object", "required": ["name"]}},
            "resources": {"type": "array", "items": {"type": "object", "required": ["uri"]}},
            "resourceTemplates": {"type": "array", "items": {"type": "object", "required": ["uriTemplate"]}},
        },
        "required": ["tools"],
    }
