"""15,000 frames (100,000 behind make test-systems) that are broken in some way, over many connections: the node answers the next
client as if nothing was.

Six of seven are mutations of valid requests, of every API in every version. Each is sent on a connection that is open, and the
node has looked at it before the connection is used again.
"""

import select
import socket
from collections import Counter
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random
from struct import pack, unpack_from

import pytest
from kio.schema.errors import ErrorCode
from kio.schema.metadata.v5.request import MetadataRequest

from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.epoch_cache import EpochEnd
from tidemark.nodes.core.messages import EpochRequest, FetchRequest, LeaderAndIsr
from tidemark.nodes.core.settings import Settings
from tidemark.nodes.core.variant import parse_variant
from tidemark.nodes.formats.wire.codec import FETCH, LEADER_AND_ISR, OFFSET_FOR_LEADER_EPOCH, codec
from tidemark.nodes.formats.wire.frames import finish, request_frame
from tidemark.nodes.formats.wire.names import topics_by_id
from tidemark.nodes.process.wire import translate_control, translate_epoch
from tidemark.nodes.process.wire.translate_fetch import FetchTranslation, fetch_version

FRAMES = 6_000
MANY_FRAMES = 100_000
AT_ONCE = 200
"""Connections that are open at the same time; each gets one frame a round."""
FRAMES_OF_A_CONNECTION = 25
"""Frames after which a connection that survived is closed."""
MOST_GROWTH_KIB = 150 * 1024
EXTREMES = [0, 1, -1, -2, 0x7F, -0x80, 0x7FFF, -0x8000, 0x7FFF_FFFF, -0x8000_0000, 0x7FFF_FFFF_FFFF_FFFF, -(1 << 63)]


def framed(body):
    return pack(">i", len(body)) + body


class Fuzz:
    """Makes frames; the same ones for the same seed."""

    def __init__(self, seed, valid):
        self.random = Random(seed)
        self.valid = valid
        """Frames without their length."""
        self.kinds = Counter()
        self._makers = [
            self.flipped,
            self.overwritten,
            self.cut,
            self.spliced,
            self.doubled,
            self.renamed,
            self.nonsense,
        ]

    def next(self):
        make = self.random.choice(self._makers)
        self.kinds[make.__name__] += 1
        return make()

    def _one(self):
        return bytearray(self.random.choice(self.valid))

    def flipped(self):
        """A few bits are others, anywhere."""
        body = self._one()
        for _ in range(self.random.choice((1, 1, 2, 8))):
            body[self.random.randrange(len(body))] ^= 1 << self.random.randrange(8)
        return framed(body)

    def overwritten(self):
        """A number of 1, 2, 4 or 8 bytes becomes an extreme one: lengths and counts above all."""
        body = self._one()
        size = self.random.choice((1, 2, 4, 8))
        at = self.random.randrange(8, max(len(body) - size, 9))
        value = self.random.choice(EXTREMES) & ((1 << 8 * size) - 1)
        body[at : at + size] = value.to_bytes(size, "big")
        return framed(body)

    def cut(self):
        """The end is missing: of the body, or of the frame."""
        body = self._one()
        short = body[: self.random.randrange(len(body))]
        return framed(short) if self.random.random() < 0.5 else framed(body)[: len(short) + 4]

    def spliced(self):
        """The beginning of one request, the end of another."""
        one, other = self._one(), self._one()
        return framed(one[: self.random.randrange(len(one))] + other[self.random.randrange(len(other)) :])

    def doubled(self):
        """A piece is there twice, or something follows."""
        body = self._one()
        at, size = self.random.randrange(len(body)), self.random.randrange(1, 40)
        return framed(body[: at + size] + body[at:])

    def renamed(self):
        """One API's body under another's key or version."""
        body = self._one()
        key, version = self.random.choice(((0, 1, 2, 3, 18, 22, 23), range(-1, 70))), range(-1, 20)
        body[0:4] = pack(">hh", self.random.choice(key), self.random.choice(version))
        return framed(body)

    def nonsense(self):
        """Random bytes, with a right, a negative or a huge length."""
        body = self.random.randbytes(self.random.randrange(200))
        length = self.random.choice((len(body), len(body), -1, -(1 << 31), (1 << 31) - 1, (16 << 20) + 1))
        return pack(">i", length) + body


def resident_kib(pid):
    """What the process has in memory."""
    with Path(f"/proc/{pid}/status").open() as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


def connect(stack, port):
    one = socket.create_connection(("127.0.0.1", port), timeout=10)
    one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, pack("ii", 1, 0))
    return stack.enter_context(one)


def is_over(one):
    """Whether the node has closed this connection; its answers are thrown away."""
    while select.select([one], [], [], 0)[0]:
        try:
            if not one.recv(1 << 16):
                return True
        except ConnectionResetError:
            return True
    return False


@pytest.fixture
def single(local_cluster):
    """One node, so that this machine's cores are its own: ``with single("kafka-2.7") as cluster``."""

    @contextmanager
    def start(variant="kafka-2.7"):
        cluster = ClusterSpec(brokers=1, replication_factor=1, settings=Settings(min_isr=1).scaled(2))
        with local_cluster(variant, cluster) as running:
            running.settled()
            yield running

    return start


def write(key, version, entity):
    """A request's frame, without its length."""
    how = codec(key, version)
    out = request_frame(key, version, 7, b"fuzz", flexible=how.flexible_request)
    how.write_request(out, entity)
    return finish(out)[4:]


def of_nodes(variant):
    """What nodes ask each other, as frames without their length."""
    fetch = FetchTranslation(fetch_version(parse_variant(variant), 2), Settings(), topics_by_id(["t-0"]))
    asked = EpochRequest(2, "t-0", 0, 0, 7, (EpochEnd(0, 1),))
    state = LeaderAndIsr(0, "t-0", 1, 0, (1,), 1, (1,), 1, (1,))
    return [
        write(FETCH, fetch.version, fetch.request(FetchRequest(2, "t-0", 0, 0, 0, 1, 7))),
        *(
            write(OFFSET_FOR_LEADER_EPOCH, version, translate_epoch.request(asked, version))
            for version in translate_epoch.VERSIONS
        ),
        write(LEADER_AND_ISR, translate_control.STATE_VERSION, translate_control.state_request(state)),
    ]


def answers(client):
    return client.ask(3, 5, MetadataRequest(topics=None)).topics[0].error_code in (
        ErrorCode.none,
        ErrorCode.leader_not_available,
    )


def send_all(cluster, fuzz, listener, frames):
    """Send so many frames; how many connections the node closed."""
    control = cluster.client(1, listener)
    assert answers(control)
    sent = closed = 0
    with ExitStack() as stack:
        waiting = {}
        while sent < frames:
            while len(waiting) < AT_ONCE:
                waiting[connect(stack, cluster.port(1, listener))] = 0
            for one in waiting:
                one.sendall(fuzz.next())
            sent += len(waiting)
            for _ in range(2):  # what was sent before is looked at before the second answer
                assert answers(control)
            over = {one for one in waiting if is_over(one)}
            closed += len(over)
            for one in [one for one, frames in waiting.items() if one in over or frames >= FRAMES_OF_A_CONNECTION]:
                one.close()
                del waiting[one]
            waiting = {one: frames + 1 for one, frames in waiting.items()}
    return closed


@pytest.mark.slow
@pytest.mark.parametrize("frames", [FRAMES, pytest.param(MANY_FRAMES, marks=pytest.mark.systems)])
def test_broken_frames_of_clients_harm_nobody(single, every_request, frames):
    fuzz = Fuzz(20_261_121, [write(*request) for request in every_request("kafka-2.7")])
    with single() as cluster:
        process = cluster.processes[1]
        before = resident_kib(process.pid)
        closed = send_all(cluster, fuzz, "host", frames)
        growth = resident_kib(process.pid) - before

        assert process.poll() is None
        assert fuzz.kinds["nonsense"] < frames / 5
        assert closed > frames / 4
        assert growth < MOST_GROWTH_KIB
        assert cluster.produce([1, 2, 3]).error_code == ErrorCode.none


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["kafka-2.0", "kafka-2.7", "kafka-4.0"])
def test_broken_frames_of_nodes_end_no_node(single, every_request, variant):
    """They may well change what the node believes: a broken LeaderAndIsr can be a valid one."""
    frames = FRAMES // 5
    fuzz = Fuzz(20_261_122, of_nodes(variant) * 10 + [write(*request) for request in every_request(variant)])
    with single(variant) as cluster:
        process = cluster.processes[1]
        before = resident_kib(process.pid)
        closed = send_all(cluster, fuzz, "internal", frames)
        growth = resident_kib(process.pid) - before

        assert process.poll() is None, (cluster.folder(1) / "log").read_text()[-1_000:]
        assert closed > frames / 4
        assert growth < MOST_GROWTH_KIB


@pytest.mark.parametrize("listener", ["host", "internal"])
def test_an_oversized_frame_is_refused_before_it_is_read(single, listener):
    """The header of 1 GiB is all that is ever sent."""
    with single() as cluster:
        client = cluster.client(1, listener)
        client.socket.sendall(pack(">i", 1 << 30))

        assert client.was_closed()


def test_a_frame_of_one_byte_less_than_nothing(single):
    with single() as cluster:
        client = cluster.client(1)
        client.socket.sendall(pack(">i", -1))

        assert client.was_closed()


def test_unsupported_api_versions_get_version_zero_and_error_35(single):
    with single() as cluster:
        client = cluster.client(1)
        client.socket.sendall(framed(pack(">hhih", 18, 99, 5, -1) + b"\x00\x01\x01\x00"))

        assert unpack_from(">ih", client.next_frame()) == (5, 35)
        assert answers(client)
