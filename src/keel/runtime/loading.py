"""Imports the flow modules of a bundle from the bytes that were verified, and finds flows and native tools in them."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any

from keel.authoring.flows import flow_mark
from keel.authoring.tools import Tool
from keel.core.digest import digest_bytes
from keel.core.finding import Finding, InputErrors, Location, finding
from keel.core.text import excerpt, words_of
from keel.runtime.sites import Sites, SourceFile

if TYPE_CHECKING:
    from keel.runtime.bundle import Bundle


@dataclass(frozen=True)
class Loaded:
    """The running form of a bundle's sources."""

    flows: Mapping[str, Callable[..., Any]]
    """By the names of the bundle."""
    natives: Mapping[str, Callable[..., Any]]
    """Undecorated functions of the native tools, by key."""
    sites: Sites
    finder: _Finder = field(repr=False)

    def name_of(self, flow: Callable[..., Any]) -> str | None:
        """Return a flow's name in the bundle, or None if it is none of these."""
        return next((name for name, known in self.flows.items() if known is flow), None)

    def unload(self) -> None:
        """Forget the modules, so that another bundle can be loaded in this process."""
        if self.finder in sys.meta_path:
            sys.meta_path.remove(self.finder)
        for name, module in list(sys.modules.items()):
            if getattr(getattr(module, "__spec__", None), "loader", None) in self.finder.loaders:
                del sys.modules[name]


def load(bundle: Bundle, root: Path) -> Loaded:
    """Import every source of a bundle, compiled from the bytes that the bundle holds.

    Nothing but these bytes runs: neither a `.pyc` nor a file that changed after the check. A module of the project
    that the bundle does not hold cannot be imported while the bundle is loaded.

    Args:
        bundle: the bundle.
        root: the project's folder, below which its sources lie.

    Raises:
        InputErrors: `source-changed` for each source that differs or is missing, and for each module that was
            imported before, that cannot be imported, or that lacks a flow or a tool which the bundle names.
    """
    root = root.resolve()
    findings = list(_changed(bundle.sources, root))
    if findings:
        raise InputErrors(findings)
    finder = _Finder(root, bundle.source_roots, bundle.sources)
    present = _already(finder)
    if present:
        raise InputErrors(present)
    sys.meta_path.insert(0, finder)
    try:
        modules = _imported(finder)
        flows = _flows(bundle, modules)
        natives = _natives(bundle, modules, finder)
    except BaseException:
        Loaded({}, {}, Sites({}), finder).unload()
        raise
    files = {str(root / path): SourceFile(path, data) for path, data in bundle.sources.items()}
    return Loaded(flows, natives, Sites(files), finder)


_AGAIN = "deploy the sources that the bundle was made of, or run `keel bundle` again"


def _fault(message: str, file: str, next_: str) -> Finding:
    return finding("source-changed", message, location=Location(file, 1, 1), next=next_)


def _changed(sources: Mapping[str, bytes], root: Path) -> Iterator[Finding]:
    for path, data in sorted(sources.items()):
        try:
            found = (root / path).read_bytes()
        except OSError as error:
            what = (error.strerror or type(error).__name__).lower()
            yield _fault(f"`{excerpt(path)}` of the bundle cannot be read: {what}", path, _AGAIN)
            continue
        if found != data:
            now, then = digest_bytes(found), digest_bytes(data)
            yield _fault(f"`{excerpt(path)}` differs from the bundle's: `{now}`, not `{then}`", path, _AGAIN)


class _Loader(importlib.abc.InspectLoader):
    """Runs one module from verified bytes."""

    def __init__(self, path: Path, data: bytes) -> None:
        self.path = path
        self.data = data

    def get_source(self, fullname: str) -> str:
        """Return the text, for tracebacks."""
        del fullname
        return importlib.util.decode_source(self.data)

    def get_code(self, fullname: str) -> CodeType:
        """Compile the verified bytes; no cached code is looked at."""
        del fullname
        code: CodeType = compile(self.data, str(self.path), "exec", dont_inherit=True)
        return code

    def is_package(self, fullname: str) -> bool:
        """Tell whether the module is a package."""
        del fullname
        return self.path.name == "__init__.py"

    def get_filename(self, fullname: str) -> str:
        """Return the file that the bytes were compared with."""
        del fullname
        return str(self.path)


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the modules of a bundle, and refuses modules of the project that the bundle does not hold."""

    def __init__(self, root: Path, roots: Sequence[str], sources: Mapping[str, bytes]) -> None:
        self.root = root
        self.roots = tuple(roots)
        self.sources = sources
        self.loaders: list[_Loader] = []

    def modules(self) -> dict[str, str]:
        """Return the path of each source by the name of its module."""
        found: dict[str, str] = {}
        for path in sorted(self.sources):
            name = self._module(path)
            if name:
                found.setdefault(name, path)
        return found

    def _module(self, path: str) -> str:
        inside = [
            path if base == "." else path.removeprefix(f"{base}/")
            for base in self.roots
            if base == "." or path.startswith(f"{base}/")
        ]
        shortest = min(inside, key=len, default="").removesuffix(".py").removesuffix("/__init__")
        parts = shortest.split("/")
        return ".".join(parts) if all(part.isidentifier() for part in parts) else ""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Find a module among the verified sources.

        Raises:
            ImportError: for a module of the project that is not among them.
        """
        del path, target
        below = fullname.replace(".", "/")
        folders: list[str] = []
        for base in self.roots:
            stem = below if base == "." else f"{base}/{below}"
            for file in (f"{stem}/__init__.py", f"{stem}.py"):
                if file in self.sources:
                    return self._spec(fullname, file)
                if (self.root / file).is_file():
                    raise ImportError(f"`{file}` is not in the bundle", name=fullname)
            if any(source.startswith(f"{stem}/") for source in self.sources):
                folders.append(str(self.root / stem))
        if not folders:
            return None
        spec = importlib.machinery.ModuleSpec(fullname, None, is_package=True)  # a namespace package (PEP 420)
        spec.submodule_search_locations = folders
        return spec

    def _spec(self, fullname: str, file: str) -> importlib.machinery.ModuleSpec | None:
        loader = _Loader(self.root / file, self.sources[file])
        self.loaders.append(loader)
        spec = importlib.util.spec_from_file_location(fullname, str(loader.path), loader=loader)
        if spec is not None:
            spec.cached = None
        return spec


def _already(finder: _Finder) -> list[Finding]:
    """Return a finding for each module that was imported before its bytes were checked."""
    found = []
    for name, path in finder.modules().items():
        module = sys.modules.get(name)
        if module is not None:
            origin = getattr(module, "__file__", None) or "no file"
            message = f"module `{name}` was imported before the bundle was opened, from `{excerpt(str(origin), 200)}`"
            found.append(_fault(message, path, "call `keel.runtime.load` before anything imports the flow modules"))
    return found


def _imported(finder: _Finder) -> dict[str, ModuleType]:
    modules: dict[str, ModuleType] = {}
    findings: list[Finding] = []
    for name, path in finder.modules().items():
        try:
            modules[name] = importlib.import_module(name)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - importing runs the project's code, which may raise anything
            shown = excerpt(f"{type(error).__name__}: {words_of(error)}", 300)
            findings.append(
                _fault(f"module `{name}` cannot be imported: `{shown}`", path, "correct the module and bundle it again")
            )
    if findings:
        raise InputErrors(findings)
    return modules


def _flows(bundle: Bundle, modules: Mapping[str, ModuleType]) -> dict[str, Callable[..., Any]]:
    found: dict[str, Callable[..., Any]] = {}
    findings = []
    for name, plan in bundle.flows.items():
        value: Any = modules.get(plan.module)
        for part in plan.function.split("."):
            value = getattr(value, part, None)
        if flow_mark(value) is None:
            findings.append(_fault(f"module `{plan.module}` has no flow `{plan.function}`", plan.file, _AGAIN))
        else:
            found[name] = value
    if findings:
        raise InputErrors(findings)
    return found


def _natives(bundle: Bundle, modules: Mapping[str, ModuleType], finder: _Finder) -> dict[str, Callable[..., Any]]:
    """Return the functions of the native tools, each where the bundle says and written in a verified source."""
    files = {str(finder.root / path) for path in finder.sources}
    found: dict[str, Callable[..., Any]] = {}
    findings = []
    for key, place in bundle.natives.items():
        value: Any = modules.get(place.module)
        for part in place.function.split("."):
            value = getattr(value, part, None)
        code = getattr(value.fn, "__code__", None) if isinstance(value, Tool) else None
        if not isinstance(value, Tool) or value.key != key or code is None or code.co_filename not in files:
            message = f"module `{place.module}` has no native tool `{excerpt(key)}` as `{place.function}`"
            findings.append(_fault(message, place.file, _AGAIN))
        else:
            found[key] = value.fn
    if findings:
        raise InputErrors(findings)
    return found
