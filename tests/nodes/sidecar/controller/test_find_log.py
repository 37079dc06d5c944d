import pytest

from tidemark.nodes.sidecar.config import SidecarConfig
from tidemark.nodes.sidecar.controller.find_log import already_traced, open_controller_log, traced_before


@pytest.fixture
def config(tmp_path):
    def make(role, **entries):
        given = {
            "node": 0, "incarnation": 1, "version": "3.9.1", "role": role, "properties": {}, "heap": "1m", "libs": "/libs",
            "partitions": {"t-0": [1, 2, 3]}, "kafka": "127.0.0.1:1", "admin": "127.0.0.1:2", "data": str(tmp_path / "kafka"),
            "trace": str(tmp_path / "trace"), "process": str(tmp_path / "pid"), **entries,
        }  # fmt: skip
        return SidecarConfig.from_json(given)

    return make


def test_zookeepers_log_is_in_its_data_directory(tmp_path, config, zookeeper, file_header):
    folder = tmp_path / "zookeeper" / "version-2"
    folder.mkdir(parents=True)
    (folder / "log.1").write_bytes(file_header + zookeeper.create("/brokers/ids/1", ephemeral=True))
    found = open_controller_log(config("zookeeper", zookeeper={"dataDir": str(folder.parent), "clientPort": 1}))
    assert found.poll() == [("register", "", 1, 1, False)]


def test_the_metadata_log_is_in_the_log_directory(tmp_path, config, metadata):
    folder = tmp_path / "elsewhere" / "__cluster_metadata-0"
    folder.mkdir(parents=True)
    (folder / f"{0:020}.log").write_bytes(metadata.batch(0, metadata.register(2, 5)))
    found = open_controller_log(config("kraft-controller", properties={"log.dirs": str(folder.parent)}))
    assert found.poll() == [("register", "", 2, 5, False)]


def test_a_broker_has_none(config):
    with pytest.raises(ValueError, match="node 1 is no controller"):
        open_controller_log(config("broker", node=1))


def test_what_an_earlier_keeper_traced_is_counted(tmp_path):
    trace = tmp_path / "trace"
    assert already_traced(trace) == 0
    trace.write_text(
        '[1,0,"start","",1]\n[2,0,"register","",1,20,false]\n[3,0,"elect","t-0",1,0,[1],[],"initial",true,0]\n'
        '[4,0,"isr-change","t-0",[1],[],1]\n[5,0,"fence","",1]\n[6,0,"hw","t-0",3]\n{}\n'
        '[7,0,"min-isr","",1]\n[7,0,"elr-switch","",false]\n[7,0,"unclean-switch","",true]\n[7,0,"fen'
    )
    assert already_traced(trace) == 7


def test_so_is_what_stood_in_a_trace_that_began_again(tmp_path):
    trace = tmp_path / "trace"
    trace.write_text('[2,0,"register","",1,20,false]\n')
    traced_before(trace).write_text("9")
    assert already_traced(trace) == 10


def test_decisions_of_an_earlier_life_are_not_told_again(tmp_path, config, metadata):
    folder = tmp_path / "kafka" / "__cluster_metadata-0"
    folder.mkdir(parents=True)
    (folder / f"{0:020}.log").write_bytes(metadata.batch(0, metadata.register(1, 5), metadata.register(2, 6)))
    (tmp_path / "trace").write_text('[2,0,"register","",1,5,false]\n')
    found = open_controller_log(config("kraft-controller"))
    assert found.poll() == [("register", "", 2, 6, False)]
    assert sorted(found.sessions) == ["1", "2"]
