"""What a test wants from outside of Python, and what happens without it: the test is skipped, and the run's last words say so."""

import shutil

import pytest

MISSING = "not here: "
"""How such a reason begins."""


def skip_without(what):
    """Skip the test that runs.

    Args:
        what: is missing, and what to do about it.
    """
    pytest.skip(MISSING + what)


def needs(*programs, also=True, what=""):
    """A mark for tests that need programs, and something else perhaps, which ``what`` names."""
    missing = [name for name in programs if shutil.which(name) is None]
    reason = f"{', '.join(missing)}: .ci/make-test-tools installs them" if missing else what
    return pytest.mark.skipif(bool(missing) or not also, reason=MISSING + reason)
