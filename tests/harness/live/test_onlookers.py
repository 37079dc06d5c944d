"""What is seen of a system that traces nothing, node by node."""

import threading

import pytest

from tidemark.harness.live import onlookers
from tidemark.harness.live.onlookers import Onlookers


def status(role="follower", epoch=1, leo=0, hw=0, leader=2):
    return {"t-0": {"role": role, "leader_epoch": epoch, "leo": leo, "hw": hw, "leader": leader, "isr": []}}


class Played:
    """Answers of each node, the last again and again; `looked` is set when a node has been asked for all of its own."""

    def __init__(self, **answers):
        self.answers = {int(node[1:]): list(said) for node, said in answers.items()}
        self.told, self.looked = [], {node: threading.Event() for node in self.answers}

    def look(self, node):
        said = self.answers[node]
        if len(said) == 1:
            self.looked[node].set()
        return said[0] if len(said) == 1 else said.pop(0)

    def tell(self, *event):
        self.told.append(event)


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(onlookers, "EVERY_S", 0)
    monkeypatch.setattr(onlookers, "SHARE", 1)


def test_what_changes_is_told_once(monkeypatch):
    played = Played(
        b1=[status(), {}, status(), status("leader", 2, 7, 5, 1)],
        b2=[{}, status("leader", leo=3, hw=3)],
    )
    watching = Onlookers((1, 2), played.look, played.tell)
    for looked in played.looked.values():
        assert looked.wait(10)
    watching.close()

    assert [event for event in played.told if event[0] == 1] == [
        (1, "seen", "t-0", False, 1, 0, 0, 2),
        (1, "seen", "t-0", True, 2, 7, 5, 1),
    ]
    assert [event for event in played.told if event[0] == 2] == [(2, "seen", "t-0", True, 1, 3, 3, 2)]


def test_nobody_looks_when_it_is_over():
    played = Played(b1=[status()])
    watching = Onlookers((1,), played.look, played.tell)
    watching.close()
    assert not any(thread.name.startswith("onlooker") for thread in threading.enumerate())
