"""No program is judged clean in which a denied or missing approval lets a dangerous call happen."""

import logging
import os

from hypothesis import HealthCheck, given, settings

from tests.unit.gates.harness import errors
from tests.unit.gates.oracle import HEADER, concurrent_programs, programs, violations

PROGRAMS = int(os.environ.get("KEEL_TEST_PROGRAMS", "300"))


@settings(max_examples=PROGRAMS, deadline=None, suppress_health_check=list(HealthCheck), database=None)
@given(programs)
def test_what_is_judged_clean_never_calls_unapproved(source):
    if not errors(source, header=HEADER):
        assert violations(source) == ""


@settings(max_examples=PROGRAMS // 10, deadline=None, suppress_health_check=list(HealthCheck), database=None)
@given(concurrent_programs)
def test_concurrent_programs_too(source):
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)  # tasks that lose a race are not the subject
    if not errors(source, header=HEADER):
        assert violations(source, 60) == ""
