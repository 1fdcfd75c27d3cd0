"""Flow modules that are programs too: what stands under the main guard is not done by an import."""

import pytest

from tests.unit.gates.harness import errors

FLOWS = """
import anyio
@flow
async def wipe(c: str) -> str:
    await human_gate(f"refund {c}?")
    return (await refund(c=c))["status"]
@flow
def title(c: str) -> str:
    return get(a=c)["title"]
async def main() -> None:
    print(await wipe("t-1"))
def start() -> None:
    print(asyncio.run(wipe("t-1")))
async def bad() -> None:
    await refund(c="t-1")
"""
GUARD = 'if __name__ == "__main__":\n    '


@pytest.mark.parametrize(
    "started",
    [
        'print(asyncio.run(wipe("t-1")))',
        'print(title("t-1"))',
        "start()",
        "asyncio.run(main())",
        'anyio.run(wipe, "t-1")',
        "anyio.run(main)",
        'anyio.run(functools.partial(wipe, "t-1"))',
        'status = asyncio.run(wipe("t-1"))\n    print(status)',
        "asyncio.get_event_loop().run_until_complete(main())",
        "import sys\n    sys.exit(asyncio.run(main()))",
    ],
)
def test_a_program_may_start_flows(started):
    assert errors(FLOWS + GUARD + started + "\n") == set()


@pytest.mark.parametrize("started", ['refund(c="t-1")', "asyncio.run(bad())", 'asyncio.run(refund(c="t-1"))'])
def test_a_program_calls_no_tool_past_flows(started):
    assert errors(FLOWS + GUARD + started + "\n") == {"dynamic-tool"}


@pytest.mark.parametrize("started", ['title("t-1")', "start()", 'if True:\n    asyncio.run(wipe("t-1"))'])
def test_an_import_starts_no_flow(started):
    assert "dynamic-tool" in errors(FLOWS + started + "\n")
