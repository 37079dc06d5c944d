"""Another order of the same run: what does not depend on each other may be told in the order that is easier to bring about.

An election is decided before anybody hears of it, and a record is sent by its leader before a follower has it. Told as late, or as
early, as they may be, decisions need fewer gates: who hears of one reign hears of it before there is another to hear of. And what a
leader knows before it has the next record needs no gate that one fetch passes and the next does not.
"""

from __future__ import annotations

from collections.abc import Sequence

from tidemark.harness.search.script.moment import Moment


def eased(moments: Sequence[Moment]) -> list[Moment]:
    """Fetches before their leader hears of another reign; what can be before a record or a pause, before it; then elections as late
    as somebody hears of them.
    """
    return _elections_late(_before_sends(_fetches_early(list(moments))))


def _fetches_early(moments: list[Moment]) -> list[Moment]:
    """A follower's fetch that arrived after its leader had heard of another reign goes before that."""
    for place in range(len(moments)):
        fetch = moments[place]
        if not fetch.fetches:
            continue
        ((follower, leader),) = fetch.pairs
        epoch = next((one.epoch for one in reversed(moments[:place]) if one.hears == follower), 0)
        for earlier in range(place - 1, -1, -1):
            moment = moments[earlier]
            if moment.node == follower or (moment.does and not moment.elects):
                break
            if moment.hears == leader and moment.epoch > epoch:
                moments.insert(earlier, moments.pop(place))
                break
    return moments


def _before_sends(moments: list[Moment]) -> list[Moment]:
    """What followers have fetched, and the high watermark that the leader raises for it, go before records that came later, and
    before their leader falls asleep with the answer under way.
    """
    for place in range(len(moments)):
        moment = moments[place]
        if not moment.pairs or not (moment.fetches or " has HW " in moment.shows):
            continue
        concerned = {node for pair in moment.pairs for node in pair}
        to = place
        for earlier in range(place - 1, -1, -1):
            before = moments[earlier]
            if before.does and before.does[0].startswith(("send ", "pause ")):
                to = earlier
            elif before.does or before.hears or (before.node in concerned and _number(before) <= _number(moment)):
                break
        if to < place:
            moments.insert(to, moments.pop(place))
    return moments


def _elections_late(moments: list[Moment]) -> list[Moment]:
    """An operator's election goes to just before somebody hears of it, or another is decided."""
    for place in range(len(moments) - 1, -1, -1):
        election = moments[place]
        if not (election.does and election.elects):
            continue
        to = next(
            (
                later
                for later in range(place + 1, len(moments))
                if moments[later].elects or moments[later].epoch >= election.epoch
            ),
            None,
        )
        if to is not None and to > place + 1:
            moments.insert(to - 1, moments.pop(place))
    return moments


def coalesced(moments: Sequence[Moment]) -> list[Moment]:
    """Log ends and high watermarks that a broker only passes between two deeds are left out."""
    return [moment for place, moment in enumerate(moments) if not _is_passed(moments, place)]


def _is_passed(moments: Sequence[Moment], place: int) -> bool:
    """Whether the same rises further before the broker does something else, or something is done."""
    moment = moments[place]
    for kind, other in ((" has LEO ", " has HW "), (" has HW ", " has LEO ")):
        if kind in moment.shows and moment.pairs:
            for later in moments[place + 1 :]:
                if later.does:
                    return False
                if later.node == moment.node and other not in later.shows:
                    return kind in later.shows and bool(later.pairs) and _number(moment) < _number(later)
    return False


def _number(moment: Moment) -> int:
    return int(moment.shows.rpartition(" ")[2])
