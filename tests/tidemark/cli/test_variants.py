"""``tidemark variants``: every preset in a line, one variant in full, two by what differs."""

import json

import pytest
from click.testing import CliRunner

from tidemark.cli import tidemark


@pytest.fixture
def variants():
    """Run the command in a wide terminal; gives exit code and output."""

    def run(*words):
        result = CliRunner(env={"COLUMNS": "400"}).invoke(tidemark, ["variants", *words], standalone_mode=False)
        return result.return_value, result.output, result.exception

    return run


def test_without_names_every_preset_is_told_in_one_line(variants):
    code, out, _ = variants()

    assert code == 0
    assert out == (
        "kafka-0.10  truncation=hw, no-fences, leader-writes-isr, shrink-raises-epoch, whole-target, "
        "refuse-strangers, heed-unclean, KAFKA-7164, KAFKA-7414, KAFKA-7786\n"
        "kafka-0.11  truncation=kip101, no-fences, leader-writes-isr, shrink-raises-epoch, whole-target, "
        "refuse-strangers, delete-records, heed-unclean, KAFKA-7414, KAFKA-7415, KAFKA-7786\n"
        "kafka-2.0   truncation=kip279, no-fences, leader-writes-isr, shrink-raises-epoch, whole-target, "
        "delete-records, heed-unclean, KAFKA-7786\n"
        "kafka-2.1   truncation=kip279, all-fences, fresh-answers, leader-writes-isr, shrink-raises-epoch, "
        "whole-target, delete-records, elect-when-allowed, heed-unclean\n"
        "kafka-2.7   truncation=fetch, all-fences, bounce-detection, fresh-answers, partition-failure, "
        "shrink-raises-epoch, replace-reassignment, whole-target, delete-records, elect-when-allowed, "
        "heed-unclean\n"
        "kafka-3.7   truncation=fetch, all-fences, bounce-detection, min-isr-gate, broker-epochs, "
        "fresh-answers, partition-failure, metadata-log, replace-reassignment, refuse-strangers, "
        "delete-records, heed-unclean, KAFKA-15665\n"
        "kafka-4.0   truncation=fetch, all-fences, bounce-detection, min-isr-gate, broker-epochs, elr, "
        "fresh-answers, partition-failure, metadata-log, replace-reassignment, whole-target, "
        "refuse-strangers, delete-records, heed-unclean\n"
        "fluss-0.9   truncation=log-end, no-fences, bounce-detection, min-isr-gate, fresh-answers, "
        "partition-failure, whole-target, refuse-strangers, heed-unclean, forget-log-ends, KAFKA-7128\n"
        "quorum-hwm  rejoin=leader\n"
        "raft\n"
        "reconciliation\n"
        "bookkeeper\n"
    )


def test_one_name_tells_all_it_does(variants):
    code, out, _ = variants("kafka-2.1+KAFKA-7128")

    assert code == 0
    assert "kafka-2.1+KAFKA-7128" in out
    assert "The rule kip279: KIP-279 (2.0 to 2.6)." in out
    assert "bug put back: KAFKA-7128" in out
    assert "Only members of the ISR are eligible to lead" in out


def test_two_names_tell_what_differs_and_nothing_else(variants):
    _, out, _ = variants("kafka-2.1", "kafka-2.1+no-isr-fence")

    assert "fence: isr" in out
    assert "fence: hw" not in out
    assert "The ISR expands only to a follower whose last fetch was of the leader's epoch." in out
    assert "The ISR expands to a caught-up follower whatever leader epoch it fetched in." in out


def test_two_names_for_one_protocol_do_the_same(variants):
    _, out, _ = variants("kafka-2.0", "kafka-2.1+no-fences+no-fresh-answers+no-elect-when-allowed")

    assert out == "kafka-2.0 and kafka-2.1+no-fences+no-fresh-answers+no-elect-when-allowed do the same.\n"


def test_three_names_are_told_in_full_one_after_the_other(variants):
    _, out, _ = variants("kafka-0.10", "kafka-2.1", "kafka-4.0")

    assert out.count("promise") == 2 * 3


def test_json_has_the_same_for_scripts(variants):
    _, out, _ = variants("kafka-3.7", "kafka-4.0", "--json")
    told = json.loads(out)

    assert [(v["name"], v["contract"]) for v in told["variants"]] == [
        ("kafka-3.7", "documented"),
        ("kafka-4.0", "kip-966"),
    ]
    assert told["variants"][1]["modifiers"][4:7] == ["broker-epochs", "elr", "fresh-answers"]
    assert told["variants"][0]["does"][0] == {
        "topic": "truncation",
        "sentence": "The rule fetch: on fetch, KIP-595 (2.7 on).",
    }
    assert [d["topic"] for d in told["differences"]] == [
        "ELR (KIP-966)",
        "end of a reassignment (KAFKA-15665)",
        "promise",
    ]


def test_json_without_names_has_every_preset_and_no_differences(variants):
    told = json.loads(variants("--json")[1])

    assert [variant["family"] for variant in told["variants"]] == ["kafka"] * 8 + [
        "quorum",
        "raft",
        "reconciliation",
        "bookkeeper",
    ]
    assert "differences" not in told


def test_an_unknown_variant_is_refused_with_the_known_ones(variants):
    _, _, error = variants("kafka-9")

    assert "unknown variant 'kafka-9': known are kafka-0.10, " in str(error)
