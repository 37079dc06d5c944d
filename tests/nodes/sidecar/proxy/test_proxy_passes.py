"""Without a rule a proxy is a piece of wire: bytes, ends of file, pressure."""

import asyncio
import os
import random
from itertools import pairwise

import pytest

from tidemark.nodes.sidecar.proxy.speech import RAW, Cutter, Message


def test_requests_and_answers_pass_in_any_pieces(run, stage, kafka):
    noise = random.Random(1)
    asked = [kafka.request(1, n, noise.randbytes(noise.choice((0, 3, 70_000)))) for n in range(30)]
    answered = [kafka.answer(n, noise.randbytes(noise.choice((0, 1, 300_000)))) for n in range(30)]

    async def send(end, data):
        at = 0
        while at < len(data):
            step = noise.choice((1, 2, 5, 11, 4_000, 90_000))
            end.send(data[at : at + step])
            at += step
            await end.writer.drain()
            await asyncio.sleep(0)

    async def play():
        async with stage() as s:
            requester, broker = await s.pair()
            sending = asyncio.create_task(send(requester, b"".join(asked)))
            assert await broker.receive(30) == asked
            await sending
            sending = asyncio.create_task(send(broker, b"".join(answered)))
            assert await requester.receive(30) == answered
            await sending

    run(play())


def test_a_frame_of_a_hundred_megabytes(run, stage, kafka):
    async def play():
        async with stage() as s:
            requester, broker = await s.pair()
            body = os.urandom(1 << 20) * 100
            requester.send(kafka.request(0, 1))
            await broker.receive()
            broker.send(kafka.answer(1, body))
            assert (await requester.receive())[8:] == body

    run(play())


@pytest.mark.parametrize(
    "bytes_", [b"ruok", b"GET / HTTP/1.1\r\n\r\n", b"\0\0\0\0", b"\0\0\0\4abcd", b"\xff" * 100, b"hm"]
)
@pytest.mark.parametrize("speaks", ["kafka", "zookeeper"])
def test_what_is_no_frame_passes_too(run, stage, bytes_, speaks):
    async def play():
        async with stage(speaks=speaks) as s:
            requester, broker = await s.pair()
            requester.send(bytes_)
            requester.writer.write_eof()
            assert await broker.reader.read() == bytes_
            broker.send(b"imok")
            broker.writer.close()
            assert await requester.reader.read() == b"imok"
            await s.over()

    run(play())


def test_whoever_closes_the_other_side_hears_of_it(run, stage, kafka):
    async def play():
        async with stage() as s:
            requester, broker = await s.pair()
            await requester.close()
            await broker.closed()
            await broker.close()
            await s.over()
            requester, broker = await s.pair()
            requester.send(kafka.request(1, 1))
            await broker.receive()
            broker.send(kafka.answer(1))
            await broker.close()
            assert await requester.receive() == kafka.answer(1)
            await requester.closed()
            await s.over()

    run(play())


def test_a_reset_passes_as_an_end(run, stage, kafka):
    async def play():
        async with stage() as s:
            for number in (0, 1):
                ends = await s.pair()
                ends[0].send(kafka.request(1, 1))
                await ends[1].receive()
                ends[number].writer.transport.abort()
                await ends[1 - number].closed()
                await ends[1 - number].close()
            await s.over()

    run(play())


def test_nobody_behind_it(run, stage, kafka):
    async def play():
        async with stage(listening=False) as s:
            requester = await s.connect()
            requester.send(kafka.request(1, 1))
            await requester.closed()
            await s.over()

    run(play())


def test_who_does_not_read_is_not_sent_more_than_fits(run, stage, kafka):
    piece = bytes(1 << 20)

    async def play():
        async with stage() as s:
            requester, broker = await s.pair()
            requester.reader._transport.pause_reading()
            requester.send(kafka.request(1, 1))
            await broker.receive()
            broker.send(kafka.answer(1, bytes(100 << 20))[:8])
            sent = await broker.push(piece, 100)
            assert sent < 50
            requester.reader._transport.resume_reading()
            broker.send(piece * (100 - sent))
            assert len(await requester.receive()) == 8 + (100 << 20)

    run(play())


def test_closing_ends_every_connection(run, stage, kafka):
    async def play():
        async with stage() as s:
            requester, broker = await s.pair()
            s.proxy.close()
            await requester.closed()
            await broker.closed()
            await s.over()
            with pytest.raises(ConnectionRefusedError):
                await asyncio.open_connection("127.0.0.1", s.proxy.port or 1)
            s.proxy.close()

    run(play())


def test_pieces_cover_everything(kafka):
    class Speech:
        request_head = 8
        response_head = 4
        lost = False

        def request(self, head, size):
            return Message() if size >= 8 and head[0] == 0 else None

        response = request

    stream = b"".join(kafka.request(1, n, b"x" * n) for n in range(40)) + b"\0\0\0\7garbage, garbage"
    for step in (1, 3, 8, 50, 10_000):
        speech = Speech()
        cutter, out, lasts = Cutter(speech, requests=True), b"", 0
        for at in range(0, len(stream), step):
            buffer, pieces = cutter.feed(stream[at : at + step])
            assert all(a.end == b.begin for a, b in pairwise(pieces))
            out += b"".join(buffer[piece.begin : piece.end] for piece in pieces)
            lasts += sum(piece.last and piece.message is not RAW for piece in pieces)
        assert out + cutter.rest() == stream
        assert speech.lost
        assert lasts == 40
