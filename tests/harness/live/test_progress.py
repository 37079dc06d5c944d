"""What a person sees of a run."""

import io
import threading
from types import SimpleNamespace

import pytest
from rich.console import Console

from tidemark.harness.live.progress import RunProgress, shown
from tidemark.nemesis import KINDS


def test_faults_are_in_force_from_strike_to_heal():
    progress = RunProgress("faults")
    progress.note((1, "strike", 0, "slow", {}))
    progress.note((2, "strike", 1, "crash", {}))
    progress.note((2, "strike", 2, "forced-election", {}))

    assert str(progress) == "faults · crash, slow"

    progress.note((3, "heal", 0, "slow", {}))

    assert str(progress) == "faults · crash"

    progress.note((4, "heal", -1, "all", {}))

    assert str(progress) == "faults"


@pytest.mark.parametrize("kind", [word for word, row in KINDS.items() if row.doing.at_once])
def test_what_is_over_when_it_has_struck_is_not_in_force(kind):
    progress = RunProgress("faults")
    progress.note((1, "strike", 0, kind, {"node": 1}))

    assert str(progress) == "faults"


@pytest.mark.parametrize(
    ("detail", "told"), [({"then": 2}, "faults"), ({"then": 2, "deaf": 3}, "faults · fast-failover")]
)
def test_a_fast_failover_lasts_where_it_makes_a_broker_deaf(detail, told):
    progress = RunProgress("faults")
    progress.note((1, "strike", 0, "fast-failover", detail))

    assert str(progress) == told


def test_clients_are_counted_once_they_work():
    progress = RunProgress("faults", began_s=0)
    progress.counters.add("invoked", 3)
    progress.counters.add("ok", 2)
    progress.counters.add("info")

    assert str(progress).startswith("faults · 2 acked, 0 failed, 1 unknown, ")


def test_without_a_terminal_each_phase_is_a_line():
    out = io.StringIO()
    holder = SimpleNamespace(progress=RunProgress())
    seen = threading.Event()

    class Told(Console):
        def print(self, *words, **options):
            super().print(*words, **options)
            seen.set()

    with shown(holder, Told(file=out, force_terminal=False)):
        holder.progress.phase = "healing [b1]"
        assert seen.wait(5)

    assert out.getvalue() == "healing [b1]\n"


def test_a_terminal_shows_one_line_and_takes_it_away():
    out = io.StringIO()
    holder = SimpleNamespace(progress=RunProgress("healing"))
    with shown(holder, Console(file=out, force_terminal=True, width=80)):
        pass

    assert "healing" in out.getvalue()
    assert out.getvalue().endswith("\x1b[2K")
