"""The promises that count beside a run's own: `documented` always, `durable` until a broker has lost its log."""

import pytest

from tests.checkers.replicas.test_contract import COMMITTED, LOST
from tidemark.checkers import History, check

CRASH_OF_ALL = [(40, 1, "stop", "", "crash"), (41, 2, "stop", "", "crash")]
POWER_OF_ONE = [(50, 1, "stop", "", "power")]
ALL = ("documented", "kip-966", "durable")


def verdict(*between, before=(), after=(), chosen=None, **meta):
    trace = [*before, *COMMITTED, *between, *LOST, *after]
    return check(History.of(trace=trace, min_isr=2, **meta), chosen)


def judged(*between, **kwargs):
    (anomaly,) = verdict(*between, **kwargs).named("lost-committed-write")
    return anomaly.verdict, anomaly.clause, anomaly.breaks


@pytest.mark.parametrize("own", ["documented", "kip-966"])
def test_a_crash_of_all_excuses_no_loss_as_long_as_every_log_is_there(own):
    assert judged(*CRASH_OF_ALL, contract=own) == ("violation", None, ("durable",))


def test_the_message_says_why_that_promise_counts():
    (anomaly,) = verdict(*CRASH_OF_ALL, contract="documented").named("lost-committed-write")

    assert anomaly.message.endswith(
        "; that breaks the promise durable, which counts because no broker had lost its log by then."
    )


def test_a_run_that_breaks_its_own_promise_needs_no_such_words():
    (anomaly,) = verdict(contract="documented").named("lost-committed-write")

    assert "which counts" not in anomaly.message


@pytest.mark.parametrize("how", ["power", "disk"])
def test_a_log_that_was_lost_before_excuses_as_it_did(how):
    lost = (42, 3, "stop", "", how)

    assert judged(*CRASH_OF_ALL, lost, contract="documented") == ("permitted", "no-live-isr-member", ("durable",))


def test_a_log_that_is_lost_afterwards_excuses_nothing():
    assert judged(*CRASH_OF_ALL, after=[(95, 3, "stop", "", "power")])[0] == "violation"


def test_documented_counts_beside_kip_966():
    two_crashes = [
        (40, 1, "stop", "", "power"),
        (41, 1, "start", "", 2),
        (42, 2, "stop", "", "crash"),
        (43, 2, "start", "", 2),
        (44, 1, "stop", "", "crash"),
    ]

    assert judged(*two_crashes, contract="kip-966") == ("violation", None, ("documented", "durable"))
    assert judged(*two_crashes, chosen="kip-966")[0] == "permitted"


def test_a_promise_that_was_chosen_counts_alone():
    assert judged(*CRASH_OF_ALL, *POWER_OF_ONE, chosen="documented")[0] == "permitted"
    assert judged(*CRASH_OF_ALL, chosen="documented")[0] == "permitted"
    assert judged(*CRASH_OF_ALL, contract="documented", contract_alone=True)[0] == "permitted"


def test_an_election_on_purpose_from_outside_the_isr_excuses_as_it_did():
    unclean = (45, 0, "elect", "t-0", 3, 2, (3,), (), "unclean", False, 1)
    trace = [*COMMITTED, unclean, (90, 3, "lead", "t-0", 2, 0, 0, (3,))]
    (anomaly,) = check(History.of(trace=trace, min_isr=2, unclean_election=True)).named("lost-committed-write")

    assert (anomaly.verdict, anomaly.clause) == ("permitted", "unclean-election")


def test_the_verdict_knows_which_promises_could_have_been_kept():
    assert verdict(*CRASH_OF_ALL, *POWER_OF_ONE, contract="documented").broken() == ("durable",)
    assert verdict(contract="documented").broken() == tuple(sorted(ALL))
