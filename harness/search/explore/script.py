"""A counterexample as a script (docs/scenarios.md), which is played before it is given out.

Every request that a follower or a leader sends is held, and every word of the controller; a move lets go what it needs. After each
move the script claims what the search says of everybody it changed, so playing it holds the search against the simulator. Not every
move has its verb: see :class:`NoScriptError`.
"""

from __future__ import annotations

from tidemark.harness.scenario import ScenarioOutcome, parse_scenario, run_scenario
from tidemark.harness.search.explore.bounds import Bounds
from tidemark.harness.search.explore.frozen import Place
from tidemark.harness.search.explore.moves import Kind, Move
from tidemark.harness.search.explore.search import Found
from tidemark.harness.search.explore.words import record_names, sentence

NAME = "found-by-explore"
TOLD = ("violation", "permitted", "near-miss")
TIMES = "fetch wait 20 ms, request timeout 1 s, produce timeout 600 s"
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
    played = run_scenario(parse_scenario("\n\n".join([head, *steps]), NAME), variant)
    if played.stopped or played.mismatches:
        raise NoScriptError(played.stopped or played.mismatches[0])
    return "\n\n".join(
        [head, *steps, _outcome(played, variant, epochs=found.world.variant.has_epoch_cache)]
    ) + "\n", played


def _head(found: Found, variant: str, bounds: Bounds) -> str:
    unclean = f"unclean election {'on' if bounds.unclean else 'off'}"
    settings = ["acks all", f"min ISR {bounds.min_isr}", unclean, f"fetch size {bounds.fetch_size} batches"]
    return "\n".join(
        [
            f"name: {NAME}",
            f"title: {found.invariant} is broken under {variant}",
            f"source: tidemark explore ({bounds.in_words()})",
            f"brokers: {', '.join(str(b) for b in bounds.nodes())}",
            f"cluster: {', '.join([*settings, TIMES])}",
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
    return "\n".join(
        [
            "1. Broker 1 leads epoch 0. From now on nothing arrives unless it is let go.",
            *(f"   > {c}" for c in commands),
        ]
    )


def _commands(move: Move, place: Place, record: str, *, kraft: bool) -> list[str]:
    """What makes the move happen."""
    broker, other = move.broker, move.other
    refused = f"fetch responses from {other} to {broker}"
    request = f"requests from {broker} to {other}"
    verbs = {
        Kind.APPEND: [f"send {record} to {broker}", "run 5 ms"],
        Kind.FETCH: [*_let_go(f"fetch {request}"), A_WHILE],
        Kind.FETCH_UNANSWERED: [
            f"block {refused}",
            *_let_go(f"fetch {request}"),
            A_WHILE,
            f"unblock {refused}",
            "run 1200 ms",
        ],
        Kind.ASK: [*_let_go(f"epoch {request}"), A_WHILE],
        Kind.HEAR: [*_let_go(f"leadership to {broker}"), "run 20 ms"],
        Kind.SHRINK: ["run 50 s"],
        Kind.DECIDE: [*_let_go(f"ISR changes from {broker}"), "run 20 ms"],
        Kind.ELECT: [f"elect {broker}"],
        Kind.ELECT_UNCLEAN: [f"elect {broker} uncleanly"],
        Kind.LAPSE: [*([f"cut {broker} from controller"] if place.up else []), f"until {broker} is fenced"],
        Kind.RETURN: [f"join {broker} and controller", "run 3 s"],
        Kind.CRASH: [f"crash {broker}"],
        Kind.START: [f"start {broker}", "run 3 s"],
    }
    if move.kind not in verbs:
        raise NoScriptError(f"scripts have no verb for: {move.kind}")
    if move.kind is Kind.HEAR and kraft and move.number + 1 < len(place.unheard):
        raise NoScriptError("a broker that reads the metadata log acts on the last state it finds")
    if move.kind is Kind.HEAR and not kraft and move.number:
        raise NoScriptError("with ZooKeeper a broker hears of every reign, in order")
    return verbs[move.kind]


def _let_go(link: str) -> list[str]:
    return [f"release {link}", f"hold {link}"]


def _claim(place: Place, names: dict[tuple[int, int], str]) -> str:
    replica = place.replica
    log = " ".join(f"{epoch}:{names[epoch, offset]}" for offset, epoch in enumerate(replica.log)) or "empty"
    if not place.up:
        return f"down | {log}"
    role = "leader" if replica.term is not None else "follower"
    return f"{role} | epoch {replica.leader_epoch} | {log} | LEO {len(replica.log)} | HW {replica.hw}"


def _outcome(played: ScenarioOutcome, variant: str, *, epochs: bool) -> str:
    lines = [f"outcome {variant}: {played.verdict.valid}"]
    lines += [f"  {one.verdict} {one.name}" for one in played.verdict.anomalies if one.verdict in TOLD]
    lines.append(f"  truncations: {played.summary['truncations']}")
    for state in played.narrative[-1].replicas:
        log = " ".join(f"{epoch}:{name}" for epoch, name in state.log) or "empty"
        cache = " ".join(f"{epoch}@{start}" for epoch, start in state.cache) if epochs else ""
        role = state.role if state.role in ("leader", "follower") else "down"
        lines.append(
            f"  {played.scenario.broker_name(state.broker)}: {role} | {log} | HW {state.hw} | epochs {cache or 'none'}"
        )
    return "\n".join(lines)
