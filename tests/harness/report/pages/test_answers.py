"""What each variant did is answered in a sentence, by its own promise, and with what was permitted, unknown or odd."""

from __future__ import annotations

from dataclasses import replace

import pytest
from loss_of_kip_101 import comparison

from tidemark.harness.report.answer import answers, nearly_agreeing, oddities
from tidemark.harness.report.comparison import ANY, LOST, AnomalyCount, Between, Rate


def test_each_variant_is_answered_in_a_sentence() -> None:
    one, other = comparison().variants
    stuck = AnomalyCount("stuck", Rate(4, 500, 0.003, 0.02), Rate(0, 500, 0.0, 0.0076), None)
    waits = replace(
        other, variant="kafka-2.7", anomalies=(AnomalyCount(ANY, stuck.violation, stuck.permitted, None), stuck)
    )

    lost, kept, failed = answers(replace(comparison(), variants=(one, other, waits)))

    assert lost.plain == (
        "kafka-0.10 lost acknowledged records against what “documented” promises in 37 of 500 runs "
        "(7.4 %; 95 % interval 5.4–10.0 %)."
    )
    assert (lost.kept, lost.only_others) == (False, False)
    assert kept.plain == (
        "kafka-2.1 kept what “documented” promises in all 500 runs (95 % interval of runs that break it: 0–0.76 %)."
    )
    assert (kept.kept, kept.only_others) == (True, False)
    assert failed.plain == (
        "kafka-2.7 lost no acknowledged record against what “documented” promises, but failed in other ways in 4 of 500 runs "
        "(0.8 %; 95 % interval 0.3–2.0 %). Also: stuck in 4."
    )
    assert (failed.kept, failed.only_others) == (False, True)


def test_a_newer_rule_that_does_worse_is_told_with_whether_it_may_be_chance() -> None:
    old, new = comparison().variants
    none, few = Rate(0, 500, 0.0, 0.0076), Rate(2, 500, 0.001, 0.0145)

    assert oddities(comparison()) == []
    paired = Between("kafka-2.1", "kafka-0.10", LOST, 500, 0, 2, 0.5)
    variants = (replace(new, loss=none), replace(old, loss=few))
    (told,) = oddities(replace(comparison(), variants=variants, between=(paired,)))
    assert told == (
        "kafka-0.10 lost acknowledged records against its promise in more runs than kafka-2.1 (2 against 0 of 500). On the "
        "same plans 2 hit only kafka-0.10 and 0 only kafka-2.1: this may be chance (exact McNemar test, by itself: p 0.5)."
    )
    clear = replace(paired, p_value=0.0004)
    (told,) = oddities(replace(comparison(), variants=variants, between=(clear,)))
    assert told.endswith("this is hardly chance (exact McNemar test, by itself: p < 0.001).")
    (told,) = oddities(replace(comparison(), variants=variants))
    assert told.endswith("They have no plan in common, so this may be the plans' doing.")
    another = (variants[0], replace(variants[1], variant="quorum-hwm"))
    assert oddities(replace(comparison(), variants=another)) == []  # of another family, it is no newer rule
    campaigns = tuple(replace(one, variant=f"mine: {one.variant}") for one in variants)
    assert len(oddities(replace(comparison(), variants=campaigns))) == 1


def test_what_was_lost_with_permission_is_said_first_too() -> None:
    old, new = comparison().variants
    none, all_but_one = Rate(0, 60, 0.0, 0.0602), Rate(59, 60, 0.911, 0.997)
    permitted = replace(
        new,
        runs=60,
        loss=none,
        any_loss=all_but_one,
        permitted_loss=all_but_one,
        permitted_by={"unclean-election": 40, "no-live-isr-member": 19},
        anomalies=(AnomalyCount(ANY, none, all_but_one, None),),
    )
    both = replace(old, any_loss=Rate(66, 500, 0.105, 0.165), permitted_loss=Rate(40, 500, 0.059, 0.107))

    all_permitted, some = answers(replace(comparison(), variants=(permitted, both)))

    assert all_permitted.plain == (
        "kafka-2.1 kept what “documented” promises in all 60 runs (95 % interval of runs that break it: 0–6.0 %); "
        "in 59 runs it lost some as it may (after an unclean election that was asked for: 40; after a moment without any live "
        "in-sync replica: 19)."
    )
    assert (permitted.permitted_only, both.permitted_only) == (59, 29)
    # In 11 of the 40 runs with a permitted loss another one was against the promise.
    assert some.plain.endswith(
        "in 37 of 500 runs (7.4 %; 95 % interval 5.4–10.0 %); in 29 more runs it lost some as it may."
    )


def test_the_answer_says_what_unknown_runs_could_change() -> None:
    old, _ = comparison().variants
    some = replace(old, runs=625, loss=replace(old.loss, unknown=125), unknown=125)
    nobody = replace(old, runs=2, judged=0, unknown=2, loss=Rate(0, 0, 0.0, 1.0, 2))

    one, none = answers(replace(comparison(), variants=(some, nobody)))

    assert one.plain.endswith(
        " 125 of its 625 runs could not be judged: if none or all of them lost records, 5.9–25.9 % did."
    )
    assert none.plain.startswith("kafka-0.10 was not judged in any run")


def test_numbers_that_nearly_agree_say_why() -> None:
    both = comparison()
    old = both.variants[0]
    least = replace(old.loss, hits=old.loss.hits - 3)
    first = answers(replace(both, variants=(replace(old, promises={"documented": least}), both.variants[1])))[
        0
    ].sentence
    assert first.startswith(f"lost acknowledged records against a promise in {old.loss.hits} of {old.loss.runs} runs (")
    assert (
        f"): {old.loss.hits - 3} against its own, “documented”, and 3 only against “durable”, which forbids a loss even after all "
        "brokers were down, where none has lost its log" in first
    )
    told = nearly_agreeing(replace(both, variants=(replace(old, promises={"documented": least}), both.variants[1])))
    (sentence,) = told
    assert sentence == (
        f"kafka-0.10 lost acked records in {old.loss.hits} runs, {old.loss.hits - 3} of them against “documented” alone: in 3 runs "
        "every in-sync replica had been down at one moment, so “documented” promised nothing any more; but no log was lost, so "
        "“durable” forbade it."
    )


@pytest.mark.parametrize(
    ("own", "means", "beside"),
    [
        (
            "kip-966",
            ("documented", "kip-966", "durable"),
            " only against “documented” or “durable”, by which losses are judged, too.",
        ),
        ("majority", ("majority", "durable"), " only against “durable”, by which losses are judged, too."),
        ("durable", ("durable",), None),
    ],
)
def test_losses_against_another_promise_are_told_by_its_name(
    own: str, means: tuple[str, ...], beside: str | None
) -> None:
    both = comparison()
    old = both.variants[0]
    promises = {name: replace(old.loss, hits=34 if name == own else 37) for name in means}

    told = answers(replace(both, variants=(replace(old, contracts=(own,), promises=promises),)))[0].sentence

    if beside is None:
        assert told.startswith(f"lost acknowledged records against what “{own}” promises in 37 of 500 runs")
        assert told.endswith("10.0 %).")
    else:
        assert f": 34 against its own, “{own}”, and 3{beside}" in told
