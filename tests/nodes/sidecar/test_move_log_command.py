"""The commands by which logs are moved: ``move-log`` of a broker's sidecar, ``throttle-moves`` of the controller's."""

import asyncio
from types import SimpleNamespace

import pytest

from tidemark.nodes.admin.port import CommandError
from tidemark.nodes.formats.log_directories import LogDirectories
from tidemark.nodes.sidecar.admin_commands import SidecarCommands
from tidemark.nodes.sidecar.request_connection import OperationError


def broker(directories, refusal="", *, is_controller=False):
    """A sidecar, and what its broker is asked for."""
    asked = []

    async def move_log(partition, directory):
        asked.append((partition, directory))
        if refusal:
            raise OperationError(refusal)

    config = SimpleNamespace(is_controller=is_controller, partitions={"t-0": (1, 2)})
    operations = SimpleNamespace(move_log=move_log)
    return SimpleNamespace(config=config, logs=LogDirectories(directories), operations=lambda: operations), asked


def move(sidecar, **command):
    return asyncio.run(
        SidecarCommands(sidecar).by_name()["move-log"]({"do": "move-log", "partition": "t-0", **command})
    )


def test_a_log_goes_to_the_directory_in_which_it_is_not(tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    (second / "t-0").mkdir(parents=True)
    sidecar, asked = broker((first, second))

    assert move(sidecar) == {"to": "first"}
    assert asked == [("t-0", str(first))]


def test_with_one_directory_nothing_moves(tmp_path):
    sidecar, asked = broker((tmp_path,))
    with pytest.raises(CommandError, match="one log directory"):
        move(sidecar)
    assert asked == []


def test_what_kafka_refuses_is_told(tmp_path):
    sidecar, _ = broker(
        (tmp_path / "first", tmp_path / "second"), "t-0 cannot be moved: Kafka answers KAFKA_STORAGE_ERROR"
    )
    with pytest.raises(CommandError, match="KAFKA_STORAGE_ERROR"):
        move(sidecar)


def test_the_controller_has_none(tmp_path):
    sidecar, _ = broker((tmp_path,), is_controller=True)
    with pytest.raises(CommandError, match="the controller has no log"):
        move(sidecar)


def throttle(**command):
    asked = []

    async def throttle_moves(broker, rate):
        asked.append((broker, rate))

    sidecar = SimpleNamespace(operations=lambda: SimpleNamespace(throttle_moves=throttle_moves))
    asyncio.run(SidecarCommands(sidecar).by_name()["throttle-moves"]({"do": "throttle-moves", **command}))
    return asked


def test_a_throttle_is_asked_for():
    assert throttle(broker=2, rate=1000) == [(2, 1000)]


@pytest.mark.parametrize(
    "wrong", [{"broker": 0, "rate": 1}, {"broker": 1, "rate": -1}, {"broker": 1}, {"broker": "b1", "rate": 1}]
)
def test_a_throttle_is_of_a_broker_and_not_negative(wrong):
    with pytest.raises(CommandError, match="broker must be a broker"):
        throttle(**wrong)
