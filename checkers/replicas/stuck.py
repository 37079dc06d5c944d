"""`stuck` and `broker-stopped`: after healing something never came to rest; a broker gave up.

>>> from tidemark.checkers import History, check
>>> verdict = check(History.of(trace=[
...     (10, 2, "fatal", "", "leader's log end offset 3 is below mine, 5"),
...     (10, 2, "stop", "", "fatal"),
...     (90, 0, "converged", "t-0", False, "broker 2 is not in the ISR"),
... ]))
>>> for anomaly in verdict.anomalies:
...     print(anomaly.name, "-", anomaly.message)
broker-stopped - Broker 2 gave up at 0.000010 s: leader's log end offset 3 is below mine, 5.
stuck - t-0 had not come to rest when the run ended at 0.000090 s: broker 2 is not in the ISR.
"""

from __future__ import annotations

from tidemark.checkers.history.trace_events import Converged, Fatal, Stop
from tidemark.checkers.replicas.finder import Finder
from tidemark.checkers.verdict.verdict import VIOLATION, Anomaly, seconds

STUCK = "stuck"
BROKER_STOPPED = "broker-stopped"


class Stuck(Finder):
    """Listens for brokers that give up, and for partitions that did not converge."""

    def __init__(self) -> None:
        super().__init__()
        self._last_words: dict[int, str] = {}

    def on_fatal(self, index: int, event: Fatal) -> None:
        """The words come before the stop."""
        self._last_words[event.node] = event.words

    def on_stop(self, index: int, event: Stop) -> None:
        """A broker that stops itself is never in order."""
        time, node = event.time, event.node
        if event.how == "fatal":
            words = self._last_words.get(node, "it did not say why")
            message = f"Broker {node} gave up at {seconds(time)}: {words.rstrip('.')}."
            evidence = {"node": node, "words": words, "trace_index": index}
            self.anomalies.append(Anomaly(BROKER_STOPPED, VIOLATION, time, "", message, evidence=evidence))

    def on_converged(self, index: int, event: Converged) -> None:
        """Replication, high watermark and ISR had their time to come to rest."""
        time, partition, waiting_for = event.time, event.partition, event.waiting_for
        if not event.ok:
            message = (
                f"{partition} had not come to rest when the run ended at {seconds(time)}: {_sentence(waiting_for)}."
            )
            evidence = {"waiting_for": waiting_for, "trace_index": index}
            self.anomalies.append(Anomaly(STUCK, VIOLATION, time, partition, message, evidence=evidence))


def _sentence(words: object) -> str:
    return str(words or "it did not say what it waits for").rstrip(".")
