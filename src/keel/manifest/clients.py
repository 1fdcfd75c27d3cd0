"""MCP client configurations to server launches: `.mcp.json` and the files of editors, desktop programs and Codex."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from keel.core.finding import Finding, InputErrors, Location, finding
from keel.core.model import ServerSpec, Transport
from keel.core.text import did_you_mean, excerpt
from keel.manifest import client_model as model
from keel.manifest.client_variables import normalise
from keel.manifest.fields import url_fault
from keel.manifest.jsonctree import read_jsonc
from keel.manifest.launch import words_of_line
from keel.manifest.problems import Document, Path, Problem, findings, pointer
from keel.manifest.servers import ClientConfig
from keel.manifest.shape import validate
from keel.manifest.tomltree import read_toml

CODE = "config-error"


def parse_client(text: str, file: str) -> ClientConfig:
    """Parse an MCP client configuration.

    Args:
        text: the whole file, decoded: TOML when its name ends in `.toml`, else JSON with comments and trailing commas.
        file: its path relative to the project.

    Raises:
        InputErrors: with a `config-error` for every error, each with line and column. A file that cannot be read is
            never taken for one without servers.
    """
    document = read_toml(text) if file.endswith(".toml") else read_jsonc(text)
    reader = _Reader(file, document)
    servers = tuple(reader.servers()) if document.readable else ()
    errors = findings(CODE, file, document, [*document.problems, *reader.errors])
    if errors:
        raise InputErrors(errors)
    return ClientConfig(file, servers, tuple(reader.remarks))


class _Reader:
    """Reads the servers of one document, gathering errors and remarks on the way."""

    def __init__(self, file: str, document: Document) -> None:
        self._file = file
        self._document = document
        self.errors: list[Problem] = []
        self.remarks: list[Finding] = []

    def _remark(
        self, code: str, path: Path, message: str, next_: str = "", *, key: str = "", on_key: bool = True
    ) -> None:
        at = self._document.key_at(path) if on_key else self._document.value_at(path)
        where = Location(self._file, at.line, at.column, key, pointer(path))
        self.remarks.append(finding(code, message, location=where, next=next_))

    def servers(self) -> Iterator[ServerSpec]:
        root = self._document.value
        if not isinstance(root, dict):
            self.errors.append(Problem((), "the file must hold a JSON object", 'begin with `{"mcpServers": {…}}`'))
            return
        sections = [section for section in model.SECTIONS if section in root]
        if not sections:
            self._no_section(root)
        if len(sections) > 1:
            shown = " and ".join(f"`{section}`" for section in sections)
            self._remark("split-client-config", (sections[1],), f"servers stand under {shown}; keel reads both")
        for section in sections:
            yield from self._section(section, root[section])

    def _no_section(self, root: Mapping[str, Any]) -> None:
        for key in root:
            guess = did_you_mean(key, model.SECTIONS)
            if guess:
                message = f"`{excerpt(key, 60)}` is not where clients keep servers"
                self.errors.append(Problem((key,), message, guess, on_key=True))
                return
        message = "the file names no servers: it has none of `mcpServers`, `servers` and `mcp_servers`"
        self.errors.append(Problem((), message, "remove it from `mcp-config`, or add `mcpServers`"))

    def _section(self, section: str, servers: Any) -> Iterator[ServerSpec]:
        if not isinstance(servers, dict):
            self.errors.append(Problem((section,), f"`{section}` must be a mapping from names to servers"))
            return
        for name, entry in servers.items():
            path: Path = (section, name)
            raw = self._entry(path, entry)
            if raw is not None and raw.get("disabled") is not True and raw.get("enabled") is not False:
                yield from self._server(path, name, raw)

    def _entry(self, path: Path, entry: Any) -> Mapping[str, Any] | None:
        """Return the keys that keel reads, after remarks on those it does not."""
        if not isinstance(entry, dict):
            self.errors.append(Problem(path, f"server `{excerpt(str(path[-1]), 60)}` must be a mapping"))
            return None
        read = {key: entry[key] for key in entry if key in model.KNOWN}
        part = Document(read, self._document.values, self._document.keys, root=path)
        raw, wrong = validate(model.SERVER, part, {})
        self.errors.extend(_moved(problem, path) for problem in wrong)
        for key in entry:
            if key == "transport":
                self._unknown(path, key, "did you mean `type`?")
            elif key not in model.KNOWN and key not in model.PASSED_OVER:
                meant = model.MEANT.get(key)
                self._unknown(path, key, f"did you mean `{meant}`?" if meant else did_you_mean(key, model.KNOWN))
        return None if wrong else raw

    def _unknown(self, path: Path, key: str, guess: str) -> None:
        read = "most clients do not read it" if key == "transport" else "it is not read"
        message = f"`{excerpt(key, 60)}` of server `{excerpt(str(path[-1]), 60)}`: {read}"
        self._remark("unknown-key", (*path, key), message, guess, key=str(path[-1]))

    def _server(self, path: Path, name: str, raw: Mapping[str, Any]) -> Iterator[ServerSpec]:
        transport = self._transport(path, name, raw)
        if transport is None:
            return
        at = self._document.key_at(path)
        if transport is Transport.STDIO:
            self._spaces(path, name, raw)
        cwd = self._text((*path, "cwd"), name, raw.get("cwd", "."), elsewhere=False)
        elsewhere = cwd not in (".", "./")
        command = (raw["command"], *raw.get("args", ())) if transport is Transport.STDIO else ()
        where = [(*path, "command"), *((*path, "args", index) for index in range(len(command) - 1))]
        yield ServerSpec(
            name=name,
            transport=transport,
            command=tuple(
                self._text(at, name, text, elsewhere=elsewhere) for at, text in zip(where, command, strict=False)
            ),
            url="" if command else self._url(path, name, raw),
            env=tuple(self._pairs((*path, "env"), name, raw.get("env", {}), elsewhere=elsewhere)) if command else (),
            headers=() if command else tuple(self._headers(path, name, raw)),
            pass_env=tuple(sorted(set(raw.get("env_vars", ())))) if command else (),
            cwd=cwd,
            file=self._file,
            line=at.line,
            column=at.column,
        )

    def _transport(self, path: Path, name: str, raw: Mapping[str, Any]) -> Transport | None:
        urls = [key for key in ("url", "httpUrl") if key in raw]
        launches = [*(["command"] if "command" in raw else []), *urls]
        shown = excerpt(name, 60)
        if len(launches) != 1:
            what = f"several launches: {', '.join(f'`{key}`' for key in launches)}" if launches else "no launch"
            hint = "keep one of them" if launches else "give it a `command` or a `url`"
            self.errors.append(Problem(path, f"server `{shown}` has {what}", hint, on_key=True))
            return None
        key = "type" if "type" in raw else "transport"
        kind = str(raw.get(key, "stdio" if not urls else "http")).casefold()
        if kind in model.STDIO and not urls:
            return Transport.STDIO
        if kind in model.STREAMABLE and urls:
            return Transport.HTTP
        if kind in model.SSE and urls:
            return Transport.SSE
        message = f"server `{shown}` has `{key}: {excerpt(kind, 40)}` beside `{launches[0]}`"
        self.errors.append(Problem((*path, key), message, f"write `{'http' if urls else 'stdio'}`, or remove `{key}`"))
        return None

    def _spaces(self, path: Path, name: str, raw: Mapping[str, Any]) -> None:
        if not raw["command"].split():
            message = f"`command` of server `{excerpt(name, 60)}` is empty"
            self.errors.append(Problem((*path, "command"), message, "name the program"))
        words = words_of_line(raw["command"])
        if words:
            message = f"`command` of server `{excerpt(name, 60)}` holds spaces: `{excerpt(' '.join(words), 60)}`"
            args = ", ".join(f'"{excerpt(word, 40)}"' for word in words[1:])
            hint = f'write `"command": "{excerpt(words[0], 40)}", "args": [{args}]`'
            self._remark("command-with-spaces", (*path, "command"), message, hint, key=name, on_key=False)

    def _url(self, path: Path, name: str, raw: Mapping[str, Any]) -> str:
        key = "url" if "url" in raw else "httpUrl"
        url = self._text((*path, key), name, raw[key], elsewhere=False)
        fault = url_fault(url)
        if fault:
            self.errors.append(Problem((*path, key), f"server `{excerpt(name, 60)}`: {fault[0]}", fault[1]))
        return url

    def _headers(self, path: Path, name: str, raw: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        given = dict(self._pairs((*path, "headers"), name, raw.get("headers", {}), elsewhere=False))
        given.update(self._pairs((*path, "http_headers"), name, raw.get("http_headers", {}), elsewhere=False))
        given.update((header, f"${{{variable}}}") for header, variable in raw.get("env_http_headers", {}).items())
        if "bearer_token_env_var" in raw:
            given["Authorization"] = f"Bearer ${{{raw['bearer_token_env_var']}}}"
        yield from sorted(given.items())

    def _pairs(self, path: Path, name: str, pairs: Mapping[str, str], *, elsewhere: bool) -> Iterator[tuple[str, str]]:
        for key, value in sorted(pairs.items()):
            yield key, self._text((*path, key), name, value, elsewhere=elsewhere)

    def _text(self, path: Path, name: str, text: str, *, elsewhere: bool) -> str:
        value, remarks = normalise(text, elsewhere=elsewhere)
        for remark in remarks:
            if remark.is_error:
                self.errors.append(Problem(path, remark.message, remark.next))
            else:
                self._remark("client-variable", path, remark.message, remark.next, key=name, on_key=False)
        return value


def _moved(problem: Problem, path: Path) -> Problem:
    return Problem((*path, *problem.path), problem.message, problem.next, problem.position, problem.on_key)
