"""What brokers and controller say to each other arrives as it was said."""

from dataclasses import replace
from uuid import UUID

import pytest
from kio.schema.broker_registration.v3.request import BrokerRegistrationRequest

from tidemark.nodes.core.messages import (
    INELIGIBLE_REPLICA,
    STALE_BROKER_EPOCH,
    AlterPartition,
    AlterPartitionResponse,
    Heartbeat,
    HeartbeatReply,
    LeaderAndIsr,
    Register,
    Registered,
)
from tidemark.nodes.formats.wire import leader_and_isr
from tidemark.nodes.formats.wire.codec import codec
from tidemark.nodes.formats.wire.names import MeaninglessError, topics_by_id
from tidemark.nodes.process.wire import translate_control as t

TOPICS = topics_by_id(["t-0"])
STATE = LeaderAndIsr(0, "t-3", 2, 7, (2, 3), 12, (1, 2, 3), 44, (1, 3))


@pytest.fixture
def heard(body_bytes):
    def over_the_wire(key, version, entity, which="request"):
        body = body_bytes(key, version, entity, which)
        how = codec(key, version)
        return (how.read_request if which == "request" else how.read_response)(body, 0)

    return over_the_wire


def test_registration(heard):
    asked = Register(3, 5, 41)
    assert t.register_message(heard(62, 3, t.register_request(asked))) == asked
    answer = heard(62, 3, t.register_response(Registered(0, 5, 99)), "response")
    assert t.register_answer(answer, asked) == Registered(0, 5, 99)
    assert t.register_answer(heard(62, 3, t.register_refused(), "response"), asked) is None


@pytest.mark.parametrize("incarnation", [None, UUID(int=1 << 31), UUID(int=1 << 127)])
def test_an_incarnation_is_a_small_number(incarnation):
    entity = BrokerRegistrationRequest(
        broker_id=1, cluster_id="", incarnation_id=incarnation, listeners=(), features=(), rack=None
    )
    with pytest.raises(MeaninglessError, match="incarnation"):
        t.register_message(entity)


@pytest.mark.parametrize("shutting_down", [False, True])
def test_heartbeat(heard, shutting_down):
    known = {"t-0": 4}
    beat = heard(63, 0, t.heartbeat_request(Heartbeat(2, 9, {}, shutting_down)))
    assert t.heartbeat_message(beat, known) == Heartbeat(2, 9, known, shutting_down)


@pytest.mark.parametrize(
    "reply", [HeartbeatReply(0, False), HeartbeatReply(0, True), HeartbeatReply(0, False, STALE_BROKER_EPOCH)]
)
def test_heartbeat_reply(heard, reply):
    assert t.heartbeat_answer(heard(63, 0, t.heartbeat_response(reply), "response")) == reply


def test_isr_change(heard):
    asked = AlterPartition(2, "t-0", 7, 12, ((2, 44), (3, -1)), 44, 5)
    assert t.alter_message(heard(56, 3, t.alter_request(asked)), TOPICS, 5) == asked
    for error in (None, INELIGIBLE_REPLICA):
        said = AlterPartitionResponse(0, "t-0", 5, 7, (2, 3), 13, error)
        assert t.alter_answer(heard(56, 3, t.alter_response(said, 2), "response"), asked) == said
    with pytest.raises(MeaninglessError, match="nobody knows"):
        t.alter_message(t.alter_request(asked), {}, 5)


@pytest.mark.parametrize("eligible", [(), (1, 2, 3)])
@pytest.mark.parametrize("leader", [2, -1])
def test_state(heard, leader, eligible):
    state = LeaderAndIsr(0, "t-3", leader, 7, (2, 3), 12, (1, 2, 3), 44, eligible)
    assert t.state_message(heard(4, 4, t.state_request(state))) == state


def test_what_a_broker_is_to_delete_and_which_controller_says_so(heard):
    state = LeaderAndIsr(0, "t-3", 2, 7, (2, 3), 12, (2, 3), 44, (2, 3), delete=True, controller_epoch=4)
    assert t.state_message(heard(4, 4, t.state_request(state))) == state


def test_what_an_operator_has_set(heard):
    state = replace(STATE, min_isr=2, settings=3, unclean=True)
    assert t.state_message(heard(4, 4, t.state_request(state))) == state


def test_whether_a_state_was_taken(heard):
    assert t.state_taken(heard(4, 4, t.state_response(STATE, None), "response"))
    assert not t.state_taken(heard(4, 4, t.state_response(STATE, STALE_BROKER_EPOCH), "response"))


def test_the_layout_of_leader_and_isr_is_kafkas(body_bytes):
    """Version 4: controller id and epoch, broker epoch, topics, live leaders; everything compact, with tags."""
    part = (
        b"\0\0\0\x03"  # partition
        b"\0\0\0\0"  # controller epoch
        b"\0\0\0\x02"  # leader
        b"\0\0\0\x07"  # leader epoch
        b"\x03\0\0\0\x02\0\0\0\x03"  # ISR
        b"\0\0\0\x0c"  # partition epoch
        b"\x04\0\0\0\x01\0\0\0\x02\0\0\0\x03"  # replicas
        b"\x01\x01"  # none to add, none to remove
        b"\0"  # not new
        b"\x01\x90\x4e\x09\x03\0\0\0\x01\0\0\0\x03"  # one tag, 10000, of nine bytes: ours
    )
    body = bytes(8) + b"\0\0\0\0\0\0\0\x2c" + b"\x02\x02t\x02" + part + b"\0" + b"\x01" + b"\0"
    assert body_bytes(4, 4, t.state_request(STATE)) == body
    assert leader_and_isr.VERSION == 4
