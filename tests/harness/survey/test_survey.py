"""Troubles on several systems: which runs there are, what each comes to, and what a cell counts."""

import pytest

from tidemark.checkers import History, Op, check, sent
from tidemark.harness.runs.kept_results import KeptResults
from tidemark.harness.soak.kept_run import KeptRun
from tidemark.harness.survey.cells import Run, cells
from tidemark.harness.survey.counted import Counted
from tidemark.harness.survey.entrants import USUAL, entrant
from tidemark.harness.survey.planned import planned_runs
from tidemark.harness.survey.troubles import TROUBLES, plan_of
from tidemark.harness.systems.registry import find_system
from tidemark.harness.systems.system import SystemRefusalError
from tidemark.nodes.core.variant import VariantError
from tidemark.pipeline.compare.statistics import wilson

S = 1_000_000


def found(*names):
    return [entrant(name, lambda text, settings: find_system(text, dict(settings))) for name in names]


# Which runs there are


def test_every_system_meets_the_same_plans_in_its_own_times():
    runs = planned_runs(found("kafka:4.3.1", "tidemark:raft"), ["kill", "power-all"], plans=2, seed=1)

    assert [(run.system, run.profile, run.plan.index) for run in runs] == [
        (system, trouble, index)
        for index in (0, 1)
        for system in ("kafka:4.3.1", "tidemark:raft")
        for trouble in ("kill", "power-all")
    ]
    assert runs[0].plan == plan_of("kill", 1, 0).scaled(3)
    assert runs[2].plan == plan_of("kill", 1, 0)
    assert runs[2].variant == "raft"


def test_the_usual_systems_can_carry_out_all_of_it():
    runs = planned_runs(found(*USUAL), list(TROUBLES), plans=3, seed=1)

    assert len(runs) == 3 * (6 * 6 + 2 * 3)
    assert {run.profile for run in runs if run.system == "nats:2.15.1@sync-always"} == {
        "power-one",
        "power-two",
        "power-all",
    }
    assert [run.refused for run in runs if run.refused] == []
    assert len({run.name for run in runs}) == len(runs)


def test_a_system_with_a_setting_meets_everything_where_it_stands_alone():
    runs = planned_runs(found("nats:2.15.1@sync-always"), list(TROUBLES), plans=1, seed=1)

    assert [run.profile for run in runs] == list(TROUBLES)


@pytest.mark.parametrize(
    ("trouble", "index", "struck"),
    [
        ("kill", 0, [("crash", "leader"), ("crash-all", "leader")]),
        ("power-one", 0, [("power", "leader")]),
        ("power-one", 1, [("power", "follower")]),
        ("power-two", 0, [("power", "b1"), ("power", "b2")]),
        ("power-two", 1, [("power", "b1"), ("power", "b3")]),
        ("power-two", 2, [("power", "b2"), ("power", "b3")]),
        ("power-all", 0, [("power-all", "leader")]),
    ],
)
def test_trouble_strikes_whom_it_names(trouble, index, struck):
    plan = plan_of(trouble, 1, index)

    assert [(fault.kind, fault.target) for fault in plan.faults] == struck
    assert len({fault.at_us for fault in plan.faults if fault.kind == "power"}) <= 1


@pytest.mark.parametrize("trouble", ["pause", "partition"])
def test_what_is_hidden_is_hidden_longer_than_a_session_lasts(trouble):
    plans = [plan_of(trouble, 1, index) for index in range(20)]

    assert all(plan.faults[0].lasts_us > plan.cluster.settings.session_us for plan in plans)


def test_a_system_without_a_log_adds_to_a_set():
    (run,) = planned_runs(found("etcd:3.7.3"), ["kill"], plans=1, seed=1)

    assert run.plan.workload.object.kind == "set"


def test_a_setting_of_brokers_stands_behind_a_plus():
    (one,) = found("kafka:4.3.1+log.flush.interval.messages=1+num.io.threads=2")

    assert one.system.broker_config == {"log.flush.interval.messages": "1", "num.io.threads": "2"}
    assert (one.variant, one.kind) == ("kafka-4.0", "")


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("kafka:4.3.1+flush", SystemRefusalError),
        ("etcd:3.7.3+", SystemRefusalError),
        ("nats:2.15.1+a=b", SystemRefusalError),
        ("nonsense", SystemRefusalError),
        ("tidemark:nonsense", VariantError),
    ],
)
def test_what_is_no_system_is_refused(name, error):
    with pytest.raises(error):
        found(name)


# What a run comes to


def counted(history, trouble="power-all"):
    return Counted.of(history, check(history), plan_of(trouble, 1, 0))


def asked(time, process, value):
    return Op(time, process, "invoke", "send", (("send", "t-0", value),))


def test_records_that_no_final_read_has_are_lost():
    ops = [asked(S, "p1", 7), sent(2 * S, "p1", "t-0", 7, 0), asked(3 * S, "p1", 8), sent(4 * S, "p1", "t-0", 8, 1)]
    read = [
        Op(9 * S, "f1", "invoke", "poll", (("poll", {}),), final=True),
        Op(9 * S + 1, "f1", "ok", "poll", (("poll", {"t-0": [(0, 7)]}),), final=True),
    ]
    found = counted(History.of(ops=[*ops, *read], faults_end_us=8 * S))

    assert (found.acked, found.lost) == (2, 1)
    assert (found.asked, found.answered, found.silent_us) == (2, 2, 4 * S)
    assert any(words.startswith("lost-write") for words in found.found)


def test_writes_after_the_trouble_do_not_count_for_how_long_nobody_answered():
    ops = [
        asked(0, "p1", 7),
        Op(5 * S, "p1", "info", "send", (("send", "t-0", 7),), "timeout"),
        asked(5 * S, "p1.1", 8),
        sent(6 * S, "p1.1", "t-0", 8, 0),
        asked(9 * S, "p1.1", 9),
        sent(10 * S, "p1.1", "t-0", 9, 1),
    ]
    found = counted(History.of(ops=ops, faults_end_us=8 * S))

    assert (found.asked, found.answered, found.silent_us) == (2, 1, 6 * S)


def test_of_a_set_elements_are_counted():
    ops = []
    for time, element in ((1, 5), (2, 6)):
        ops += [Op(time * S, "c1", "invoke", "add", element), Op(time * S + 1, "c1", "ok", "add", element)]
    ops += [Op(3 * S, "c1", "invoke", "read", None), Op(3 * S + 1, "c1", "ok", "read", (5, 6))]
    ops += [Op(4 * S, "c1", "invoke", "read", None), Op(4 * S + 1, "c1", "ok", "read", (6,))]
    meta = {"untold": True, "model": "set-full", "contract": "majority", "faults": 0, "faults_end_us": 8 * S}
    found = counted(History.of(ops=ops, **meta))

    assert (found.acked, found.lost, found.stale) == (2, 1, 0)


def test_nobody_looks_for_late_reads_where_they_cannot_be_told():
    ops = [asked(S, "p1", 7), sent(2 * S, "p1", "t-0", 7, 0)]

    assert counted(History.of(ops=ops, untold=True, contract="durable", faults_end_us=8 * S)).stale == -1


def test_numbers_are_read_as_they_were_kept(tmp_path):
    kept = Counted(5, 1, 0, 6, 5, 7, 0, ("a",), ("b",))
    KeptResults(tmp_path).write("counts", kept.to_json())

    assert Counted.from_json(KeptResults(tmp_path).read("counts")) == kept
    assert Counted.from_json(None) is None
    assert Counted.from_json({"acked": 5, "struck": [], "found": []}) is None


# What a cell counts


def runs_of(*outcomes, name="nats:2.15.1"):
    planned = planned_runs(found(name), ["power-all"], plans=len(outcomes), seed=1)
    return [
        Run(one, KeptRun(name, name, "power-all", 1, one.plan.index, one.digest, valid), numbers)
        for one, (valid, numbers) in zip(planned, outcomes, strict=True)
    ]


def test_a_cell_counts_runs_that_say_something():
    runs = runs_of(
        ("valid", Counted(100, 40, 0, 110, 100, 3, -1)),
        ("invalid", Counted(100, 60, 0, 110, 100, 1, -1)),
        ("valid", Counted(100, 0, 0, 110, 90, 2, -1)),
        ("unknown", Counted(100, 0, 0, 110, 90, 2, -1)),
        ("unknown", None),
        ("missing", None),
    )
    runs[1].kept.violations = {"lost-committed-write": 5}
    (cell,) = cells(runs, wilson)

    assert (cell.runs, cell.lossy, cell.broken, cell.unknown, cell.missing) == (3, 2, 1, 2, 1)
    assert (cell.acked, cell.lost, cell.asked, cell.answered, cell.silent_us) == (300, 100, 330, 290, (1, 2, 3))
    assert (round(cell.low, 3), round(cell.high, 3)) == (0.208, 0.939)
    assert (cell.stale, cell.looked) == (0, 0)
    assert cell.told is runs[1]


def test_a_loss_that_is_permitted_is_told_from_what_else_is_not():
    (run,) = runs_of(("invalid", Counted(100, 40, 0, 110, 100, 3, -1)))
    run.kept.violations = {"stuck": 1, "divergence": 2}
    (cell,) = cells([run], wilson)
    assert (cell.lossy, cell.broken, cell.others) == (1, 0, {"divergence": 1, "stuck": 1})

    run.kept.violations = {"lost-write": 7}
    (cell,) = cells([run], wilson)
    assert (cell.lossy, cell.broken, cell.others) == (1, 1, {})


def test_a_loss_counts_even_where_the_rest_is_unknown():
    (cell,) = cells(runs_of(("unknown", Counted(100, 3, 0, 110, 90, 2, 1))), wilson)

    assert (cell.runs, cell.lossy, cell.unknown, cell.stale, cell.looked) == (1, 1, 0, 1, 1)
