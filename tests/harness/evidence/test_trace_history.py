"""From trace files to a history: decoded, timed, in order, and whole even where a process was killed."""

from base64 import b64encode

import pytest

from tidemark.harness.evidence.replica_evidence import ReplicaEvidence
from tidemark.harness.evidence.run_error import RunError
from tidemark.harness.evidence.trace_history import TracedAnswer, TraceHistory, parse_trace
from tidemark.nodes.formats.record_batch import build

T0 = 1_000


def raw(values, base=0, epoch=0):
    return b64encode(build(values, base, epoch)).decode()


def appended(time, base, *values, epoch=0, node=1):
    return [T0 + time, node, "append", "t-0", base, epoch, raw(values, base, epoch)]


def event(time, name, *fields, node=1, partition="t-0"):
    return [T0 + time, node, name, partition, *fields]


def history(*nodes, harness=(), segments=None):
    made = TraceHistory(T0)
    for number, events in enumerate(nodes, start=1):
        made.add(number, events)
    return made.trace(harness, ReplicaEvidence(made.events, segments or {}))


# Files


def test_lines_are_events():
    assert parse_trace('[1,1,"start","",1]\n[2,1,"hw","t-0",1,0,true]\n', "b1") == [
        [1, 1, "start", "", 1],
        [2, 1, "hw", "t-0", 1, 0, True],
    ]


def test_a_last_line_that_was_cut_off_is_left_out():
    assert parse_trace('[1,1,"start","",1]\n[2,1,"app', "b1") == [[1, 1, "start", "", 1]]


def test_a_cut_off_line_may_be_continued_by_the_next_process():
    text = '[1,1,"start","",1]\n[2,1,"append","t-0",0,0,"AAA[3,1,"start","",2]\n[4,1,"fatal","","x"]\n'

    assert [found[2:] for found in parse_trace(text, "b1")] == [["start", "", 1], ["start", "", 2], ["fatal", "", "x"]]


def test_a_cut_off_line_before_a_new_process_is_left_out():
    text = '[1,1,"start","",1]\n[2,1,"app\n[3,1,"start","",2]\n'

    assert [found[4] for found in parse_trace(text, "b1")] == [1, 2]


def test_damage_anywhere_else_is_an_error():
    with pytest.raises(RunError, match="line 2 of b1's trace is damaged"):
        parse_trace('[1,1,"start","",1]\n[2,1,"app\n[3,1,"hw","t-0",1,0,true]\n', "b1")


# Events


def test_batches_become_their_values_and_lists_tuples():
    lead = event(5, "lead", 0, 0, 0, [1, 2])

    assert history([lead, appended(9, 0, 7, 8)]) == [
        (5, 1, "lead", "t-0", 0, 0, 0, (1, 2)),
        (9, 1, "append", "t-0", 0, 0, (7, 8)),
    ]


def test_times_count_from_the_beginning_and_what_was_before_it_is_at_0_in_order():
    late, early = event(-5, "start", 1, partition=""), event(-9, "start", 1, node=2, partition="")

    assert [found[:2] for found in history([late], [early])] == [(0, 2), (0, 1)]


def test_a_machine_with_another_clock_is_told_in_ours():
    made = TraceHistory(T0)
    made.add(1, [event(5_007, "lead", 0, 0, 0, [])], clock_us=5_000)

    assert made.trace((), ReplicaEvidence(made.events, {}))[0][0] == 7


def test_a_nodes_own_order_is_kept_where_its_times_go_back():
    """Within a step, what is written carries a later time than what the step says after it."""
    later, earlier = appended(12, 0, 7), event(10, "hw", 1, 0, False)

    assert [found[2] for found in history([later, earlier])] == ["append", "hw"]


def test_harness_and_nodes_are_merged_by_time():
    merged = history([appended(10, 0, 7)], harness=[(10, 1, "stop", "", "crash"), (4, 0, "restored", "t-0")])

    assert [found[2] for found in merged] == ["restored", "append", "stop"]


def test_the_controllers_own_life_is_no_part_of_a_history():
    made = TraceHistory(T0)
    made.add(0, [event(1, "start", 1, node=0, partition=""), event(2, "fence", 1, node=0, partition="")])

    assert [found[2] for found in made.trace((), ReplicaEvidence(made.events, {}))] == ["fence"]


def test_answers_are_kept_apart():
    made = TraceHistory(T0)
    made.add(2, [event(3, "answer", 1, None, 1, 20, node=2), event(4, "answer", 1, 12, 0, 10, node=2)])

    assert made.trace((), ReplicaEvidence(made.events, {})) == []
    assert made.answers == [TracedAnswer(3, 2, "t-0", 1, None, 1, 20), TracedAnswer(4, 2, "t-0", 1, 12, 0, 10)]


def test_a_batch_that_cannot_be_read_is_an_error():
    with pytest.raises(RunError, match="a traced batch cannot be read"):
        TraceHistory(T0).add(1, [event(1, "append", 0, 0, "AAAA")])


def test_a_process_that_a_full_disk_ended_has_crashed_as_far_as_the_protocol_is_concerned():
    lives = [
        event(1, "start", 1, partition=""),
        event(2, "fatal", "no space", partition=""),
        event(2, "stop", "fatal", partition=""),
        event(3, "start", 2, partition=""),
        event(4, "stop", "fatal", partition=""),
    ]
    made = TraceHistory(T0)
    made.add(1, lives)

    assert [one[2:] for one in made.trace((), ReplicaEvidence(made.events, {}), {(1, 1)}) if one[2] == "stop"] == [
        ("stop", "", "crash"),
        ("stop", "", "fatal"),
    ]


def test_a_final_has_the_log_as_the_system_reads_it():
    """An old message format names no epochs, which come from elsewhere."""
    final = (90, 1, "final", "t-0", "leader", 3, 1, 1, ((3, 0),), ((0, -1, (7,)),))
    read = {1: {"t-0": [(0, 3, (7,))]}}

    assert history([], harness=[final], segments=read) == [(*final[:-1], ((0, 3, (7,)),))]


def test_a_final_of_a_log_that_nobody_read_again_stays_as_it_was_told():
    final = (90, 1, "final", "t-0", "leader", 3, 1, 1, ((3, 0),), ((0, 3, (7,)),))
    others = {1: {"t-1": [(0, 9, (9,))]}, 2: {"t-0": [(0, 9, (9,))]}}
    stop = (95, 1, "stop", "", "crash")

    assert history([], harness=[final, stop], segments=others) == [final, stop]


def test_a_final_of_a_log_that_turned_out_empty_is_empty():
    final = (90, 1, "final", "t-0", "follower", 3, 0, 0, (), ((0, 3, (7,)),))

    assert history([], harness=[final], segments={1: {"t-0": []}})[0][-1] == ()


# Recoveries


START = event(50, "start", 2, partition="")


def test_a_recovery_tells_what_was_lost():
    recovered = event(51, "recovered", 1, 1, -1)
    found = history([appended(1, 0, 7), appended(2, 1, 8, 9), START, recovered])

    assert found[-1] == (51, 1, "recovered", "t-0", 1, 1, 2)


def test_records_cut_before_the_end_are_not_lost_by_the_recovery():
    cut = event(3, "truncate", 1, 2, "why", 1)
    found = history([appended(1, 0, 7), appended(2, 1, 8), cut, START, event(51, "recovered", 1, 1, -1)])

    assert found[-1][-1] == 0


def test_what_two_recoveries_lost_is_told_apart():
    recovered = [
        event(51, "recovered", 1, 0, -1),
        event(60, "start", 3, partition=""),
        event(61, "recovered", 0, 0, -1),
    ]
    found = history([appended(1, 0, 7), appended(2, 1, 8), START, *recovered])

    assert [one[-1] for one in found if one[2] == "recovered"] == [1, 1]


def test_a_batch_that_was_written_and_not_traced_is_taken_from_a_follower():
    """The leader was killed after it wrote offset 1, and before it said so; after its return a follower fetched it."""
    leader = [event(0, "lead", 3, 0, 0, [1, 2]), appended(5, 0, 7, epoch=3), START, event(51, "recovered", 2, 0, -1)]
    follower = [appended(6, 0, 7, epoch=3, node=2), appended(70, 1, 8, epoch=3, node=2)]
    found = history(leader, follower, harness=[(20, 1, "stop", "", "crash")])

    assert [one for one in found if one[1] == 1][-4:] == [
        (5, 1, "append", "t-0", 1, 3, (8,)),
        (20, 1, "stop", "", "crash"),
        (50, 1, "start", "", 2),
        (51, 1, "recovered", "t-0", 2, 0, 0),
    ]


def test_a_batch_that_was_written_and_not_traced_is_taken_from_its_file():
    node = [event(0, "lead", 3, 0, 0, [1]), START, event(51, "recovered", 2, 0, -1)]
    found = history(node, segments={1: {"t-0": [(0, 3, (7, 8))]}})

    assert (0, 1, "append", "t-0", 0, 3, (7, 8)) in found


def test_a_batch_of_a_later_epoch_is_not_the_one_that_was_written():
    node = [
        event(0, "lead", 3, 0, 0, [1]),
        START,
        event(51, "recovered", 1, 0, -1),
        event(52, "truncate", 0, 1, "why", 4),
    ]
    found = history(node, segments={1: {"t-0": [(0, 4, (7,))]}})

    assert [one for one in found if one[2] == "append"] == [(0, 1, "append", "t-0", 0, 3, (-1,))]


def test_a_log_that_begins_anew_lost_nothing_that_a_recovery_could_find():
    events = [
        event(0, "start", 1, partition=""),
        appended(1, 0, 1),
        event(2, "truncate", 0, 1, "fully", 0),
        event(3, "log-start", 5, 0, "begin-anew"),
        appended(4, 5, 6, 7),
        event(5, "start", 2, partition=""),
        event(6, "recovered", 5, 5, -1),
        event(6, "log-start", 5, 0, "recovered"),
    ]

    assert [e[6] for e in history(events) if e[2] == "recovered"] == [2]
    assert sum(e[2] == "append" for e in history(events)) == 2


def test_a_log_that_ended_below_its_start_held_no_batches_that_nobody_told_of():
    events = [
        event(0, "start", 1, partition=""),
        appended(1, 0, 1),
        event(5, "start", 2, partition=""),
        event(6, "recovered", 5, 5, -1),
        event(6, "log-start", 5, 0, "recovered"),
    ]
    told = history(events)

    assert [e[6] for e in told if e[2] == "recovered"] == [0]
    assert sum(e[2] == "append" for e in told) == 1
    assert told[-1][4:] == (5, 0, "recovered")


def test_a_batch_that_was_not_traced_is_put_in_where_a_log_start_was_found_as_well():
    events = [
        event(0, "start", 1, partition=""),
        appended(1, 0, 1, 2),
        event(5, "start", 2, partition=""),
        event(6, "recovered", 3, 2, -1),
        event(6, "log-start", 1, 0, "recovered"),
    ]

    assert [e[4] for e in history(events) if e[2] == "append"] == [0, 2]


def test_a_log_that_was_deleted_with_its_replica_is_not_lost_by_the_next_recovery():
    events = [
        appended(1, 0, 7, 8),
        event(2, "removed", 2, 0),
        appended(3, 0, 7),
        START,
        event(51, "recovered", 1, 0, -1),
    ]

    assert [one[2:] for one in history(events)][-3:] == [
        ("append", "t-0", 0, 0, (7,)),
        ("start", "", 2),
        ("recovered", "t-0", 1, 0, 0),
    ]


def test_a_log_that_was_found_though_it_was_told_to_be_gone_has_the_records_it_had():
    events = [
        event(0, "follow", 3, 2, 0, 0),
        appended(1, 0, 7, 8, epoch=3),
        event(2, "removed", 2, 3),
        START,
        event(51, "recovered", 2, 0, -1),
    ]

    assert (2, 1, "append", "t-0", 0, 3, (7, 8)) in history(events)


def test_a_recovery_that_tells_what_it_lost_is_believed():
    history = TraceHistory(0)
    raw = b64encode(build([7], 0, 1)).decode()
    history.add(
        1, [[1, 1, "stored", "t-0", 0, 1, raw], [2, 1, "append", "t-0", 0, 1, raw], [3, 1, "recovered", "t-0", 0, 0, 0]]
    )
    trace = history.trace([], ReplicaEvidence(history.events, {1: {}}))
    assert trace == [
        (1, 1, "stored", "t-0", 0, 1, (7,)),
        (2, 1, "append", "t-0", 0, 1, (7,)),
        (3, 1, "recovered", "t-0", 0, 0, 0),
    ]
