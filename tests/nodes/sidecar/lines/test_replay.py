from __future__ import annotations

from dataclasses import replace

from tidemark.nodes.sidecar.line_events import Appended, HighWatermark, Leads, Loaded, Registered, Started, Truncated
from tidemark.nodes.sidecar.lines import LineReader, disagreement


def test_a_replay_gives_the_log_that_the_broker_left(broker):
    if broker.batches is None:
        return  # its last life was not recorded
    assert disagreement("t-0", broker.events(), broker.batches, broker.cache) is None


def test_a_lost_line_is_noticed(broker):
    """Without its last append, or with a cut elsewhere, a replay does not end where the files do."""
    events = broker.events()
    appends = [n for n, event in enumerate(events) if isinstance(event, Appended)]
    loads = [n for n, event in enumerate(events) if isinstance(event, Loaded)]
    if broker.batches is None or not appends or appends[-1] < loads[-1]:
        return
    without = events[: appends[-1]] + events[appends[-1] + 1 :]
    assert disagreement("t-0", without, broker.batches, broker.cache) is not None


def test_a_log_loaded_after_a_kill_has_what_was_traced_before(broker):
    """The scenarios without a cut of the files: what was appended is there again."""
    if "acked-loss" in broker.recording or "kip" in broker.recording:
        return
    for before, after in zip(broker.lives, broker.lives[1:], strict=False):
        end = _end(before)
        loaded = [event for event in _read(after) if isinstance(event, Loaded)]
        if end is not None and loaded and len(broker.lives) == 2:
            assert loaded[0].leo >= end - 1


def test_every_life_that_started_said_so(broker):
    for lines in broker.lives:
        kinds = [type(event) for event in _read(lines)]
        assert kinds.count(Started) <= 1
        assert (Started in kinds) <= (Registered in kinds)


def test_the_high_watermark_of_a_leader_never_falls_within_its_epoch(broker):
    for lines in broker.lives:
        hw = -1
        for event in _read(lines):
            if isinstance(event, Leads):
                hw = -1
            elif isinstance(event, HighWatermark) and event.is_leader:
                assert event.hw > hw
                hw = event.hw


def test_a_torn_line_says_nothing_wrong(broker):
    """A killed process may leave any beginning of its last line. Only lines that end with a number can be mistaken, and the
    sidecar gives no line that was not ended.
    """
    for lines in broker.lives:
        reader = LineReader()
        for line in lines:
            whole = reader.read(line)
            if not whole or isinstance(whole[0], Truncated | Registered):
                continue
            for cut in {len(line) // 3, len(line) // 2, len(line) - 3, len(line) - 1}:
                torn = [replace(e) for e in LineReader().read(line[:cut])]
                assert all(type(event) in {type(e) for e in whole} for event in torn)


def _read(lines):
    reader = LineReader()
    return [event for line in lines for event in reader.read(line)] + reader.end()


def _end(lines):
    end = None
    for event in _read(lines):
        if isinstance(event, Loaded):
            end = event.leo
        elif isinstance(event, Appended):
            end = event.next
        elif isinstance(event, Truncated):
            end = event.to
    return end
