"""What a plan's faults are in a family without a controller, log starts and reassignments."""

from __future__ import annotations

from tidemark.nodes.families.voting.messages import VoteRequest

NO_CONTROLLER = "there is no controller that could be cut off or fail: the servers elect among themselves"
NO_LOG_START = "there is no log start: nothing is deleted"
NOT_SUFFERED = {
    "controller": NO_CONTROLLER,
    "unclean-election": "nobody can make a server lead that a majority does not vote for",
    "log-start": NO_LOG_START,
    "reassignment": "the members of a group never change",
    "elr": "there is no ELR",
    "settings": "a majority is enough, whatever is set",
    "unclean-setting": "nobody can make a server lead that a majority does not vote for",
}
STANDS = "the server stands for election at once, as after a time-out; whether it leads is for the votes to say"
COUNTERPARTS = {
    "preferred-election": STANDS,
    "forced-election": STANDS,
    "fast-failover": STANDS
    + "; who is deaf hears nobody stand for election or make itself known as leader without entries",
    "lost-leadership": "requests for votes, and a leader's word without entries, are lost on their way to the target",
    "late-leadership": "requests for votes, and a leader's word without entries, reach the target later",
    "isolate": "there is no controller to be cut off from; the other servers are",
    "halves": "there is no controller to stay with one half",
    "one-way-in": "there is no controller to be cut off from; the other servers are",
    "one-way-out": "there is no controller to be cut off from; the other servers are",
}
UNHEARD = {
    "elect": "lead",
    **dict.fromkeys(("isr", "isr-change", "log-start", "reassign", "removed", "members"), ""),
}

FROM_FOLLOWER, FROM_LEADER = "fetch requests", "fetch responses"
ASK_HOW_FAR, HOW_FAR = "epoch requests", "epoch responses"
"""Kinds of message, by Kafka's names for them: what a follower says of its log, and what a leader sends of its own; the question
up to where a log is to be kept, and its answer.
"""


def tells_leadership(message: object) -> bool:
    """Whether a message asks for votes, or comes from a leader and brings no entries: the counterpart of a controller's word."""
    return isinstance(message, VoteRequest) or getattr(message, "batches", None) == []
