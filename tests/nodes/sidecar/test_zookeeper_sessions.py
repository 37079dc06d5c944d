"""What ZooKeeper says of the nodes that sessions hold, and how long that is waited for. ZooKeeper is a few lines here."""

import asyncio
import contextlib

import pytest

from tidemark.nodes.admin.config_file import Address
from tidemark.nodes.sidecar.readiness import ephemeral_nodes
from tidemark.nodes.sidecar.zookeeper import ZooKeeper

# As DumpCommand of ZooKeeper 3.5 prints it.
DUMP = """\
SessionTracker dump:
Session Sets (2)/(1):
0 expire at Sun Nov 22 07:00:00 UTC 2026:
1 expire at Sun Nov 22 07:00:03 UTC 2026:
\t0x1000a5c7f2e0000
ephemeral nodes dump:
Sessions with Ephemerals (1):
0x1000a5c7f2e0000:
\t/controller
\t/brokers/ids/0
Connections dump:
Connections Sets (1)/(1):
1 expire at Sun Nov 22 07:00:07 UTC 2026:
\tip: /127.0.0.1:40000 sessionId: 0x0
"""
NONE = "SessionTracker dump:\nephemeral nodes dump:\nSessions with Ephemerals (0):\nConnections dump:\n"


class JvmThatGoesOn:
    def __init__(self):
        self.ended = asyncio.get_running_loop().create_future()


def asked(question, *answers):
    """What comes of asking a ZooKeeper that gives these answers, the last one for ever."""

    async def serve():
        left = list(answers)

        async def answer(reader, writer):
            assert await reader.readexactly(4) == b"dump"
            writer.write((left.pop(0) if len(left) > 1 else left[0]).encode())
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        async with server:
            return await question(Address(*server.sockets[0].getsockname()[:2]))

    return asyncio.run(asyncio.wait_for(serve(), 20))


def frees(within_s, *answers, ended=False):
    async def wait(address):
        zookeeper = object.__new__(ZooKeeper)
        zookeeper.address, zookeeper.jvm = address, JvmThatGoesOn()
        if ended:
            zookeeper.jvm.ended.set_result(1)
        return await zookeeper.frees("/brokers/ids/0", within_s)

    return asked(wait, *answers)


@pytest.mark.parametrize(
    ("answer", "held"),
    [
        (DUMP, {"/controller", "/brokers/ids/0"}),
        (NONE, set()),
        ("dump is not executed because it is not in the whitelist.\n", None),
        ("", None),
    ],
)
def test_what_sessions_hold(answer, held):
    assert asked(ephemeral_nodes, answer) == held


def test_a_node_that_nobody_holds_is_not_waited_for():
    assert frees(5, NONE) == 0


def test_a_node_is_waited_for_until_its_session_has_ended():
    assert 0.15 < frees(15, DUMP, DUMP, NONE) < 10


def test_a_session_that_does_not_end_is_not_waited_for_for_ever():
    assert 0.5 <= frees(0.5, DUMP) < 10


@pytest.mark.parametrize(("answers", "ended"), [(["not a word"], False), ([DUMP], True)])
def test_a_zookeeper_that_says_nothing_or_has_ended_is_not_waited_for(answers, ended):
    assert frees(15, *answers, ended=ended) == 0
