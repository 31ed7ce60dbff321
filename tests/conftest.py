"""Shared set-up: hypothesis profiles and the requirement report."""

import os

from hypothesis import settings

pytest_plugins = ["tests.plugins.spec_ids"]

# Example counts decide the run time, not deadlines: a slow machine is no failing test.
settings.register_profile("fast", deadline=None, derandomize=True, max_examples=60)
settings.register_profile("deep", deadline=None, max_examples=2000, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fast"))
