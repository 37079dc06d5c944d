"""What a variant says of itself: complete, in sentences, and different where the variants are."""

import pytest

from tidemark.nodes.core.describe import describe, differences, modifiers
from tidemark.nodes.core.truncation import RULES
from tidemark.nodes.core.variant import BUGS, PRESETS, SWITCHES, Fence, parse_variant


def said(text):
    return dict(describe(parse_variant(text)))


def topics_that_differ(one, other):
    return [topic for topic, _, _ in differences(parse_variant(one), parse_variant(other))]


EVERYTHING = [f"{preset}+truncation={rule}+{'+'.join(BUGS)}" for preset in PRESETS for rule in RULES]


@pytest.mark.parametrize("text", [*PRESETS, *EVERYTHING])
def test_everything_said_is_a_sentence(text):
    rows = describe(parse_variant(text))

    assert [row for row in rows if not (row.sentence[:1].isupper() and row.sentence.endswith("."))] == []


@pytest.mark.parametrize("text", [*PRESETS, *EVERYTHING])
def test_a_topic_is_spoken_of_once(text):
    topics = [row.topic for row in describe(parse_variant(text))]

    assert len(topics) == len(set(topics))


def test_it_is_told_in_an_order_for_reading():
    assert list(said("kafka-2.1+KAFKA-7128")) == [
        "truncation",
        "leader epochs",
        "new leader",
        "leader's answer",
        "after the answer",
        "fence: fetch",
        "fence: truncation",
        "fence: hw",
        "fence: isr",
        "bounce detection (KIP-380)",
        "a bounce behind a failover",
        "min ISR gates HW (KAFKA-15583)",
        "broker epochs (KIP-841/903)",
        "ELR (KIP-966)",
        "epoch cached on becoming leader (KAFKA-7415)",
        "refetch on every epoch (KAFKA-7164)",
        "late answers (KAFKA-7786)",
        "what does not fit (KIP-461)",
        "out of range (KAFKA-7414)",
        "who writes the ISR (KIP-497)",
        "ISR shrinks (KAFKA-15021)",
        "metadata log (KRaft)",
        "another reassignment (KIP-455)",
        "end of a reassignment (KAFKA-15665)",
        "order of a reassignment that replaces another",
        "fetch of no replica (KAFKA-13837)",
        "log start (KIP-107)",
        "epochs after a crash (forgotten log start)",
        "cut at a log start inside a batch",
        "log start of a log that is cut below it (stale log start)",
        "log start that moves (forgotten log start)",
        "epochs of a log without records (back behind a deletion)",
        "cut inside a batch (hole behind a cut)",
        "ELR after a reassignment (KIP-966)",
        "a reassignment that is cancelled (KIP-966)",
        "ELR when min ISR is changed (KIP-966)",
        "ELR switched off and on (KIP-966)",
        "min ISR of a partition (KIP-966)",
        "min ISR of a leader that hears late (KIP-966)",
        "unclean elections allowed (KAFKA-6835)",
        "unclean elections in KRaft (KAFKA-12670)",
        "ISR of an operator's election (KIP-279)",
        "no answer about an epoch (KIP-279)",
        "log ends of followers (missed reign)",
        "bug put back: KAFKA-7128",
        "promise",
    ]


def test_what_is_said_of_a_rule_stands_at_its_method():
    assert said("kafka-0.10")["new leader"] == (
        "A follower cuts to its own high watermark at once, whatever the leader has, and fetches."
    )
    assert said("kafka-2.1")["new leader"] == (
        "A follower asks the leader where its own latest epoch ends; without epochs it cuts to its high watermark."
    )


def test_and_what_the_rule_leaves_as_it_is_stands_at_the_method_of_all_rules():
    assert said("kafka-2.1")["leader's answer"] == (
        "Asked for an epoch, a leader names the largest one it has that is not above it, and where that one ends."
    )


def test_only_the_first_paragraph_is_said():
    assert "KIP-279" in RULES["kip279"].on_answer.__doc__
    assert said("kafka-2.1")["after the answer"].endswith("then to the lower of both its ends.")


@pytest.mark.parametrize("fence", list(Fence))
def test_a_fence_says_what_happens_with_it_and_without(fence):
    assert said("kafka-2.1")[f"fence: {fence}"] == fence.on
    assert said(f"kafka-2.1+no-{fence}-fence")[f"fence: {fence}"] == fence.off
    assert fence.on != fence.off


@pytest.mark.parametrize("switch", [switch for switch in SWITCHES.values() if switch.word])
def test_a_switch_says_what_happens_with_it_and_without(switch):
    preset = "kafka-2.1" if switch.need.is_met(PRESETS["kafka-2.1"]) else "kafka-3.7"

    assert said(f"{preset}+{switch.word}")[switch.topic] == switch.on
    assert said(f"{preset}+no-{switch.word}")[switch.topic] == switch.off


@pytest.mark.parametrize(
    ("text", "topic", "sentence"),
    [
        ("kafka-0.10", "leader's answer", "Nothing to do: it takes a rule that asks for the end of an epoch."),
        ("kafka-2.7", "fence: truncation", "Nothing to do: it takes a rule that asks for the end of an epoch."),
        ("kafka-0.10", "epoch cached on becoming leader (KAFKA-7415)", "Nothing to do: it takes an epoch cache."),
        ("kafka-0.10+KAFKA-10706", "bug put back: KAFKA-10706", "Nothing to do: it takes an epoch cache."),
        (
            "kafka-2.1+KAFKA-14704",
            "bug put back: KAFKA-14704",
            "Nothing to do: it takes a rule whose fetches name the last fetched epoch.",
        ),
    ],
)
def test_what_the_rule_gives_nothing_to_do_says_so(text, topic, sentence):
    assert said(text)[topic] == sentence


def test_two_variants_differ_where_they_were_made_to():
    assert topics_that_differ("kafka-2.1", "kafka-2.1+no-hw-fence") == ["fence: hw"]
    assert topics_that_differ("kafka-2.1", "kafka-2.1+KAFKA-7128") == ["bug put back: KAFKA-7128"]
    assert topics_that_differ("kafka-3.7", "kafka-4.0") == [
        "ELR (KIP-966)",
        "end of a reassignment (KAFKA-15665)",
        "promise",
    ]
    assert topics_that_differ("kafka-2.1", "kafka-2.1") == []


def test_where_only_one_has_something_to_say_the_other_is_silent():
    found = differences(parse_variant("kafka-2.1+KAFKA-7128"), parse_variant("kafka-2.1"))

    assert [d.other for d in found] == [""]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "kafka-0.10",
            (
                "truncation=hw, no-fences, leader-writes-isr, shrink-raises-epoch, whole-target, refuse-strangers, "
                "heed-unclean, KAFKA-7164, KAFKA-7414, KAFKA-7786"
            ),
        ),
        (
            "kafka-0.11",
            (
                "truncation=kip101, no-fences, leader-writes-isr, shrink-raises-epoch, whole-target, refuse-strangers, "
                "delete-records, heed-unclean, KAFKA-7414, KAFKA-7415, KAFKA-7786"
            ),
        ),
        (
            "kafka-2.1+no-hw-fence",
            (
                "truncation=kip279, fetch-fence, truncation-fence, isr-fence, fresh-answers, leader-writes-isr, "
                "shrink-raises-epoch, whole-target, delete-records, elect-when-allowed, heed-unclean"
            ),
        ),
        (
            "kafka-2.7+KAFKA-13141",
            (
                "truncation=fetch, all-fences, bounce-detection, fresh-answers, partition-failure, shrink-raises-epoch, "
                "replace-reassignment, whole-target, delete-records, elect-when-allowed, heed-unclean, KAFKA-13141"
            ),
        ),
        (
            "kafka-3.7+KAFKA-19522",
            (
                "truncation=fetch, all-fences, bounce-detection, min-isr-gate, broker-epochs, fresh-answers, "
                "partition-failure, metadata-log, replace-reassignment, refuse-strangers, delete-records, heed-unclean, "
                "KAFKA-15665, KAFKA-19522"
            ),
        ),
    ],
)
def test_the_modifiers_that_say_the_same(text, words):
    assert ", ".join(modifiers(parse_variant(text))) == words
