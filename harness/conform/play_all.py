"""Plays what is missing of all pairs, one after the other; each try is kept as soon as it is known."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from itertools import groupby
from typing import Protocol

from tidemark.checkers import write_history
from tidemark.harness.conform.ending import ending
from tidemark.harness.conform.kept_pair import KeptPair, KeptTry
from tidemark.harness.conform.pairs import Pair
from tidemark.harness.conform.play_pairing import play_once
from tidemark.harness.conform.players import Player
from tidemark.harness.machines.errors import ClusterError, ContainerWorldError, EngineError, ImageError
from tidemark.harness.runs.code_version import commit_of_code
from tidemark.harness.runs.kept_results import KeptResults
from tidemark.harness.scenario.play import ScenarioOutcome
from tidemark.harness.scenario.target import CannotPlayError, ScriptError

HISTORIES = "histories"
NO_MACHINES = (EngineError, ImageError, ClusterError)
"""Nothing can be played any more, whatever the pair."""


class Watcher(Protocol):
    """Is told how it goes."""

    def doing(self, pair: Pair, words: str) -> None:
        """What is being done."""

    def came_out(self, pair: Pair, kept: KeptPair) -> None:
        """A try is over, or could not be carried out."""


def play_missing(
    pairs: Sequence[tuple[Pair, KeptPair]],
    results: KeptResults,
    open_player: Callable[[str, Sequence[Pair]], AbstractContextManager[Player]],
    watcher: Watcher,
    *,
    tries: int,
) -> None:
    """Play every pair until it has its tries. A try that cannot be carried out is begun anew once; then the pair says why, and is
    left for the next run. A pair that another process is playing is passed over.

    Args:
        pairs: with what is kept of each, which is brought up to date.
        results: where they are kept.
        open_player: brings up what plays the pairs of a system, and takes it away in the end; called for each system that lacks
            something.
        watcher: is told how it goes.
        tries: of each pair.

    Raises:
        ContainerWorldError: there are no machines to be had. What was played is kept.
    """
    commit = commit_of_code()
    for pair, kept in pairs:
        with results.claimed(pair.name) as ours:
            if ours and results.read(pair.name) != kept.renewed(pair, results).to_json():
                results.write(pair.name, kept.to_json())  # new, or its inputs have changed: what was kept holds no more
    lacking = [(pair, kept) for pair, kept in pairs if kept.lacks(tries)]
    # Pairs that failed come last, so that they cannot keep the others from their turn.
    for on, group in groupby(lacking, key=lambda one: one[0].on):
        of_system = sorted(group, key=lambda one: bool(one[1].failure))
        with open_player(on, [pair for pair, _ in of_system]) as player:
            for pair, kept in of_system:
                with results.claimed(pair.name) as ours:
                    if ours and kept.renewed(pair, results).lacks(tries):
                        _play(pair, kept, results, player, watcher, tries=tries, commit=commit)


def _play(
    pair: Pair,
    kept: KeptPair,
    results: KeptResults,
    player: Player,
    watcher: Watcher,
    *,
    tries: int,
    commit: str,
) -> None:
    for _ in range(kept.lacks(tries)):
        number = len(kept.tries) + 1
        which = f"try {number} of {tries}, " if tries > 1 else ""

        def tell(words: str, which: str = which) -> None:
            watcher.doing(pair, f"{which}{words}")

        began = time.monotonic()
        try:
            outcome = play_once(pair.pairing, player, player.name, tell)
        except CannotPlayError as error:
            kept.cannot, kept.tries = str(error), []
        except NO_MACHINES:
            raise
        except (ContainerWorldError, ScriptError) as error:
            kept.failure = str(error)
        else:
            kept.failure = ""
            kept.tries.append(_try(pair, outcome, time.monotonic() - began, commit))
            _keep_history(outcome, results, f"{pair.name}--try-{number}")
        results.write(pair.name, kept.to_json())
        watcher.came_out(pair, kept)
        if kept.cannot:
            return
        if kept.failure:
            player.renew()
            return


def _try(pair: Pair, outcome: ScenarioOutcome, seconds: float, commit: str) -> KeptTry:
    meta = outcome.history.meta
    of_nodes = (words for said in meta.get("doubted_nodes", {}).values() for words in said)
    doubts = (*meta.get("not_understood", ()), *of_nodes)
    played = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return KeptTry(ending(outcome, list(pair.reigns)), played, round(seconds, 1), commit, doubts)


def _keep_history(outcome: ScenarioOutcome, results: KeptResults, name: str) -> None:
    """Before its result is, so that no result is without."""
    folder = results.folder / HISTORIES
    folder.mkdir(parents=True, exist_ok=True)
    write_history(outcome.history, folder / f"{name}.jsonl")
