"""What is wanted of a node is brought about as soon as it can be, whatever happens to its process and machine meanwhile."""

import threading

import pytest

from tidemark.harness.live import contained_node
from tidemark.harness.live.contained_node import ContainedNode
from tidemark.harness.live.link_faults import LinkFault, LinkFaults
from tidemark.harness.machines import machine_faults
from tidemark.harness.machines.errors import NodeError

DEAF = LinkFault(((1, 2),), "slow", 5)


class PlayedControl:
    answers_while_paused = False

    """A process, a shell and an admin port, without any of them."""

    def __init__(self):
        self.done = []
        self.process = "running"
        self.admin = self
        self.refuses = False
        self.goes_after = 0

    def ask(self, do, **fields):
        if self.refuses:
            raise NodeError(f"b1 did not answer '{do}'")
        self.done.append(do)

    def open(self):
        self.ask("open")

    def close(self):
        self.done.append("close")

    def start(self, config, *, clock_faults):
        self.done.append("start")
        self.process = "running"

    def kill(self):
        self.done.append("kill")
        self.process = "gone"

    def pause(self):
        self.process = "stopped"
        return True

    def resume(self):
        self.process = "running"

    def state(self):
        return self.process

    def running(self):
        self.goes_after -= 1
        if self.goes_after == 0:
            self.process = "gone"
        return self.process != "gone"

    def own_end(self):
        return "fatal"

    def log_tail(self):
        return "last words"

    def power_loss(self, *, seed, keep):
        self.done.append(f"power {seed} {keep}")

    def wipe(self, partitions):
        self.done.append("wipe")

    def status(self):
        return {"wall_us": 70, "mono_us": 20, "slow_disk_us": 0}


class PlayedMachine:
    """A container, without one."""

    name = "b1"
    inner_ip = "10.0.0.1"
    shell = None
    admin_port = 9990

    def __init__(self):
        self.done = []

    def disconnect(self):
        self.done.append("disconnect")

    def connect(self):
        self.done.append("connect")

    def kill_container(self):
        self.done.append("kill")

    def start_container(self):
        self.done.append("start")


@pytest.fixture
def faults():
    return LinkFaults({1: "10.0.0.1", 2: "10.0.0.2"}, "transport")


@pytest.fixture
def node(faults, monkeypatch):
    monkeypatch.setattr(contained_node, "GOING_S", 0.0)
    lost = []
    node = ContainedNode(1, PlayedMachine(), faults, lambda: lost.append(node.name), lambda event: None)
    node.control = control = PlayedControl()
    control.lost = lost
    node.links._control = control
    for name in ("fill_disk", "free_disk", "write_clock", "slow_disk"):
        monkeypatch.setattr(
            machine_faults, name, lambda _, *amount, name=name: control.done.append(" ".join([name, *map(str, amount)]))
        )
    return node


def done(node):
    found, node.control.done = node.control.done, []
    return found


def test_a_disconnected_machine_is_reached_by_putting_it_back(node):
    node.unplug()
    node.unplug()

    assert node.is_unplugged
    assert node.machine.done == ["disconnect"]

    node.kill()

    assert not node.is_unplugged
    assert node.machine.done == ["disconnect", "connect"]


def test_whoever_starts_a_process_does_not_keep_its_machine_cut_off_longer_than_asked(node):
    wanted = True
    with node.reachable():
        waiting = threading.Thread(target=lambda: node.unplug(lambda: wanted))
        waiting.start()
        wanted = False
        waiting.join(5)
        node.plug_in()

        assert not waiting.is_alive()

    assert node.machine.done == []


def test_the_process_of_a_machine_that_was_put_back_is_talked_to_again(node):
    node.unplug()
    done(node)
    with node.reachable():
        pass

    assert done(node) == ["open"]
    assert node.links.answering


def test_a_process_that_ended_while_its_machine_was_off_the_network_is_noticed(node):
    node.unplug()
    node.control.process = "gone"
    node.apply_links()

    assert node.is_unplugged

    node.plug_in()

    assert node.control.lost == ["b1"]


def test_a_machine_off_the_network_is_put_back_before_it_restarts(node):
    node.unplug()
    node.restart_machine(lambda: None)

    assert node.machine.done == ["disconnect", "connect", "kill", "start"]
    assert not node.is_unplugged


def test_a_started_process_gets_what_is_in_force(node, faults):
    faults.add(1, DEAF)
    node.hindrances[2] = ("slow-disk", 700)
    node.hindrances[3] = ("disk-full", 0)
    node.apply_hindrances()
    node.start({}, clock_faults=False)

    assert done(node) == ["fill_disk", "start", "open", "transport", "slow_disk 700"]


def test_amounts_of_overlapping_faults_add_up_and_end_one_by_one(node):
    node.start({}, clock_faults=False)
    done(node)
    for key, amount in ((1, 5), (2, -7)):
        node.hindrances[key] = ("clock-jump", amount)
        node.apply_hindrances()
    del node.hindrances[1]
    node.apply_hindrances()
    node.apply_hindrances()

    assert done(node) == ["write_clock 5", "write_clock -2", "write_clock -7"]


def test_two_full_disks_are_one_and_stay_until_both_are_over(node):
    node.hindrances = {1: ("disk-full", 0), 2: ("disk-full", 0)}
    node.apply_hindrances()
    del node.hindrances[1]
    node.apply_hindrances()

    assert done(node) == ["fill_disk"]

    del node.hindrances[2]
    node.apply_hindrances()

    assert done(node) == ["free_disk"]


def test_a_machine_that_restarts_forgets_and_is_told_again(node):
    node.hindrances = {1: ("disk-full", 0), 2: ("clock-jump", 9)}
    node.apply_hindrances()
    done(node)
    dead = []
    node.restart_machine(lambda: dead.append(list(node.machine.done)))

    assert dead == [["kill"]]
    assert node.machine.done == ["kill", "start"]
    assert done(node) == ["close", "fill_disk", "write_clock 9"]


def test_a_lost_disk_is_filled_again(node):
    node.hindrances = {1: ("disk-full", 0)}
    node.apply_hindrances()
    node.lose_disk(("t-0",))

    assert done(node) == ["fill_disk", "wipe", "fill_disk"]


def test_a_paused_process_is_told_when_it_goes_on(node, faults):
    node.start({}, clock_faults=False)
    assert node.pause()
    done(node)
    faults.add(1, DEAF)
    node.hindrances[2] = ("slow-disk", 700)
    node.apply_rules()
    node.apply_hindrances()

    assert done(node) == []

    node.resume()

    assert done(node) == ["open", "transport", "slow_disk 700"]


def test_a_living_process_that_does_not_answer_is_an_error(node, faults):
    node.start({}, clock_faults=False)
    node.control.refuses = True
    faults.add(1, DEAF)
    with pytest.raises(NodeError, match="did not answer 'transport'"):
        node.apply_rules()


def test_a_process_that_goes_while_it_is_told_is_none(node, faults, monkeypatch):
    """It closes its connections first, and is gone a moment later."""
    monkeypatch.setattr(contained_node, "GOING_S", 5.0)
    node.start({}, clock_faults=False)
    node.control.refuses = True
    node.control.goes_after = 3
    faults.add(1, DEAF)
    node.apply_rules()

    assert node.control.process == "gone"


def test_a_lost_connection_is_made_again_if_the_process_lives(node):
    node.start({}, clock_faults=False)
    done(node)

    assert node.took_leave() is None
    assert done(node) == ["open"]

    node.control.refuses = True
    node.control.process = "gone"

    assert node.took_leave() == ("fatal", "last words")
    assert not node.links.answering


def test_the_clock_is_compared_with_what_it_was(node):
    assert node.clock_is_right({"wall_us": 10**9, "mono_us": 0})

    node.start({}, clock_faults=True)

    assert node.clock_is_right({"wall_us": 250_050, "mono_us": 0})
    assert not node.clock_is_right({"wall_us": 10**9, "mono_us": 0})


def test_the_end_takes_every_fault_away(node, monkeypatch):
    removed = []
    monkeypatch.setattr(contained_node.firewall, "remove_all", removed.append)
    node.hindrances = {1: ("disk-full", 0), 2: ("clock-jump", 9)}
    node.apply_hindrances()
    done(node)
    node.end()

    assert done(node) == ["close", "kill", "free_disk", "write_clock 0"]
    assert removed == [node.control]


def test_power_losses_are_drawn_or_given(node):
    node.lose_power(5)
    node.lose_power(keep=2)

    assert done(node) == ["power 5 None", "power 0 2"]
