"""A counterexample told step by step: what happens, and what it makes of whom."""

from __future__ import annotations

from tidemark.harness.search.explore.frozen import Place
from tidemark.harness.search.explore.moves import Kind, Move
from tidemark.harness.search.explore.search import Found
from tidemark.harness.search.explore.world import State, World
from tidemark.nodes.core.roles import Role

SENTENCES = {
    Kind.APPEND: "A producer's record reaches broker {broker}, which thinks that it leads.",
    Kind.FETCH: "Broker {broker} fetches from broker {other}.",
    Kind.FETCH_UNANSWERED: "Broker {broker} fetches from broker {other}; the answer does not arrive.",
    Kind.ASK: "Broker {broker} asks broker {other} where its latest epoch ends.",
    Kind.SHRINK: "Broker {broker} finds broker {other} too slow, and proposes an ISR without it.",
    Kind.DECIDE: "The controller decides about the ISR that broker {broker} proposed, which hears of it.",
    Kind.DECIDE_UNHEARD: "The controller takes the ISR that broker {broker} proposed, which does not hear of it yet.",
    Kind.ELECT: "The controller elects broker {broker}.",
    Kind.ELECT_UNCLEAN: "The controller elects broker {broker}, which is not in sync.",
    Kind.RETURN: "Broker {broker} has a session again.",
    Kind.CRASH: "Broker {broker} crashes; the high watermark on its disk is {number}.",
    Kind.START: "Broker {broker} starts again.",
}


def record_names(found: Found) -> dict[tuple[int, int], str]:
    """(leader epoch, offset) → m1, m2 … in the order of their appearance."""
    names: dict[tuple[int, int], str] = {}
    for _, state in found.steps:
        for place in _places(found.world, state):
            for offset, epoch in enumerate(place.replica.log):
                names.setdefault((epoch, offset), f"m{len(names) + 1}")
    return names


def told(found: Found) -> list[str]:
    """The steps as lines: a numbered sentence, and below it every broker (and the controller) that it changed."""
    names = record_names(found)
    lines = ["0. All know that broker 1 leads epoch 0, and their logs are empty."]
    before = found.first
    for number, (move, state) in enumerate(found.steps, 1):
        lines.append(f"{number}. {sentence(move, found.world, before)}")
        lines += [f"     {line}" for line in changes(found.world, before, state, names)]
        before = state
    return lines


def sentence(move: Move, world: World, before: State) -> str:
    """What happens."""
    if move.kind is Kind.HEAR:
        place = world.places.values[before[move.broker]]
        word = place.unheard[move.number]
        who = (
            "it leads"
            if word.leader == move.broker
            else f"broker {word.leader} leads"
            if word.leader > 0
            else "nobody leads"
        )
        missed = f"; what came before, {_reigns(place, move.number)}, it never hears of" if move.number else ""
        isr = f", with the ISR {_ids(word.isr)}" if word.leader == move.broker else ""
        return f"Broker {move.broker} hears that {who} in epoch {word.epoch}{isr}{missed}."
    if move.kind is Kind.LAPSE:
        then = f"broker {move.other} leads" if move.other > 0 else "nobody leads"
        return f"The session of broker {move.broker} ends, and the process does not notice; {then}."
    return SENTENCES[move.kind].format(**move._asdict())


def changes(world: World, before: State, after: State, names: dict[tuple[int, int], str]) -> list[str]:
    """Everybody who is not as before."""
    lines = []
    was, common = world.commons.values[before[0]].controller, world.commons.values[after[0]].controller
    if was != common:
        leader = f"leader {common.leader}" if common.leader > 0 else "no leader"
        elr = f" | ELR {_ids(common.elr)}" if common.elr else ""
        lines.append(f"controller: {leader} | epoch {common.leader_epoch} | ISR {_ids(common.isr)}{elr}")
    for number, then in zip(before[1:], after[1:], strict=True):
        old, place = world.places.values[number], world.places.values[then]
        if old.replica != place.replica or old.up != place.up:
            lines.append(f"{place.node}: {as_claim(place, names)}")
    return lines


def as_claim(place: Place, names: dict[tuple[int, int], str]) -> str:
    """A broker in the words of a scenario's claim, and what a leader knows of the others."""
    replica = place.replica
    log = " ".join(f"{epoch}:{names[epoch, offset]}" for offset, epoch in enumerate(replica.log)) or "empty"
    parts = [_role(place), log, f"LEO {len(replica.log)}", f"HW {replica.hw}"]
    if replica.term is not None:
        parts.append(f"ISR {_ids(replica.term.isr)}")
        if replica.term.pending is not None:
            parts.append(f"proposes {_ids(tuple(b for b, _ in replica.term.pending))}")
        known = [f"{b} at {leo}" for b, leo, _ in replica.term.remotes if leo >= 0]
        parts.append("knows " + (", ".join(known) or "of no follower"))
    return " | ".join(parts)


def summary(found: Found, bounds: str) -> str:
    """The result in one sentence."""
    counted = f"{found.states:,} states, {found.moves:,} moves, depth {found.depth}, {found.seconds:.1f} s"
    if found.outcome == "holds":
        return f"holds within these bounds: {bounds} ({counted})"
    if found.outcome == "broken":
        fewest = ", and no fewer" if found.shortest else ""
        return f"{found.invariant} is broken after {len(found.steps)} moves{fewest}: {found.why} ({counted})"
    return f"not finished: {counted}; nothing is broken so far within {bounds}"


def _role(place: Place) -> str:
    replica = place.replica
    if not place.up:
        return "down"
    if replica.role is Role.LEADING:
        return f"leader | epoch {replica.leader_epoch}"
    if replica.leader < 0:
        return f"no leader | epoch {replica.leader_epoch}"
    return f"follower of {replica.leader} | epoch {replica.leader_epoch} | {replica.role}"


def _reigns(place: Place, number: int) -> str:
    return ", ".join(
        f"epoch {word.epoch} of broker {word.leader}" if word.leader > 0 else f"epoch {word.epoch} of nobody"
        for word in place.unheard[:number]
    )


def _ids(brokers: tuple[int, ...]) -> str:
    return ", ".join(str(b) for b in brokers) or "nobody"


def _places(world: World, state: State) -> tuple[Place, ...]:
    return tuple(world.places.values[number] for number in state[1:])
