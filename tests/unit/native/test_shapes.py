"""One text for each definition, whatever versions of Python and pydantic derive it."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from keel.core.digest import normal_tool
from keel.native.derive import derive

HERE = Path(__file__).parent


def load() -> Any:
    spec = importlib.util.spec_from_file_location("keel_test_shapes", HERE / "shapes.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules["keel_test_shapes"] = module
    spec.loader.exec_module(module)
    return module


def definitions() -> list[dict[str, Any]]:
    return [derive(function, function.__name__) for function in load().FUNCTIONS]


def test_definitions_have_the_recorded_bytes(tmp_path: Path) -> None:
    # `shapes.json` was compared under Python 3.11, 3.12, 3.13 and pydantic 2.9 to 2.14; a difference here on one
    # version is churn in every lock. Only a change of the normal form itself may change the file.
    text = json.dumps(definitions(), indent=1) + "\n"
    (tmp_path / "actual.json").write_text(text, encoding="utf-8")
    assert text == (HERE / "shapes.json").read_text("utf-8"), f"compare {tmp_path / 'actual.json'}"


def test_schemas_are_valid_and_in_normal_form() -> None:
    for tool in definitions():
        assert tool == normal_tool(tool)
        assert tool["inputSchema"]["additionalProperties"] is False
        for name in ("inputSchema", "outputSchema"):
            Draft202012Validator.check_schema(tool.get(name, {}))
        assert '"title"' not in json.dumps(tool)


def test_what_pydantic_accepts_the_schema_accepts() -> None:
    tool = next(item for item in definitions() if item["name"] == "nodes")
    validator = Draft202012Validator(tool["outputSchema"])
    deep = {"value": 1, "children": [{"value": 2, "children": [{"value": 3}]}], "parent": None}
    assert validator.is_valid(deep)
    deep["children"][0]["children"][0]["value"] = "three"
    assert not validator.is_valid(deep)
