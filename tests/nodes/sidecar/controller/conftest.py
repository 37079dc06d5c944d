"""Logs that real controllers wrote, and logs made for a test."""

import gzip
import struct
import zlib
from pathlib import Path

import pytest
from crc32c import crc32c

from tidemark.nodes.formats import record_section
from tidemark.nodes.sidecar.controller.metadata_state import MetadataControllerLog

LOGS = Path(__file__).parent / "logs"


@pytest.fixture
def real_log():
    return lambda name: gzip.decompress((LOGS / f"{name}.gz").read_bytes())


def _text(text):
    raw = text.encode()
    return struct.pack(">i", len(raw)) + raw


class ZooKeeperWriter:
    """Writes a transaction log as ZooKeeper does."""

    def __init__(self):
        self.zxid = 0

    def transaction(self, kind, body, session=7, zxid=None):
        self.zxid = zxid or self.zxid + 1
        entry = struct.pack(">qiqqi", session, 1, self.zxid, 1_000 * self.zxid, kind) + body
        return struct.pack(">qi", zlib.adler32(entry), len(entry)) + entry + b"B"

    def create_body(self, path, data, *, ephemeral=False):
        acl = struct.pack(">ii", 1, 31) + _text("world") + _text("anyone")
        return _text(path) + _text(data) + acl + bytes([ephemeral]) + struct.pack(">i", 1)

    def create(self, path, data="", *, ephemeral=False, session=7):
        return self.transaction(1, self.create_body(path, data, ephemeral=ephemeral), session)

    def set_data(self, path, data, version):
        return self.transaction(5, _text(path) + _text(data) + struct.pack(">i", version))

    def delete(self, path):
        return self.transaction(2, _text(path))

    def close_session(self, session=7):
        return self.transaction(-11, b"", session)

    def multi(self, *parts):
        body = struct.pack(">i", len(parts))
        for kind, part in parts:
            body += struct.pack(">ii", kind, len(part)) + part
        return self.transaction(14, body)


@pytest.fixture
def zookeeper():
    return ZooKeeperWriter()


FILE_HEADER = b"ZKLG" + struct.pack(">iq", 2, 0)


@pytest.fixture
def file_header():
    return FILE_HEADER


TOPIC = bytes(range(16))


def unsigned(number):
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(out) + bytes([number])


def numbers(*brokers):
    return unsigned(len(brokers) + 1) + b"".join(struct.pack(">i", broker) for broker in brokers)


def compact(text):
    return unsigned(0) if text is None else unsigned(len(text) + 1) + text.encode()


def tags(**fields):
    """Tagged fields: ``t1=b"…"``."""
    out = unsigned(len(fields))
    for name, raw in fields.items():
        out += unsigned(int(name[1:])) + unsigned(len(raw)) + raw
    return out


class MetadataWriter:
    """Writes KRaft's records and batches of them, as Kafka does."""

    def record(self, kind, version, body):
        return unsigned(1) + unsigned(kind) + unsigned(version) + body

    def topic(self, name="t", topic=TOPIC):
        return self.record(2, 0, compact(name) + topic + tags())

    def remove_topic(self, topic=TOPIC):
        return self.record(9, 0, topic + tags())

    def partition(
        self, *, replicas=(1, 2, 3), isr=None, removing=(), adding=(), leader=1, leader_epoch=0, epoch=0, topic=TOPIC,
        version=2, **tagged,
    ):  # fmt: skip
        body = struct.pack(">i", 0) + topic + numbers(*replicas) + numbers(*(replicas if isr is None else isr))
        body += numbers(*removing) + numbers(*adding) + struct.pack(">iii", leader, leader_epoch, epoch)
        if version >= 1:
            body += unsigned(len(replicas) + 1) + bytes(16 * len(replicas))
        return self.record(3, version, body + tags(**tagged))

    def change(
        self,
        *,
        isr=None,
        leader=None,
        replicas=None,
        removing=None,
        adding=None,
        elr=None,
        last_known=None,
        topic=TOPIC,
    ):
        tagged = {"t0": isr, "t2": replicas, "t3": removing, "t4": adding, "t6": elr, "t7": last_known}
        raw = {name: numbers(*brokers) for name, brokers in tagged.items() if brokers is not None}
        if leader is not None:
            raw["t1"] = struct.pack(">i", leader)
        return self.record(5, 2, struct.pack(">i", 0) + topic + tags(**raw))

    def register(self, broker, epoch, *, fenced=True, version=3):
        body = struct.pack(">i", broker) + (b"\0" if version >= 2 else b"") + bytes(16) + struct.pack(">q", epoch)
        body += unsigned(2) + compact("INTERNAL") + compact("10.77.0.11") + struct.pack(">Hh", 9092, 0) + tags()
        body += unsigned(2) + compact("metadata.version") + struct.pack(">hh", 1, 20) + tags()
        body += compact(None) + bytes([fenced, 0])
        return self.record(0, version, body + tags(t0=unsigned(2) + bytes(16)))

    def registration_change(self, broker, epoch, fenced):
        raw = {"t0": struct.pack(">b", fenced)} if fenced else {"t1": b"\1"}
        return self.record(17, 1, struct.pack(">iq", broker, epoch) + tags(**raw))

    def fence(self, broker, kind=7):
        return self.record(kind, 0, struct.pack(">iq", broker, 1) + tags())

    def config(self, name, value, *, kind=2, resource="t"):
        return self.record(4, 0, struct.pack(">b", kind) + compact(resource) + compact(name) + compact(value) + tags())

    def feature(self, name, level):
        return self.record(12, 0, compact(name) + struct.pack(">h", level) + tags())

    def clear_elr(self, topic):
        return self.record(28, 0, compact(topic) + tags())

    def batch(self, base, *values, attributes=0, time_ms=5000):
        section = record_section.encode(values)
        count = len(values)
        summed = struct.pack(">hiqqqhii", attributes, count - 1, time_ms, time_ms, -1, -1, -1, count) + section
        return struct.pack(">qiibI", base, 9 + len(summed), 1, 2, crc32c(summed)) + summed


@pytest.fixture
def metadata():
    return MetadataWriter()


@pytest.fixture
def cluster(tmp_path, metadata):
    """A log that a test adds to: ``cluster(record, …)`` gives what was decided."""
    path = tmp_path / f"{0:020}.log"
    log = MetadataControllerLog(tmp_path, ["t-0"])
    written = 0

    def add(*records):
        nonlocal written
        with path.open("ab") as file:
            file.write(metadata.batch(written, *records))
        written += len(records)
        return log.poll()

    add.log = log
    return add
