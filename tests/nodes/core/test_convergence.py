"""Two real brokers with logs from a common past talk until they are quiet: what does the follower hold?"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidemark.nodes.core.log import Batch

SAFE = ("kafka-2.0", "kafka-2.1", "kafka-2.7", "kafka-4.0")

TERMS = st.lists(
    st.tuples(st.integers(0, 2), st.lists(st.integers(1, 3), max_size=3), st.lists(st.integers(0, 9), max_size=2)),
    min_size=1,
    max_size=6,
)
"""Per leader epoch: who leads of three, the sizes of the batches it writes, how many batches further each other replica gets."""


def common(one, other):
    """The number of batches two logs share from the start on."""
    shared = 0
    for a, b in zip(one, other, strict=False):
        if a is not b:
            break
        shared += 1
    return shared


def lineage(terms):
    """The logs and epoch caches of three replicas after these terms: each follows a true prefix of the leader of its time."""
    logs, epochs = [[], [], []], [{}, {}, {}]
    value = 0
    for epoch, (leader, sizes, progress) in enumerate(terms):
        log = logs[leader]
        leo = log[-1].end if log else 0
        epochs[leader] = {e: o for e, o in epochs[leader].items() if o < leo} | {epoch: leo}
        for size in sizes:
            log.append(Batch(log[-1].end if log else 0, epoch, tuple(range(value, value + size))))
            value += size
        for replica, further in zip([r for r in range(3) if r != leader], progress, strict=False):
            shared = common(log, logs[replica])
            logs[replica] = log[: min(shared + further, len(log))]
            epochs[replica] = first_offsets(logs[replica])
    return logs, [tuple(entries.items()) for entries in epochs]


def first_offsets(batches):
    """The epochs a follower learns: from the batches it gets."""
    first = {}
    for batch in batches:
        first.setdefault(batch.epoch, batch.base)
    return first


def merged(broker, talk, variant, leader, follower, epoch):
    """Broker 1 leads with one log, broker 2 follows with another, until nothing more is said."""
    one = broker(variant, node=1, batches=leader[0], epochs=leader[1])
    two = broker(variant, node=2, batches=follower[0], epochs=follower[1])
    one.lead(1_000, epoch, (1, 2), replicas=(1, 2))
    two.told(1_000, 1, epoch, (1, 2), replicas=(1, 2))
    said = talk(2_000, one, two)
    return one, two, said


@pytest.mark.parametrize("variant", SAFE)
@settings(max_examples=150)
@given(TERMS)
def test_the_follower_ends_with_the_leaders_log(broker, talk, variant, terms):
    logs, epochs = lineage(terms)
    one, two, _ = merged(broker, talk, variant, (logs[0], epochs[0]), (logs[1], epochs[1]), len(terms))

    assert two.records() == one.records()
    assert two.replica.log.leo == one.replica.log.leo


@pytest.mark.parametrize("variant", SAFE)
@settings(max_examples=150)
@given(TERMS)
def test_the_follower_cuts_no_batch_that_it_shares_with_the_leader(broker, talk, variant, terms):
    logs, epochs = lineage(terms)
    _, two, _ = merged(broker, talk, variant, (logs[0], epochs[0]), (logs[1], epochs[1]), len(terms))

    shared = common(logs[0], logs[1])
    kept = [batch for batch in logs[1] if any(batch is mine for mine in two.replica.log.batches)]
    assert kept == logs[1][:shared]


@pytest.mark.parametrize("variant", SAFE)
@settings(max_examples=100)
@given(TERMS)
def test_the_followers_epoch_cache_says_what_its_log_holds(broker, talk, variant, terms):
    logs, epochs = lineage(terms)
    _, two, _ = merged(broker, talk, variant, (logs[0], epochs[0]), (logs[1], epochs[1]), len(terms))

    log = two.replica.log
    assert tuple(e for e in two.replica.cache.entries() if e[1] < log.leo) == tuple(first_offsets(log.batches).items())


def test_the_lineages_do_diverge():
    """The properties above would hold of logs that never fork, so: here is one that does."""
    logs, epochs = lineage([(0, [1], [9, 9]), (0, [1], []), (1, [1], [])])

    assert [[batch.epoch for batch in log] for log in logs] == [[0, 1], [0, 2], [0]]
    assert epochs[:2] == [((0, 0), (1, 1)), ((0, 0), (2, 1))]


def shortest_divergence(broker, talk, variant):
    """The shortest divergence under KIP-101: b1 leads e0 and writes, b2 leads e1 and writes, b1 leads e2; b2 follows in e2."""
    return merged(
        broker,
        talk,
        variant,
        ([Batch(0, 0, (7,)), Batch(1, 0, (8,))], ((0, 0),)),
        ([Batch(0, 0, (7,)), Batch(1, 1, (9,))], ((0, 0), (1, 1))),
        2,
    )


def test_kip101_keeps_the_record_that_diverged(broker, talk):
    one, two, _ = shortest_divergence(broker, talk, "kafka-2.1+truncation=kip101")

    assert one.records() == [(0, 7), (0, 8)]
    assert two.records() == [(0, 7), (1, 9)]


@pytest.mark.parametrize("variant", SAFE)
def test_the_later_rules_do_not(broker, talk, variant):
    one, two, _ = shortest_divergence(broker, talk, variant)

    assert two.records() == one.records() == [(0, 7), (0, 8)]


def rounds(said, kind):
    return [m for m in said if m.__class__.__name__ == kind]


def scenario_3(broker, talk, variant):
    """KIP-279, scenario 3, with epochs 0 to 3: the follower has epochs 0 and 2, the leader 1 and 3."""
    a = [Batch(0, 0, (10,)), Batch(1, 2, (12,))]
    b = [Batch(0, 1, (11,)), Batch(1, 3, (13,))]
    return merged(broker, talk, variant, (b, ((1, 0), (3, 1))), (a, ((0, 0), (2, 1))), 4)


def test_kip279_walks_back_epoch_by_epoch(broker, talk):
    one, two, said = scenario_3(broker, talk, "kafka-2.1")

    assert [m.epoch for m in rounds(said, "EpochRequest")] == [2, 0]
    assert [m.answer for m in rounds(said, "EpochResponse")] == [(1, 1), (0, 0)]
    assert two.records() == one.records() == [(1, 11), (3, 13)]


def test_truncation_on_fetch_walks_back_in_fetches(broker, talk):
    one, two, said = scenario_3(broker, talk, "kafka-2.7")

    assert rounds(said, "EpochRequest") == []
    assert [(m.offset, m.last_fetched_epoch) for m in rounds(said, "FetchRequest")] == [(2, 2), (1, 0), (0, -1), (2, 3)]
    assert [m.diverging for m in rounds(said, "FetchResponse")][:2] == [(1, 1), (0, 0)]
    assert two.records() == one.records()
