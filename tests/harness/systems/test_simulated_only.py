"""What node processes cannot run is refused before anything is started."""

import pytest

from harness.systems.system import SystemRefusalError
from harness.systems.tidemark import TidemarkSystem


@pytest.mark.parametrize("name", ["bookkeeper", "raft+pre-vote", "raft+lease-reads"])
def test_variants_of_the_simulator_are_refused(name):
    with pytest.raises(
        SystemRefusalError, match=f"^{name.replace('+', '.')} runs in the simulator only: node processes"
    ):
        TidemarkSystem().variant(name)


def test_the_others_are_not():
    assert TidemarkSystem().variant("raft+forget-votes").name == "raft+forget-votes"
