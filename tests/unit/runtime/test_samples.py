"""Samples fit the frozen output schemas; fixtures come first."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import jsonschema_rs
import pytest

from keel.runtime.samples import SampleModels, SampleTools
from tests.unit.runtime.projects import Made, make


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return make(tmp_path_factory.mktemp("samples") / "project", "@flow\nasync def one() -> int:\n    return 1\n")


def sample(made: Made, key: str, **fixtures: Any) -> Any:
    return asyncio.run(SampleTools(made.bundle, fixtures).sample(key))


def test_a_sample_is_an_instance_of_the_output_schema(made: Made) -> None:
    for key, tool in made.bundle.tools.items():
        found = sample(made, key)
        assert not found.failed
        assert tool.output_schema is None or jsonschema_rs.is_valid(tool.output_schema, found.data)


def test_a_fixture_comes_first(made: Made) -> None:
    assert sample(made, "look", look={"amount": 7}).data == {"amount": 7}


def test_servers_are_as_frozen(made: Made) -> None:
    samples = SampleTools(made.bundle)
    assert asyncio.run(samples.surface("bank")) == made.bundle.lock.surfaces["bank"]
    assert samples.endpoint("bank") == ""


def test_models_answer_what_fits() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    found = asyncio.run(SampleModels().complete({"model": "m", "reply_schema": schema}))
    assert jsonschema_rs.is_valid(schema, json.loads(found["content"]))
    assert asyncio.run(SampleModels().complete({"model": "m"}))["content"] == ""
    assert asyncio.run(SampleModels({"m": "hello"}).complete({"model": "m"}))["content"] == "hello"
