"""ZooKeeper behind the proxy: what a broker's connection carries, and how its pings get by."""

from struct import Struct

import pytest

from tidemark.nodes.sidecar.proxy.zookeeper_speech import ZooKeeperSpeech

CONNECT = Struct(">iqiqi16sb").pack(0, 0, 4_000, 0, 16, bytes(16), 0)
CONNECTED = Struct(">iiqi16sb").pack(0, 4_000, 77, 16, bytes(16), 0)
PING = Struct(">ii").pack(-2, 11)
PONG = Struct(">iqi").pack(-2, 5, 0)
STATE = b"/brokers/topics/t/partitions/0/state"


def set_data(xid, path):
    return Struct(">iii").pack(xid, 5, len(path)) + path + b"\0\0\0\2{}\0\0\0\7"


def kinds_of(node, body):
    speech = ZooKeeperSpeech(node, 0)
    speech.request(memoryview(CONNECT), len(CONNECT))
    return speech.request(memoryview(body), len(body)).kinds


@pytest.mark.parametrize(
    ("body", "change"),
    [
        (set_data(1, STATE), True),
        (set_data(1, b"/kafka/x" + STATE), True),
        (set_data(1, STATE.replace(b"/t/", b"/" + b"a.very_long-name" * 15 + b"/")), True),
        (set_data(1, STATE + b"/more"), False),
        (set_data(1, b"/controller_epoch"), False),
        (set_data(1, b"/brokers/topics/t"), False),
        (Struct(">iii").pack(1, 4, len(STATE)) + STATE + b"\0", False),
        (PING, False),
    ],
)
def test_kinds(body, change):
    kinds = kinds_of(2, body)
    assert kinds == (("heartbeats", "ISR changes") if change else ("heartbeats",))
    assert kinds_of(0, body) == ()


def test_a_session_that_is_not_heard(run, stage, kafka):
    async def play():
        async with stage(speaks="zookeeper", here=0) as s:
            broker, zookeeper = await s.pair(2)
            broker.send(kafka.framed(CONNECT))
            assert await zookeeper.receive() == kafka.framed(CONNECT)
            zookeeper.send(kafka.framed(CONNECTED))
            assert await broker.receive() == kafka.framed(CONNECTED)
            other, behind_other = await s.pair(3)
            s.put("drop", "heartbeats", 2, 0)
            broker.send(kafka.framed(PING), kafka.framed(set_data(1, STATE)))
            await zookeeper.silent()
            other.send(kafka.framed(CONNECT))
            assert await behind_other.receive() == kafka.framed(CONNECT)
            s.rules.clear("k")
            await broker.closed()
            await zookeeper.closed()

    run(play())


@pytest.mark.parametrize("effect", ["hold", "drop"])
def test_an_isr_change_that_does_not_arrive_does_not_cost_the_session(run, stage, kafka, effect):
    change = kafka.framed(set_data(3, STATE))
    other = kafka.framed(set_data(4, b"/else"))

    async def play():
        async with stage(speaks="zookeeper", here=0) as s:
            broker, zookeeper = await s.pair(2)
            s.put(effect, "ISR changes", 2)
            broker.send(kafka.framed(CONNECT), change, other, kafka.framed(PING))
            assert await zookeeper.receive(2) == [kafka.framed(CONNECT), kafka.framed(PING)]
            zookeeper.send(kafka.framed(CONNECTED), kafka.framed(PONG))
            assert await broker.receive(2) == [kafka.framed(CONNECTED), kafka.framed(PONG)]
            await zookeeper.silent()
            s.rules.clear("k")
            if effect == "hold":
                assert await zookeeper.receive(2) == [change, other]
            else:
                await broker.closed()
                await zookeeper.closed()

    run(play())


def test_a_held_isr_change_arrives_though_the_broker_is_gone(run, stage, kafka):
    change = kafka.framed(set_data(3, STATE))

    async def play():
        async with stage(speaks="zookeeper", here=0) as s:
            broker, zookeeper = await s.pair(2)
            s.put("hold", "ISR changes", 2)
            broker.send(kafka.framed(CONNECT), change)
            await zookeeper.receive()
            await broker.close()
            await zookeeper.silent()
            s.rules.clear("k")
            assert await zookeeper.receive() == change
            await zookeeper.closed()

    run(play())
