"""A package as a launcher is told of it: its name, its version, and whether these say exactly what will run."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import StrEnum

from keel.rules.lazy import lazy


class Ecosystem(StrEnum):
    """Where a package comes from."""

    NPM = "npm"
    PYPI = "pypi"
    IMAGE = "image"
    GO = "go"
    DENO = "deno"
    NUGET = "nuget"


@dataclass(frozen=True, slots=True)
class Package:
    """One package that a launch fetches."""

    ecosystem: Ecosystem
    launcher: str
    """The words that fetch it: `npx`, `uv tool run`."""
    name: str
    """As written, without extras and version."""
    version: str
    """As written; empty when none is."""
    exact: bool
    """Whether the version names one release for ever."""
    settled: bool
    """Whether what it depends on is settled with it."""
    index: int
    """Its place in the command."""

    def at_version(self, version: str) -> Package:
        """Return the same package with a version that an option gives."""
        exact = _SEMVER.fullmatch(version) is not None
        return replace(self, version=version, exact=exact, settled=exact)


_SEMVER = lazy(r"[v=]{0,2}\d{1,9}\.\d{1,9}\.\d{1,9}(?:\.\d{1,9})?(?:[-+][0-9A-Za-z.+-]{1,99})?")
_PEP440 = lazy(r"(?:\d{1,9}!)?\d{1,9}(?:\.\d{1,9}){0,9}(?:(?:a|b|rc|\.post|\.dev)\d{1,9}){0,3}(?:\+[a-z0-9.]{1,99})?")
_COMMIT = lazy(r"[0-9a-f]{40}|[0-9a-f]{64}")
_SHORT_COMMIT = lazy(r"[0-9a-f]{12,40}")
_LOCAL = lazy(r"[./~\\]|[A-Za-z]:[\\/]|(?:file|link|workspace):")
_REMOTE = lazy(r"(?:git\+|git://|https?://|ssh://|github:|gitlab:|bitbucket:|gist:)")
_SHORTHAND = lazy(r"[\w.-]{1,99}/[\w.-]{1,99}(?:#.*)?")
_REQUIREMENT = lazy(r"(?P<name>[^\W_][\w.-]{0,199})(?:\[[^\]]{0,199}\])?\s{0,9}(?P<rest>.*)", re.DOTALL)
_DIGEST = lazy(r"@sha256:[0-9a-f]{64}")
_URL_VERSION = lazy(r"@v?\d{1,9}\.\d{1,9}\.\d{1,9}")


def parse_package(ecosystem: Ecosystem, spec: str, launcher: str, index: int, *, settled: bool) -> Package | None:
    """Read what names a package in a command; None for local files and for what only a variable says."""
    if not spec or "${" in spec or _LOCAL.match(spec):
        return None
    if ecosystem is Ecosystem.DENO:
        prefix, colon, rest = spec.partition(":")
        if not colon or prefix not in ("npm", "jsr", "https", "http"):
            return None
        is_url = prefix in ("http", "https")
        read = (spec, "", _URL_VERSION.search(spec) is not None, False) if is_url else _npm(rest)
    else:
        read = _READERS[ecosystem](spec)
    if read is None:
        return None
    name, version, exact, whole = read
    return Package(ecosystem, launcher, name, version, exact, settled or whole, index)


_Read = tuple[str, str, bool, bool]
"""(name, version, whether it is exact, whether that settles the dependencies too)"""


def _npm(spec: str) -> _Read | None:
    spec = spec.removeprefix("npm:")
    if _REMOTE.match(spec) or (not spec.startswith("@") and _SHORTHAND.fullmatch(spec)):
        source, _, revision = spec.partition("#")
        return source, revision, _COMMIT.fullmatch(revision) is not None, False
    name, version = _at(spec)
    return name, version, _SEMVER.fullmatch(version) is not None, False


def _at(spec: str) -> tuple[str, str]:
    """Split at the last `@` that does not begin a scope."""
    cut = spec.rfind("@")
    return (spec[:cut], spec[cut + 1 :]) if cut > 0 else (spec, "")


def _pypi(spec: str) -> _Read | None:
    name, at, url = spec.partition(" @ ")
    source = url.strip() if at else spec
    if _REMOTE.match(source):
        where, _, revision = source.partition("#")[0].rpartition("@")
        pinned = _COMMIT.fullmatch(revision) is not None or "#sha256=" in source
        return name.strip() if at else where or source, revision if where else "", pinned, False
    match = _REQUIREMENT.fullmatch(spec)
    if match is None:
        return None
    rest = match["rest"].partition(";")[0].strip()
    operator = "===" if rest.startswith("===") else "==" if rest.startswith("==") else rest[:1]
    version = rest.removeprefix(operator).strip() if operator in ("==", "===", "@") else rest
    exact = operator in ("==", "===", "@") and _PEP440.fullmatch(version) is not None
    return match["name"], version, exact, False


def _image(spec: str) -> _Read:
    digest = _DIGEST.search(spec)
    name = spec[: digest.start()] if digest else spec
    folder, slash, last = name.rpartition("/")
    last, _, tag = last.partition(":")
    return f"{folder}{slash}{last}", tag, digest is not None, digest is not None


def _go(spec: str) -> _Read | None:
    name, version = _at(spec)
    if not version:
        return None  # the module in which it is run says which version, with `go.sum`
    exact = _SEMVER.fullmatch(version) is not None or _SHORT_COMMIT.fullmatch(version) is not None
    return name, version, exact, exact


def _nuget(spec: str) -> _Read:
    name, version = _at(spec)
    exact = _SEMVER.fullmatch(version) is not None
    return name, version, exact, exact


_READERS = {
    Ecosystem.NPM: _npm,
    Ecosystem.PYPI: _pypi,
    Ecosystem.IMAGE: _image,
    Ecosystem.GO: _go,
    Ecosystem.NUGET: _nuget,
}
