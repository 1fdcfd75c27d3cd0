"""Manifest text to the `Manifest` value, or to every error at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date
from enum import StrEnum
from typing import Any, TypeVar

from keel.core.finding import InputErrors
from keel.core.model import (
    Budget,
    ClientCredentials,
    DataClass,
    Defaults,
    Grant,
    Idempotency,
    Manifest,
    Policy,
    ServerSpec,
    Transport,
    Trust,
    VolatileMask,
)
from keel.manifest import severities, words
from keel.manifest.checks import check_manifest
from keel.manifest.model import MANIFEST, PLACES
from keel.manifest.problems import Document, Path, Problem, findings, pointer
from keel.manifest.shape import validate
from keel.manifest.yamltree import read_yaml

CODE = "manifest-error"
Raw = Mapping[str, Any]
"""A validated mapping of the document."""
_LINE_DEPTH = 3
"""How deep the keys lie whose lines a manifest remembers: `/servers/search/policy`."""


def parse_manifest(text: str, file: str) -> Manifest:
    """Parse a capability manifest.

    Args:
        text: the whole file, decoded; CR LF and a byte order mark are accepted.
        file: its path relative to the project, with forward slashes; it stands in every finding.

    Raises:
        InputErrors: with a `manifest-error` for every error of the document, each with file, line, column, pointer
            and suggestion. After a YAML syntax error nothing further is known, so that it stands alone.
    """
    document = read_yaml(text)
    problems = list(document.problems)
    raw: Raw | None = None
    if document.readable and document.value is None:
        problems.append(Problem((), "the manifest is empty", "begin with `version: 1`"))
    elif document.readable:
        raw, wrong = validate(MANIFEST, document, PLACES)
        problems.extend(wrong)
        problems.extend(check_manifest(document))
    if problems or raw is None:
        raise InputErrors(findings(CODE, file, document, problems))
    return _manifest(raw, document, file)


def _manifest(raw: Raw, document: Document, file: str) -> Manifest:
    defaults = _defaults(raw.get("defaults", {}))
    servers = tools = budget = None
    if "servers" in raw:
        listed = sorted(raw["servers"].items())
        servers = tuple(_server(name, server, defaults, document, file) for name, server in listed)
    if "tools" in raw:
        tools = tuple(_grant(grant, ("tools", index), document) for index, grant in enumerate(raw["tools"]))
    if "budget" in raw:
        budget = Budget(**raw["budget"])
    return Manifest(
        file=file,
        defaults=defaults,
        servers=servers,
        tools=tools,
        reasoners=_entries(raw, "reasoners"),
        models=_entries(raw, "models"),
        scopes=_entries(raw, "scopes"),
        network=_entries(raw, "network"),
        budget=budget,
        fail_on=severities.settle(raw.get("fail_on", {})),
        lines=_lines(document),
    )


def _entries(raw: Raw, section: str) -> tuple[str, ...] | None:
    return tuple(raw[section]) if section in raw else None


def _lines(document: Document) -> tuple[tuple[str, int], ...]:
    places = {path: document.key_at(path).line for path in document.values if len(path) <= _LINE_DEPTH}
    return tuple(sorted((pointer(path), line) for path, line in places.items()))


def _defaults(raw: Raw) -> Defaults:
    base = Defaults()
    return Defaults(
        unasserted_effect=words.EFFECTS[raw.get("unasserted_effect", base.unasserted_effect)],
        returns=Trust(raw.get("returns", base.returns)),
        policy=Policy(raw.get("policy", base.policy)),
        timeout_s=raw.get("timeout_s", base.timeout_s),
        primitives=_primitives(raw, base.primitives),
    )


def _primitives(raw: Raw, default: tuple[str, ...]) -> tuple[str, ...]:
    chosen = raw.get("primitives", default)
    return tuple(name for name in words.PRIMITIVES if name in chosen)


def _server(name: str, raw: Raw, defaults: Defaults, document: Document, file: str) -> ServerSpec:
    path: Path = ("servers", name)
    at = document.key_at(path)
    transport = next((_TRANSPORTS[key] for key in _TRANSPORTS if key in raw), Transport.IMPORT)
    auth = raw.get("auth", {})
    return ServerSpec(
        name=name,
        transport=transport,
        command=tuple(raw.get("command", ())),
        url=raw.get("url", ""),
        surface=raw.get("surface", ""),
        imported=raw.get("import", name if transport is Transport.IMPORT else ""),
        env=tuple(sorted(raw.get("env", {}).items())),
        headers=tuple(sorted(raw.get("headers", {}).items())),
        pass_env=tuple(sorted(set(raw.get("pass_env", ())))),
        cwd=raw.get("cwd", "."),
        client_credentials=ClientCredentials(**auth["client_credentials"]) if "client_credentials" in auth else None,
        attended=auth.get("attended", False),
        version=raw.get("version"),
        policy=Policy(raw.get("policy", defaults.policy)),
        own=raw.get("own", False),
        publisher=raw.get("publisher"),
        artifact_digest=raw.get("artifact_digest"),
        reviewed_at=_date(raw, "reviewed_at"),
        review_expires_at=_date(raw, "review_expires_at"),
        primitives=_primitives(raw, defaults.primitives),
        volatile=tuple(_masks(raw, path, document)),
        max_data_class=_word(DataClass, raw, "max_data_class"),
        timeout_s=raw.get("timeout_s", defaults.timeout_s),
        file=file,
        line=at.line,
        column=at.column,
    )


_TRANSPORTS = {"command": Transport.STDIO, "url": Transport.HTTP, "surface": Transport.SURFACE}


def _date(raw: Raw, key: str) -> date | None:
    return date.fromisoformat(raw[key]) if key in raw else None


W = TypeVar("W", bound=StrEnum)


def _word(words_: type[W], raw: Raw, key: str) -> W | None:
    return words_(raw[key]) if key in raw else None


def _masks(raw: Raw, path: Path, document: Document) -> Iterator[VolatileMask]:
    for index, mask in enumerate(raw.get("volatile", ())):
        at = document.value_at((*path, "volatile", index))
        yield VolatileMask(mask.get("tool", ""), mask["pointer"], mask["match"], at.line, at.column)


def _grant(raw: Raw, path: Path, document: Document) -> Grant:
    at = document.value_at(path)
    return Grant(
        tool=raw["tool"],
        effect=words.EFFECTS[raw["effect"]] if "effect" in raw else None,
        idempotency=_word(Idempotency, raw, "idempotency"),
        approval=raw.get("approval", False),
        max_calls=raw.get("max_calls"),
        returns=_word(Trust, raw, "returns"),
        data_class=_word(DataClass, raw, "data_class"),
        key=tuple(raw.get("key", ())),
        owner=raw.get("owner"),
        permission=raw.get("permission"),
        timeout_s=raw.get("timeout_s"),
        max_attempts=raw.get("max_attempts"),
        confirmation=raw.get("confirmation"),
        reason=raw.get("reason"),
        line=at.line,
        column=at.column,
    )
