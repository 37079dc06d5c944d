"""An operator of etcd's members; the members are played."""

from types import SimpleNamespace

import pytest

from tidemark.harness.machines.errors import NodeError
from tidemark.harness.systems.etcd import members
from tidemark.harness.systems.etcd.gateway import EtcdError
from tidemark.harness.systems.etcd.members import ask_others, take_in, take_out
from tidemark.harness.systems.etcd.system import EtcdSystem

NODES = {
    number: SimpleNamespace(number=number, address=f"10.0.0.{number}", for_clients=("127.0.0.1", 2000 + number))
    for number in (1, 2, 3)
}
URLS = {number: f"http://10.0.0.{number}:2380" for number in NODES}


class Played:
    """Members that agree at once; whoever listens at a port of `deaf` does not answer."""

    def __init__(self):
        self.listed, self.deaf, self.asked, self.alone = dict.fromkeys(URLS.values(), "8"), set(), [], False

    def gateway(self, address, patience_s):
        if address[1] - 2000 in self.deaf:
            raise ConnectionRefusedError("nobody listens")
        return SimpleNamespace(ask=self.ask, close=lambda: None)

    def ask(self, path, about):
        self.asked.append((path, about))
        if about.get("linearizable", True) and self.alone:
            raise EtcdError("request timed out", 14)
        if path == "cluster/member/remove":
            del self.listed[URLS[1]]
        if path == "cluster/member/add":
            self.listed[about["peerURLs"][0]] = "9"
        return {"members": [{"ID": number, "peerURLs": [url]} for url, number in self.listed.items()]}


@pytest.fixture
def played(monkeypatch):
    played = Played()
    monkeypatch.setattr(members, "Gateway", played.gateway)
    return played


def flags(system, node):
    return dict(flag.removeprefix("--").split("=", 1) for flag in system.process(node, NODES, ("t-0",)).argv[1:])


def test_who_has_left_is_taken_in_as_somebody_new_among_those_who_are_there(played):
    system = EtcdSystem("3.5.1")
    assert flags(system, 1)["initial-cluster-state"] == "new"
    system.leave(1, NODES)
    del played.listed[URLS[3]]

    assert system.join(1, NODES)
    assert ("cluster/member/remove", {"ID": "8"}) in played.asked
    assert flags(system, 1)["initial-cluster"] == f"n1={URLS[1]},n2={URLS[2]}"
    assert flags(system, 1)["initial-cluster-state"] == "existing"
    assert flags(system, 2)["initial-cluster-state"] == "new"

    system.beside(NODES[1], NODES)
    assert flags(system, 1)["initial-cluster-state"] == "new"


def test_who_is_still_a_member_does_not_join(played):
    assert not EtcdSystem("3.5.1").join(1, NODES)
    assert [path for path, _ in played.asked] == ["cluster/member/list"]


def test_the_member_that_is_to_leave_is_not_asked_and_the_next_is_if_one_does_not_answer(played):
    played.deaf = {2}
    EtcdSystem("3.5.1").leave(1, NODES)
    assert URLS[1] not in played.listed

    played.deaf = {2, 3}
    with pytest.raises(NodeError, match="no other member did it: nobody listens"):
        EtcdSystem("3.5.1").leave(1, NODES)


def test_without_a_majority_nobody_leaves_and_who_may_still_be_a_member_is_started_as_it_is(played):
    played.alone = True
    with pytest.raises(NodeError, match="request timed out"):
        EtcdSystem("3.5.1").leave(1, NODES)
    assert not EtcdSystem("3.5.1").join(1, NODES)


def test_who_is_known_to_have_left_waits_for_a_majority_that_takes_it_in(played):
    played.alone = True
    del played.listed[URLS[1]]
    with pytest.raises(NodeError, match="request timed out"):
        EtcdSystem("3.5.1").join(1, NODES)


def test_what_members_refuse_is_told(played):
    def refuse(gateway):
        raise EtcdError("unhealthy cluster", 14)

    with pytest.raises(NodeError, match="unhealthy cluster"):
        ask_others(1, NODES, refuse)


def test_who_is_none_is_not_taken_out_and_who_is_one_not_taken_in(played):
    take_out(played, "http://10.0.0.9:2380", set())
    assert take_in(played, URLS[2], {"8"}) == frozenset()
    assert len(played.listed) == 3


def test_who_was_taken_in_by_an_answer_that_was_lost_is_somebody_new(played):
    system = EtcdSystem("3.5.1")
    system.leave(1, NODES)
    played.listed[URLS[1]] = "9"  # they agreed, and nobody heard

    assert system.join(1, NODES)
    assert not [path for path, _ in played.asked if path == "cluster/member/add"]
    assert flags(system, 1)["initial-cluster-state"] == "existing"
