"""How long each bug of the zoo takes to be found: CPU seconds, in one process, by hunt, by random plans, by exhaustive search.

    python -m bench zoo                                  every bug, 10 s and one seed a search
    python -m bench.zoo --seconds 600 --seeds 5          longer
    python -m bench.zoo --ways hunt                      hunts only
    python -m bench.zoo KAFKA-7128 missed-reign          some of them

A search counts if its plan has the violation under the variant with the bug and none under the repaired one.
"""

from __future__ import annotations

import argparse
import statistics
from typing import TYPE_CHECKING

from tidemark.harness.zoo import all_entries, find
from tidemark.harness.zoo.detect import by_exploring, by_hunt, by_random_plans

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidemark.harness.zoo import Entry
    from tidemark.harness.zoo.detect import Detection

    Search = Callable[[Entry, int, float], Detection]


def main(argv: list[str] | None = None) -> None:
    """Print a row for each bug, as Markdown, as soon as it is measured."""
    parser = argparse.ArgumentParser(prog="python -m bench.zoo")
    parser.add_argument("keys", nargs="*", help="which bugs; all without any")
    parser.add_argument("--seconds", type=float, default=10, help="CPU seconds after which a search is given up")
    parser.add_argument("--seeds", type=int, default=1, help="searches for each bug and way")
    parser.add_argument("--ways", default="hunt,random,explore", help="which of hunt, random, explore")
    options = parser.parse_args([] if argv is None else argv)
    ways = options.ways.split(",")
    print(f"up to {options.seconds:g} s of the CPU a search, {options.seeds} seeds\n")
    print("| bug | variant | hunt: median (found) | tries | random plans: median (found) | tries | explore | states |")
    print("|---|---|---|---|---|---|---|---|")
    for entry in [find(key) for key in options.keys] if options.keys else all_entries():
        cells = [entry.key, f"`{entry.variant}`"]
        cells += _searched(by_hunt, entry, options) if "hunt" in ways and not entry.missing else ["–", "–"]
        cells += _searched(by_random_plans, entry, options) if "random" in ways and not entry.missing else ["–", "–"]
        cells += _explored(entry, options.seconds) if "explore" in ways and entry.explore else ["–", "–"]
        print(f"| {' | '.join(cells)} |", flush=True)


def _searched(search: Search, entry: Entry, options: argparse.Namespace) -> list[str]:
    """Median over all seeds, a search that was given up counting as longest; none is begun when that is sure to be the median."""
    done: list[Detection] = []
    for seed in range(options.seeds):
        if 2 * sum(not one.found for one in done) > options.seeds:
            break
        done.append(search(entry, seed, options.seconds))
    found = sum(one.found for one in done)
    seconds = statistics.median_high(one.seconds if one.found else float("inf") for one in done)
    tries = statistics.median_high(one.tries if one.found else 1 << 62 for one in done)
    told = f"> {options.seconds:g} s" if seconds == float("inf") else f"{seconds:.1f} s"
    return [f"{told} ({found} of {len(done)})", "–" if seconds == float("inf") else f"{tries:,}"]


def _explored(entry: Entry, seconds: float) -> list[str]:
    found = by_exploring(entry, seconds)
    return [f"{found.seconds:.1f} s" if found.found else f"not in {found.seconds:.0f} s", f"{found.tries:,}"]


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
