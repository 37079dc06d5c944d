"""Recordings of real brokers, trimmed: a folder for each scenario, in it one file for each life (``BROKER.LIFE.log``), and in
``end.json`` what the files of each broker held in the end.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tidemark.nodes.sidecar.line_events import Event
from tidemark.nodes.sidecar.lines import LineReader

RECORDINGS = Path(__file__).parent / "recordings"


class Broker(NamedTuple):
    recording: str
    broker: int
    lives: list[list[str]]
    batches: list[tuple[int, int, int]] | None
    cache: list[tuple[int, int]]

    def events(self) -> list[Event]:
        return [event for life in self.lives for event in read_life(life)]


def read_life(lines: list[str]) -> list[Event]:
    reader = LineReader()
    return [event for line in lines for event in reader.read(line)] + reader.end()


def load(recording: str) -> list[Broker]:
    folder = RECORDINGS / recording
    ends: dict[str, Any] = json.loads((folder / "end.json").read_text())
    files = sorted(folder.glob("*.log"))
    found = []
    for broker in sorted({file.name.split(".")[0] for file in files}):
        lives = [file.read_text().splitlines() for file in files if file.name.startswith(f"{broker}.")]
        end = ends.get(broker)
        batches = None if end is None else [tuple(batch) for batch in end["batches"]]
        cache = [] if end is None else [tuple(entry) for entry in end["cache"]]
        found.append(Broker(recording, int(broker), lives, batches, cache))
    return found


def pytest_generate_tests(metafunc):
    if "broker" in metafunc.fixturenames:
        brokers = [broker for folder in sorted(RECORDINGS.iterdir()) for broker in load(folder.name)]
        metafunc.parametrize("broker", brokers, ids=[f"{b.recording}-{b.broker}" for b in brokers])


@pytest.fixture
def life():
    """Gives the events of one life: ``life("3.9.1", "1.3")``; without those named in ``but``."""

    def read(recording: str, name: str, *but: type) -> list[Event]:
        lines = (RECORDINGS / recording / f"{name}.log").read_text().splitlines()
        return [event for event in read_life(lines) if not isinstance(event, but)]

    return read
