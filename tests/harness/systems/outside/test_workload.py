"""What the workload of a system of any protocol writes down of what its clients say."""

import pytest

from tidemark import Outcome
from tidemark.harness.clients.client_threads import ClientThreads
from tidemark.harness.clients.counters import Counters
from tidemark.harness.clients.errors import ClientsError
from tidemark.harness.clients.workload import WorkloadOrder
from tidemark.harness.systems.outside.connected import Connected
from tidemark.harness.systems.outside.workload import OutsideWorkload
from tidemark.nemesis import Plan, WorkloadSpec
from tidemark.nemesis.send import Send
from tidemark.nodes.core.cluster import ClusterSpec

HERE, THERE = ("here", 1), ("there", 2)


class Client:
    """Answers by its script, whoever opens it."""

    def __init__(self, answers, opened):
        self.answers, self.opened = answers, opened

    def open(self, address):
        self.opened.append(address)

    def invoke(self, f, value):
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def close(self):
        pass


def test_after_anything_but_ok_the_next_node_is_asked():
    opened = []
    answers = [Outcome("ok", 1), OSError("gone"), Outcome("fail", error="no"), Outcome("ok", 2)]
    client = Connected(lambda: Client(answers, opened), [HERE, THERE], 0)

    assert [client.do("send", 1) for _ in range(4)] == [
        Outcome("ok", 1),
        Outcome("info", error="OSError: gone"),
        Outcome("fail", error="no"),
        Outcome("ok", 2),
    ]
    assert opened == [HERE, THERE, HERE]


def test_a_connection_that_cannot_be_made_asked_for_nothing():
    class Deaf(Client):
        def open(self, address):
            raise OSError("refused")

    assert Connected(lambda: Deaf([], []), [HERE], 0).do("send", 1) == Outcome(
        "fail", error="not connected: OSError: refused"
    )


def test_what_is_no_outcome_is_told_in_words():
    with pytest.raises(ClientsError, match=r"invoke\('send', 1\) answered \[7\], and must answer an Outcome"):
        Connected(lambda: Client([[7]], []), [HERE], 0).do("send", 1)


def test_what_a_client_that_ended_has_to_say_is_told():
    threads = ClientThreads()

    def work():
        raise ClientsError("invoke answered nonsense")

    threads.begin("c1", work)
    with pytest.raises(ClientsError, match=r"^invoke answered nonsense$"):
        threads.stop()


def test_whose_send_may_yet_be_carried_out_is_another_process_afterwards():
    written = []
    spec = WorkloadSpec(producers=1, consumers=0, sends=tuple(Send(0, 1, 0, 1) for _ in range(3)))
    plan = Plan(0, 0, 1, "by hand", ClusterSpec(), spec, (), 1)
    order = WorkloadOrder(
        plan=plan, variant=None, addresses={1: "here:1"}, clock=lambda: 0, record=written.append, counters=Counters(),
        library="confluent", log=None,
    )  # fmt: skip
    answers = [Outcome("ok", 0), OSError("slow"), Outcome("ok", 2), []]
    workload = OutsideWorkload(order, lambda: Client(answers, []))
    workload.start()
    while order.counters.snapshot()["ok"] < 2:
        pass
    workload.stop()

    assert [(op.process, op.type) for op in written] == [
        ("p1", "invoke"), ("p1", "ok"), ("p1", "invoke"), ("p1", "info"), ("p1.1", "invoke"), ("p1.1", "ok"),
    ]  # fmt: skip
