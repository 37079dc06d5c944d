"""An aiokafka client whose start is broken off leaves no connection behind."""

import asyncio
import gc
from contextlib import suppress

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.errors import KafkaConnectionError

from tidemark.harness.clients.aiokafka_start import start_or_leave


@pytest.fixture
def collected():
    """Of the room's fixtures not this one: here a connection that is left is an error."""
    yield
    gc.collect()


@pytest.mark.parametrize("kind", [AIOKafkaProducer, AIOKafkaConsumer])
def test_a_start_that_is_cancelled_comes_to_its_end_first(kind, collected):

    async def case():
        asked, go = asyncio.Event(), asyncio.Event()

        async def hesitate(reader, writer):
            asked.set()
            await go.wait()
            writer.close()

        async with await asyncio.start_server(hesitate, "127.0.0.1", 0) as server:
            host, port = server.sockets[0].getsockname()
            client = kind(bootstrap_servers=f"{host}:{port}", request_timeout_ms=60_000)
            starting = asyncio.create_task(start_or_leave(client, 60))
            await asked.wait()
            starting.cancel()
            await asyncio.sleep(0)
            assert not starting.done()
            go.set()
            with pytest.raises(asyncio.CancelledError):
                await starting
            with suppress(KafkaConnectionError):
                await client.stop()

    asyncio.run(case())


def test_a_start_that_fails_says_so():
    async def case():
        client = AIOKafkaProducer(bootstrap_servers="127.0.0.1:1")
        with pytest.raises(KafkaConnectionError):
            await start_or_leave(client, 1)
        await client.stop()

    asyncio.run(case())


class Deaf:
    """Never starts."""

    async def start(self):
        await asyncio.Event().wait()


def test_what_takes_too_long_is_broken_off_all_the_same():
    async def case():
        starting = asyncio.create_task(start_or_leave(Deaf(), 0.01))
        await asyncio.sleep(0)
        starting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await starting

    asyncio.run(case())
