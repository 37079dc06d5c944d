"""A counterexample as a script (docs/scenarios.md), which is played before it is given out.

Every request that a follower or a leader sends is held, and every word of the controller; a move lets go what it needs. After each
move the script claims what the search says of everybody it changed, so playing it holds the search against the simulator. Not every
move has its verb: see :class:`NoScriptError`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.scenario import parse_scenario, run_scenario
from harness.search.explore.moves import Kind, Move
from harness.search.explore.words import record_names, sentence
from nodes.core.variant import PRESETS

if TYPE_CHECKING:
    from harness.scenario import ScenarioOutcome
    from harness.search.explore.bounds import Bounds
    from harness.search.explore.frozen import Place
    from harness.search.explore.search import Found

NAME = "found-by-explore"
A_WHILE = "run 300 ms"
"""Longer than a fetch waits, and than it takes a broker to ask again after a refusal."""


class NoScriptError(ValueError):
    """The counterexample has a move for which scripts have no verb; the message says which."""


def as_script(found: Found, variant: str, bounds: Bounds) -> tuple[str, ScenarioOutcome]:
    """The script, and what came of playing it; its outcome is what came of it.

    Raises:
        NoScriptError: there is no verb for a move, or something else came of it than the search says.
    """
    names = record_names(found)
    steps = [_setting(bounds)]
    before = found.first
    written = 0
    for number, (move, state) in enumerate(found.steps, 2):
        place = found.world.places.values[before[move.broker]]
        if move.kind is Kind.APPEND:
            written += 1
        commands = _commands(move, place, f"m{written}", kraft=found.world.variant.metadata_log)
        for old, new in zip(before[1:], state[1:], strict=True):
            then = found.world.places.values[new]
            if old != new and then.replica != found.world.places.values[old].replica:
                commands.append(f"expect {then.node}: {_claim(then, names)}")
        lines = [f"{number}. {sentence(move, found.world, before)}", *(f"   > {command}" for command in commands)]
        steps.append("\n".join(lines))
        before = state
    head = _head(found, variant, bounds)
    other = next(preset for preset in PRESETS if preset != variant)
    nothing = [f"  {b}: follower | empty | HW 0 | epochs none" for b in bounds.nodes()]
    draft = "\n\n".join([head, *steps, "\n".join([f"outcome {other}: valid", "  truncations: none", *nothing])])
    played = run_scenario(parse_scenario(draft, NAME), variant)
    if played.stopped or played.mismatches:
        raise NoScriptError(played.stopped or played.mismatches[0])
    return "\n\n".join([head, *steps, _outcome(played, variant, epochs=found.world.variant.has_epoch_cache)]) + "\n", played


def _head(found: Found, variant: str, bounds: Bounds) -> str:
    unclean = "on" if bounds.unclean else "off"
    return "\n".join(
        [
            f"name: {NAME}",
            f"title: {found.invariant} is broken under {variant}",
            f"source: tidemark explore ({bounds.in_words()})",
            f"brokers: {', '.join(str(b) for b in bounds.nodes())}",
            f"cluster: acks all, min ISR {bounds.min_isr}, unclean election {unclean}, fetch size {bounds.fetch_size} batches, "
            "fetch wait 20 ms, request timeout 1 s, produce timeout 600 s",
            "",
            "about:",
            f"  {found.why[:1].upper()}{found.why[1:]}. No shorter way leads there.",
        ]
    )


def _setting(bounds: Bounds) -> str:
    nodes = bounds.nodes()
    holds = [f"hold leadership to {b}" for b in nodes]
    holds += [f"hold ISR changes from {b}" for b in nodes]
    for kind in ("fetch requests", "epoch requests"):
        holds += [f"hold {kind} from {a} to {b}" for a in nodes for b in nodes if a != b]
    follows = [f"until {b} follows 1" for b in nodes[1:]]
    commands = ["until 1 leads epoch 0", *follows, *holds, "run 1 s"]
    return "\n".join(["1. Broker 1 leads epoch 0. From now on nothing arrives unless it is let go.", *(f"   > {c}" for c in commands)])


def _commands(move: Move, place: Place, record: str, *, kraft: bool) -> list[str]:
    kind, broker, other = move.kind, move.broker, move.other
    if kind is Kind.APPEND:
        return [f"send {record} to {broker}", "run 5 ms"]
    if kind is Kind.HEAR:
        if move.number + 1 < len(place.unheard) if kraft else move.number:
            raise NoScriptError(
                "a broker that reads the metadata log acts on the last state it finds"
                if kraft
                else "with ZooKeeper a broker hears of every reign, in order"
            )
        return [*_let_go(f"leadership to {broker}"), "run 20 ms"]
    if kind in (Kind.FETCH, Kind.ASK):
        what = "fetch" if kind is Kind.FETCH else "epoch"
        return [*_let_go(f"{what} requests from {broker} to {other}"), A_WHILE]
    if kind is Kind.FETCH_UNANSWERED:
        link = f"fetch responses from {other} to {broker}"
        request = _let_go(f"fetch requests from {broker} to {other}")
        return [f"block {link}", *request, A_WHILE, f"unblock {link}", "run 1200 ms"]
    if kind is Kind.SHRINK:
        return ["run 50 s"]
    if kind is Kind.DECIDE:
        return [*_let_go(f"ISR changes from {broker}"), "run 20 ms"]
    if kind in (Kind.ELECT, Kind.ELECT_UNCLEAN):
        return [f"elect {broker}{' uncleanly' if kind is Kind.ELECT_UNCLEAN else ''}"]
    if kind is Kind.LAPSE:
        cut = [f"cut {broker} from controller"] if place.up else []
        return [*cut, f"until {broker} is fenced"]
    if kind is Kind.RETURN:
        return [f"join {broker} and controller", "run 3 s"]
    if kind is Kind.CRASH:
        return [f"crash {broker}"]
    if kind is Kind.START:
        return [f"start {broker}", "run 3 s"]
    raise NoScriptError(f"scripts have no verb for: {kind}")


def _let_go(link: str) -> list[str]:
    return [f"release {link}", f"hold {link}"]


def _claim(place: Place, names: dict[tuple[int, int], str]) -> str:
    replica = place.replica
    log = " ".join(f"{epoch}:{names[epoch, offset]}" for offset, epoch in enumerate(replica.log)) or "empty"
    if not place.up:
        return f"down | {log}"
    role = "leader" if replica.term is not None else "follower" if replica.leader > 0 else "no leader"
    role = "follower" if role == "no leader" else role
    return f"{role} | epoch {replica.leader_epoch} | {log} | LEO {len(replica.log)} | HW {replica.hw}"


def _outcome(played: ScenarioOutcome, variant: str, *, epochs: bool) -> str:
    lines = [f"outcome {variant}: {played.verdict.valid}"]
    for anomaly in played.verdict.anomalies:
        if anomaly.verdict in ("violation", "permitted", "near-miss"):
            lines.append(f"  {anomaly.verdict} {anomaly.name}")
    lines.append(f"  truncations: {played.summary['truncations']}")
    for state in played.narrative[-1].replicas:
        log = " ".join(f"{epoch}:{name}" for epoch, name in state.log) or "empty"
        cache = " ".join(f"{epoch}@{start}" for epoch, start in state.cache) if epochs else ""
        role = state.role if state.role in ("leader", "follower") else "down"
        lines.append(f"  {played.scenario.broker_name(state.broker)}: {role} | {log} | HW {state.hw} | epochs {cache or 'none'}")
    return "\n".join(lines)
