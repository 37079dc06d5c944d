"""Runs that do not come to rest, and brokers that give up."""

from tidemark.checkers import History, check


def test_a_partition_that_did_not_converge_is_stuck():
    verdict = check(History.of(trace=[(90, 0, "converged", "t-0", False, "broker 2 is not in the ISR")]))

    (anomaly,) = verdict.anomalies
    assert (anomaly.name, anomaly.verdict, anomaly.partition) == ("stuck", "violation", "t-0")
    assert anomaly.evidence == {"waiting_for": "broker 2 is not in the ISR", "trace_index": 0}


def test_a_partition_that_converged_is_not():
    assert check(History.of(trace=[(90, 0, "converged", "t-0", True, "")])).anomalies == ()


def test_a_broker_that_gave_up_is_told_with_its_last_words():
    verdict = check(History.of(trace=[(10, 2, "fatal", "", "no more space"), (11, 2, "stop", "", "fatal")]))

    (anomaly,) = verdict.anomalies
    assert (anomaly.name, anomaly.verdict) == ("broker-stopped", "violation")
    assert anomaly.message == "Broker 2 gave up at 0.000011 s: no more space."


def test_a_broker_that_was_stopped_did_not_give_up():
    stops = [(10, node, "stop", "", how) for node, how in enumerate(("clean", "crash", "power", "disk"))]

    assert check(History.of(trace=stops)).anomalies == ()
