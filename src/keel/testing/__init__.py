"""What tests of flows use: fakes that run whole flows against the lock."""

from keel.testing.answers import FakeCall
from keel.testing.errors import FakeError
from keel.testing.fakes import Fakes, fakes
from keel.testing.people import FakeQuestion

__all__ = ["FakeCall", "FakeError", "FakeQuestion", "Fakes", "fakes"]
