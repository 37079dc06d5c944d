import pytest

from tidemark.nodes.sidecar.controller.metadata_state import MetadataControllerLog


@pytest.fixture
def led(cluster, metadata):
    """Broker 1 leads t-0 in epoch 0, followed by 2 and 3."""
    assert cluster(metadata.topic(), metadata.partition()) == [
        ("elect", "t-0", 1, 0, (1, 2, 3), (), "initial", True, 0)
    ]
    return cluster


def test_brokers_register_and_are_live_when_they_are_unfenced(cluster, metadata):
    assert cluster(metadata.register(1, 20)) == [("register", "", 1, 20, False)]
    assert not cluster.log.sessions["1"]["live"]
    assert cluster(metadata.registration_change(1, 20, -1)) == [("unfence", "", 1)]
    assert cluster.log.sessions == {"1": {"live": True, "incarnation": 1, "broker_epoch": 20}}
    assert cluster(metadata.registration_change(1, 20, 0)) == []  # it shuts down in order
    assert cluster(metadata.registration_change(1, 20, 1)) == [("fence", "", 1)]
    assert cluster(metadata.register(1, 30)) == [("register", "", 1, 30, False)]
    assert cluster.log.sessions == {"1": {"live": False, "incarnation": 2, "broker_epoch": 30}}


@pytest.mark.parametrize("version", [0, 1, 2, 3])
def test_every_version_of_a_registration_is_read(cluster, metadata, version):
    cluster(metadata.register(2, 20, fenced=False, version=version))
    assert cluster.log.sessions == {"2": {"live": True, "incarnation": 1, "broker_epoch": 20}}


def test_a_new_incarnation_of_a_live_broker_ends_its_session(cluster, metadata):
    cluster(metadata.register(1, 20, fenced=False))
    assert cluster(metadata.register(1, 30)) == [("fence", "", 1), ("register", "", 1, 30, False)]


def test_the_same_registration_once_more_is_no_event(cluster, metadata):
    cluster(metadata.register(1, 20))
    assert cluster(metadata.register(1, 20, fenced=False)) == [("unfence", "", 1)]
    assert cluster(metadata.register(1, 20, fenced=False)) == []
    assert cluster.log.sessions == {"1": {"live": True, "incarnation": 1, "broker_epoch": 20}}


@pytest.mark.parametrize("kind", [1, 7])
def test_older_records_fence_too(cluster, metadata, kind):
    cluster(metadata.register(1, 20))
    assert cluster(metadata.fence(1, kind=8)) == [("unfence", "", 1)]
    assert cluster(metadata.fence(1, kind=kind)) == [("fence", "", 1)]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"isr": (1, 2)}, ("isr-change", "t-0", (1, 2), (), 1)),
        ({"isr": (2, 3), "leader": 2}, ("elect", "t-0", 2, 1, (2, 3), (), "online", True, 1)),
        ({"isr": (1, 2), "leader": 1}, ("elect", "t-0", 1, 1, (1, 2), (), "resumed", True, 1)),
        ({"isr": (1,), "leader": -1}, ("elect", "t-0", -1, 1, (1,), (), "offline", True, 1)),
        ({"isr": (), "leader": -1, "elr": (1, 2)}, ("elect", "t-0", -1, 1, (), (1, 2), "offline", True, 1)),
    ],
)
def test_what_a_change_means(led, metadata, change, told):
    assert led(metadata.change(**change)) == [told]


def test_a_change_of_neither_leader_nor_isr_counts_all_the_same(led, metadata):
    assert led(metadata.change(replicas=(2, 1, 3))) == []
    assert led.log.partitions["t-0"]["replicas"] == (2, 1, 3)
    assert led(metadata.change(isr=(1,))) == [("isr-change", "t-0", (1,), (), 2)]


def test_what_the_elr_allows_is_clean(led, metadata):
    led(metadata.change(isr=(), leader=-1, elr=(1, 2), last_known=(1,)))
    assert led(metadata.change(isr=(2,), leader=2, elr=(1,))) == [("elect", "t-0", 2, 2, (2,), (1,), "online", True, 2)]


def test_the_last_known_leader_is_told_apart_from_an_unclean_one(led, metadata):
    led(metadata.change(isr=(), leader=-1, elr=(1,), last_known=(1,)))
    assert led(metadata.change(elr=())) == [("isr-change", "t-0", (), (), 2)]
    (elected,) = led(metadata.change(isr=(1,), leader=1, last_known=()))
    assert elected[6:8] == ("last-known", False)


@pytest.mark.parametrize(("elr", "how"), [((), "last-known"), (None, "unclean")])
def test_it_may_be_elected_as_soon_as_nobody_is_eligible_any_more(led, metadata, elr, how):
    """Seen on 4.1.1: broker 2 was eligible, and came back after a crash. An unclean election would leave it so."""
    led(metadata.change(isr=(), leader=-1, elr=(2,), last_known=(1,)))
    (elected,) = led(metadata.change(isr=(1,), leader=1, elr=elr, last_known=()))
    assert elected[6:8] == (how, False)


def test_any_other_leader_is_unclean(led, metadata):
    led(metadata.change(isr=(), leader=-1, elr=(1,), last_known=(1,)))
    (elected,) = led(metadata.change(isr=(3,), leader=3, elr=(), last_known=()))
    assert elected[6:8] == ("unclean", False)


def test_who_stays_eligible_when_it_comes_back_had_shut_down_cleanly(led, metadata):
    led(metadata.register(1, 20), metadata.register(2, 21), metadata.change(isr=(), leader=-1, elr=(1, 2)))
    told = led(metadata.change(elr=(1,)), metadata.register(2, 30), metadata.register(1, 31))
    assert told[1:] == [("register", "", 2, 30, False), ("register", "", 1, 31, True)]


def test_a_cleared_elr_raises_the_partition_epoch_where_there_was_one(led, metadata):
    assert led(metadata.clear_elr("t")) == []
    led(metadata.change(isr=(), leader=-1, elr=(1, 2)))
    assert led(metadata.clear_elr("u")) == []
    assert led(metadata.clear_elr("")) == [("isr-change", "t-0", (), (), 2)]


@pytest.mark.parametrize("version", [0, 1, 2])
def test_every_version_of_a_partition_is_read(cluster, metadata, version):
    cluster(metadata.topic(), metadata.partition(version=version, t0=b"\0"))
    assert cluster.log.partitions["t-0"]["leader"] == 1


def test_other_topics_and_removed_ones_are_left_out(led, metadata):
    other = bytes(16)
    assert (
        led(metadata.topic("u", other), metadata.partition(topic=other), metadata.change(isr=(1,), topic=other)) == []
    )
    led(metadata.remove_topic())
    assert led.log.partitions == {}


def test_a_record_that_cannot_be_read_is_passed_over(led, metadata, caplog):
    assert led(metadata.record(5, 2, b"\0\0"), metadata.record(99, 0, b""), metadata.change(isr=(1,))) == [
        ("isr-change", "t-0", (1,), (), 1)
    ]
    assert "cannot read record 2 of kind 5" in caplog.text


def test_the_log_of_a_real_cluster_of_3_9(tmp_path, real_log):
    """A forced election of 2, 3 stops, the replicas are put in order, a preferred election of 1, 3 returns, all are killed, 2
    returns, an unclean election of 2, the others return, a reassignment to 2 and 3."""
    (tmp_path / f"{0:020}.log").write_bytes(real_log("metadata-3.9.1"))
    log = MetadataControllerLog(tmp_path, ["t-0"])
    told = log.poll()
    assert [(e[2], e[3], e[6], e[8]) for e in told if e[0] == "elect"] == [
        (1, 0, "initial", 0), (2, 1, "online", 2), (1, 2, "online", 8), (3, 3, "online", 11), (-1, 4, "offline", 12),
        (2, 5, "unclean", 13), (2, 6, "reassigned", 16),
    ]  # fmt: skip
    assert [e[2] for e in told if e[0] == "isr-change"] == [(1, 2), (1, 2, 3), (1, 3), (2, 3), (2, 3, 1)]
    assert [e[2] for e in told if e[0] == "fence"] == [3, 2, 1, 3]
    assert [e for e in told if e[0] == "reassign"] == [("reassign", "t-0", (2, 3), (), ())]
    assert log.partitions["t-0"] == {
        "leader": 2, "last_leader": 2, "leader_epoch": 6, "partition_epoch": 16,
        "isr": (2, 3), "elr": (), "replicas": (2, 3), "adding": (), "removing": (),
    }  # fmt: skip


def test_the_log_of_a_real_cluster_of_4_1(tmp_path, real_log):
    """Much the same; that t-1 gets its last known leader back is the end of a wait that began when all were killed."""
    (tmp_path / f"{0:020}.log").write_bytes(real_log("metadata-4.1.1"))
    log = MetadataControllerLog(tmp_path, ["t-0", "t-1"])
    told = log.poll()
    assert [e[1:] for e in told if e[0] == "elect" and e[1] == "t-1"] == [
        ("t-1", 2, 0, (2, 3, 1), (), "initial", True, 0),
        ("t-1", -1, 1, (), (1, 2), "offline", True, 3),
        ("t-1", 2, 2, (2,), (), "last-known", False, 6),
    ]
    assert [e for e in told if e[0] == "isr-change" and e[1] == "t-1"] == [
        ("isr-change", "t-1", (2, 1), (), 1),
        ("isr-change", "t-1", (2,), (1,), 2),
        ("isr-change", "t-1", (), (2,), 4),
        ("isr-change", "t-1", (), (), 5),
        ("isr-change", "t-1", (2, 1), (), 7),
        ("isr-change", "t-1", (2, 1, 3), (), 8),
    ]
    assert log.partitions["t-0"] == {
        "leader": 2, "last_leader": 2, "leader_epoch": 8, "partition_epoch": 18,
        "isr": (3, 2), "elr": (), "replicas": (2, 3), "adding": (), "removing": (),
    }  # fmt: skip
    assert {broker: (s["live"], s["incarnation"]) for broker, s in log.sessions.items()} == {
        "1": (True, 2), "2": (True, 2), "3": (True, 2),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("version", "from_step_6_on"),
    [
        ("4.2.1", [("elect", 2, 3, (2,), "online", 9), ("elect", 3, 4, (3,), "unclean", 10)]),
        ("4.3.1", [("isr-change", (1,), 9), ("elect", 3, 3, (3,), "unclean", 10)]),
    ],
)
def test_the_log_of_a_real_cluster_of_4_2_and_4_3(tmp_path, real_log, version, from_step_6_on):
    """The story ``lives`` of ``tests/nodes/sidecar/lines``. On 4.2.1 the session of 1 happened to end before that of 2."""
    (tmp_path / f"{0:020}.log").write_bytes(real_log(f"metadata-{version}"))
    log = MetadataControllerLog(tmp_path, ["t-0"])
    told = log.poll()
    elections = [("elect", *e[2:5], e[6], e[8]) for e in told if e[0] == "elect"]
    changes = [("isr-change", e[2], e[4]) for e in told if e[0] == "isr-change"]
    assert sorted([*elections, *changes], key=lambda event: event[-1]) == [
        ("elect", 1, 0, (1, 2, 3), "initial", 0),
        ("elect", 2, 1, (2, 3), "online", 1),
        ("isr-change", (1, 2, 3), 2),
        ("elect", 1, 2, (1, 2, 3), "online", 3),
        ("isr-change", (1, 2), 4),
        ("isr-change", (1, 2, 3), 5),
        ("isr-change", (1, 3), 6),
        ("isr-change", (1, 2, 3), 7),
        ("isr-change", (1, 2), 8),
        *from_step_6_on,
        ("isr-change", (1, 3), 11),
        ("isr-change", (1, 2, 3), 12),
    ]
    assert sorted(e[2] for e in told if e[0] == "fence") == [1, 1, 2, 2, 3, 3]
    assert {broker: (s["live"], s["incarnation"]) for broker, s in log.sessions.items()} == {
        "1": (True, 3), "2": (True, 3), "3": (True, 1),
    }  # fmt: skip


def test_a_change_of_min_isr_is_told_and_with_it_the_elr_is_empty(led, metadata):
    led(metadata.change(isr=(), leader=-1, elr=(1, 2), last_known=(1,)))

    assert led(metadata.config("min.insync.replicas", "1"), metadata.clear_elr("t")) == [
        ("min-isr", "", 1),
        ("isr-change", "t-0", (), (), 2),
    ]


@pytest.mark.parametrize(
    "settings",
    [
        {"name": "retention.ms", "value": "1"},
        {"name": "min.insync.replicas", "value": None},
        {"name": "min.insync.replicas", "value": "two"},
        {"name": "min.insync.replicas", "value": "1", "kind": 4, "resource": ""},
        {"name": "min.insync.replicas", "value": "1", "resource": "other"},
    ],
)
def test_no_other_setting_is(led, metadata, settings):
    assert led(metadata.config(**settings)) == []


def test_that_elr_is_switched_is_told(led, metadata):
    assert led(metadata.feature("eligible.leader.replicas.version", 0)) == [("elr-switch", "", False)]
    assert led(metadata.feature("eligible.leader.replicas.version", 1)) == [("elr-switch", "", True)]
    assert led(metadata.feature("eligible.leader.replicas.version", 1)) == []


def test_while_elr_is_off_it_proves_nothing_to_be_eligible(led, metadata):
    led(metadata.change(isr=(), leader=-1, elr=(1, 2)), metadata.feature("eligible.leader.replicas.version", 0))
    assert led(metadata.register(1, 30)) == [("register", "", 1, 30, False)]

    led(metadata.feature("eligible.leader.replicas.version", 1))
    assert led(metadata.register(2, 40)) == [("register", "", 2, 40, True)]


def test_no_other_feature_is(led, metadata):
    assert led(metadata.feature("metadata.version", 30)) == []


def test_nor_is_what_the_cluster_was_made_with(cluster, metadata):
    assert cluster(metadata.feature("eligible.leader.replicas.version", 1), metadata.topic()) == []


def test_what_a_topic_begins_with_is_no_change(cluster, metadata):
    told = cluster(metadata.topic(), metadata.config("min.insync.replicas", "2"), metadata.partition())

    assert [event[0] for event in told] == ["elect"]


def test_that_unclean_elections_are_allowed_is_told(led, metadata):
    assert led(metadata.config("unclean.leader.election.enable", "true")) == [("unclean-switch", "", True)]
    assert led(metadata.config("unclean.leader.election.enable", "true")) == []
    assert led(metadata.config("unclean.leader.election.enable", "false", resource="other")) == []
    assert led(metadata.config("unclean.leader.election.enable", "false")) == [("unclean-switch", "", False)]
