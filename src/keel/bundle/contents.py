"""What goes into a bundle: graphs bound to digests, sources, lock, normalised manifest, gate report."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import date
from enum import Enum
from typing import Any

from keel.bundle.archive import pack
from keel.core.digest import digest_bytes
from keel.core.model import Manifest, ServerSpec
from keel.lockfile.model import Lock
from keel.lockfile.write import index_text, surface_text

VERSION = 1
"""Format of the bundle; a newer one is refused."""
INDEX = "bundle.json"
"""The member that digests all others but the envelope."""
ENVELOPE = "statement.dsse.json"
"""The signed statement about all other members; only in signed bundles."""
LOCK = "lock/keel.lock"
"""The lock's index inside the bundle."""
SURFACES = "lock/keel.lock.d/"
"""Begins the name of the member of each surface file."""
GATES = "gates.json"
"""What the checks found, what was suppressed, and the rules that judged."""
MANIFEST = "manifest.json"
"""The normalised manifest."""
RUNTIME = "runtime.json"
"""What only the run time needs: launches looked up, sources of secrets, source roots, places of native tools."""


@dataclass(frozen=True, slots=True)
class Contents:
    """Everything a bundle is built from, as values."""

    project: str
    flows: Mapping[str, Any]
    """Flow name to its graph as JSON, each call bound to its definition and execution digest and covering gates."""
    sources: Mapping[str, bytes]
    """Path relative to the project to the bytes of a flow module or a project module it uses."""
    lock: Lock
    manifest: Manifest
    gate_report: Mapping[str, Any]
    freeze_timing: str = "deploy_time"
    servers: tuple[ServerSpec, ...] = ()
    """Every server that may be reached, its launch looked up in the client configurations, references unresolved."""
    secrets: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Name to where its value comes from: `{"env": …}` or `{"file": …}`."""
    source_roots: tuple[str, ...] = (".", "src")
    """Folders of the project from which module names count, in the order in which they are searched."""
    native: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Native tool key to `{"module": …, "function": …, "file": …}`."""
    acknowledged: tuple[Mapping[str, str], ...] = ()
    """Drift that people accepted, each bound to a digest: `{"code": …, "key": …, "digest": …, "until": date}`."""
    sequence: int = 0
    """Grows from one release to the next, so that an older bundle can be refused."""


def build(contents: Contents) -> bytes:
    """Return the bytes of the bundle; the same contents give the same bytes."""
    members = members_of(contents)
    members[INDEX] = _json(
        {
            "version": VERSION,
            "project": contents.project,
            "freeze_timing": contents.freeze_timing,
            "sequence": contents.sequence,
            "flows": sorted(contents.flows),
            "members": {
                name: {"digest": digest_bytes(data), "size": len(data)} for name, data in sorted(members.items())
            },
        }
    )
    return pack(members)


def members_of(contents: Contents) -> dict[str, bytes]:
    """Return every member but the index, by name."""
    members = {f"sources/{path}": data for path, data in contents.sources.items()}
    for name, graph in contents.flows.items():
        members[f"flows/{name.replace(':', '.')}.json"] = _json({"flow": name, "graph": graph})
    for name, surface in contents.lock.surfaces.items():
        members[f"{SURFACES}{name}.json"] = surface_text(surface).encode()
    members[LOCK] = index_text(contents.lock.index).encode()
    members[MANIFEST] = _json(plain(contents.manifest))
    members[GATES] = _json(contents.gate_report)
    members[RUNTIME] = _json(
        {
            "servers": [plain(spec) for spec in sorted(contents.servers, key=lambda spec: spec.name)],
            "secrets": {name: dict(source) for name, source in contents.secrets.items()},
            "source_roots": list(contents.source_roots),
            "native": {key: dict(place) for key, place in contents.native.items()},
            "acknowledged": sorted(map(dict, contents.acknowledged), key=lambda item: sorted(item.items())),
        }
    )
    return members


def _json(value: Any) -> bytes:
    return (json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True) + "\n").encode()


_PLACES = frozenset({"line", "column", "lines"})


def plain(value: Any) -> Any:
    """Return frozen values as JSON: absent stays absent, places in files are left out."""
    if is_dataclass(value) and not isinstance(value, type):
        held = {field.name: getattr(value, field.name) for field in fields(value) if field.name not in _PLACES}
        return {name: plain(item) for name, item in held.items() if item is not None}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def index_schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of `bundle.json`, the index of a bundle."""
    member = {
        "type": "object",
        "properties": {
            "digest": {"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"},
            "size": {"type": "integer", "minimum": 0},
        },
        "required": ["digest", "size"],
        "additionalProperties": False,
    }
    properties = {
        "version": {"const": VERSION},
        "project": {"type": "string"},
        "freeze_timing": {"enum": ["deploy_time", "per_run"]},
        "sequence": {"type": "integer", "minimum": 0, "description": "Grows from one release to the next."},
        "flows": {"type": "array", "items": {"type": "string"}, "description": "Sorted, `module:flow`."},
        "members": {
            "type": "object",
            "description": "Every other member of the archive but the signed statement, by name.",
            "additionalProperties": member,
        },
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "keel bundle index",
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
