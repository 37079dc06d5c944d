"""A follower, message by message: truncation, fetching, and what it must not believe (docs/protocol.md, "Truncation")."""

import pytest

from tidemark.nodes.core.actions import Append, Halt, Truncate, WriteEpochs, WriteHighWatermarks
from tidemark.nodes.core.epoch_cache import EpochEnd
from tidemark.nodes.core.messages import EpochRequest, EpochResponse, FetchRequest, FetchResponse

T = "t-0"
MS = 1_000


@pytest.fixture(scope="session")
def follower(broker, batch):
    """Broker 2 with records of epoch 1 (offsets 0-1) and epoch 3 (2-3), high watermark 1; it follows broker 1 in epoch 5."""

    def start(variant="kafka-2.7", *, hw=1, batches=None, epochs=None, **settings):
        if batches is None:
            batches = [batch(0, 1, 70), batch(1, 1, 71), batch(2, 3, 72), batch(3, 3, 73)]
        two = broker(variant, node=2, batches=batches, epochs=epochs, hw=hw, **settings)
        two.told(0, 1, 5)
        return two

    return start


def in_flight(two):
    return two.replica.following.in_flight


def got(two, now, *batches, hw=0, leo=9, error=None, diverging=None, correlation=None):
    """The leader's answer to the fetch that is out."""
    correlation = in_flight(two) if correlation is None else correlation
    diverging = diverging and EpochEnd(*diverging)
    return two.step(now, FetchResponse(1, T, correlation, list(batches), hw, leo, error, diverging))


def told_end(two, now, *answer, error=None, correlation=None):
    """The leader's answer to the epoch request that is out."""
    correlation = in_flight(two) if correlation is None else correlation
    return two.step(now, EpochResponse(1, T, correlation, EpochEnd(*answer), error))


def asks(two):
    return [(m.epoch, m.current_epoch) for m in two.sent(EpochRequest, to=1)]


def fetches(two):
    return [(m.offset, m.leader_epoch, m.last_fetched_epoch) for m in two.sent(FetchRequest, to=1)]


# hw


def test_0_10_cuts_to_its_own_high_watermark_and_fetches(follower):
    two = follower("kafka-0.10")

    assert two.traced("truncate") == [(1, 4, "to high watermark", 5)]
    assert two.done(Truncate) == [Truncate(T, 1)]
    assert fetches(two) == [(1, 5, -1)]


def test_0_10_does_not_cut_when_the_same_leader_goes_on_in_a_new_epoch(follower, batch):
    two = follower("kafka-0.10")
    got(two, 1, batch(1, 5, 80), hw=1)
    two.told(2, 1, 6)

    assert two.done(Truncate) == []
    assert fetches(two) == [(2, 6, -1)]


def test_0_10_cuts_again_when_another_leader_comes(follower, batch):
    two = follower("kafka-0.10")
    got(two, 1, batch(1, 5, 80), hw=1)
    two.told(2, 3, 6)

    assert two.done(Truncate) == [Truncate(T, 1)]


def test_0_10_does_not_take_no_leader_for_another_leader(follower, batch):
    two = follower("kafka-0.10")
    got(two, 1, batch(1, 5, 80), hw=1)
    two.told(2, -1, 6)
    two.told(3, 1, 7)

    assert two.done(Truncate) == []


@pytest.mark.parametrize("variant", ["kafka-0.10", "kafka-2.1+truncation=hw+KAFKA-7414"])
def test_0_10_stops_when_the_leaders_log_ends_before_its_own(follower, variant):
    """``handleOffsetOutOfRange``: unclean election is disabled, so this is data loss that must not happen."""
    two = follower(variant)
    got(two, 1, leo=0, error="OFFSET_OUT_OF_RANGE")

    assert two.done(Halt) == [Halt("fatal")]
    assert two.traced("fatal") == [("leader's log end 0 is below own 1, and unclean election is disabled",)]


def test_0_11_does_too_after_it_has_asked(follower):
    """Gone with KAFKA-7414, in 2.0.1 and 2.1."""
    two = follower("kafka-0.11")
    told_end(two, 1, -1, 9)
    got(two, 2, leo=2, error="OFFSET_OUT_OF_RANGE")

    assert two.done(Halt) == [Halt("fatal")]


def test_a_later_binary_held_to_0_10_does_not(follower):
    two = follower("kafka-2.0+truncation=hw+bounce-detection")
    got(two, 1, leo=0, error="OFFSET_OUT_OF_RANGE")

    assert two.done(Halt) == []
    assert two.done(Truncate) == [Truncate(T, 0)]


def test_0_10_cuts_to_the_leaders_end_where_unclean_election_is_enabled(follower):
    two = follower("kafka-0.10", unclean_election=True)
    got(two, 1, leo=0, error="OFFSET_OUT_OF_RANGE")

    assert two.done(Halt) == []
    assert two.done(Truncate) == [Truncate(T, 0)]
    assert fetches(two) == [(0, 5, -1)]


# KIP-101


def test_0_11_asks_for_its_latest_epoch_before_it_fetches(follower):
    two = follower("kafka-0.11")

    assert asks(two) == [(3, 5)]
    assert fetches(two) == []
    assert two.traced("ask") == [(1, 3)]
    assert two.done(Truncate) == []


@pytest.mark.parametrize(
    ("offset", "leo"),
    [
        pytest.param(3, 3, id="inside the log: cut"),
        pytest.param(4, 4, id="at its end: keep"),
        pytest.param(9, 4, id="beyond: keep"),
        pytest.param(-1, 1, id="undefined: to the high watermark"),
        pytest.param(0, 0, id="everything"),
    ],
)
def test_0_11_cuts_once_and_fetches(follower, offset, leo):
    two = follower("kafka-0.11")
    told_end(two, 1, -1, offset)

    assert two.replica.leo == leo
    assert fetches(two) == [(leo, 5, -1)]
    assert asks(two) == []


@pytest.mark.parametrize("variant", ["kafka-0.11", "kafka-2.0", "kafka-2.1"])
def test_without_an_epoch_the_follower_cuts_to_its_high_watermark(follower, variant):
    two = follower(variant, epochs=())

    assert two.replica.leo == 1
    assert asks(two) == []
    assert fetches(two) == [(1, 5, -1)]


# KIP-279


def test_2_0_asks_again_until_it_knows_the_epoch(follower):
    two = follower("kafka-2.0")
    assert asks(two) == [(3, 5)]

    told_end(two, 1, 2, 9)
    assert two.traced("truncate") == [(2, 4, "to the end of local epoch 1", 5)]
    assert asks(two) == [(1, 5)]
    assert fetches(two) == []

    told_end(two, 2, 1, 1)
    assert two.traced("truncate") == [(1, 2, "to the end of common epoch 1", 5)]
    assert fetches(two) == [(1, 5, -1)]


def test_2_0_fetches_instead_of_asking_when_no_epoch_is_left(follower):
    two = follower("kafka-2.0")
    told_end(two, 1, 0, 0)

    assert two.replica.leo == 0
    assert two.replica.cache.entries() == ()
    assert asks(two) == []
    assert fetches(two) == [(0, 5, -1)]


@pytest.mark.parametrize("error", ["FENCED_LEADER_EPOCH", "UNKNOWN_LEADER_EPOCH", "NOT_LEADER_OR_FOLLOWER"])
def test_an_error_cuts_nothing_and_is_asked_again_at_the_next_tick(follower, error):
    """The KIP says: any error truncates to the high watermark. The code retries."""
    two = follower("kafka-2.1")
    told_end(two, 1, -1, -1, error=error)
    assert two.did == []

    two.tick(100 * MS)
    assert asks(two) == [(3, 5)]
    assert two.replica.leo == 4


def test_an_unanswered_question_is_repeated(follower):
    two = follower("kafka-2.1")
    two.tick(499 * MS)
    assert asks(two) == []

    two.tick(500 * MS)
    assert asks(two) == [(3, 5)]


@pytest.mark.parametrize("error", ["FENCED_LEADER_EPOCH", "NOT_LEADER_OR_FOLLOWER"])
def test_as_the_kip_has_it_an_error_cuts_to_the_high_watermark(follower, error):
    two = follower("kafka-2.1+hw-on-error")
    told_end(two, 1, -1, -1, error=error)

    assert two.traced("truncate") == [(1, 4, "no answer: to high watermark", 5)]
    assert fetches(two) == [(1, 5, -1)]


def test_as_the_kip_has_it_a_time_out_is_an_error(follower):
    two = follower("kafka-2.1+hw-on-error")
    two.tick(499 * MS)
    assert two.traced("truncate") == []

    two.tick(500 * MS)
    assert two.traced("truncate") == [(1, 4, "no answer: to high watermark", 5)]
    assert asks(two) == []


def test_a_follower_may_send_its_epochs_from_its_high_watermark_on_and_then_all(follower):
    two = follower("kafka-2.1+truncation=lineage", hw=3)
    (first,) = two.sent(EpochRequest, to=1)
    told_end(two, 1, -2, -1)
    (second,) = two.sent(EpochRequest, to=1)
    told_end(two, 2, -2, -1)

    assert (first.lineage, second.lineage) == (((3, 4),), ((1, 2), (3, 4)))
    assert two.traced("truncate") == [(3, 4, "leader knows none of the epochs: to high watermark", 5)]


def test_the_epoch_of_the_high_watermark_is_asked_for_and_the_high_watermark_written(follower):
    two = follower("kafka-2.1+truncation=hw-epoch")

    assert two.done(WriteHighWatermarks) == [WriteHighWatermarks({T: 1})]
    assert asks(two) == [(1, 5)]
    assert follower("kafka-2.1").done(WriteHighWatermarks) == []


def test_during_an_upgrade_a_broker_has_the_rule_of_its_own_version(follower):
    """The question and what is made of the answer are the old ones; another broker's are not."""
    two = follower("kafka-2.1+truncation@2=kip101")
    told_end(two, 1, 1, 9)
    assert two.traced("truncate") == []

    two = follower("kafka-2.1+truncation@1=kip101")
    told_end(two, 1, 1, 9)
    assert two.traced("truncate") == [(2, 4, "to the end of common epoch 1", 5)]


def test_an_answer_to_an_older_question_is_ignored(follower):
    two = follower("kafka-2.1")
    first = in_flight(two)
    two.tick(500 * MS)
    told_end(two, 501 * MS, 1, 0, correlation=first)

    assert two.did == []
    assert two.replica.leo == 4


def test_an_answer_from_before_a_new_leader_epoch_is_ignored(follower):
    two = follower("kafka-2.1")
    first = in_flight(two)
    two.told(1, 1, 6)
    told_end(two, 2, 1, 0, correlation=first)

    assert two.did == []
    assert two.replica.leo == 4


def test_an_answer_that_arrives_at_a_leader_is_ignored(follower):
    two = follower("kafka-2.1")
    first = in_flight(two)
    two.lead(1, 6)
    two.step(2, EpochResponse(1, T, first, EpochEnd(1, 0)))

    assert two.did == []


# Truncation on fetch


def test_2_7_fetches_at_once_and_names_its_latest_epoch(follower):
    two = follower()

    assert fetches(two) == [(4, 5, 3)]
    assert asks(two) == []
    assert two.done(Truncate) == []


@pytest.mark.parametrize("variant", ["kafka-0.10", "kafka-0.11", "kafka-2.0", "kafka-2.1"])
def test_earlier_fetches_do_not(follower, batch, variant):
    two = follower(variant, batches=[batch(0, 1, 70)])
    if two.sent(EpochRequest):
        told_end(two, 1, 1, 1)

    assert fetches(two) == [(1, 5, -1)]


def test_a_fetch_names_leader_epoch_and_broker_epoch(follower):
    (fetch,) = follower().sent(FetchRequest)

    assert (fetch.source, fetch.leader_epoch, fetch.broker_epoch) == (2, 5, 12)


def test_a_diverging_epoch_cuts_and_the_next_fetch_goes_on_from_there(follower):
    two = follower()
    got(two, 1, diverging=(1, 2))

    assert two.traced("truncate") == [(2, 4, "to the end of common epoch 1", 5)]
    assert fetches(two) == [(2, 5, 1)]


def test_a_second_diverging_epoch_cuts_further(follower):
    two = follower()
    got(two, 1, diverging=(2, 9))
    assert fetches(two) == [(2, 5, 1)]

    got(two, 2, diverging=(1, 1))
    assert fetches(two) == [(1, 5, 1)]


@pytest.mark.parametrize(("variant", "hw"), [("kafka-2.7", 1), ("kafka-2.7+KAFKA-14704", 2)])
def test_the_high_watermark_of_a_diverging_response_is_not_taken(follower, variant, hw):
    """KAFKA-14704."""
    two = follower(variant)
    got(two, 1, diverging=(1, 2), hw=9)

    assert two.replica.hw == hw


def test_a_diverging_response_is_no_first_fetch(follower):
    two = follower()
    got(two, 1, diverging=(1, 2))
    assert two.traced("fetched") == []

    got(two, 2)
    assert two.traced("fetched") == [(5, 1)]


# Cutting


def test_a_cut_takes_the_high_watermark_along(follower):
    two = follower(hw=4)
    got(two, 1, diverging=(1, 2))

    assert two.replica.hw == 2
    assert two.traced("hw") == [(2, 5, False)]


def test_a_cut_takes_the_epochs_along(follower):
    two = follower()
    got(two, 1, diverging=(1, 2))

    assert two.replica.cache.entries() == ((1, 0),)
    assert two.done(WriteEpochs) == [WriteEpochs(T, ((1, 0),))]


def test_a_cut_inside_a_batch_drops_all_of_it(follower, batch):
    """KIP-279, scenario 1, n > 20: to 21 is to 11."""
    two = follower(batches=[batch(0, 1, *range(11)), batch(11, 2, *range(15))], hw=11)
    got(two, 1, diverging=(1, 21))
    assert two.traced("truncate") == [(11, 26, "to the end of common epoch 1", 5)]
    assert two.traced("hole") == []

    two = follower("kafka-2.1", batches=[batch(0, 1, *range(11)), batch(11, 1, *range(15))], hw=22)
    told_end(two, 1, 1, 21)
    assert two.traced("truncate") == [(21, 26, "to the end of common epoch 1", 5)]
    assert two.traced("hole") == [(11, 21)]
    assert two.traced("hw") == [(21, 5, False)]
    assert two.replica.leo == 21


def test_repaired_the_log_ends_where_the_batch_began(follower, batch):
    two = follower("kafka-2.1+cut-ends-at-batch", batches=[batch(0, 1, *range(11)), batch(11, 1, *range(15))], hw=22)
    told_end(two, 1, 1, 21)

    assert two.traced("truncate") == [(11, 26, "to the end of common epoch 1", 5)]
    assert two.traced("hole") == []
    assert (two.replica.leo, two.replica.hw) == (11, 11)


def test_an_epoch_without_records_at_the_logs_end_goes_in_a_cut_that_cuts_no_record(follower):
    """KAFKA-10706: the follower led epoch 4 and wrote nothing."""
    two = follower("kafka-2.1", epochs=((1, 0), (3, 2), (4, 4)))
    assert asks(two) == [(4, 5)]
    told_end(two, 1, 3, 4)

    assert two.replica.leo == 4
    assert two.replica.cache.entries() == ((1, 0), (3, 2))


def test_with_kafka_10706_it_stays_and_truncation_never_ends(follower):
    two = follower("kafka-2.1+KAFKA-10706", epochs=((1, 0), (3, 2), (5, 4)))
    for now in range(1, 4):
        told_end(two, now, 4, 9)
        assert asks(two) == [(5, 5)]


def test_a_cut_that_cuts_nothing_is_not_traced(follower):
    two = follower("kafka-2.1")
    told_end(two, 1, 3, 9)

    assert two.traced("truncate") == []
    assert two.done(Truncate) == []


# Fetching


def test_what_came_is_appended_and_the_next_fetch_goes_out(follower, batch):
    two = follower()
    new = batch(4, 3, 74), batch(5, 5, 75, 76)
    got(two, 1, *new, hw=5)

    assert two.done(Append) == [Append(T, new[0]), Append(T, new[1])]
    assert two.done(WriteEpochs) == [WriteEpochs(T, ((1, 0), (3, 2), (5, 5)))]
    assert two.traced("hw") == [(5, 5, False)]
    assert fetches(two) == [(7, 5, 5)]


def test_the_first_answered_fetch_of_an_epoch_is_traced_once(follower):
    two = follower()
    got(two, 1)
    assert two.traced("fetched") == [(5, 1)]
    got(two, 2)
    assert two.traced("fetched") == []

    two.told(3, 1, 6)
    got(two, 4)
    assert two.traced("fetched") == [(6, 1)]


@pytest.mark.parametrize(
    ("leader_hw", "hw"),
    [
        pytest.param(3, 3, id="the leader's"),
        pytest.param(9, 4, id="but not beyond the own log"),
        pytest.param(0, 0, id="and it may go back"),
    ],
)
def test_a_followers_high_watermark_is_the_leaders_within_its_own_log(follower, leader_hw, hw):
    two = follower(hw=2)
    got(two, 1, hw=leader_hw)

    assert two.replica.hw == hw
    assert two.traced("hw") == [(hw, 5, False)]


def test_an_unchanged_high_watermark_is_not_traced(follower):
    two = follower(hw=4)
    got(two, 1, hw=9)

    assert two.traced("hw") == []


def test_a_batch_that_begins_below_the_log_end_is_refused(follower, batch):
    two = follower()
    got(two, 1, batch(3, 5, 74, 75), hw=6)

    assert two.traced("out-of-order") == [(3, 4)]
    assert two.done(Append) == []
    assert (two.replica.leo, two.replica.hw) == (4, 1)
    assert fetches(two) == []

    two.tick(100 * MS)
    assert fetches(two) == [], "until there is a newer leader epoch"


def test_batches_before_the_one_that_does_not_fit_are_kept(follower, batch):
    two = follower()
    got(two, 1, batch(4, 5, 74), batch(4, 5, 75))

    assert two.replica.leo == 5
    assert two.traced("out-of-order") == [(4, 5)]


def test_a_hole_of_the_leader_is_taken_over(follower, batch):
    two = follower()
    got(two, 1, batch(6, 5, 74), hw=4)

    assert two.replica.leo == 7
    assert fetches(two) == [(7, 5, 5)]


@pytest.mark.parametrize(
    "error", ["NOT_LEADER_OR_FOLLOWER", "FENCED_LEADER_EPOCH", "UNKNOWN_LEADER_EPOCH", "STALE_BROKER_EPOCH"]
)
def test_a_refused_fetch_is_sent_again_at_the_next_tick(follower, error):
    two = follower()
    got(two, 1, hw=4, error=error)
    assert two.did == []

    two.tick(100 * MS)
    assert fetches(two) == [(4, 5, 3)]


def test_an_unanswered_fetch_is_sent_again_after_a_while(follower):
    two = follower()
    two.tick(499 * MS)
    assert fetches(two) == []

    two.tick(500 * MS)
    assert fetches(two) == [(4, 5, 3)]


def test_a_response_to_an_older_fetch_is_ignored(follower, batch):
    two = follower()
    first = in_flight(two)
    two.tick(500 * MS)
    got(two, 501 * MS, batch(4, 5, 74), hw=4, correlation=first)

    assert two.did == []


def test_a_response_is_taken_once(follower, batch):
    two = follower()
    first = in_flight(two)
    got(two, 1, batch(4, 5, 74))
    got(two, 2, batch(4, 5, 74), correlation=first)

    assert two.did == []


def test_a_response_from_the_former_epoch_is_ignored(follower, batch):
    two = follower()
    first = in_flight(two)
    two.told(1, 3, 6)
    got(two, 2, batch(4, 5, 74), correlation=first)

    assert two.did == []


def test_a_response_that_arrives_at_a_leader_is_ignored(follower, batch):
    two = follower()
    first = in_flight(two)
    two.lead(1, 6)
    two.step(2, FetchResponse(1, T, first, [batch(4, 5, 74)], 4, 5))

    assert two.did == []


# log-end


def test_fluss_follower_takes_its_own_log_end_for_its_high_watermark(follower, batch):
    two = follower("fluss-0.9")
    got(two, 1, batch(1, 5, 80), batch(2, 5, 81), hw=1)

    assert two.replica.hw == 3
    got(two, 2, hw=2)
    assert two.replica.hw == 3


def test_fluss_follower_cuts_nothing_when_another_leader_comes(follower, batch):
    two = follower("fluss-0.9")
    got(two, 1, batch(1, 5, 80), batch(2, 5, 81), hw=1)
    two.told(2, 3, 6)

    assert two.done(Truncate) == []
    assert [(m.offset, m.leader_epoch, m.last_fetched_epoch) for m in two.sent(FetchRequest, to=3)] == [(3, 6, -1)]


def test_fluss_replica_that_starts_cuts_to_its_checkpoint(follower):
    two = follower("fluss-0.9")

    assert two.traced("truncate") == [(1, 4, "to high watermark", 5)]
    assert two.done(Truncate) == [Truncate(T, 1)]


def test_fluss_deposed_leader_cuts_to_the_high_watermark_that_it_had_as_leader(follower, batch):
    two = follower("fluss-0.9")
    got(two, 1, batch(1, 5, 80), hw=1)
    two.lead(2, 6)
    two.produced(3, 90)
    two.told(4, 3, 7)

    assert two.traced("truncate") == [(2, 3, "to high watermark", 7)]


# Out of range


@pytest.mark.parametrize("variant", ["kafka-2.0", "kafka-2.1", "kafka-2.7", "kafka-4.0"])
def test_from_2_0_an_out_of_range_follower_cuts_to_the_leaders_end(follower, variant):
    two = follower(variant)
    if two.sent(EpochRequest):
        told_end(two, 1, 3, 9)
    got(two, 2, leo=3, error="OFFSET_OUT_OF_RANGE")

    assert two.traced("truncate") == [(3, 4, "out of range: to the leader's log end 3", 5)]
    assert two.done(Halt) == []
    assert [offset for offset, _, _ in fetches(two)] == [3]


def test_out_of_range_although_the_leader_has_as_much_is_tried_again_later(follower):
    two = follower()
    got(two, 1, leo=4, error="OFFSET_OUT_OF_RANGE")
    assert two.did == []

    two.tick(100 * MS)
    assert fetches(two) == [(4, 5, 3)]
