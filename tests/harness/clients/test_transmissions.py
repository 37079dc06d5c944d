"""Tries of an operation, from librdkafka's statistics."""

import json
import time

from tidemark.harness.clients.transmissions import Transmissions


def statistics(records, age=0, **requests):
    brokers = {name: {"req": {"Produce": count}} for name, count in requests.items()}
    return json.dumps({"age": age, "txmsgs": records, "brokers": brokers})


class Counted:
    """One producer's statistics: some before the operation, then more."""

    def __init__(self, records=10, **requests):
        self.sent = Transmissions()
        self.sent.note(statistics(records, **requests))
        self.mark = self.sent.mark()

    def then(self, records, batch=3, **requests):
        self.sent.note(statistics(records, **requests))
        return self.sent.tries_since(self.mark, batch)


def test_nothing_was_sent():
    assert Counted(a=4, b=0).then(10, a=4, b=0) == 0


def test_one_request():
    assert Counted(a=4).then(13, a=5) == 1
    assert Counted(a=4, b=1).then(13, a=4, b=2) == 1


def test_one_batch_in_two_requests_is_no_single_try():
    assert Counted(a=4).then(13, a=6) == 2


def test_several_tries_at_several_brokers():
    assert Counted(a=4, b=1).then(19, a=5, b=3) == 3


def test_a_request_that_was_made_and_did_not_leave_counts():
    assert Counted(a=4).then(13, a=4) == 1


def test_a_broker_that_left_is_counted_anew_when_it_is_back():
    counted = Counted(a=4, b=2)
    assert counted.then(10, b=2) == 0
    assert counted.then(10, a=0, b=2) == 0
    assert counted.then(13, a=1, b=2) == 1


def test_what_left_with_a_broker_that_is_gone_shows_in_the_records():
    assert Counted(a=4, b=2).then(13, b=2) == 1


def test_records_that_go_back_tell_nothing():
    counted = Counted(a=4)
    assert counted.then(2, a=5) is None
    assert counted.then(13, a=5) is None


def test_old_statistics_make_more_tries_never_less():
    counted = Counted(a=4)
    assert counted.then(16, a=6) == 2


def test_a_broker_without_produce_requests():
    sent = Transmissions()
    sent.note(json.dumps({"age": 0, "txmsgs": 0, "brokers": {"a": {"req": {}}}}))
    assert sent.tries_since(sent.mark(), 1) == 0


def test_when_statistics_were_measured():
    before = time.monotonic()
    sent = Transmissions()
    after = time.monotonic()
    sent.note(statistics(0, age=2_500_000))
    assert before + 2.5 <= sent.measured_at <= after + 2.5
