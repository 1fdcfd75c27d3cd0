"""Which packages a command line fetches and runs, for every launcher that fetches what it runs."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from keel.rules.config.packages import Ecosystem, Package, parse_package

Words = Sequence[tuple[int, str]]
"""(index in the command, word)"""


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


@dataclass(frozen=True, slots=True)
class _Launcher:
    """How one program is told what to fetch."""

    words: tuple[str, ...]
    """The program and its subcommands."""
    ecosystem: Ecosystem
    valued: frozenset[str] = frozenset()
    """Options whose next word is their value."""
    flags: frozenset[str] = frozenset()
    """Where given, the only options without a value."""
    packages: frozenset[str] = frozenset()
    """Options that name packages; with any of them, the first argument is a command inside of one."""
    positional: bool = True
    """Whether the first argument names a package."""
    every: bool = False
    """Whether all further arguments do too."""
    settles: frozenset[str] = frozenset()
    """Options that say which versions of the dependencies are taken."""
    versions: frozenset[str] = frozenset()
    """Options that give the version on their own."""


_NPM_VALUED = _set("-p --package -c --call -w --workspace --registry --prefix --cache --userconfig --loglevel")
_UV_VALUED = _set(
    "--from --with -w --with-requirements --with-editable -p --python --index --default-index -i --index-url"
    " --extra-index-url -f --find-links -c --constraints --constraint --overrides --override -b --build-constraints"
    " -P --upgrade-package --reinstall-package --refresh-package --directory --project --config-file --cache-dir"
    " --env-file --link-mode --exclude-newer --python-platform --color --allow-insecure-host --keyring-provider"
    " --resolution --prerelease --fork-strategy --index-strategy -C --config-setting --no-build-package"
    " --no-binary-package --extra --group --only-group --package --torch-backend"
)
_UV_SETTLES = _set("-c --constraints --constraint --with-requirements --exclude-newer")
_PIP_VALUED = _set("-r --requirement -c --constraint -i --index-url --extra-index-url -f --find-links -t --target")
_DOCKER_FLAGS = _set(
    "-i --interactive -t --tty -d --detach -P --publish-all -q --quiet --rm --init --privileged --read-only"
    " --no-healthcheck --oom-kill-disable --sig-proxy --disable-content-trust --replace --rmi --tls-verify"
    " --env-host --http-proxy --no-hosts --read-only-tmpfs --systemd --debug -D --tls --tlsverify"
)


def _npm(*words: str) -> _Launcher:
    return _Launcher(words, Ecosystem.NPM, _NPM_VALUED, packages=_set("-p --package"))


def _uv(*words: str) -> _Launcher:
    return _Launcher(words, Ecosystem.PYPI, _UV_VALUED, packages=_set("--from"), settles=_UV_SETTLES)


def _docker(*words: str) -> _Launcher:
    return _Launcher(words, Ecosystem.IMAGE, flags=_DOCKER_FLAGS)


_DENO_VALUED = _set("-c --config --import-map --lock --cert --location --seed -I")

_LAUNCHERS = (
    _npm("npx"),
    _npm("npm", "exec"),
    _npm("npm", "x"),
    _npm("pnpx"),
    _npm("pnpm", "dlx"),
    _npm("pnx"),
    _npm("yarn", "dlx"),
    _npm("bunx"),
    _npm("bun", "x"),
    _uv("uvx"),
    _uv("uv", "tool", "run"),
    _uv("uv", "x"),
    _Launcher(
        ("uv", "run"), Ecosystem.PYPI, _UV_VALUED, packages=_set("--with -w"), positional=False, settles=_UV_SETTLES
    ),
    _Launcher(
        ("pipx", "run"),
        Ecosystem.PYPI,
        _set("--spec --python --pip-args -i --index-url"),
        packages=_set("--spec"),
        settles=_set("--pip-args"),
    ),
    _Launcher(("pip", "install"), Ecosystem.PYPI, _PIP_VALUED, every=True, settles=_set("-c --constraint")),
    _Launcher(("npm", "install"), Ecosystem.NPM, _NPM_VALUED, every=True),
    _docker("docker", "run"),
    _docker("docker", "container", "run"),
    _docker("podman", "run"),
    _docker("podman", "container", "run"),
    _docker("nerdctl", "run"),
    _Launcher(("go", "run"), Ecosystem.GO, _set("-C -exec -tags -mod -modfile -ldflags -gcflags -p -overlay")),
    _Launcher(("deno", "run"), Ecosystem.DENO, _DENO_VALUED),
    _Launcher(("deno",), Ecosystem.DENO, _DENO_VALUED),
    _Launcher(
        ("dnx",), Ecosystem.NUGET, _set("--version --source --add-source -v --configfile"), versions=_set("--version")
    ),
    _Launcher(
        ("dotnet", "tool", "exec"), Ecosystem.NUGET, _set("--version --source --add-source"), versions=_set("--version")
    ),
)
_SHELLS = _set("sh bash zsh dash ksh fish")
_ENDINGS = (".exe", ".cmd", ".bat", ".ps1")


def packages(command: Sequence[str]) -> tuple[Package, ...]:
    """Return what a command fetches before it runs it, with the place of each in the command.

    Programs that stand on the machine, interpreters of local files and `python -m` fetch nothing.
    """
    return tuple(_fetched(list(enumerate(command))))


def program(text: str) -> str:
    """Return the name of a program without its folder and without the endings of Windows."""
    name = text.replace("\\", "/").rpartition("/")[2].casefold()
    return next((name.removesuffix(ending) for ending in _ENDINGS if name.endswith(ending)), name)


def _fetched(words: Words) -> Iterator[Package]:
    if not words:
        return
    name = program(words[0][1])
    if name in _SHELLS:
        yield from _in_shell(words)
    elif name == "env":
        is_set = [not index or "=" in word or word.startswith("-") for index, (_, word) in enumerate(words)]
        yield from _fetched(words[is_set.index(False) :] if False in is_set else ())
    elif name == "cmd":
        after = next((index for index, (_, word) in enumerate(words) if word.casefold() in ("/c", "/k")), None)
        yield from _fetched(_split(words[after + 1 :]) if after is not None else ())
    else:
        for launcher in _LAUNCHERS:
            told = _after(launcher, words)
            if told is not None:
                yield from _of(launcher, told)
                return


def _in_shell(words: Words) -> Iterator[Package]:
    """Read `sh -c "a && b"` as the commands that it runs."""
    for position, (_, word) in enumerate(words[:-1]):
        if word.startswith("-") and not word.startswith("--") and word.endswith("c"):
            index, script = words[position + 1]
            part: list[tuple[int, str]] = []
            for token in [*_tokens(script), ";"]:
                if token in ("&&", "||", ";", "|", "&"):
                    yield from _fetched(part[1:] if part and part[0][1] == "exec" else part)
                    part = []
                else:
                    part.append((index, token))
            return


def _split(words: Words) -> Words:
    """Return words of which the first may hold a whole line."""
    if len(words) == 1:
        return [(words[0][0], token) for token in _tokens(words[0][1])]
    return words


def _tokens(line: str) -> list[str]:
    try:
        lexer = shlex.shlex(line, posix=True, punctuation_chars=";&|")
        lexer.whitespace_split = True
        return list(lexer)
    except ValueError:
        return line.split()


def _after(launcher: _Launcher, words: Words) -> Words | None:
    """Return what follows the launcher's own words, or None when this is another program."""
    if program(words[0][1]) not in (launcher.words[0], f"{launcher.words[0]}3"):
        return None
    rest = words[1:]
    for expected in launcher.words[1:]:
        # Options may stand before a subcommand: `uv --directory DIR run`.
        at = next((index for index, _, is_option in _read(launcher, rest) if not is_option), None)
        if at is None or rest[at][1] != expected:
            return None
        rest = rest[at + 1 :]
    return rest


def _read(launcher: _Launcher, words: Words) -> Iterator[tuple[int, str, bool]]:
    """Yield (position, word, whether it is an option) and pass over the values of options."""
    position = 0
    ended = False
    while position < len(words):
        word = words[position][1]
        is_option = not ended and word.startswith("-") and word != "-"
        if word == "--" and not ended:
            ended = True
        else:
            yield position, word, is_option
        position += 2 if is_option and word != "--" and _takes_value(launcher, word) else 1


def _takes_value(launcher: _Launcher, option: str) -> bool:
    if "=" in option:
        return False
    if not launcher.flags:
        return option in launcher.valued
    if option.startswith("--"):
        return option not in launcher.flags
    last = f"-{option[-1]}"
    bundled = all(f"-{letter}" in launcher.flags for letter in option[1:-1])
    return bundled and last not in launcher.flags


def _of(launcher: _Launcher, words: Words) -> Iterator[Package]:
    named: list[tuple[int, str]] = []
    arguments: list[tuple[int, str]] = []
    options: dict[str, str] = {}
    for position, word, is_option in _read(launcher, words):
        if not is_option:
            arguments.append(words[position])
            if not launcher.every and not launcher.versions:
                break
            continue
        option, equals, value = word.partition("=")
        at = position if equals else position + 1
        value = value if equals else words[at][1] if at < len(words) else ""
        options[option] = value
        if option in launcher.packages and value:
            named.append((words[min(at, len(words) - 1)][0], value))
    if not named and launcher.positional:
        named = arguments if launcher.every else arguments[:1]
    settled = not launcher.settles.isdisjoint(options)
    version = next((options[option] for option in launcher.versions if option in options), "")
    for index, spec in named:
        package = parse_package(launcher.ecosystem, spec, " ".join(launcher.words), index, settled=settled)
        if package is not None:
            yield package.at_version(version) if version else package
