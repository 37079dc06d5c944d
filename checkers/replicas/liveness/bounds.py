"""By when something must have happened, from the settings of the run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

LIVE_SLACK_US = 30_000_000
"""More for processes on real machines: a JVM may be seconds late, and so may what we read in its log."""

TIMES = (
    "session_us",
    "heartbeat_us",
    "tick_us",
    "lag_time_us",
    "request_timeout_us",
    "fetch_wait_us",
    "produce_timeout_us",
)
"""What a run's meta line tells of its settings, as ``times``."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """In µs.

    Attributes:
        elect_us: from the moment a member of the ISR is well and there is no leader, until there is one. The session of the old
            leader has to end; whoever waited for an answer in the meantime asks again; a broker that just registered has to be
            unfenced, which takes it two heartbeats.
        owned_us: where a partition is owned by a lock, until the next owner leads: the same, and two answers more.
        voted_us: where servers vote: three rounds of two sessions each, and an answer.
        resign_us: from the moment no majority can answer a leader any more, until it leads no longer: two sessions.
        shrink_us: from the moment the leader has a record that a member of the ISR has not, until it is out. Kafka looks each
            half of ``replica.lag.time.max.ms``, whether somebody has not caught up for that time (``Partition.maybeShrinkIsr``,
            ``ReplicaManager.startup``); the change has to be written, after another one that was under way.
        leave_us: from the moment a broker is stopped or paused, until the controller has taken it out of the ISR: its session.
        advance_us: from the moment all have a record for whom a leader's high watermark waits, until it has passed it: whose answer
            was lost before asks again, and a new ISR is heard of with a heartbeat.
        join_us: from the moment a follower has all, until it is in the ISR; the same, twice: for the fetch, and for the change.
        answer_us: from the moment a request is carried out, until its client must know: *retry*, which is a request's time-out, a
            fetch's wait and two ticks.
        lag_us: ``replica.lag.time.max.ms``; so long may a follower that is gone be waited for.
        heard_us: from the moment to which a leader dates that a follower had all, to the latest at which it had: a fetch's wait,
            and *close*. close_us: two ticks; more than any message takes that no fault makes late.
        give_up_us: how long a client tries to send.
        send_us: so long has nothing to be wrong before a send that has to succeed: whoever led has been found by every client.
    """

    elect_us: int
    owned_us: int
    voted_us: int
    resign_us: int
    shrink_us: int
    leave_us: int
    advance_us: int
    join_us: int
    answer_us: int
    lag_us: int
    heard_us: int
    close_us: int
    give_up_us: int
    send_us: int

    @classmethod
    def of(cls, meta: Mapping[str, Any]) -> Bounds | None:
        """Those of a run; `None` if its settings are not known."""
        times = meta.get("times")
        if not isinstance(times, Mapping) or any(name not in times for name in TIMES):
            return None
        session, heartbeat, tick, lag, request, wait, produce = (int(times[name]) for name in TIMES)
        slack = 0 if meta.get("world", "sim") == "sim" else LIVE_SLACK_US
        retry = request + wait + 2 * tick
        elect = session + 2 * heartbeat + retry + slack
        shrink = max(lag, request + 2 * tick + 2 * heartbeat) + lag // 2 + 2 * tick + slack
        leave = session + heartbeat + 3 * tick + slack
        advance = retry + 2 * heartbeat + slack
        owned, voted = elect + 2 * retry, 6 * session + retry + slack
        answer = retry + slack
        close = 2 * tick
        return cls(
            elect_us=elect,
            owned_us=owned,
            voted_us=voted,
            resign_us=2 * session + 3 * tick + slack,
            shrink_us=shrink,
            leave_us=leave,
            advance_us=advance,
            join_us=advance + answer,
            answer_us=answer,
            lag_us=lag,
            heard_us=wait + close,
            close_us=close,
            give_up_us=produce,
            send_us=produce + elect,
        )
