"""Whose a container is, and removing what nobody owns any more."""

import io
import os
import secrets
import socket
import subprocess
import sys

import pytest
from rich.console import Console

from tidemark.harness.machines import leftovers
from tidemark.harness.machines.errors import ClusterError, EngineError
from tidemark.harness.machines.leftovers import clean_up, every, offer_cleanup, remove, stale
from tidemark.harness.machines.owner import Owner

# Owners

US = Owner.this_process()


def test_this_process_is_not_gone_and_survives_being_written_as_labels():
    assert Owner.of(US.labels("r")) == US
    assert US.labels("r")["tidemark.run"] == "r"
    assert not US.is_gone
    assert str(US) == f"process {os.getpid()}"


def test_a_process_that_ended_is_gone_even_while_it_is_a_zombie():
    code = "from tidemark.harness.machines.owner import Owner; print(*Owner.this_process(), sep='\\n')"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as child:
        theirs = Owner(*child.stdout.read().split("\n")[:4])
        assert theirs.pid == str(child.pid)
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)

        assert theirs.is_gone
    assert theirs.is_gone
    assert str(theirs) == f"process {theirs.pid}, which is gone"


def test_a_number_that_was_given_again_is_not_the_same_process():
    assert US._replace(start="1").is_gone


def test_nothing_survives_another_boot():
    assert US._replace(boot="another").is_gone


def test_who_can_tell_about_other_hosts():
    other = US._replace(host="elsewhere", start="1", boot="another")

    assert not other.is_gone
    assert str(other) == f"process {os.getpid()} on elsewhere"


def test_what_was_started_by_hand_is_never_gone():
    assert Owner.by_hand() == Owner(socket.gethostname(), "by-hand")
    assert not Owner.by_hand().is_gone
    assert str(Owner.by_hand()) == "started by hand"


def test_labels_that_say_nothing_are_left_alone():
    assert not Owner.of({}).is_gone


# Leftovers


@pytest.fixture
def leave(engine, image):
    """Make a network, a volume and a container as an owner would, and take them away if the test did not."""
    made = []

    def leave(owner):
        run = f"test-{secrets.token_hex(4)}"
        labels = owner.labels(run)
        made.append(run)
        name = f"tidemark-{run}"
        engine.networks.create(name, driver="bridge", labels=labels)
        engine.volumes.create(name, labels=labels)
        engine.containers.create(
            image, name=name, labels=labels, network=name, volumes={name: {"bind": "/v", "mode": "rw"}}
        )
        return run

    yield leave
    for run in made:
        remove(engine, every(engine, run))


@pytest.fixture
def only(monkeypatch, engine):
    """Whatever else is in this engine is not this test's business."""

    def only(run):
        monkeypatch.setattr(
            leftovers, "stale", lambda client: [item for item in every(client, run) if item.owner.is_gone]
        )

    return only


DEAD = US._replace(start="1")


@pytest.mark.docker
def test_what_a_dead_process_left_is_found_and_removed_and_what_a_living_one_has_is_not(engine, leave):
    dead, living, by_hand = leave(DEAD), leave(US), leave(Owner.by_hand())

    found = [item for item in stale(engine) if item.run in {dead, living, by_hand}]

    assert [(item.kind, item.name, item.run) for item in found] == [
        ("container", f"tidemark-{dead}", dead),
        ("network", f"tidemark-{dead}", dead),
        ("volume", f"tidemark-{dead}", dead),
    ]
    remove(engine, found)
    assert every(engine, dead) == []
    assert len(every(engine, living)) == 3
    assert len(every(engine, by_hand)) == 3


@pytest.mark.docker
def test_removing_what_is_gone_is_no_error(engine, leave):
    found = every(engine, leave(DEAD))

    remove(engine, found)
    remove(engine, found)


@pytest.mark.docker
def test_what_cannot_be_removed_is_named_with_the_reason(engine, leave, monkeypatch):
    monkeypatch.setattr(leftovers, "GONE_S", 0.1)
    run = leave(DEAD)
    volumes = [item for item in every(engine, run) if item.kind == "volume"]

    with pytest.raises(ClusterError, match=rf"^cannot remove volume tidemark-{run}: .*volume is in use"):
        remove(engine, volumes)


def said(terminal=False):
    """A console, and what was said on it."""
    buffer = io.StringIO()
    return Console(file=buffer, force_terminal=terminal, width=500, color_system=None), buffer.getvalue


@pytest.mark.docker
def test_without_a_terminal_one_line_says_how_to_remove_them(engine, leave, only):
    run = leave(DEAD)
    only(run)
    console, output = said()

    offer_cleanup(console)

    assert output() == (
        f"3 containers, networks and volumes are left of runs that were killed ({run}); "
        "to remove them: tidemark cluster down --all\n"
    )
    assert len(every(engine, run)) == 3


@pytest.mark.docker
@pytest.mark.parametrize(("answer", "left"), [(True, 0), (False, 3)])
def test_on_a_terminal_it_asks_first(engine, leave, only, monkeypatch, answer, left):
    run = leave(DEAD)
    only(run)
    asked = []
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr(leftovers.click, "confirm", lambda text, default: asked.append(text) or answer)

    offer_cleanup(said(terminal=True)[0])

    assert asked == ["Remove them?"]
    assert len(every(engine, run)) == left


@pytest.mark.docker
def test_a_command_that_nobody_watches_removes_it_and_says_so(engine, leave, only):
    run = leave(DEAD)
    only(run)
    console, told = said(terminal=False)
    clean_up(console)

    assert every(engine, run) == []
    assert told() == (
        f"3 containers, networks and volumes are left of runs that were killed ({run}); they are removed\n"
    )


@pytest.mark.docker
def test_nothing_is_said_when_nothing_is_left(engine, only):
    only("test-nobody")
    console, output = said()

    offer_cleanup(console)

    assert output() == ""


def test_nothing_is_said_where_there_is_no_engine(monkeypatch):
    def refuse(timeout_s):
        raise EngineError("no engine")

    monkeypatch.setattr("tidemark.harness.machines.docker_engine.connect", refuse)
    console, output = said()

    offer_cleanup(console)

    assert output() == ""
