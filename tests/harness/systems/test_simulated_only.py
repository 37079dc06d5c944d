"""What node processes cannot run is refused before anything is started."""

import pytest

from harness.systems.system import SystemRefusalError
from harness.systems.tidemark import TidemarkSystem


@pytest.mark.parametrize("name", ["bookkeeper", "bookkeeper+no-fencing"])
def test_variants_of_the_simulator_are_refused(name):
    with pytest.raises(
        SystemRefusalError, match=f"^{name.replace('+', '.')} runs in the simulator only: node processes"
    ):
        TidemarkSystem().variant(name)


def test_the_others_are_not():
    for name in ("raft+forget-votes", "raft+pre-vote+lease-reads+membership-change"):
        assert TidemarkSystem().variant(name).name == name
