"""Shared settings: how long random tests run, and a scrubbed environment."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "short", max_examples=100, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("long", max_examples=5000, deadline=None, suppress_health_check=list(HealthCheck))
settings.load_profile("long" if os.environ.get("KEEL_TEST_LONG") else "short")
