"""What rules do to messages on their way: dropped, lost, held, late."""

import asyncio

import pytest


def test_a_dropped_request_takes_all_behind_it_along_until_the_rule_ends(run, stage, kafka):
    async def play():
        async with stage() as s:
            requester, broker = await s.pair()
            requester.send(kafka.request(1, 1))
            await broker.receive()
            broker.send(kafka.answer(1))
            await requester.receive()
            s.put("drop", "fetch requests", 2, 1)
            requester.send(kafka.request(1, 2), kafka.request(18, 3))
            await broker.silent()
            await requester.silent()
            assert s.rules.clear("k")
            await requester.closed()
            await broker.closed()
            requester, broker = await s.pair()
            requester.send(kafka.request(1, 0))
            assert await broker.receive() == kafka.request(1, 0)

    run(play())


def test_a_dropped_answer(run, stage, kafka):
    async def play():
        async with stage() as s:
            requester, broker = await s.pair()
            requester.send(kafka.request(1, 1, b"x"))
            await broker.receive()
            s.put("drop", "fetch responses", 1, 2)
            broker.send(kafka.answer(1, b"y" * 100_000))
            await requester.silent()
            s.rules.clear("k")
            await requester.closed()
            await broker.closed()

    run(play())


def test_what_a_rule_does_not_concern_passes(run, stage, kafka):
    async def play():
        async with stage() as s:
            s.put("drop", "fetch requests", 2)
            s.put("hold", "leadership", 2, key="l")
            for node, key in ((3, 1), (2, 23), (0, 4), (1, 1), (7, 1)):
                requester, broker = await s.pair(node)
                requester.send(kafka.request(key, 5))
                assert await broker.receive() == kafka.request(key, 5)
                broker.send(kafka.answer(5))
                assert await requester.receive() == kafka.answer(5)

    run(play())


@pytest.mark.parametrize(
    ("kind", "key", "node"),
    [
        ("fetch requests", 1, 2),
        ("epoch requests", 23, 3),
        ("leadership", 4, 0),
        ("leadership", 5, 0),
        ("leadership", 6, 0),
        ("ISR changes", 56, 2),
        (None, 18, 2),
    ],
)
def test_requests_of_every_kind_are_held(run, stage, kafka, kind, key, node):
    async def play():
        async with stage() as s:
            s.put("hold", kind, node, 1)
            requester, broker = await s.pair(node)
            requester.send(kafka.request(key, 1))
            await broker.silent()
            s.rules.clear("k")
            assert await broker.receive() == kafka.request(key, 1)
            broker.send(kafka.answer(1))
            assert await requester.receive() == kafka.answer(1)

    run(play())


@pytest.mark.parametrize(
    ("kind", "key", "controller"),
    [
        ("fetch responses", 1, False),
        ("epoch responses", 23, False),
        ("leadership", 1, True),
        ("leadership", 59, True),
        (None, 18, False),
    ],
)
def test_answers_of_every_kind_are_held(run, stage, kafka, kind, key, controller):
    async def play():
        async with stage(here=0 if controller else 1, controller=controller) as s:
            s.put("hold", kind, 0 if controller else 1, 2)
            requester, broker = await s.pair()
            requester.send(kafka.request(key, 1))
            await broker.receive()
            broker.send(kafka.answer(1))
            await requester.silent()
            s.rules.clear("k")
            assert await requester.receive() == kafka.answer(1)

    run(play())


def test_held_frames_go_on_in_order_and_hold_up_those_behind(run, stage, kafka):
    async def play():
        async with stage() as s:
            requester, broker = await s.pair()
            s.put("hold", "epoch requests")
            frames = [kafka.request(key, n, b"x" * 50_000) for n, key in enumerate((1, 23, 1, 23, 18))]
            requester.send(*frames)
            assert await broker.receive() == frames[0]
            await broker.silent()
            s.rules.clear("k")
            assert await broker.receive(4) == frames[1:]
            requester.send(frames[1])
            assert await broker.receive() == frames[1]

    run(play())


def test_a_held_frame_may_still_be_arriving_when_it_is_let_go(run, stage, kafka):
    async def play():
        async with stage() as s:
            requester, broker = await s.pair()
            s.put("hold", "fetch requests")
            frame = kafka.request(1, 1, b"x" * 1_000)
            requester.send(frame[:500])
            await broker.silent()
            s.rules.clear("k")
            assert await broker.reader.readexactly(500) == frame[:500]
            requester.send(frame[500:], kafka.request(1, 2))
            assert await broker.reader.readexactly(len(frame) - 500) == frame[500:]
            assert await broker.receive() == kafka.request(1, 2)

    run(play())


def test_a_held_request_arrives_though_its_requester_has_given_up(run, stage, kafka):
    async def play(give_up):
        async with stage() as s:
            s.put("hold", "fetch requests")
            requester, broker = await s.pair()
            requester.send(kafka.request(1, 1))
            await broker.silent()
            await give_up(requester)
            await broker.silent()
            s.rules.clear("k")
            assert await broker.receive() == kafka.request(1, 1)
            await broker.silent()
            broker.send(kafka.answer(1))
            await broker.closed()
            await s.over()

    async def abort(requester):
        requester.writer.transport.abort()

    run(play(lambda requester: requester.close()))
    run(play(abort))


def test_a_held_answer_is_lost_when_its_requester_is_gone(run, stage, kafka):
    async def play():
        async with stage() as s:
            s.put("hold", "fetch responses")
            requester, broker = await s.pair()
            requester.send(kafka.request(1, 1))
            await broker.receive()
            broker.send(kafka.answer(1))
            await requester.silent()
            await requester.close()
            await broker.closed()
            await broker.close()
            s.rules.clear("k")
            await s.over()

    run(play())


def test_a_held_answer_outlives_its_broker(run, stage, kafka):
    async def play():
        async with stage() as s:
            s.put("hold", "fetch responses")
            requester, broker = await s.pair()
            requester.send(kafka.request(1, 1))
            await broker.receive()
            broker.send(kafka.answer(1))
            await broker.close()
            await requester.silent()
            s.rules.clear("k")
            assert await requester.receive() == kafka.answer(1)
            await requester.closed()
            await s.over()

    run(play())


def test_a_held_request_is_lost_with_its_broker(run, stage, kafka):
    async def play():
        async with stage() as s:
            s.put("hold", "fetch requests")
            requester, broker = await s.pair()
            requester.send(kafka.request(1, 1))
            await broker.silent()
            await broker.close()
            await requester.closed()
            await s.over()

    run(play())


def test_what_is_held_is_bounded(run, stage, kafka):
    piece = bytes(1 << 20)

    async def play():
        async with stage() as s:
            s.put("hold", "fetch requests")
            requester, broker = await s.pair()
            requester.send(kafka.request(1, 1, bytes(100 << 20))[:18])
            sent = await requester.push(piece, 100)
            assert sent < 60
            s.rules.clear("k")
            requester.send(piece * (100 - sent))
            assert len(await broker.receive()) == 18 + (100 << 20)

    run(play())


def test_what_one_rule_lets_go_another_may_hold_or_drop(run, stage, kafka):
    async def play():
        async with stage() as s:
            s.put("hold", "fetch requests")
            two, behind_two = await s.pair(2)
            three, behind_three = await s.pair(3)
            two.send(kafka.request(1, 1))
            three.send(kafka.request(1, 1), kafka.request(18, 2))
            await behind_two.silent()
            s.put("hold", None, 2, key="two")
            s.put("drop", None, 3, key="three")
            s.rules.clear("k")
            await behind_two.silent()
            await behind_three.silent()
            s.rules.clear("two")
            assert await behind_two.receive() == kafka.request(1, 1)
            s.rules.clear("three")
            await three.closed()
            await behind_three.closed()
            two.send(kafka.request(1, 2))
            assert await behind_two.receive() == kafka.request(1, 2)

    run(play())


def test_what_waited_before_a_dropped_frame_still_arrives(run, stage, kafka):
    async def play():
        async with stage() as s:
            s.put("hold", "fetch requests", key="h")
            s.put("drop", "epoch requests", key="d")
            requester, broker = await s.pair()
            requester.send(kafka.request(1, 1), kafka.request(23, 2), kafka.request(1, 3))
            await broker.silent()
            s.rules.clear("d")
            await requester.silent()
            s.rules.clear("h")
            assert await broker.receive() == kafka.request(1, 1)
            await broker.closed()
            await requester.closed()

    run(play())


def test_delayed_frames_are_late_and_in_order(run, stage, kafka):
    async def play():
        async with stage() as s:
            s.put("delay", None, 2, 1, amount=60_000)
            requester, broker = await s.pair()
            began = asyncio.get_running_loop().time()
            frames = [kafka.request(1, n) for n in range(40)]
            requester.send(*frames)
            assert await broker.receive(40) == frames
            assert asyncio.get_running_loop().time() - began > 0.03
            s.rules.clear("k")
            requester.send(kafka.request(1, 99))
            assert await broker.receive() == kafka.request(1, 99)

    run(play())


def test_a_lost_frame_closes_its_connection(run, stage, kafka):
    async def play():
        async with stage() as s:
            s.put("lose", "fetch requests", amount=1_000)
            requester, broker = await s.pair()
            requester.send(kafka.request(18, 1), kafka.request(1, 2), kafka.request(18, 3))
            assert await broker.receive() == kafka.request(18, 1)
            await broker.closed()
            await requester.closed()
            s.put("lose", "fetch requests", amount=0)
            requester, broker = await s.pair()
            requester.send(kafka.request(1, 2))
            assert await broker.receive() == kafka.request(1, 2)

    run(play())


def test_rules_concern_bytes_that_are_no_frames(run, stage):
    async def play():
        async with stage() as s:
            s.put("drop", "fetch requests", key="f")
            s.put("hold")
            requester, broker = await s.pair()
            requester.send(b"ruok")
            await broker.silent()
            s.rules.clear("k")
            assert await broker.reader.readexactly(4) == b"ruok"

    run(play())
