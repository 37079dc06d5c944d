"""From events of a broker's log to its trace."""

import pytest

from tidemark.nodes.formats.record_batch import build
from tidemark.nodes.sidecar import line_events as e
from tidemark.nodes.sidecar.broker_trace import BrokerTrace, Seen


class FakeTail:
    """The files of one partition: what can be claimed, by first offset."""

    def __init__(self):
        self.there = {}
        self.calls = []
        self.ends_at = 1 << 62

    def look(self):
        pass

    def loaded(self, leo):
        self.calls.append(("loaded", leo))

    def claim(self, first, end, *, newest_epoch, cut_follows):
        self.calls.append(("claim", first, end, newest_epoch, cut_follows))
        return self.there.get(first)

    def cut(self, to):
        self.calls.append(("cut", to))
        return min(to, self.ends_at)

    def close(self):
        self.calls.append(("close",))


@pytest.fixture
def tail():
    return FakeTail()


@pytest.fixture
def broker_trace(tail):
    return BrokerTrace(2, ["t-0"], lambda _: tail, {"t-0": 5})


def told(broker_trace, *events):
    return [entry[2:] for entry in broker_trace.tell([Seen(100 + i, event) for i, event in enumerate(events)])]


def test_entries_have_time_node_and_partition(broker_trace):
    assert broker_trace.tell([Seen(77, e.Loaded("t-0", 9))]) == [(77, 2, "recovered", "t-0", 9, 5, -1)]


def test_a_loaded_log_goes_on_from_the_checkpointed_high_watermark(broker_trace, tail):
    assert told(broker_trace, e.Loaded("t-0", 3)) == [("recovered", "t-0", 3, 3, -1)]
    assert tail.calls == [("loaded", 3)]
    state = broker_trace.replicas["t-0"]
    assert (state.leo, state.hw, state.role) == (3, 3, "no leader")


def test_other_partitions_are_not_told_of(broker_trace):
    assert told(broker_trace, e.Loaded("__consumer_offsets-1", 3), e.Appended("u-0", 0, 1)) == []
    assert broker_trace.replicas == {}


def test_batches_are_traced_one_by_one(broker_trace, tail):
    first, second = build([1, 2], 0, 4), build([3], 2, 5)
    tail.there[0] = [first, second]
    assert told(broker_trace, e.Loaded("t-0", 0), e.Leads("t-0", 5, 0, 0, (1, 2)), e.Appended("t-0", 0, 3)) == [
        ("recovered", "t-0", 0, 0, -1),
        ("lead", "t-0", 5, 0, 0, (1, 2)),
        ("append", "t-0", 0, 4, first),
        ("append", "t-0", 2, 5, second),
    ]
    assert tail.calls[-1] == ("claim", 0, 3, 5, False)
    assert broker_trace.replicas["t-0"].leo == 3


def test_what_is_soon_cut_is_looked_for_among_what_was_seen_first(broker_trace, tail):
    tail.there[0] = [build([1, 2], 0, 0)]
    told(broker_trace, e.Loaded("t-0", 0), e.Appended("t-0", 0, 2), e.Truncated("t-0", 1, "local-hw"))
    assert ("claim", 0, 2, 1 << 31, True) in tail.calls
    told(broker_trace, e.Appended("t-0", 1, 2), e.Truncated("t-0", 2, "local-hw"))
    assert ("claim", 1, 2, 1 << 31, False) in tail.calls
    told(broker_trace, e.Appended("t-0", 1, 2), e.TruncatedFully("t-0", 9))
    assert tail.calls[-2] == ("claim", 1, 2, 1 << 31, True)


def test_an_append_whose_bytes_are_gone_is_left_out(broker_trace):
    entries = told(broker_trace, e.Loaded("t-0", 0), e.Appended("t-0", 0, 2), e.Truncated("t-0", 1, "local-hw", 3))
    assert entries[1:] == [("truncate", "t-0", 1, 2, "local-hw", 3)]


def test_cuts(broker_trace, tail):
    told(broker_trace, e.Loaded("t-0", 9), e.Follows("t-0", 4, 1, 9, 5))
    assert told(broker_trace, e.Truncated("t-0", 6, "epoch-end")) == [("truncate", "t-0", 6, 9, "epoch-end", 4)]
    assert told(broker_trace, e.Truncated("t-0", 6, "epoch-end")) == []
    assert told(broker_trace, e.TruncatedFully("t-0", 0)) == [("truncate", "t-0", 0, 6, "fully", 4)]
    assert tail.calls[-1] == ("cut", 0)
    state = broker_trace.replicas["t-0"]
    assert (state.leo, state.hw) == (0, 0)


def test_a_log_that_begins_anew(broker_trace):
    told(broker_trace, e.Loaded("t-0", 9))
    assert told(broker_trace, e.TruncatedFully("t-0", 20, "out of range")) == [
        ("truncate", "t-0", 0, 9, "out of range", -1),
        ("log-start", "t-0", 20, 0, "begin-anew"),
    ]
    state = broker_trace.replicas["t-0"]
    assert (state.start, state.leo, state.hw) == (20, 20, 0)
    assert told(broker_trace, e.TruncatedFully("t-0", 20)) == []
    assert told(broker_trace, e.TruncatedFully("t-0", 15)) == [("log-start", "t-0", 15, 20, "begin-anew")]
    assert told(broker_trace, e.Appended("t-0", 15, 17), e.TruncatedFully("t-0", 16)) == [
        ("truncate", "t-0", 15, 17, "fully", -1),
        ("log-start", "t-0", 16, 15, "begin-anew"),
    ]
    assert told(broker_trace, e.TruncatedFully("t-0", 0)) == [("truncate", "t-0", 0, 16, "fully", -1)]
    assert broker_trace.replicas["t-0"].start == 0


def test_log_starts(broker_trace):
    assert told(broker_trace, e.Loaded("t-0", 9, 6)) == [
        ("recovered", "t-0", 9, 6, -1),
        ("log-start", "t-0", 6, 0, "recovered"),
    ]
    assert told(broker_trace, e.LogStart("t-0", 6, "leader"), e.LogStart("t-0", 8, "leader")) == [
        ("log-start", "t-0", 8, 6, "leader")
    ]
    assert told(broker_trace, e.Truncated("t-0", 7, "epoch-end", 3)) == [("truncate", "t-0", 7, 9, "epoch-end", 3)]
    assert broker_trace.replicas["t-0"].start == 7


def test_high_watermarks_that_move(broker_trace):
    told(broker_trace, e.Loaded("t-0", 9), e.Follows("t-0", 4, 1, 9, 5))
    assert told(broker_trace, e.HighWatermark("t-0", 5), e.HighWatermark("t-0", 7), e.HighWatermark("t-0", 7)) == [
        ("hw", "t-0", 7, 4, False)
    ]
    told(broker_trace, e.Leads("t-0", 5, 9, 7, (2,)))
    assert told(broker_trace, e.HighWatermark("t-0", 8)) == [("hw", "t-0", 8, 5, True)]
    assert told(broker_trace, e.HighWatermark("t-0", 9, False)) == [("hw", "t-0", 9, 5, False)]


def test_roles(broker_trace):
    told(broker_trace, e.Loaded("t-0", 9))
    assert told(broker_trace, e.Follows("t-0", 4, 1, -1, -1), e.Follows("t-0", 4, 1, -1, -1)) == [
        ("follow", "t-0", 4, 1, 9, 5)
    ]
    assert told(broker_trace, e.Leads("t-0", 5, 9, 6, (2, 3)), e.Leads("t-0", 5, 9, 6, (2, 3))) == [
        ("lead", "t-0", 5, 9, 6, (2, 3))
    ]
    state = broker_trace.replicas["t-0"]
    assert (state.role, state.leader, state.isr, state.maximal) == ("leader", 2, (2, 3), (2, 3))
    told(broker_trace, e.Follows("t-0", 6, -1, -1, -1))
    assert (state.role, state.leader, state.isr) == ("no leader", -1, ())


def test_the_first_fetch_of_an_epoch(broker_trace):
    told(broker_trace, e.Loaded("t-0", 9), e.Follows("t-0", 4, 1, 9, 5))
    assert told(broker_trace, e.Fetched("t-0", 3, 1), e.Fetched("t-0", 1, 0), e.Fetched("t-0", 1, 5)) == [
        ("fetched", "t-0", 4, 1)
    ]
    assert told(broker_trace, e.Follows("t-0", 5, 1, 9, 5), e.Fetched("t-0", 1, 0))[-1] == ("fetched", "t-0", 5, 1)


def test_views_of_the_isr(broker_trace):
    told(broker_trace, e.Loaded("t-0", 9), e.Leads("t-0", 5, 9, 6, (2, 3)))
    assert told(broker_trace, e.IsrView("t-0", (2, 3), (2, 3), 7), e.IsrView("t-0", (2,), (2, 3))) == [
        ("isr", "t-0", (2,), (2, 3), 7)
    ]
    assert broker_trace.replicas["t-0"].partition_epoch == 7


def test_questions_answers_and_refusals(broker_trace):
    told(broker_trace, e.Loaded("t-0", 9))
    assert told(
        broker_trace, e.Asked("t-0", 1, 3), e.Answered("t-0", 3, None, 3, 8), e.Answered("t-0", 3, 9, 2, 8)
    ) == [
        ("ask", "t-0", 1, 3),
        ("answer", "t-0", 3, None, 3, 8),
        ("answer", "t-0", 3, 9, 2, 8),
    ]
    assert told(broker_trace, e.Refused("t-0", "fenced")) == []
    assert broker_trace.replicas["t-0"].refused == "fenced"
    words = "Unexpected offset in append to t-0. First offset 7 is less than the next offset 9."
    assert told(broker_trace, e.Refused("t-0", words)) == [("out-of-order", "t-0", 7, 9)]
    told(broker_trace, e.Fetched("t-0", 1, 0))
    assert broker_trace.replicas["t-0"].refused == ""


def test_the_node(broker_trace):
    assert not broker_trace.started
    events = (
        e.Registered(76),
        e.Registered(-1),
        e.Started(),
        e.ShuttingDown(),
        e.ShutDown(),
        e.Fatal("a"),
        e.Fatal("b"),
    )
    assert told(broker_trace, *events) == []
    assert broker_trace.broker_epoch == 76
    assert broker_trace.started
    assert broker_trace.shutting_down
    assert broker_trace.shut_down
    assert broker_trace.last_words == "a"


def test_a_cut_through_a_batch_leaves_a_hole(broker_trace):
    """Kafka goes on at offset 2; the batch that held it is gone from its first record on."""
    told(broker_trace, e.Loaded("t-0", 4))
    broker_trace.tails["t-0"].ends_at = 1

    assert told(broker_trace, e.Truncated("t-0", 2, "epoch", 3)) == [
        ("truncate", "t-0", 2, 4, "epoch", 3),
        ("hole", "t-0", 1, 2),
    ]


def test_a_log_directory_that_the_broker_has_taken_offline_is_told_by_its_name(broker_trace):
    assert told(broker_trace, e.LogDirOffline("/data/first")) == [("log-dir", "", "first", "offline")]


def test_what_a_node_does_in_a_quorum_of_controllers_is_told(broker_trace):
    seen = e.QuorumRole(7, leads=True), e.QuorumRole(8, leads=False), e.VotersRead(59, (1, 2))

    assert told(broker_trace, *seen) == [("controls", "", 7), ("voters-read", "", 59, (1, 2))]


def test_a_log_that_begins_anew_while_one_lies_in_a_directory_that_failed_has_lost_what_that_holds(tail):
    aside = {"t-0": "first"}
    broker_trace = BrokerTrace(2, ["t-0"], lambda _: tail, {}, lambda partition: aside.get(partition, ""))

    assert told(broker_trace, e.Loaded("t-0", 0)) == [("log-lost", "t-0", "first"), ("recovered", "t-0", 0, 0, -1)]
    assert told(broker_trace, e.Loaded("t-0", 3)) == [("recovered", "t-0", 3, 0, -1)]


def test_a_removed_replica_is_told_and_forgotten(broker_trace, tail):
    told(broker_trace, e.Loaded("t-0", 3), e.Follows("t-0", 4, 1, 3, 3))

    assert told(broker_trace, e.Removed("t-0")) == [("removed", "t-0", 3, 4)]
    assert broker_trace.replicas == {}
    assert tail.calls[-1] == ("close",)


def test_one_that_comes_back_begins_with_nothing_and_enters_its_epoch_anew(broker_trace, tail):
    told(broker_trace, e.Loaded("t-0", 3), e.Follows("t-0", 4, 1, 3, 3), e.Removed("t-0"))

    assert told(broker_trace, e.Loaded("t-0", 0), e.Follows("t-0", 4, 1, 0, 0)) == [
        ("recovered", "t-0", 0, 0, -1),
        ("follow", "t-0", 4, 1, 0, 0),
    ]


def test_what_was_appended_before_a_removal_is_looked_for_among_what_was_seen_first(broker_trace, tail):
    told(broker_trace, e.Loaded("t-0", 0))
    told(broker_trace, e.Appended("t-0", 0, 1), e.Removed("t-0"))

    assert [call for call in tail.calls if call[0] == "claim"] == [("claim", 0, 1, 1 << 31, True)]
