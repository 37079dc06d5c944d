"""What etcd's client makes of what a member answers."""

import json

import pytest

from tidemark import Outcome
from tidemark.harness.systems.etcd.client import EtcdClient, EtcdCounter
from tidemark.harness.systems.etcd.gateway import EtcdError, Gateway, answer_of, encoded


class Member:
    """A member that answers by a script, and keeps what it was asked."""

    def __init__(self, *answers):
        self.answers, self.asked = list(answers), []

    def ask(self, path, about):
        self.asked.append((path, about))
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def client_of(member, made=EtcdClient):
    client = made()
    client._gateway = member
    return client


def kvs(text, revision=5):
    return {"kvs": [{"key": encoded("k1"), "value": encoded(text), "mod_revision": str(revision)}]}


def lists(*ranges):
    return {"succeeded": True, "responses": [{"response_range": one} for one in ranges]}


def test_a_register_is_read():
    assert client_of(Member(kvs("3"))).invoke("read", "k1") == Outcome("ok", 3)
    assert client_of(Member({})).invoke("read", "k1") == Outcome("ok", None)


def test_a_comparison_that_failed_is_an_answer():
    assert client_of(Member({"succeeded": True})).invoke("cas", ("k1", (1, 2))) == Outcome("ok", True)
    assert client_of(Member({})).invoke("cas", ("k1", (1, 2))) == Outcome("ok", False)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (14, "etcdserver: leader changed"),
        (14, "etcdserver: request timed out"),
        (14, "etcdserver: request timed out, possibly due to previous leader failure"),
        (14, "etcdserver: server stopped"),
        (8, "etcdserver: too many requests"),
        (8, "etcdserver: mvcc: database space exceeded"),
        (4, "context deadline exceeded"),
        (2, "something else"),
    ],
)
def test_of_such_an_error_nothing_is_known(code, words):
    with pytest.raises(EtcdError, match=words):
        client_of(Member(EtcdError(words, code))).invoke("write", ("k1", 1))


def test_a_request_that_was_none_did_nothing():
    member = Member(EtcdError("etcdserver: duplicate key given in txn request", 3))
    assert client_of(member).invoke("write", ("k1", 1)).type == "fail"


def test_the_elements_of_a_set_are_read():
    there = {"kvs": [{"key": encoded(f"s/{one}")} for one in (10, 9)]}
    assert client_of(Member(there)).invoke("read", None) == Outcome("ok", [9, 10])


def test_an_id_is_the_revision_that_its_put_made():
    assert client_of(Member({"header": {"revision": "12"}})).invoke("generate", None) == Outcome("ok", 12)


def test_a_counter_is_written_only_if_nobody_wrote_it_since_it_was_read():
    member = Member(kvs("5", 7), {}, kvs("6", 8), {"succeeded": True})
    assert client_of(member, EtcdCounter).invoke("add", 3).type == "ok"
    _, written = member.asked[-1]
    assert written["compare"][0]["mod_revision"] == "8"
    assert written["success"][0]["request_put"]["value"] == encoded("9")
    assert client_of(Member({}), EtcdCounter).invoke("read", None) == Outcome("ok", 0)


def test_a_counter_that_others_write_all_the_time_is_given_up():
    assert client_of(Member(*[kvs("5"), {}] * 5), EtcdCounter).invoke("add", 3).type == "fail"


def test_a_counter_s_write_of_unknown_end_proves_nothing():
    assert client_of(Member(TimeoutError("slow")), EtcdCounter).invoke("add", 3).type == "fail"
    with pytest.raises(TimeoutError):
        client_of(Member(kvs("5"), TimeoutError("slow")), EtcdCounter).invoke("add", 3)


TXN = (("r", "x", None), ("append", "x", 2), ("r", "x", None), ("append", "y", 1))


def test_a_transaction_writes_only_if_nothing_was_written_since_it_read():
    member = Member(lists(kvs("[1]", 7), {}), {"succeeded": True})
    assert client_of(member).invoke("txn", TXN) == Outcome(
        "ok", [("r", "x", [1]), ("append", "x", 2), ("r", "x", [1, 2]), ("append", "y", 1)]
    )
    _, written = member.asked[1]
    assert [(one["key"], one["mod_revision"]) for one in written["compare"]] == [
        (encoded("x"), "7"),
        (encoded("y"), "0"),
    ]
    puts = [one["request_put"] for one in written["success"]]
    assert [(one["key"], one["value"]) for one in puts] == [
        (encoded("x"), encoded("[1, 2]")),
        (encoded("y"), encoded("[1]")),
    ]


def test_a_transaction_that_only_reads_asks_once():
    member = Member(lists(kvs("[1]")))
    assert client_of(member).invoke("txn", (("r", "x", None),)) == Outcome("ok", [("r", "x", [1])])


def test_a_transaction_that_met_another_is_tried_again_and_then_given_up():
    conflict = [lists(kvs("[1]"), {}), {}]
    assert client_of(Member(*conflict, lists(kvs("[1]"), {}), {"succeeded": True})).invoke("txn", TXN).type == "ok"
    assert client_of(Member(*conflict * 5)).invoke("txn", TXN).type == "fail"


def test_what_went_wrong_before_a_transaction_wrote_changed_nothing():
    assert client_of(Member(TimeoutError("slow"))).invoke("txn", TXN).type == "fail"


def test_what_went_wrong_while_it_wrote_may_have_changed_something():
    with pytest.raises(TimeoutError):
        client_of(Member(lists(kvs("[1]"), {}), TimeoutError("slow"))).invoke("txn", TXN)


def test_an_error_tells_its_words_and_its_code():
    with pytest.raises(EtcdError, match="etcdserver: leader changed") as raised:
        answer_of(503, json.dumps({"code": 14, "message": "etcdserver: leader changed"}).encode())
    assert raised.value.code == 14
    with pytest.raises(EtcdError, match="status 502, and no JSON"):
        answer_of(502, b"<html>")


def test_who_does_not_listen_was_asked_nothing():
    with pytest.raises(OSError, match="refused"):
        Gateway(("127.0.0.1", 1))
