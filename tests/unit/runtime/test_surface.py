"""What `keel.runtime` offers, and what importing it costs."""

from __future__ import annotations

import subprocess
import sys

import keel.runtime

HEAVY = ("mcp", "httpx2", "httpx", "typer", "rich", "cryptography", "keel.cli", "keel.app", "keel.rules", "keel.gates")
NEVER = (*HEAVY, "keel.flow", "keel.report")


def loaded(code: str) -> set[str]:
    script = f"{code}\nimport sys\nprint('\\n'.join(sys.modules))"
    return set(
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    )


def test_the_public_names_are_sorted_and_exist() -> None:
    assert list(keel.runtime.__all__) == sorted(keel.runtime.__all__)
    for name in keel.runtime.__all__:
        assert getattr(keel.runtime, name) is not None


def test_a_name_that_does_not_exist_is_an_attribute_error() -> None:
    assert not hasattr(keel.runtime, "Nothing")


def test_importing_the_run_time_loads_almost_nothing() -> None:
    assert {name for name in loaded("import keel.runtime") if name.startswith("keel.runtime.")} == set()


def test_the_dispatcher_loads_no_commands_rules_gates_or_clients() -> None:
    names = loaded("from keel.runtime import Bundle, Dispatcher, RunState, preflight, ToolCall, TrustedContext")
    assert not {name for name in names if name in NEVER or name.startswith(tuple(f"{item}." for item in NEVER))}


def test_a_whole_run_time_loads_no_commands_rules_gates_or_clients() -> None:
    names = loaded("import keel.runtime\nfor name in keel.runtime.__all__: getattr(keel.runtime, name)")
    assert not {name for name in names if name in NEVER or name.startswith(tuple(f"{item}." for item in NEVER))}
