"""The person of a test: gives the next answer to each question."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from keel.authoring.approval import Approval
from keel.core.model import Json
from keel.core.text import excerpt
from keel.runtime.approvers import record_answer
from keel.runtime.model import ApprovalRecord, ApprovalState
from keel.runtime.ports import ApprovalStore
from keel.testing.errors import FakeError


@dataclass(frozen=True, slots=True)
class FakeQuestion:
    """One question that was put to the person of the test."""

    prompt: str
    show: Json
    """What was shown beside it; for `gated` tools the tool and its arguments."""
    tool: str
    """Tool key where one exact call is asked for; empty for `human_gate`."""


@dataclass
class FakePerson:
    """Answers in order: `True`, `False`, an `Approval`, or a function of the question that gives one of these."""

    answers: Iterable[Any] | Callable[[FakeQuestion], Any]
    fail: Callable[[str], FakeError]
    questions: list[FakeQuestion] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._always = self.answers if callable(self.answers) else None
        self._left = [] if callable(self.answers) else list(self.answers)

    @property
    def left(self) -> int:
        """How many answers nobody has asked for."""
        return len(self._left)

    async def decided(self, record: ApprovalRecord, store: ApprovalStore) -> ApprovalRecord:
        """Answer one question.

        Raises:
            FakeError: if no answer is left, or it is none.
        """
        if record.state is not ApprovalState.PENDING:
            return record
        request = record.request
        asked = FakeQuestion(request.prompt, request.show, request.tool)
        self.questions.append(asked)
        answer = self._next(asked)
        if inspect.isawaitable(answer):
            answer = await answer
        if isinstance(answer, bool):
            answer = Approval(approved=answer, by="test")
        if not isinstance(answer, Approval):
            raise self.fail(f"`approvals` holds a `{type(answer).__name__}`, which is no answer")
        if answer.reason == "timeout" and not answer.approved:
            return replace(record, state=ApprovalState.EXPIRED, comment=answer.comment)
        return await record_answer(
            store, record, approved=answer.approved, by=answer.by or "test", comment=answer.comment
        )

    def _next(self, asked: FakeQuestion) -> Any:
        if self._always is not None:
            return self._always(asked)
        if not self._left:
            told = excerpt(asked.prompt or asked.tool, 200)
            raise self.fail(f"the flow asks `{told}`, and `approvals` has no answer left")
        answer = self._left.pop(0)
        return answer(asked) if callable(answer) else answer
