"""librdkafka's own mock cluster, real brokers on loopback inside this process, driven through its C functions."""

import ctypes
import gc
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import confluent_kafka
import pytest

from tidemark.harness.clients.client_log import ClientLog
from tidemark.harness.clients.journal import Journal
from tidemark.harness.clients.script import ProducerScript
from tidemark.nemesis.plan import WorkloadSpec
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.settings import Settings


@pytest.fixture(autouse=True)
def collected(request):
    """A connection that aiokafka loses sight of while a broker goes away is left to the collector, and is collected here and at
    no other time: the warning would otherwise fall on this test or on whatever test comes next."""
    if not {"mock", "run_of", "library"} & set(request.fixturenames):
        yield
        return
    gc.disable()
    try:
        yield
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            gc.collect()
    finally:
        gc.enable()


PRODUCE, FETCH = 0, 1
_PRODUCER = 0

_POINTER = ctypes.c_void_p
_FUNCTIONS = {
    "rd_kafka_conf_new": (_POINTER,),
    "rd_kafka_conf_set": (
        ctypes.c_int,
        _POINTER,
        ctypes.c_char_p,
        ctypes.c_char_p,
        ctypes.c_char_p,
        ctypes.c_size_t,
    ),
    "rd_kafka_new": (_POINTER, ctypes.c_int, _POINTER, ctypes.c_char_p, ctypes.c_size_t),
    "rd_kafka_destroy": (None, _POINTER),
    "rd_kafka_mock_cluster_new": (_POINTER, _POINTER, ctypes.c_int),
    "rd_kafka_mock_cluster_destroy": (None, _POINTER),
    "rd_kafka_mock_cluster_bootstraps": (ctypes.c_char_p, _POINTER),
    "rd_kafka_mock_topic_create": (ctypes.c_int, _POINTER, ctypes.c_char_p, ctypes.c_int, ctypes.c_int),
    "rd_kafka_mock_partition_set_leader": (ctypes.c_int, _POINTER, ctypes.c_char_p, ctypes.c_int32, ctypes.c_int32),
    "rd_kafka_mock_push_request_errors_array": (
        None,
        _POINTER,
        ctypes.c_int16,
        ctypes.c_size_t,
        ctypes.POINTER(ctypes.c_int),
    ),
    "rd_kafka_mock_broker_set_down": (ctypes.c_int, _POINTER, ctypes.c_int32),
    "rd_kafka_mock_broker_set_up": (ctypes.c_int, _POINTER, ctypes.c_int32),
    "rd_kafka_mock_broker_set_rtt": (ctypes.c_int, _POINTER, ctypes.c_int32, ctypes.c_int),
}


def _librdkafka():
    package = Path(confluent_kafka.__file__).parent
    folders = (package.with_name("confluent_kafka.libs"), package / ".dylibs")
    found = [path for folder in folders for path in folder.glob("librdkafka*")]
    if not found:
        pytest.skip("this build of confluent-kafka does not bring its librdkafka")
    library = ctypes.CDLL(str(found[0]))
    for name, (result, *arguments) in _FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


class MockCluster:
    """Three brokers and the topic t; broker 1 leads t-0, broker 2 leads t-1."""

    def __init__(self, partitions=2):
        self._library = _librdkafka()
        error = ctypes.create_string_buffer(256)
        conf = self._library.rd_kafka_conf_new()
        self._library.rd_kafka_conf_set(conf, b"log_level", b"0", error, 256)
        self._instance = self._library.rd_kafka_new(_PRODUCER, conf, error, 256)
        assert self._instance, error.value
        self._cluster = self._library.rd_kafka_mock_cluster_new(self._instance, 3)
        self.bootstrap = self._library.rd_kafka_mock_cluster_bootstraps(self._cluster).decode()
        self._library.rd_kafka_mock_topic_create(self._cluster, b"t", partitions, 3)
        for partition in range(partitions):
            self._library.rd_kafka_mock_partition_set_leader(self._cluster, b"t", partition, 1 + partition)

    def answer(self, api, *codes):
        """The next requests of this kind are answered with these error codes, and not carried out."""
        array = (ctypes.c_int * len(codes))(*codes)
        self._library.rd_kafka_mock_push_request_errors_array(self._cluster, api, len(codes), array)

    def down(self, broker):
        self._library.rd_kafka_mock_broker_set_down(self._cluster, broker)

    def up(self, broker):
        self._library.rd_kafka_mock_broker_set_up(self._cluster, broker)

    def slow(self, broker, milliseconds):
        """From now on this broker's answers take so long; requests are carried out at once."""
        self._library.rd_kafka_mock_broker_set_rtt(self._cluster, broker, milliseconds)

    def close(self):
        self._library.rd_kafka_mock_cluster_destroy(self._cluster)
        self._library.rd_kafka_destroy(self._instance)


class Stock:
    """Making and closing a mock cluster takes a second each; this does both while tests run."""

    def __init__(self, pool):
        self._pool = pool
        self._made = [pool.submit(MockCluster) for _ in range(3)]

    def take(self):
        self._made.append(self._pool.submit(MockCluster))
        return self._made.pop(0).result()

    def give_back(self, cluster):
        self._pool.submit(cluster.close)

    def close(self):
        for made in self._made:
            made.result().close()


@pytest.fixture(scope="session")
def stock():
    with ThreadPoolExecutor() as pool:
        made = Stock(pool)
        yield made
        made.close()


@pytest.fixture
def mock(stock):
    cluster = stock.take()
    yield cluster
    stock.give_back(cluster)


class Run:
    """What was recorded, and what clients are made with."""

    def __init__(self, acks="all", partitions=2, **workload):
        # Half the usual times: the producers' time-out is 0.75 s.
        self.cluster = ClusterSpec(partitions=partitions, acks=acks, settings=Settings().scaled(0.5))
        self.spec = WorkloadSpec(**{"interval_us": 20_000, "poll_us": 50_000} | workload)
        self.ops = []
        self._began = time.monotonic_ns()
        self.journal = Journal(self.clock, self.ops.append, acks)
        self.keys = tuple(self.cluster.assignment())

    def clock(self):
        return (time.monotonic_ns() - self._began) // 1000

    def script(self):
        return ProducerScript(1, self.spec, self.keys, 1)

    def said(self, f="send"):
        """What was recorded of one kind of operation, without times and invocations."""
        return [(op.process, op.type, op.value, op.error) for op in self.ops if op.f == f and op.type != "invoke"]


@pytest.fixture
def run_of():
    return Run


@pytest.fixture
def silent():
    """aiokafka's words go nowhere, as in a workload without a log."""
    with ClientLog(None, lambda: 0).listening("aiokafka"):
        yield
