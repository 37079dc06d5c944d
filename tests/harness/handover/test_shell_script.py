"""Runs of which no shell script can be made that plays them on Kafka's own image."""

import pytest

from tidemark.harness.handover.repeat.shell_script import why_not
from tidemark.harness.scenario.library import find


@pytest.mark.parametrize(
    ("voters", "why"),
    [
        ("0@10.0.0.1:9092", ""),
        (
            "0@10.0.0.1:9092,1@10.0.0.2:9095,2@10.0.0.3:9095",
            "the cluster had several controllers, and the script has one",
        ),
    ],
)
def test_several_controllers(voters, why):
    properties = {"process.roles": "broker", "controller.quorum.voters": voters}

    assert why_not(find("missed-reign"), "4.3.1", properties) == why
