"""What acts on a broker's process: its sidecar stands beside it, and is not what faults are meant for."""

import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
from local_cluster import eventually

from tidemark.harness.machines.errors import NodeError
from tidemark.harness.systems.kafka.control import KafkaControl
from tidemark.harness.systems.kafka.places import KafkaPlaces
from tidemark.harness.systems.kafka.scripts import KafkaScripts
from tidemark.nodes.formats.record_batch import build

SEGMENT = "00000000000000000000.log"


class Processes:
    """Stand-ins for a JVM and its sidecar, noted in files as the real ones are."""

    def __init__(self, places):
        self._places = places
        self._started = []

    def start(self, *command):
        process = subprocess.Popen(command)
        self._started.append(process)
        return process

    def note(self, path, process, *, ago=0):
        since = int(stat(process.pid)[19]) - ago
        Path(path).write_text(f"{process.pid} {since}\n")

    def jvm(self, *command, ago=0):
        process = self.start(*(command or ("sleep", "60")))
        self.note(self._places.pid, process, ago=ago)
        return process

    def keeper_of(self, jvm):
        """A sidecar that ends a moment after its JVM."""
        waiting = f"while kill -0 {jvm.pid} && ! grep -q '^State:.Z' /proc/{jvm.pid}/status; do sleep 0.02; done"
        return self.sidecar("sh", "-c", f"({waiting}) 2>/dev/null")

    def sidecar(self, *command):
        process = self.start(*(command or ("sleep", "60")))
        self.note(self._places.sidecar, process)
        return process

    def end(self):
        for process in self._started:
            with suppress(ProcessLookupError):
                process.kill()
            process.wait()


def stopped(process):
    """Whether it stands still; one that was resumed runs before it sleeps again."""
    return state(process) == "T"


def stat(pid):
    """State, parent … of a process, from its state on."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def state(process):
    return stat(process.pid)[0]


@pytest.fixture
def processes(control):
    made = Processes(control.places)
    yield made
    made.end()


def test_without_a_keeper_there_is_no_node(control, processes):
    assert control.state() == "gone"

    processes.jvm()

    assert control.state() == "gone"


def test_a_node_whose_jvm_is_not_there_yet_or_any_more_runs(control, processes):
    """It is being started; or its sidecar still finishes the trace, so that nobody may read it yet."""
    processes.sidecar()

    assert control.state() == "running"

    jvm = processes.jvm()
    jvm.kill()
    jvm.wait()

    assert control.state() == "running"


def test_a_number_that_another_process_got_since_is_not_the_jvm(control, processes):
    processes.sidecar()
    stranger = processes.jvm(ago=1)
    control.terminate()
    control.kill()

    assert state(stranger) in "RS"


def test_a_pause_stops_the_jvm_and_not_its_keeper(control, processes):
    jvm, sidecar = processes.jvm(), processes.sidecar()

    assert control.pause()
    assert (stopped(jvm), stopped(sidecar)) == (True, False)
    assert control.state() == "stopped"

    control.resume()

    assert (stopped(jvm), control.state()) == (False, "running")


def test_a_kill_ends_the_jvm_and_waits_for_its_keeper(control, processes):
    jvm = processes.jvm()
    sidecar = processes.keeper_of(jvm)

    assert control.kill()
    assert control.state() == "gone"
    assert (jvm.wait(), sidecar.wait()) == (-9, 0)


def test_a_kill_before_the_jvm_was_started_ends_the_keeper(control, processes):
    sidecar = processes.sidecar()

    assert control.kill()
    assert sidecar.wait() == -9


@pytest.mark.parametrize("verb", ["terminate", "resume"])
def test_other_signals_spare_a_keeper_that_is_alone(control, processes, verb):
    sidecar = processes.sidecar()

    getattr(control, verb)()

    assert eventually(lambda: state(sidecar) == "S")


def test_a_shutdown_is_asked_of_the_jvm(control, processes):
    jvm, sidecar = processes.jvm(), processes.sidecar()
    control.terminate()

    assert jvm.wait() == -15
    assert eventually(lambda: state(sidecar) == "S")


def test_what_is_gone_is_not_killed_again(control, processes):
    assert not control.kill()
    assert not control.pause()


def test_it_starts_the_keeper_and_notes_it_as_the_nodes_process(control):
    places = control.places
    control.machine.admin_port = 9
    with pytest.raises(NodeError, match="ended at once"):
        control.start({"node": 1})

    started = Path(places.sidecar).read_text().split()
    assert len(started) == 2
    assert not Path(places.pid).exists()  # the JVM's is the sidecar's to write
    assert "the entry 'role' is missing" in Path(places.log).read_text()


def test_a_clock_fault_is_for_the_jvm_only():
    script = KafkaScripts(KafkaPlaces()).start(1, fake_clock=True)

    assert " LD_PRELOAD=" not in script
    assert "TIDEMARK_JVM_LD_PRELOAD=/opt/tidemark/libfaketime.so.1" in script


def test_a_power_loss_cuts_what_was_not_flushed(control):
    partition = Path(control.places.data, "t-0")
    partition.mkdir()
    (partition / SEGMENT).write_bytes(build([7], 0, 0) + build([8], 1, 0))
    control.power_loss(keep=1)

    assert (partition / SEGMENT).read_bytes() == build([7], 0, 0)


def test_a_lost_disk_is_empty(control):
    data = Path(control.places.data)
    (data / "t-0").mkdir()
    (data / "t-0" / SEGMENT).write_bytes(b"x")
    (data / "meta.properties").write_text("broker.id=1")
    control.wipe(("t-0",))

    assert list(data.iterdir()) == []


def test_a_machine_that_is_cleaned_has_nothing_of_an_earlier_run(control, processes):
    places = control.places
    processes.sidecar()
    for path in (places.trace, places.log, f"{places.data}/meta.properties"):
        Path(path).write_text("old")
    control.clean()

    assert control.state() == "gone"
    assert [p for p in (places.trace, places.log, places.pid, places.sidecar) if Path(p).exists()] == []
    assert list(Path(places.data).iterdir()) == []


def test_a_brokers_page_cache_is_its_disk():
    found = KafkaPlaces()

    assert found.volatile == found.data == "/var/lib/tidemark/data"
    assert found.sidecar == "/run/tidemark/node.pid.sidecar"


def test_a_keeper_answers_while_its_broker_is_paused():
    assert KafkaControl.answers_while_paused


@pytest.mark.parametrize(
    ("log", "told"),
    [
        ("INFO one\n12:00 sidecar: gave up: no space\n", "12:00 sidecar: gave up: no space"),
        ("ERROR one\nINFO two\n", "ERROR one\nINFO two"),
        ("12:00 sidecar: gave up: earlier\nINFO now\n", "12:00 sidecar: gave up: earlier\nINFO now"),
    ],
)
def test_the_keepers_last_words_are_told_where_there_are_some(control, log, told):
    Path(control.places.log).write_text(log)
    played = KafkaControl(control.machine)
    played.places = control.places

    assert played.log_tail() == told
