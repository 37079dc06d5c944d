"""The story of the lost record: what each broker was and had meanwhile, what is told of it, and its picture."""

from __future__ import annotations

from dataclasses import replace

from loss_of_kip_101 import M1, M2, M3, PARTITION, anomaly, history, verdict

from tidemark.checkers import check
from tidemark.checkers.history.history import History, Op
from tidemark.checkers.verdict.verdict import PERMITTED
from tidemark.harness.report.lanes import Span, Term, lanes_of
from tidemark.harness.report.spacetime import draw_story
from tidemark.harness.report.story import choose_anomaly, tell


def test_a_lane_follows_role_and_record() -> None:
    one, two = lanes_of(history(), PARTITION, 1)

    assert two.terms == [
        Term(6_500, 230_000, 1, 1, leads=False),
        Term(560_000, 1_602_500, 1, 1, leads=False),
        Term(1_602_500, 3_000_001, 2, 2, leads=True),
    ]
    assert two.spans == [Span(230_000, 530_000, "stopped", "crash")]
    assert [(life.value, life.start, life.end) for life in two.lives] == [
        (M2, 202_000, 560_200),
        (M3, 1_700_300, 3_000_001),
    ]
    assert [(life.value, life.start, life.end) for life in one.lives] == [
        (M2, 200_400, 2_130_400),
        (M3, 2_135_000, 3_000_001),
    ]
    assert two.hw[-3:] == [(560_000, 1), (1_602_500, 1), (1_700_300, 2)]


def test_a_network_fault_is_a_span_until_it_heals() -> None:
    struck = replace(history(), nemesis=[(5, "strike", 0, "isolate", {"node": 2}), (9, "heal", 0, "isolate", {})])

    assert [span for span in lanes_of(struck, PARTITION, 1)[1].spans if span.kind == "fault"] == [
        Span(5, 9, "fault", "isolate")
    ]


def with_log_starts(*events: tuple[object, ...]) -> History:
    """Broker 1 has the record until 2.130400 s; these events of its come before."""
    before = history()
    return replace(before, trace=sorted([*before.trace, *events], key=lambda event: event[0]))


def test_a_record_ends_with_the_log_start_that_passes_it_and_may_come_back() -> None:
    deleted = (300_000, 1, "log-start", PARTITION, 2, 0, "delete-records")
    one = lanes_of(with_log_starts(deleted), PARTITION, 1)[0]
    remembered = (2_101_000, 1, "log-start", PARTITION, 2, 0, "recovered")
    remembering = lanes_of(with_log_starts(deleted, remembered), PARTITION, 1)[0]
    not_reached = lanes_of(with_log_starts((300_000, 1, "log-start", PARTITION, 1, 0, "leader")), PARTITION, 1)[0]

    lives = [(life.value, life.start, life.end) for life in one.lives]
    assert lives == [(M2, 200_400, 300_000), (M2, 2_101_000, 2_130_400), (M3, 2_135_000, 3_000_001)]
    assert [(life.value, life.start, life.end) for life in remembering.lives] == [lives[0], lives[2]]
    assert not_reached.lives[0].end == 2_130_400


def test_a_log_that_begins_anew_ends_every_record() -> None:
    anew = (300_000, 1, "log-start", PARTITION, 1, 0, "begin-anew")
    one = lanes_of(with_log_starts(anew), PARTITION, 1)[0]

    assert (one.lives[0].end, one.lives[0].ended_by) == (300_000, anew)
    assert (300_000, 1) in one.leo


def test_the_story_tells_of_deletions_that_reach_the_record() -> None:
    deletions = [
        Op(280_000, "d1", "invoke", "delete", (("delete", PARTITION, 2),)),
        Op(310_000, "d1", "ok", "delete", (("delete", PARTITION, 2),)),
        Op(280_000, "d2", "invoke", "delete", (("delete", PARTITION, 1),)),
    ]
    told = with_log_starts((300_000, 1, "log-start", PARTITION, 2, 0, "delete-records"))
    story = tell(replace(told, ops=sorted([*told.ops, *deletions], key=lambda op: op.time)), anomaly())
    words = [moment.sentence for moment in story.moments]

    assert f"Client d1 asks for the deletion of {PARTITION} before offset 2." in words
    assert "d1 is told that everything before offset 2 is deleted." in words
    assert "The log of broker 1 starts at 2 (delete-records): record 102 is gone from this replica." in words
    assert not any("d2" in sentence for sentence in words)


def test_the_story_tells_birth_commit_ack_and_loss_in_order() -> None:
    story = tell(history(), anomaly())

    assert [moment.sentence for moment in story.moments if moment.rank == 0] == [
        "Client p1 sends record 102 to t-0 with acks=all.",
        "Broker 1, leader of epoch 1, writes record 102 at offset 1.",
        "Broker 2 copies record 102 at offset 1.",
        "The high watermark of leader 1 (epoch 1) moves to 2, past the record: it is committed.",
        "p1 is told that record 102 is written (acknowledged).",
        "Broker 2 cuts its log from 2 to 1 in epoch 1 (high watermark): record 102 is gone from this replica.",
        "Broker 2 takes over as leader of epoch 2; its log ends at 1, without record 102.",
        "Broker 2 writes another record, 103, at offset 1.",
        "Broker 1 cuts its log from 2 to 1 in epoch 2 (high watermark): record 102 is gone from this replica.",
    ]
    assert [moment.number for moment in story.moments] == list(range(1, len(story.moments) + 1))
    assert len(story.moments) <= 18


def test_a_violation_with_an_ack_is_explained_before_anything_else() -> None:
    early = replace(anomaly(), name="hw-regression", verdict=PERMITTED, time=1)
    silent = replace(anomaly(), evidence={**anomaly().evidence, "ack_time": None}, time=2)
    both = replace(verdict(), anomalies=(early, silent, anomaly()))

    assert choose_anomaly(both) == anomaly()
    assert choose_anomaly(replace(verdict(), anomalies=())) is None


def test_of_two_records_that_differ_the_acknowledged_one_is_told() -> None:
    pair = {"leader": 2, "follower": 1, "leader_record": (2, 999), "follower_record": (1, M2)}
    differ = replace(anomaly(), name="divergence", evidence={"offset": 1, **pair})

    story = tell(history(), differ)

    assert story.value == M2
    assert "Broker 1 follows broker 2 with another record at offset 1, 102 instead of 999: divergence." in " ".join(
        moment.sentence for moment in story.moments
    )


def test_of_a_record_that_is_not_there_nothing_is_named() -> None:
    pair = {"leader": 2, "follower": 1, "leader_record": (2, 999), "follower_record": (-1, None)}

    def told(**pair: object) -> str:
        differ = replace(anomaly(), name="log-matching", evidence={"offset": 1, **pair})
        return " ".join(moment.sentence for moment in tell(history(), differ).moments)

    assert "Broker 1 follows broker 2 and has nothing at offset 1, where that has 999: log-matching." in told(**pair)
    other = {"leader_record": (-1, None), "follower_record": (1, 7)}
    assert "Broker 1 follows broker 2 and has 7 at offset 1, where that has nothing: log-matching." in told(
        **(pair | other)
    )


def test_an_anomaly_without_a_record_has_a_story_too() -> None:
    stuck = replace(anomaly(), name="stuck", evidence={"waiting_for": "broker 2"}, time=2_000_000)

    story = tell(history(), stuck)

    assert (story.offset, story.value) == (None, None)
    assert "Broker 1 is killed" in " ".join(moment.sentence for moment in story.moments)
    draw_story(tell(history(), stuck))


def test_of_a_system_that_tells_nothing_while_it_runs_the_faults_are_the_story() -> None:
    trace = [(5_000, 1, "stop", "", "power"), (9_000, 1, "start", "", 2)]
    trace += [
        (9_000_000, node, "final", PARTITION, role, -1, 1, 1, (), ((0, 0, (value,)),))
        for node, role, value in ((1, "leader", M1), (2, "follower", M2))
    ]
    replicas = {PARTITION: [1, 2]}
    run = History.of(untold=True, isr=False, min_isr=2, replicas=replicas, contract="majority", trace=trace)
    (differs,) = check(run).named("divergence")

    story = tell(run, differs)

    assert "Broker 1 loses power" in story.moments[0].sentence
    assert [(lane.leo, lane.hw) for lane in story.lanes] == [([], [])] * 2
    draw_story(story)


def test_the_picture_names_what_happened_in_text_of_at_least_nine_points() -> None:
    figure = draw_story(tell(history(), anomaly()))

    texts = {text.get_text(): text for axes in figure.axes for text in axes.texts if text.get_text()}
    assert {"broker 1", "broker 2", "controller", "clients", "ack", "truncated to 1 (was 2)", "committed"} <= set(texts)
    assert {"LEADER, epoch 1", "follows 1, epoch 1", "down: crash", "leader 2, e2", "offset 1"} <= set(texts)
    assert min(text.get_fontsize() for text in texts.values()) >= 9
