"""Which kind each message of Kafka's protocol is, by who listens and who asks."""

import pytest

from tidemark.nodes.sidecar.proxy.kafka_speech import KafkaSpeech

BROKER = {
    1: ("fetch requests", "fetch responses"),
    23: ("epoch requests", "epoch responses"),
    4: ("leadership", "leadership answers"),
    5: ("leadership", "leadership answers"),
    6: ("leadership", "leadership answers"),
    56: ("ISR changes", "ISR answers"),
    18: (None, None),
    62: (None, None),
}
CONTROLLER = {
    1: (None, "leadership"),
    59: (None, "leadership"),
    62: ("heartbeats", "heartbeat answers"),
    63: ("heartbeats", "heartbeat answers"),
    56: ("ISR changes", "ISR answers"),
    23: (None, None),
}


def kinds_of(speech, kafka, key):
    asked = speech.request(memoryview(kafka.request(key, 7))[4:], 100)
    answered = speech.response(memoryview(kafka.answer(7))[4:], 100)
    return tuple(message.kinds[0] if message.kinds else None for message in (asked, answered))


@pytest.mark.parametrize(("key", "kinds"), BROKER.items())
def test_on_a_broker(kafka, key, kinds):
    assert kinds_of(KafkaSpeech(2, 1), kafka, key) == kinds


@pytest.mark.parametrize(("key", "kinds"), CONTROLLER.items())
def test_on_a_kraft_controller(kafka, key, kinds):
    assert kinds_of(KafkaSpeech(2, 0, controller=True), kafka, key) == kinds


def test_a_registration_is_a_heartbeat_too(kafka):
    speech = KafkaSpeech(2, 0, controller=True)
    assert speech.request(memoryview(kafka.request(62, 7))[4:], 100).kinds == ("heartbeats", "registrations")
    assert speech.response(memoryview(kafka.answer(7))[4:], 100).kinds == ("heartbeat answers", "registration answers")


@pytest.mark.parametrize("key", BROKER)
def test_what_the_machine_itself_asks_has_no_kind(kafka, key):
    assert kinds_of(KafkaSpeech(1, 1), kafka, key) == (None, None)


def test_an_answer_belongs_to_its_request(kafka):
    speech = KafkaSpeech(2, 1)
    for correlation, key in enumerate((1, 23, 0, 4)):
        speech.request(memoryview(kafka.request(key, correlation))[4:], 100)
    kinds = [speech.response(memoryview(kafka.answer(n))[4:], 10).kinds for n in (1, 0, 2)]
    assert kinds == [("epoch responses",), (), ()]
    assert speech.unanswered
    speech.response(memoryview(kafka.answer(3))[4:], 10)
    assert not speech.unanswered


@pytest.mark.parametrize("head", [b"\xff\xff\0\0\0\0\0\1", b"\x7f\0\0\0\0\0\0\1", b"\0\1\x7f\0\0\0\0\1"])
def test_what_cannot_be_a_request(head):
    assert KafkaSpeech(2, 1).request(memoryview(head), 8) is None
