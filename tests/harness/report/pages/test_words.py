"""What was compared, what counts as lost, what presets differ in, and numbers, in words."""

from __future__ import annotations

from dataclasses import replace

import pytest
from loss_of_kip_101 import comparison

from tidemark.harness.report.answer import promised, set_up
from tidemark.harness.report.beside_the_rule import besides
from tidemark.harness.report.comparison import Rate
from tidemark.harness.report.why_section import Why
from tidemark.harness.report.words import compared, interval, p_words, percent, seconds


def test_the_words_of_the_comparison_name_the_world() -> None:
    one, other = comparison().variants
    three = replace(comparison(), variants=(one, other, replace(other, variant="kafka-2.7")))

    assert compared(three).startswith("kafka-0.10, kafka-2.1 and kafka-2.7 each met the same 500 random fault plans")
    assert (
        "no power loss, no lost disks), with acks=all, 3 brokers, replication factor 3 and min ISR 2, and every run"
        in compared(three)
    )
    assert "min ISR 2 (clients: 5 producers and 1 send a second of each), and" in compared(
        replace(three, workload={"producers": 5, "rate": 1.0})
    )
    assert "no power loss, no lost disks) on real processes in containers, with acks=all" in compared(
        replace(three, world="docker")
    )


def test_the_introduction_tells_of_the_cluster_that_was_run() -> None:
    settings = {"min_isr": 1, "unclean_election": True}
    cluster = {"brokers": 5, "replication_factor": 4, "partitions": 2, "acks": "1", "settings": settings}

    assert (
        "with acks=1, 5 brokers, 2 partitions, replication factor 4 and min ISR 1, unclean leader election allowed, and every"
        in compared(replace(comparison(), cluster=cluster))
    )


@pytest.mark.parametrize(
    ("share", "words"),
    [(None, "–"), (0.0, "0 %"), (0.0012, "0.12 %"), (0.074, "7.4 %"), (0.256, "25.6 %"), (1.0, "100 %")],
)
def test_a_share_as_a_percentage(share: float | None, words: str) -> None:
    assert percent(share) == words


def test_other_numbers_in_words() -> None:
    assert interval(Rate(37, 500, 0.054, 0.1)) == "5.4–10.0 %"
    assert interval(Rate(0, 500, 0.0, 0.0076)) == "0–0.76 %"
    assert seconds(3_254_000) == "3.25 s"
    assert seconds(None) == "–"
    assert (p_words(0.0312), p_words(1e-9), p_words(1.0)) == ("0.031", "< 0.001", "1")


def test_when_a_record_that_is_gone_counts_as_lost() -> None:
    both = comparison()
    lost = (
        "Lost: an acknowledged record is gone although an in-sync replica was alive at every moment (“documented”), or although no "
        "broker had lost its log by power, disk or damage (“durable”)."
    )
    gone = "Lost: an acknowledged record is gone. No broker lost its log here, so nothing excuses that (promise “durable”)."
    assert promised(both) == gone
    assert promised(replace(both, profile="destructive")) == lost
    old, new = both.variants
    some_may_go = replace(both, variants=(replace(old, acked_lost_permitted=1), new))
    assert promised(some_may_go) == f"{lost} Here no broker lost its log."
    assert promised(replace(both, contract="documented")) == f"{lost.partition(', or ')[0]}."
    assert "Lost: a committed record is gone" in promised(replace(both, cluster=dict(both.cluster) | {"acks": "1"}))
    with_elr = replace(both, profile="destructive", variants=(replace(old, contracts=("kip-966",)),))
    assert promised(with_elr).startswith(
        "Lost: an acknowledged record is gone although fewer than min ISR (2) of the replicas that held it shut down uncleanly "
        "(“kip-966”), although an in-sync replica was alive at every moment (“documented”), or although no broker had"
    )  # which counts beside every other
    asked = replace(both, variants=(replace(old, contracts=("durable",)),), contract="durable", profile="destructive")
    assert promised(asked) == (
        "Lost: an acknowledged record is gone although fewer than min ISR (2) of the replicas that held it lost their logs by "
        "power, disk or damage (“durable”)."
    )
    imported = replace(both, world="imported", cluster={}, profile="", variants=(replace(old, contracts=("kip-966",)),))
    assert "fewer than min ISR of the replicas" in promised(imported)
    assert promised(replace(both, variants=(replace(old, contracts=("mine",)),))) == ""


def test_the_set_up_says_what_its_settings_mean() -> None:
    both = comparison()
    acknowledged = (
        "a record is acknowledged once it is committed, that is once all in-sync replicas have it, at least 2"
    )
    assert set_up(both) == f"3 brokers; {acknowledged} (acks=all, min ISR 2)"
    assert set_up(replace(both, cluster=dict(both.cluster) | {"brokers": 5})).startswith(
        "5 brokers, 3 replicas; a record"
    )
    assert set_up(replace(both, cluster=dict(both.cluster) | {"acks": "1"})) == "acks=1, 3 brokers, min ISR 2"
    by_votes = tuple(replace(one, contracts=("majority",)) for one in both.variants)
    assert set_up(replace(both, variants=by_votes)) == "acks=all, 3 brokers, min ISR 2"
    assert set_up(replace(both, world="imported")) == ""


def test_presets_say_in_what_they_differ_besides_the_rule() -> None:
    one, two, three, four = besides(["kafka-0.10", "kafka-0.11", "kafka-2.0", "kafka-2.1", "kafka-2.7"])
    assert one.topics == (
        "epoch cached on becoming leader (KAFKA-7415)",
        "refetch on every epoch (KAFKA-7164)",
        "log start (KIP-107)",
    )
    assert (one.rule_alone, three.rule_alone) == ("kafka-0.11,kafka-0.11+truncation=hw", "")
    assert "out of range (KAFKA-7414)" in two.topics
    assert three.topics[0] == "fence: fetch"
    assert "bounce detection (KIP-380)" in four.topics
    assert besides(["kafka-2.1", "kafka-2.1+truncation=hw", "raft", "nobody's"]) == []


def test_facts_are_told_as_sentences() -> None:
    facts = (
        "the later leader had cut it from its log (to high watermark)",
        "which was elected from the ISR",
        "it was committed late",
    )
    assert Why((), facts).in_sentences == (
        "The later leader had cut the record from its log (to high watermark). That leader was elected from the ISR. "
        "The record was committed late."
    )
    assert Why(("Broker 2 has not been told anything.",)).in_sentences == "Broker 2 has not been told anything."
