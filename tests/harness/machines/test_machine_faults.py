"""Faults of a machine, and their healing."""

import pytest

from tidemark.harness.machines import machine_faults
from tidemark.harness.machines.errors import NodeError
from tidemark.harness.machines.node_control import NodeControl


@pytest.mark.parametrize(
    ("offset_us", "text"),
    [(0, "+0"), (1_500_000, "+1.5"), (-30_000_000, "-30"), (-250_000, "-0.25"), (1, "+0.000001")],
)
def test_an_offset_is_written_as_libfaketime_reads_it(offset_us, text):
    assert machine_faults.clock_text(offset_us) == text


class Clock:
    """A process whose wall clock can be set."""

    name = "b1"

    def __init__(self, *aheads):
        self.aheads = list(aheads)

    def status(self):
        return {"wall_us": self.aheads.pop(0) if len(self.aheads) > 1 else self.aheads[0], "mono_us": 0}


def test_a_jump_is_waited_for_until_the_process_sees_it():
    clock = Clock(0, 0, 9_900_000)
    machine_faults.wait_for_clock(clock, lambda: 10_000_000)

    assert clock.aheads == [9_900_000]


def test_a_clock_that_does_not_jump_is_an_error(monkeypatch):
    monkeypatch.setattr(machine_faults, "CLOCK_S", 0.0)
    with pytest.raises(NodeError, match=r"b1: its clock is -10\.0 s from where a clock fault should have put it"):
        machine_faults.wait_for_clock(Clock(0), lambda: 10_000_000)


class Answering:
    """A machine that answers every script with the same words."""

    name = "b1"

    def __init__(self, words):
        self.words = words
        self.places = NodeControl.__new__(NodeControl)
        self.places.volatile = "/volatile"
        self.places.faketime = "/clock"

    def run(self, script, *, to):
        return self.words


def test_a_disk_that_does_not_fill_is_an_error():
    with pytest.raises(NodeError, match="/volatile still has 8192 bytes of room"):
        machine_faults.fill_disk(Answering("8192\n"))
    with pytest.raises(NodeError, match="/volatile is not a tmpfs"):
        machine_faults.fill_disk(Answering("is not a tmpfs\n"))


def test_a_disk_that_stays_full_is_an_error():
    with pytest.raises(NodeError, match="/volatile is still full without the ballast"):
        machine_faults.free_disk(Answering("0\n"))


def test_a_clock_that_cannot_be_set_is_an_error():
    with pytest.raises(NodeError, match="the offset of its clock cannot be set in /clock"):
        machine_faults.write_clock(Answering("+0\n"), 1_000_000)


@pytest.mark.docker
def test_the_disk_is_filled_and_freed(cluster):
    control = NodeControl(cluster.machines[1])
    volatile = control.places.volatile
    machine_faults.fill_disk(control)

    assert control.run(f"echo text 2>/dev/null >{volatile}/more || echo full").strip() == "full"

    machine_faults.free_disk(control)

    assert control.run(f"echo text >{volatile}/more && cat {volatile}/more && rm {volatile}/more").strip() == "text"


@pytest.mark.docker
def test_what_a_program_frees_meanwhile_is_filled_too(cluster):
    control = NodeControl(cluster.machines[1])
    volatile = control.places.volatile
    control.run(f"dd if=/dev/zero of={volatile}/big bs=1M count=8 2>/dev/null")

    class FreesRoom:
        name, places = control.name, control.places

        def run(self, script, *, to):
            return control.run('dd() { command dd "$@"; rm -f big; }\n' + script, to=to)

    machine_faults.fill_disk(FreesRoom())

    assert control.run(f"ls {volatile}/big 2>/dev/null || echo gone").strip() == "gone"
    assert control.run(f"echo text 2>/dev/null >{volatile}/more || echo full").strip() == "full"
    machine_faults.free_disk(control)
