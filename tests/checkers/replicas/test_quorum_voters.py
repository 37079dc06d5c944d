"""What a quorum whose voters come and go must not do, from events written by hand."""

from tidemark.checkers import History, check

A, B, C = (0, "a"), (1, "b"), (2, "c")


def voters(time, offset, *those):
    return (time, 0, "voters", "", offset, those)


def changed(time, how, voter):
    return (time, 0, "voter-changed", "", how, *voter)


def log(node, end, hw):
    return (90, node, "metadata-log", "", 0, hw, (), tuple((base, base + 1, 1, 7) for base in range(end)))


def found(*trace):
    return [(one.name, one.evidence) for one in check(History.of(trace=list(trace))).anomalies]


def test_changes_that_were_answered_and_committed_are_no_anomaly():
    line = [voters(1, 2, A, B, C), voters(5, 9, A, C), voters(7, 15, A, B, C)]

    assert found(*line, changed(6, "remove", B), changed(8, "add", B)) == []


def test_a_change_that_nobody_answered_may_be_committed_or_not():
    assert found(voters(1, 2, A, B, C), voters(5, 9, A, C)) == []


def test_a_change_that_was_answered_must_be_committed_once_for_each_answer():
    line = [voters(1, 2, A, B, C), voters(5, 9, A, C), voters(7, 15, A, B, C)]
    answers = [changed(6, "remove", B), changed(8, "add", B), changed(9, "remove", B)]

    assert found(*line, *answers) == [("forgotten-voter-change", {"how": "remove", "voter": 1, "directory": "b"})]
    assert [name for name, _ in found(line[0], *answers)] == ["forgotten-voter-change"] * 3


def test_changes_are_committed_in_the_order_of_their_answers():
    line = [voters(1, 2, A, B, C), voters(5, 9, A, C), voters(7, 15, A, B, C)]

    assert [name for name, _ in found(*line, changed(6, "add", B), changed(8, "remove", B))] == [
        "forgotten-voter-change"
    ]


def test_the_same_node_with_another_directory_is_another_voter():
    line = [voters(1, 2, A, B), voters(5, 9, A, B, C), voters(6, 10, A, B)]

    assert found(*line, changed(7, "remove", (2, "other"))) == [
        ("forgotten-voter-change", {"how": "remove", "voter": 2, "directory": "other"})
    ]


def test_a_removal_that_the_next_change_takes_back_is_a_jump():
    """As a controller does that does not see its own record: it removes C from what was before B was removed."""
    line = [voters(1, 2, A, B, C), voters(5, 9, A, C), voters(7, 15, A, B)]

    assert found(*line, changed(6, "remove", B), changed(8, "remove", C)) == [
        ("voters-jump", {"offset": 15, "before": 9})
    ]


def test_what_is_committed_lies_with_a_majority_of_the_voters():
    line = voters(1, 2, A, B, C)

    assert found(line, log(0, 20, 20), log(1, 20, 19), log(2, 5, 5)) == []
    assert found(line, log(0, 20, 20), log(1, 5, 5), log(2, 5, 5)) == [
        ("metadata-minority", {"hw": 20, "voters": [0, 1, 2], "short": [1, 2]})
    ]


def test_who_left_no_log_may_hold_it_and_who_does_not_vote_counts_nothing():
    line = voters(1, 2, A, B, C)

    assert found(line, log(0, 20, 20), log(1, 5, 5)) == []
    assert [name for name, _ in found(line, *(log(node, 5, 5) for node in (0, 1, 2)), log(3, 20, 20))] == [
        "metadata-minority"
    ]


def test_a_change_that_is_not_committed_may_have_made_a_majority_of_others():
    """Of two voters one holds it: another that was being added may be the second of three."""
    assert found(voters(1, 2, A, B), log(0, 20, 20), log(1, 5, 5), log(2, 20, 20)) == []


def read(time, node, offset, *those):
    return (time, node, "voters-read", "", offset, those)


REMOVED = [voters(1, 2, A, B, C), voters(5, 9, A, C), changed(6, "remove", B)]
HERE = [read(0, node, 2, 0, 1, 2) for node in (0, 1, 2)]


def test_who_has_a_record_of_voters_in_its_log_has_read_it():
    all_read = [read(4, node, 9, 0, 2) for node in (0, 1, 2)]

    assert found(*REMOVED, *HERE, *all_read, *(log(node, 20, 20) for node in (0, 1, 2))) == []
    assert found(*REMOVED, *HERE, *all_read[:2], *(log(node, 20, 20) for node in (0, 1, 2))) == [
        ("missed-voters", {"node": 2, "offset": 9})
    ]


def test_what_a_node_reads_later_does_not_make_up_for_what_it_missed():
    """It counted by others in between."""
    back = [voters(7, 15, A, B, C), changed(8, "add", B), read(7, 2, 15, 0, 1, 2)]

    assert found(*REMOVED, *HERE, *back, log(2, 20, 20)) == [("missed-voters", {"node": 2, "offset": 9})]


def test_a_record_that_was_cut_off_stands_for_none_though_it_lay_further_on():
    assert found(*REMOVED, *HERE, read(3, 2, 12, 1, 2), log(2, 20, 20)) == [("missed-voters", {"node": 2, "offset": 9})]


def test_a_snapshot_stands_for_what_lies_before_it():
    assert found(*REMOVED, *HERE, read(6, 2, 14, 0, 2), log(2, 20, 20)) == []
    assert found(*REMOVED, *HERE, (90, 2, "metadata-log", "", 12, 20, ((14, 1),), ((12, 20, 1, 7),))) == []


def test_what_a_node_does_not_know_to_be_committed_it_need_not_have_read():
    assert found(*REMOVED, *HERE, log(0, 20, 9), log(1, 20, 9)) == []


def test_of_a_node_whose_lines_tell_of_no_voters_nobody_knows():
    assert found(*REMOVED, log(2, 20, 20)) == []
