"""What the gates prove, the run time does not refuse: every clean flow of the corpus runs with made-up answers."""

from __future__ import annotations

import asyncio
import json
import shutil
import warnings
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from keel.app.bundle import bundle as make_bundle
from keel.app.context import Context
from keel.app.freeze import FreezeOptions, freeze
from keel.core.finding import InputErrors
from keel.errors import UsageError
from keel.native.hints import Parameter, parameters
from keel.runtime.approvers import CallbackApprover
from keel.runtime.bundle import Bundle
from keel.runtime.dispatch import Dispatcher
from keel.runtime.flowrun import RunOutcome, run
from keel.runtime.loading import Loaded, load
from keel.runtime.model import TrustedContext
from keel.runtime.ports import Reply
from keel.runtime.samples import NoAudit, SampleModels, SampleTools
from keel.store.project import find_project
from tests.fakes.ports import MemoryLedger

CASES = Path(__file__).parents[2] / "fixtures" / "gates"
CLEAN = sorted(
    case.parent for case in CASES.glob("*/expect.json") if json.loads(case.read_text(encoding="utf-8")).get("clean")
)
ELEMENT = {"charge_id": "ch_1", "charge": "ch_1", "amount": 5, "id": "i1", "path": "/a", "to": "ann", "name": "n"}


class Filled(SampleTools):
    """Answers with every property that the output schema declares, and two elements in every list."""

    async def sample(self, key: str) -> Reply:
        schema = self.bundle.tools[key].output_schema
        return Reply(data=filled(schema, schema) if schema is not None else {"items": [ELEMENT, ELEMENT]})


def filled(schema: Any, root: Any) -> Any:
    if not isinstance(schema, Mapping):
        return "x"
    if "$ref" in schema:
        target = root
        for part in schema["$ref"].removeprefix("#/").split("/"):
            target = target[part]
        return filled(target, root)
    if "const" in schema or "enum" in schema:
        return schema.get("const", next(iter(schema.get("enum", ())), None))
    if "anyOf" in schema:
        return filled(schema["anyOf"][0], root)
    kinds = {"integer": 5, "number": 5, "boolean": True, "null": None}
    kind = schema.get("type")
    if kind == "array":
        return [filled(schema.get("items"), root) for _ in range(2)]
    if kind == "object" or "properties" in schema:
        return {name: filled(value, root) for name, value in schema.get("properties", {}).items()}
    return kinds.get(kind, "abc")


def guessed(parameter: Parameter) -> Any:
    """Return a value that a parameter may take, by its type."""
    hint = str(parameter.hint)
    if "list" in hint or "tuple" in hint:
        return [5, 6] if "int" in hint or "float" in hint else [ELEMENT, ELEMENT] if "dict" in hint else ["a", "b"]
    if "dict" in hint:
        return {"a": 5} if "int]" in hint or "float]" in hint else ELEMENT
    return {bool: True, int: 5, float: 5}.get(parameter.hint, "abc")


async def rehearsed(bundle: Bundle, loaded: Loaded, root: Path, name: str) -> RunOutcome:
    ledger, samples = MemoryLedger(), Filled(bundle)
    dispatcher = Dispatcher(
        bundle, upstream=samples, ledger=ledger, audit=NoAudit(), native=samples.native(), clock=ledger.clock
    )
    running = run(
        name,
        {item.name: guessed(item) for item in parameters(loaded.flows[name])},
        bundle=bundle,
        dispatcher=dispatcher,
        ledger=ledger,
        trusted=TrustedContext(run_id="r"),
        root=root,
        approver=CallbackApprover(lambda record: True),
        models=SampleModels(),
        loaded=loaded,
        clock=ledger.clock,
        preflight=False,
    )
    return await asyncio.wait_for(running, 5)


def bundled(case: Path, root: Path) -> tuple[Bundle, Loaded] | None:
    """Return a case's bundle and its modules; None if it cannot be bundled or imported here."""
    shutil.copytree(case, root)

    def context() -> Context:
        return Context(project=find_project(root), environ={}, today=date(2026, 7, 20))

    try:
        freeze(context(), FreezeOptions())
        make_bundle(context(), root / "case.keel")
        if not (root / "case.keel").exists():
            return None
        bundle = Bundle.open(root / "case.keel", allow_unsigned=True)
        return bundle, load(bundle, root)
    except InputErrors:
        return None  # other people's packages that are not installed


@pytest.mark.parametrize("part", range(4))
def test_clean_flows_are_not_refused(part: int, tmp_path: Path) -> None:
    refused: list[str] = []
    ended: list[str] = []
    for case in CLEAN[part::4]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of flows that leave a call un-awaited on a way that ends early
            made = bundled(case, tmp_path / case.name)
            if made is None:
                continue
            bundle, loaded = made
            try:
                for plan in bundle.flows.values():
                    if not plan.entry:
                        continue
                    try:
                        outcome = asyncio.run(rehearsed(bundle, loaded, tmp_path / case.name, plan.name))
                    except (UsageError, TimeoutError):
                        continue  # a type that the guess does not fit; a loop that made-up answers never end
                    ended.append("ok" if outcome.error is None else outcome.error.code)
                    if outcome.error is not None and outcome.error.code in ("not_granted", "approval_required"):
                        refused.append(f"{case.name} {plan.name}: {outcome.error.message}")
            finally:
                loaded.unload()
    assert refused == []
    assert ended.count("ok") > 15
    assert ended.count("ok") > 0.8 * len(ended)
