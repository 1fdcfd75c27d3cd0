"""Native tools in this process: JSON becomes the Python values that a function's hints name, its result JSON again."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import functools
import inspect
import threading
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import PydanticUserError, TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError, to_json, to_jsonable_python

from keel.core.model import Json
from keel.core.text import excerpt, words_of
from keel.errors import KeelError
from keel.native.hints import HintError, parameters, return_hint
from keel.runtime.ports import AnswerLost, NotSent, Reply

MAX_MESSAGE = 100_000
"""Characters of an exception's text that go into a reply; whoever quotes it scrubs it, and then cuts it far shorter."""
_EMPTY = inspect.Parameter.empty


class NotData(KeelError):
    """A value that JSON cannot say, where data is needed."""

    code = "not-data"


class Callee:
    """A native tool's function with the types of its parameters and result; adapters are built on first use."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    @functools.cached_property
    def signature(self) -> inspect.Signature:
        """The function's signature."""
        return inspect.signature(self.function)

    @functools.cached_property
    def _inputs(self) -> Mapping[str, TypeAdapter[Any] | None]:
        return {item.name: _adapter(item.hint) for item in parameters(self.function)}

    @functools.cached_property
    def _output(self) -> TypeAdapter[Any] | None:
        return _adapter(return_hint(self.function))

    def bound(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Return the given arguments by name, as the flow's code passes them.

        Raises:
            TypeError: as Python raises it for a call that does not fit the signature.
        """
        return dict(self.signature.bind(*args, **kwargs).arguments)

    def data(self, arguments: Mapping[str, Any]) -> dict[str, Json]:
        """Return arguments as JSON data, each by the hint of its parameter.

        Raises:
            NotData: if JSON cannot say one.
        """
        return {name: _dumped(self._inputs.get(name), value, name) for name, value in arguments.items()}

    def values(self, arguments: Mapping[str, Json]) -> dict[str, Any]:
        """Return JSON arguments as the Python values that the hints name.

        Raises:
            ValidationError: of pydantic, if one does not fit; the frozen schema refuses most of these before.
        """
        return {name: _parsed(self._inputs.get(name), value) for name, value in arguments.items()}

    def result_data(self, value: Any) -> Json:
        """Return a result as JSON data.

        Raises:
            NotData: if JSON cannot say it.
        """
        return _dumped(self._output, value, "the result")

    def result_value(self, data: Json) -> Any:
        """Return a result's JSON data as a value of the return type."""
        return _parsed(self._output, data)


def _adapter(hint: Any) -> TypeAdapter[Any] | None:
    if hint is _EMPTY or isinstance(hint, HintError):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return TypeAdapter(hint)
    except PydanticUserError:
        return None


def adapter_of(hint: Any) -> TypeAdapter[Any] | None:
    """Return what turns JSON into values of a type, as it would for a function that returns it; None if nothing can."""

    def probe() -> None:
        """Exists for its annotation."""

    probe.__annotations__["return"] = hint
    return _adapter(return_hint(probe))


def _dumped(adapter: TypeAdapter[Any] | None, value: Any, what: str) -> Json:
    try:
        if adapter is not None:
            try:
                return adapter.dump_python(value, mode="json", by_alias=True, warnings=False)
            except PydanticSerializationError:
                pass  # not of the hinted type: as data it may still fit the schema
        return to_jsonable_python(value, by_alias=True)
    except (PydanticSerializationError, ValueError, TypeError, RecursionError) as error:
        raise NotData(f"`{what}` is a `{type(value).__name__}`, which is no data") from error


def _parsed(adapter: TypeAdapter[Any] | None, data: Json) -> Any:
    if adapter is None:
        return data
    return adapter.validate_json(to_json(data))  # as JSON, so that strict types take what JSON can say


def as_data(value: Any, what: str = "the value") -> Json:
    """Return any value of a flow as JSON data.

    Raises:
        NotData: if JSON cannot say it.
    """
    return _dumped(None, value, what)


@dataclass
class InProcessTools:
    """Runs native tools as the functions they are: `async def` in the loop, `def` in a thread of its own."""

    functions: Mapping[str, Callable[..., Any]]
    """Undecorated functions, by tool key."""

    def __post_init__(self) -> None:
        self._callees = {key: Callee(function) for key, function in self.functions.items()}

    def callee(self, key: str) -> Callee | None:
        """Return a tool's function with its types, or None if there is none of that key."""
        return self._callees.get(key)

    def endpoint(self, key: str) -> str:
        """Return the URL of a tool: empty, it runs in this process."""
        del key
        return ""

    async def call(self, key: str, arguments: Mapping[str, Json], *, idempotency_key: str, timeout_s: float) -> Reply:
        """Call a function with JSON arguments.

        An exception of the function is a failed reply: its type is the code. So are an exit and a cancellation that it
        raises itself: a tool ends neither the process nor whoever calls it. A thread cannot be stopped from outside:
        after the timeout its function runs on, and nobody waits for it.

        Raises:
            NotSent: if the tool is not in this process.
            AnswerLost: after `timeout_s`.
        """
        del idempotency_key
        callee = self._callees.get(key)
        if callee is None:
            raise NotSent(f"native tool `{excerpt(key)}` is not in this process")
        try:
            values = callee.values(arguments)
        except ValidationError as error:
            return Reply(failed=True, code="ValidationError", message=str(error)[:MAX_MESSAGE])
        try:
            async with asyncio.timeout(timeout_s) as limit:
                value = await _executed(callee.function, values)
        except TimeoutError as error:
            if limit.expired():
                raise AnswerLost(f"`{excerpt(key)}` gave no answer within {timeout_s:g} s") from error
            return _failure(error)
        except asyncio.CancelledError as error:
            if being_cancelled():
                raise
            return _failure(error)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a tool may raise anything
            return _failure(error)
        try:
            return Reply(data=callee.result_data(value))
        except NotData as error:
            return Reply(failed=True, code="NotData", message=error.message)


def _failure(error: BaseException) -> Reply:
    return Reply(failed=True, code=type(error).__name__, message=words_of(error)[:MAX_MESSAGE])


def being_cancelled() -> bool:
    """Tell whether somebody cancels the running task, so that a cancellation is not the work of what it runs."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


async def _executed(function: Callable[..., Any], values: Mapping[str, Any]) -> Any:
    from keel.authoring.port import running  # noqa: PLC0415 - one use

    with running(_INSIDE):
        if inspect.iscoroutinefunction(function):
            return await function(**values)
        return await in_thread(functools.partial(function, **values))


async def in_thread(function: Callable[[], Any]) -> Any:
    """Run a function in a thread of its own, in a copy of the current context, and wait for it.

    A pool would do for short functions; a function that hangs would keep a worker of it for ever, and with it the
    calls that come after.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()
    context = contextvars.copy_context()

    def settle(value: Any, error: BaseException | None) -> None:
        if future.done():
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(value)

    def work() -> None:
        value: Any = None
        error: BaseException | None = None
        try:
            value = context.run(function)
        except StopIteration as stop:  # a future cannot carry it
            error = RuntimeError(f"the function raised StopIteration: {stop}")
        except BaseException as raised:  # noqa: BLE001 - handed to whoever waits
            error = raised
        with contextlib.suppress(RuntimeError):  # the loop has ended, and with it whoever waited
            loop.call_soon_threadsafe(settle, value, error)

    threading.Thread(target=work, name="keel-tool", daemon=True).start()
    return await future


class _Inside:
    """Refuses every step that a native tool's body makes: no gate sees it."""

    def __getattr__(self, name: str) -> Any:
        del name

        def refuse(step: object) -> Any:
            del step
            raise KeelError(
                "a native tool cannot make steps of a flow in its own body, where no gate sees them",
                hint="call both tools from the flow, one after the other",
                code="not-granted",
            )

        return refuse


_INSIDE: Any = _Inside()
