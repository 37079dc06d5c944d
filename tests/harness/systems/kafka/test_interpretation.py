"""What brokers said and what their files hold become evidence, or a reason not to believe it."""

from tidemark.harness.evidence.replica_evidence import MOST_DOUBTS, ReplicaEvidence
from tidemark.harness.systems.kafka.interpretation import interpret, without_past_reigns

T = "t-0"
VERIFIED, UNVERIFIED = "2.8.2", "2.4.1"


def node(number, *events):
    """Events of one node, one µs apart."""
    lives = {"start", "stop"}
    return [(time, number, e[0], "" if e[0] in lives else T, *e[1:]) for time, e in enumerate(events)]


LEADER = node(1, ("start", 1), ("lead", 3, 0, 0, (1, 2)), ("append", 0, -1, (7,)))
FOLLOWER = node(2, ("start", 1), ("follow", 3, 1, 0, 0), ("append", 0, -1, (7,)))
FILE = {T: [(0, -1, (7,))]}


def test_old_records_get_the_epochs_their_leader_wrote_them_in():
    seen = interpret(ReplicaEvidence({1: LEADER, 2: FOLLOWER}, {1: FILE, 2: FILE}), VERIFIED)

    assert seen.not_understood == []
    assert seen.segments == {1: {T: [(0, 3, (7,))]}, 2: {T: [(0, 3, (7,))]}}
    assert [events[-1][5] for events in seen.events.values()] == [3, 3]


def test_a_version_that_nobody_verified_is_not_believed():
    (doubt,) = interpret(ReplicaEvidence({1: LEADER}, {1: FILE}), UNVERIFIED).not_understood

    assert doubt.startswith("The log lines of Kafka 2.4.1 have not been verified")


def test_lines_and_files_that_tell_different_stories_are_not_believed():
    other = {T: [(0, -1, (8,))]}
    ((doubt,),) = interpret(ReplicaEvidence({1: LEADER}, {1: other}), VERIFIED).doubted.values()

    assert doubt == "Broker 1, t-0: offset 0 holds 8, and its lines tell of 7."


def test_records_whose_epoch_nobody_knows_are_not_believed():
    events = node(2, ("start", 1), ("follow", 3, 1, 0, 0), ("append", 0, -1, (7,)))

    assert interpret(ReplicaEvidence({2: events}, {2: FILE}), VERIFIED).doubted.keys() == {2}


def test_a_broker_that_is_down_at_the_end_need_not_have_told_its_last_write():
    longer = {T: [(0, 3, (7,)), (1, 3, (8,))]}
    events = node(1, ("start", 1), ("lead", 3, 0, 0, (1,)), ("append", 0, 3, (7,)))

    assert interpret(ReplicaEvidence({1: events}, {1: longer}), VERIFIED).doubted.keys() == {1}

    down = [*events, (9, 1, "stop", "", "crash")]

    assert interpret(ReplicaEvidence({1: down}, {1: longer}), VERIFIED).doubted == {}

    back = [*down, (10, 1, "start", "", 2), (11, 1, "recovered", T, 2, 0, -1)]

    assert interpret(ReplicaEvidence({1: back}, {1: longer}), VERIFIED).doubted == {}


def test_the_controllers_machine_has_no_replica():
    events = {0: [(0, 0, "elect", T, 1, 3, (1,), (), "initial", True, 0)], 1: LEADER}

    assert interpret(ReplicaEvidence(events, {0: {T: [(0, 9, (9,))]}, 1: FILE}), VERIFIED).doubted == {}


def test_earlier_doubts_are_kept_and_a_few_are_enough():
    found = ReplicaEvidence({1: LEADER}, {1: FILE}, [f"doubt {n}" for n in range(2 * MOST_DOUBTS)])

    assert interpret(found, VERIFIED).not_understood == [f"doubt {n}" for n in range(MOST_DOUBTS)]


def test_a_reign_of_an_earlier_life_is_no_leadership():
    """A broker of KRaft that starts again takes itself for the leader that it was, until it has read the metadata on."""
    events = [
        (1, 3, "start", "", 1),
        (2, 3, "lead", "t-0", 2, 4, 4, (3,)),
        (3, 3, "start", "", 2),
        (4, 3, "lead", "t-0", 2, 2, 2, (3,)),
        (5, 3, "hw", "t-0", 2, 2, True),
        (6, 3, "follow", "t-0", 3, -1, 2, 2),
        (7, 3, "lead", "t-0", 4, 2, 2, (3,)),
    ]

    assert without_past_reigns(events) == [*events[:3], (5, 3, "hw", "t-0", 2, 2, False), *events[5:]]


def test_a_zookeeper_broker_leads_again_in_an_epoch_it_led_before_if_it_is_told_to():
    """By a controller that was elected meanwhile, and finds it alive."""
    life = [("lead", 3, 0, 0, (1,)), ("append", 0, -1, (7,)), ("start", 2), ("lead", 3, 1, 0, (1,)), ("hw", 1, 3, True)]
    events = node(1, ("start", 1), *life)

    assert interpret(ReplicaEvidence({1: events}, {1: FILE}), VERIFIED).events[1][-2:] == events[-2:]
    assert interpret(ReplicaEvidence({1: events}, {1: FILE}), VERIFIED, dreams=True).events[1][-1][-1] is False
