"""What is wrong with a test rather than with the flow that it tests."""

from __future__ import annotations


class FakeError(AssertionError):
    """A tool that is called and not faked, a key that nobody knows, an approval too many or too few.

    It is raised where it happens and, because a flow may swallow it, once more at the end of `fakes`.
    """
