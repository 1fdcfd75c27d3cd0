"""Sources of secrets: what an operator may name, which wins, and what is never shown."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from keel.core.launch import Failure, Launch
from keel.core.model import SecretSource, ServerSpec, Transport
from keel.errors import UsageError
from keel.store.env import resolve_launch
from keel.store.secrets import CommandSecret, given_secrets, overridden, read_secret


def printing(text: str) -> tuple[str, ...]:
    return (sys.executable, "-c", f"print({text!r})")


def test_an_operator_names_environment_files_and_commands(tmp_path: Path) -> None:
    (tmp_path / "k").write_text("from-a-file\n")
    command = " ".join((sys.executable, "-c", "'print(\"from-a-command\")'"))
    given = given_secrets(["a=env:VAR", "b=file:k"], [f"c={command}"], tmp_path)
    values = {source.name: read_secret(source, Path("/nowhere"), {"VAR": "from-env"}) for source in given}
    assert values == {"a": "from-env", "b": "from-a-file", "c": "from-a-command"}


def test_the_operators_sources_win() -> None:
    found = overridden([SecretSource("a", env="OLD"), SecretSource("b", env="KEPT")], [SecretSource("a", file="/new")])
    assert [(source.name, source.env, source.file) for source in found] == [("a", "", "/new"), ("b", "KEPT", "")]


@pytest.mark.parametrize(
    "text", ["hunter2-value", "a=hunter2-value", "a=env:", "a=literal:hunter2", "1a=env:V", "=env:V"]
)
def test_what_cannot_be_read_is_not_shown_for_it_may_be_the_secret(text: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        given_secrets([text], [], tmp_path)
    assert "hunter2" not in caught.value.message + caught.value.hint


@pytest.mark.parametrize("text", ["a=", "a", "a='unclosed", "=cmd"])
def test_a_command_must_be_one(text: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        given_secrets([], [text], tmp_path)


def test_a_name_is_given_once(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="twice"):
        given_secrets(["a=env:V"], ["a=cmd"], tmp_path)


def test_a_command_is_asked_again_after_a_while_and_not_before(tmp_path: Path) -> None:
    counter, now = tmp_path / "n", [0.0]
    code = f"import pathlib; p = pathlib.Path({str(counter)!r}); p.write_text((p.read_text() if p.exists() else '') + 'x'); print(p.read_text())"
    secret = CommandSecret("a", (sys.executable, "-c", code), clock=lambda: now[0])
    assert [secret.value(), secret.value()] == ["x", "x"]
    now[0] = 61
    assert secret.value() == "xx"


@pytest.mark.parametrize(
    "argv", [("no-such-command-of-keel",), (sys.executable, "-c", "raise SystemExit(1)"), printing("")]
)
def test_a_command_that_fails_gives_nothing(argv: tuple[str, ...]) -> None:
    assert CommandSecret("a", argv).value() is None
    spec = ServerSpec("s", Transport.STDIO, command=("x",), env=(("K", "secret://a"),))
    found = resolve_launch(spec, root=Path(), environ={}, secrets=[CommandSecret("a", argv)])
    assert isinstance(found, Failure)
    assert "failed or printed nothing" in found.gap.why


def test_short_secrets_are_refused_where_that_is_asked() -> None:
    spec = ServerSpec("s", Transport.STDIO, command=("x",), env=(("A", "secret://a"), ("B", "Bearer ${secret:b}")))
    sources = [SecretSource("a", env="A"), SecretSource("b", env="B")]
    environ = {"A": "1234567", "B": "long enough"}
    assert isinstance(resolve_launch(spec, root=Path(), environ=environ, secrets=sources), Launch)
    found = resolve_launch(spec, root=Path(), environ=environ, secrets=sources, shortest=8)
    assert isinstance(found, Failure)
    assert found.gap.code == "secret-too-short"
    assert "`a`" in found.gap.why
    assert "`b`" not in found.gap.why
    assert "1234567" not in found.gap.why + found.gap.next
