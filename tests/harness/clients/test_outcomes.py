"""The table of docs/clients.md: which error proves what."""

import re
from pathlib import Path

import pytest
from kio.schema.errors import ErrorCode

from tidemark.harness.clients.error_names import error_name
from tidemark.harness.clients.outcomes import REFUSALS, REFUSALS_UNLESS_ALL, Report, judge

DOUBTFUL = (
    "_MSG_TIMED_OUT",
    "_TRANSPORT",
    "_PURGE_QUEUE",
    "_PURGE_INFLIGHT",
    "_FATAL",
    "_DESTROY",
    "_UNKNOWN_PARTITION",
    "REQUEST_TIMED_OUT",
    "NOT_ENOUGH_REPLICAS_AFTER_APPEND",
    "KAFKA_STORAGE_ERROR",
    "NETWORK_EXCEPTION",
    "LEADER_NOT_AVAILABLE",
    "UNKNOWN_SERVER_ERROR",
    "AN_ERROR_OF_THE_FUTURE",
)
DOCUMENT = Path(__file__).parents[3] / "docs" / "clients.md"


def outcome(error, tries, acks="all"):
    report = judge(error, tries=tries, acks=acks)
    assert report == Report(report.outcome, None, error)
    return report.outcome


@pytest.mark.parametrize("acks", ["all", "1", "0"])
@pytest.mark.parametrize("error", [*DOUBTFUL, *sorted(REFUSALS | REFUSALS_UNLESS_ALL)])
def test_what_was_never_sent_was_not_written(error, acks):
    assert outcome(error, 0, acks) == "fail"


@pytest.mark.parametrize("acks", ["all", "1", "0"])
@pytest.mark.parametrize("tries", [1, 2, None])
@pytest.mark.parametrize("error", DOUBTFUL)
def test_what_was_sent_and_not_refused_may_have_been_written(error, tries, acks):
    assert outcome(error, tries, acks) == "info"


@pytest.mark.parametrize("error", sorted(REFUSALS))
def test_a_refusal_speaks_of_the_last_try_only(error):
    assert outcome(error, 1) == "fail"
    assert outcome(error, 2) == "info"
    assert outcome(error, None) == "info"


@pytest.mark.parametrize("error", sorted(REFUSALS | REFUSALS_UNLESS_ALL))
def test_without_acks_all_no_try_in_doubt_was_followed_by_another(error):
    assert outcome(error, 5, "1") == "fail"
    assert outcome(error, None, "1") == "fail"


@pytest.mark.parametrize("error", sorted(REFUSALS_UNLESS_ALL))
def test_a_deposed_leader_may_have_appended_what_waits_for_its_followers(error):
    assert outcome(error, 1) == "info"


def test_every_refusal_is_an_error_of_kafka():
    names = {code.name.upper() for code in ErrorCode}
    assert names >= REFUSALS | REFUSALS_UNLESS_ALL


def test_the_document_has_a_row_for_every_refusal_and_every_doubt():
    rows = re.findall(r"^\|(.*?)\|.*?\|.*?\|$", DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE)
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert named >= REFUSALS | REFUSALS_UNLESS_ALL
    assert named >= set(DOUBTFUL) - {"AN_ERROR_OF_THE_FUTURE"}


def test_one_name_for_one_error():
    assert error_name(6, "NOT_LEADER_FOR_PARTITION") == "NOT_LEADER_OR_FOLLOWER"
    assert error_name(3, "UNKNOWN_TOPIC_OR_PART") == "UNKNOWN_TOPIC_OR_PARTITION"
    assert error_name(10, "MSG_SIZE_TOO_LARGE") == "MESSAGE_TOO_LARGE"
    assert error_name(-1, "UNKNOWN") == "UNKNOWN_SERVER_ERROR"
    assert error_name(-195, "_TRANSPORT") == "_TRANSPORT"
    assert error_name(32_000, "NEW") == "NEW"
