"""What a share group promises: each violation is found, and what looks like one and is none is not."""

import pytest

from tidemark.checkers import History, check, deleted, polled, sent
from tidemark.checkers.history.history import Op
from tidemark.checkers.share_group import NAMES

T = "t-0"


class Told:
    """A history, as its operations happen one after the other."""

    def __init__(self, records=1):
        self.ops = [sent(n + 1, "p1", T, 7 + n, n) for n in range(records)]

    def _add(self, process, kind, f, value=(), error=None, *, final=False):
        self.ops.append(Op(len(self.ops) + 1, process, kind, f, value, error, final=final))

    def fetch(self, member, *records, broker=1, final=False, how="ok"):
        """As (offset, value, delivery count)."""
        self._add(member, "invoke", "share-fetch", (), final=final)
        told = (("share-fetch", broker, {T: list(records)} if records else {}),)
        self._add(member, how, "share-fetch", told, None if how == "ok" else "no answer", final=final)
        return self

    def say(self, member, how, *offsets, broker=1, came="ok", final=False):
        told = (("share-acknowledge", broker, {T: [(offset, how) for offset in offsets or (0,)]}),)
        self._add(member, "invoke", "share-acknowledge", told, final=final)
        self._add(member, came, "share-acknowledge", told, None if came == "ok" else "REFUSED", final=final)
        return self

    def add(self, *ops):
        self.ops += [op._replace(time=len(self.ops) + 1 + n) for n, op in enumerate(ops)]
        return self

    def read(self, *records):
        return self.add(polled(0, "final", T, *records)._replace(final=True))

    def judged(self, drained=True, trace=(), **meta):
        told = {"share_group": {"drained": drained, "deliveries": 10, "lock_us": 1}, **meta}
        verdict = check(History.of(ops=self.ops, trace=trace, **told))
        return {(one.name, one.verdict) for one in verdict.anomalies if one.name in NAMES}

    @property
    def violations(self):
        found = self.judged()
        assert all(verdict == "violation" for _, verdict in found)
        return {name for name, _ in found}


S = 1_000_000
R = (0, 7, 1)
AGAIN = (0, 7, 2)


def test_a_record_that_is_accepted_and_not_seen_again_is_well():
    told = Told().fetch("m1", R).say("m1", "accept").fetch("rest", final=True).read((0, 7))
    assert told.violations == set()
    assert check(History.of(ops=told.ops, share_group={"drained": True})).valid == "valid"


@pytest.mark.parametrize("how", ["accept", "reject"])
def test_after_its_last_word_was_confirmed_nobody_is_given_a_record(how):
    assert Told().fetch("m1", R).say("m1", how).fetch("m2", AGAIN).violations == {"redelivered"}
    assert Told().fetch("m1", R).say("m1", how).fetch("rest", AGAIN, broker=2, final=True).violations == {"redelivered"}


def test_a_released_record_is_given_again():
    told = Told().fetch("m1", R).say("m1", "release").fetch("m2", AGAIN).say("m2", "accept").read((0, 7))
    assert told.violations == set()


def test_in_the_end_somebody_may_still_be_deposed_where_a_partition_did_not_come_to_rest():
    told = Told().fetch("m1", R).say("m1", "accept").fetch("rest", AGAIN, broker=2, final=True)
    trace = [(1, 1, "lead", T, 1, 0, 0, (1, 2)), (2, 1, "append", T, 0, 1, (7,))]
    for ok, found in ((True, {("redelivered", "violation")}), (False, set())):
        assert told.judged(trace=[*trace, (9, 0, "converged", T, ok, "" if ok else "a leader")]) == found


@pytest.mark.parametrize("came", ["info", "fail"])
def test_what_was_not_confirmed_may_be_given_again(came):
    assert Told().fetch("m1", R).say("m1", "accept", came=came).fetch("m2", AGAIN).violations == set()


def test_a_leader_that_is_deposed_without_knowing_it_may_give_what_another_has_confirmed():
    told = Told().fetch("m1", R, broker=2).say("m1", "accept", broker=2).fetch("m2", R, broker=1)
    assert told.violations == set()
    assert told.say("m2", "accept", broker=1, came="fail").violations == set()


def test_but_one_that_knows_that_it_leads_in_a_later_epoch_may_not():
    told = Told().fetch("m1", R, broker=2).say("m1", "accept", broker=2)
    told.ops = [op._replace(time=op.time * S) for op in told.fetch("m2", R, broker=1).ops]
    first, second, third = (
        (at, broker, "lead", T, epoch, epoch > 2, epoch > 2, (1, 2))
        for at, broker, epoch in ((1, 1, 1), (2, 2, 2), (5 * S, 1, 3))
    )
    written = [(3, 2, "append", T, 0, 2, (7,)), (4, 1, "append", T, 0, 2, (7,))]

    assert told.judged(trace=[second, *written, third]) == {("redelivered", "violation")}
    assert told.judged(trace=[second, *written]) == set()
    assert told.judged(trace=[*written, third]) == set()
    assert told.judged(trace=[first, second, *written]) == set()
    assert told.judged(trace=[second, *written, (6 * S - 1, *third[1:])]) == set(), "clocks may be apart"


def test_a_record_that_was_being_given_when_another_was_confirmed_is_no_redelivery():
    told = Told().fetch("m1", R)
    told._add("m2", "invoke", "share-fetch")
    told.say("m1", "accept")
    told._add("m2", "ok", "share-fetch", (("share-fetch", 1, {T: [AGAIN]}),))
    assert told.violations == set()


def test_who_lost_a_record_to_another_is_not_confirmed():
    told = Told().fetch("m1", R).fetch("m2", AGAIN)
    assert told.violations == set()
    assert Told().fetch("m1", R).fetch("m2", AGAIN).say("m1", "accept", came="fail").violations == set()
    assert Told().fetch("m1", R).fetch("m2", AGAIN).say("m1", "release").violations == {"held-by-two"}
    told = Told().fetch("m1", R).fetch("m2", AGAIN).say("m2", "release")
    assert told.say("m1", "accept").violations == {"held-by-two"}


@pytest.mark.parametrize("came", ["ok", "info"])
def test_what_is_said_of_a_record_that_the_group_is_past_means_nothing(came):
    told = Told().fetch("m1", R).fetch("m2", AGAIN).say("m2", "accept", came=came)
    assert told.say("m1", "release").violations == set()


def test_nor_of_a_record_that_may_be_archived():
    told = Told().fetch("m1", (0, 7, 9)).fetch("m2", (0, 7, 10)).say("m2", "release").say("m1", "accept")
    assert told.violations == set()


def test_a_deposed_leader_may_give_what_somebody_holds():
    told = Told().fetch("m1", R, broker=2).fetch("m2", R, broker=1).say("m1", "accept", broker=2)
    assert told.violations == set()


def test_what_was_never_given_to_anybody_is_lost_to_the_group():
    told = Told(2).fetch("m1", R).say("m1", "accept").fetch("rest", final=True).read((0, 7), (1, 8))
    assert told.violations == {"lost-to-group"}
    (one,) = check(History.of(ops=told.ops, share_group={"drained": True})).named("lost-to-group")
    assert (one.evidence["offset"], one.evidence["records"]) == (1, 1)
    assert "Record 8 of t-0 (offset 1) was never given to anybody" in one.message


@pytest.mark.parametrize("said", [("release", "ok"), ("accept", "fail"), None], ids=["released", "refused", "left"])
def test_what_nobody_accepted_must_be_given_again(said):
    told = Told().fetch("m1", R)
    if said is not None:
        told.say("m1", said[0], came=said[1])
    assert told.fetch("rest", final=True).read((0, 7)).violations == {"lost-to-group"}
    told.fetch("rest", AGAIN, final=True)
    assert told.say("rest", "accept", came="info", final=True).violations == set()


def test_what_may_have_been_accepted_need_not_be_given_again():
    told = Told().fetch("m1", R).say("m1", "accept", came="info").fetch("rest", final=True).read((0, 7))
    assert told.violations == set()


def test_an_offset_that_was_acquired_without_its_record_is_lost():
    told = Told().fetch("m1", (0, None, 1)).say("m1", "gap").fetch("rest", final=True).read((0, 7))
    assert told.violations == {"lost-to-group"}


def test_what_was_given_as_often_as_is_allowed_is_archived():
    told = (
        Told()
        .fetch("m1", (0, 7, 9))
        .say("m1", "release")
        .fetch("m2", how="info")
        .fetch("rest", final=True)
        .read((0, 7))
    )
    assert told.violations == set()
    told = Told().fetch("m1", (0, 7, 9)).say("m1", "release").fetch("rest", final=True).read((0, 7))
    assert told.violations == {"lost-to-group"}


def test_of_a_group_that_did_not_come_to_its_end_nobody_knows_what_is_lost():
    told = Told().fetch("rest", final=True).read((0, 7))
    assert told.judged() == {("lost-to-group", "violation")}
    assert told.judged(drained=False) == set()
    assert told.judged(read_back=False) == set()
    verdict = check(History.of(ops=told.ops, share_group={"drained": False}))
    assert (verdict.valid, "share group" in verdict.unknown_because) == ("unknown", True)


def test_deleted_records_need_not_be_given():
    told = Told(2).add(deleted(0, "d1", T, 1)).fetch("rest", (1, 8, 1), final=True).say("rest", "accept", 1, final=True)
    assert told.read((0, 7), (1, 8)).violations == set()


def test_a_record_that_nobody_sent_or_that_was_not_written():
    assert Told().fetch("m1", (1, 99, 1)).violations == {"phantom-delivery"}
    unwritten = (("send", T, 99),)
    told = Told().add(Op(0, "p2", "invoke", "send", unwritten), Op(0, "p2", "fail", "send", unwritten, "X"))
    assert told.fetch("m1", (1, 99, 1)).violations == {"phantom-delivery"}
    told = Told().add(Op(0, "p2", "invoke", "send", unwritten), Op(0, "p2", "info", "send", unwritten, "X"))
    assert told.fetch("m1", (1, 99, 1)).violations == set()


def test_an_acknowledgement_belongs_to_the_last_delivery_whatever_the_process_is_called_then():
    told = Told().fetch("m1", how="info").fetch("m1.1", R).say("m1.1", "accept").fetch("m2", AGAIN)
    assert told.violations == {"redelivered"}


@pytest.mark.parametrize("why", [{"unclean_election": True}, {"trace": [(4, 1, "stop", "", "power")]}], ids=str)
def test_once_states_may_be_lost_nothing_follows_from_a_redelivery(why):
    told = Told().fetch("m1", R).say("m1", "accept").fetch("m2", AGAIN)
    assert told.judged(**why) == {("redelivered", "permitted")}


def test_where_the_log_lost_records_nothing_is_said_of_the_group():
    told = Told().fetch("m1", R).say("m1", "accept").fetch("m2", AGAIN).read()
    assert told.judged() == {("redelivered", "permitted")}


def test_many_records_are_one_anomaly():
    told = Told(3).fetch("m1", (0, 7, 1), (1, 8, 1), (2, 9, 1)).say("m1", "accept", 0, 1, 2)
    told.fetch("m2", (0, 7, 2), (1, 8, 2), (2, 9, 2))
    (one,) = check(History.of(ops=told.ops)).named("redelivered")
    assert (one.evidence["records"], one.evidence["offsets"]) == (3, [0, 1, 2])
    assert one.message.endswith("And 2 more such records.")
