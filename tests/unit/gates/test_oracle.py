"""No program is judged clean in which a denied or missing approval lets a dangerous call happen."""

import os

from hypothesis import HealthCheck, given, settings

from tests.unit.gates.harness import errors
from tests.unit.gates.oracle import HEADER, programs, violations

PROGRAMS = int(os.environ.get("KEEL_TEST_PROGRAMS", "300"))


@settings(max_examples=PROGRAMS, deadline=None, suppress_health_check=list(HealthCheck), database=None)
@given(programs)
def test_what_is_judged_clean_never_calls_unapproved(source):
    if not errors(source, header=HEADER):
        assert violations(source) == ""
