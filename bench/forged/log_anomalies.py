"""One anomaly put into a correct history of logs, such that no world could have told it.

Each gives False if there is no place for it. Each takes the world and changes what was told. Beside it is how checkers may call it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

from bench.forged.halves import At, Half
from bench.forged.logs import Record, World

Anomaly = Callable[[World], bool]


def same(one: Any, other: Any) -> bool:
    """Two keys or values are one; 1 is not 1.0."""
    return bool(one == other and type(one) is type(other))


def _acked(world: World) -> list[Record]:
    """Committed records whose sends were ok, in random order."""
    found = [one for one in world.records if one.fate == "in" and one.done is not None and one.done.type == "ok"]
    world.random.shuffle(found)
    return found


def _told_at(record: Record) -> list[Any]:
    """The micro-operation that acknowledged it."""
    assert record.done is not None
    return next(one for one in record.done.value if one[0] == "send" and _is(record, one[1], one[2].value))  # type: ignore[no-any-return]


def _is(record: Record, key: Any, value: Any) -> bool:
    return same(record.key, key) and same(record.value, value)


def _shown(world: World, record: Record) -> Iterator[tuple[Half, list[At]]]:
    """The ok polls that returned it."""
    for half, key, records in world.polls():
        if any(_is(record, key, at.value) for at in records):
            yield half, records


def _drop(world: World, record: Record, *, final_only: bool = False) -> None:
    for half, records in _shown(world, record):
        if half.final or not final_only:
            records[:] = [at for at in records if not same(at.value, record.value)]


def _read_early(world: World, record: Record) -> bool:
    return any(not half.final for half, _ in _shown(world, record))


def _tail(world: World) -> list[Record]:
    """The last committed record of each key, if it was acknowledged."""
    last = {repr(one.key): one for key in world.keys for one in world.log[key] if one.fate == "in"}
    return [one for one in _acked(world) if one in last.values()]


def _last_final(world: World, key: Any) -> list[list[At]]:
    """Of each final reader the last poll that told of a key."""
    return list(
        {half.process: records for half, one, records in world.polls() if half.final and same(one, key)}.values()
    )


def _add(world: World, key: Any, value: Any) -> bool:
    """Everybody finds a further record at a log's end."""
    for records in _last_final(world, key):
        records.append(At(world.next[key], value))
    return True


def lost_never_read(world: World) -> bool:
    """An acknowledged record, and nobody ever sees it; but what is behind it."""
    tails = _tail(world)
    found = [one for one in _acked(world) if one not in tails and _told_at(one)[2].offset is not None]
    found = [one for one in found if any(later.offset > one.offset for later in tails if same(later.key, one.key))]
    for one in found[:1]:
        _drop(world, one)
    return bool(found)


def lost_after_read(world: World) -> bool:
    """An acknowledged record that somebody read, and no final read has it."""
    found = [one for one in _acked(world) if _read_early(world, one)]
    for one in found[:1]:
        _drop(world, one, final_only=True)
    return bool(found)


def lost_tail(world: World) -> bool:
    """The last record of a log was acknowledged, and nobody ever sees it."""
    found = _tail(world)
    for one in found[:1]:
        _drop(world, one)
    return bool(found)


def lost_tail_after_read(world: World) -> bool:
    """The same, though somebody had read it."""
    found = [one for one in _tail(world) if _read_early(world, one)]
    for one in found[:1]:
        _drop(world, one, final_only=True)
    return bool(found)


def log_gone(world: World) -> bool:
    """In the end nothing is there of a log of which somebody had read something."""
    found = [one for one in _acked(world) if _read_early(world, one)]
    for half, key, records in world.polls():
        if found and half.final and same(key, found[0].key):
            records.clear()
    return bool(found)


def final_reads_differ(world: World) -> bool:
    """Two read all in the end, and one has less."""
    readers = sorted({half.process for half in world.halves if half.final})
    found = _tail(world)
    if len(readers) < 2 or not found:
        return False
    for half, records in _shown(world, found[0]):
        if half.process == readers[1]:
            records[:] = [at for at in records if not same(at.value, found[0].value)]
    return True


def duplicate(world: World) -> bool:
    """A record is there once more, at the end."""
    return any(_add(world, one.key, one.value) for one in _acked(world)[:1])


def reordered(world: World) -> bool:
    """One poll has two records the wrong way round, by their offsets too."""
    acked = [one for one in _acked(world) if _told_at(one)[2].offset is not None]
    for half, key, records in world.polls():
        for place, (one, two) in enumerate(pairwise(records)):
            known = [any(_is(record, key, at.value) for record in acked) for at in (one, two)]
            if all(known) and world.random.random() < 0.3:
                records[place : place + 2] = [At(one.offset, two.value), At(two.offset, one.value)]
                return half.type == "ok"
    return False


def phantom(world: World) -> bool:
    """A record that nobody sent."""
    return any(_add(world, key, 10**6) for key in world.keys[:1])


def aborted_read(world: World) -> bool:
    """A record whose send failed."""
    failed = [one for one in world.records if one.done is not None and one.done.type == "fail"]
    failed = [one for one in failed if one.done is not None and one.done.f == "send"]
    return any(_add(world, one.key, one.value) for one in failed[:1])


def aborted_transaction_read(world: World) -> bool:
    """A record of a transaction that was aborted, where it is."""
    failed = [one for one in world.records if one.done is not None and one.done.type == "fail"]
    for one in (one for one in failed if one.done is not None and one.done.f == "txn"):
        for records in _last_final(world, one.key):
            records.append(At(one.offset, one.value))
        return True
    return False


def _next_polls(world: World, *, empty: bool) -> Iterator[tuple[list[At], list[At]]]:
    """Of a consumer two polls of a key with records, one after the other, without or with an empty one between them."""
    if world.subscribes:
        return
    seen: dict[tuple[int, str], tuple[list[At], bool]] = {}
    for half in world.halves:
        if half.f == "assign":
            seen = {which: found for which, found in seen.items() if which[0] != half.process}
        if half.type == "ok" and half.f == "poll" and len(half.value) == 1 and not half.final:
            for key, records in half.value[0][1]:
                before = seen.get((half.process, repr(key)))
                if not records and before:
                    seen[half.process, repr(key)] = before[0], True
                elif records:
                    if before is not None and before[1] == empty:
                        yield before[0], records
                    seen[half.process, repr(key)] = records, False
        elif half.f in ("poll", "txn") and half.type != "invoke":
            seen = {which: found for which, found in seen.items() if which[0] != half.process}


def _rewind(world: World, *, empty: bool) -> bool:
    for before, after in _next_polls(world, empty=empty):
        after.insert(0, before[-1])
        return True
    return False


def _skip(world: World, *, empty: bool) -> bool:
    for _, after in _next_polls(world, empty=empty):
        if len(after) > 1:
            del after[0]
            return True
    return False


def rewind(world: World) -> bool:
    """A consumer gets a record for the second time."""
    return _rewind(world, empty=False)


def rewind_after_empty(world: World) -> bool:
    """The same, and between there was a poll without records."""
    return _rewind(world, empty=True)


def skip(world: World) -> bool:
    """A consumer never gets a record that is there."""
    return _skip(world, empty=False)


def skip_after_empty(world: World) -> bool:
    """The same, and between there was a poll without records."""
    return _skip(world, empty=True)


def internal_skip(world: World) -> bool:
    """One poll has what is before a record and what is behind it, and not the record."""
    for half, _, records in world.polls():
        if len(records) > 2 and not world.subscribes and not half.final:
            del records[1]
            return True
    return False


def internal_rewind(world: World) -> bool:
    """One poll has two records the wrong way round, each with its offset."""
    for _, _, records in world.polls():
        if len(records) > 1 and not world.subscribes:
            records[0], records[1] = records[1], records[0]
            return True
    return False


def wrong_offset(world: World) -> bool:
    """A send is told the offset of another record, which somebody read there."""
    acked = _acked(world)
    for one in acked:
        for other in acked:
            if one is not other and same(one.key, other.key):
                _told_at(one)[2] = At(other.offset, one.value)
                return True
    return False


def precommitted_read(world: World) -> bool:
    """A transaction polls what it sends itself."""
    for one in _acked(world):
        assert one.done is not None
        for micro in one.done.value:
            if micro[0] == "poll":
                micro[1].append([one.key, [At(one.offset, one.value)]])
                merged: list[Any] = []
                for key, records in micro[1]:
                    into = next((old for old in merged if same(old[0], key)), None)
                    if into is None:
                        merged.append([key, records])
                    else:
                        into[1] += records
                micro[1][:] = merged
                return True
    return False


def _swap(world: World, one: Record, other: Record) -> None:
    """The two records change places, for everybody."""
    for _, key, records in world.polls():
        for place, at in enumerate(records):
            for this, that in ((one, other), (other, one)):
                if _is(this, key, at.value):
                    records[place] = At(at.offset, that.value)
                    break
    first, second = _told_at(one), _told_at(other)
    first[2], second[2] = At(other.offset, one.value), At(one.offset, other.value)


def _sent_in_turn(world: World, *, together: bool) -> bool:
    acked = [one for one in _acked(world) if _told_at(one)[2].offset is not None and _shows(world, one)]
    for one in acked:
        for other in acked:
            if one.begun.process == other.begun.process and same(one.key, other.key) and one is not other:
                if not together and one.begun.f == "txn":
                    continue  # an assignment in between would allow it
                if (one.begun is other.begun) == together and not world.subscribes:
                    _swap(world, one, other)
                    return True
    return False


def _shows(world: World, record: Record) -> bool:
    return any(half.final for half, _ in _shown(world, record))


def sent_backwards(world: World) -> bool:
    """A client's later send is before its earlier one, in one world for all."""
    return _sent_in_turn(world, together=False)


def sent_backwards_at_once(world: World) -> bool:
    """The same within one operation."""
    return _sent_in_turn(world, together=True)


def circle(world: World) -> bool:
    """Two transactions each read what the other sends."""
    one, two = world.processes, world.processes + 1
    x, y = "circle-x", "circle-y"
    time = world.time + 1
    for process in (one, two):
        world.halves.append(Half(time, process, "invoke", "assign", [x, y]))
        world.halves.append(Half(time + 1, process, "ok", "assign", [x, y]))
    for process, mine in ((one, x), (two, y)):
        world.halves.append(Half(time + 2, process, "invoke", "txn", [["send", mine, 1], ["poll", []]]))
    for process, mine, other in ((one, x, y), (two, y, x)):
        told = [["send", mine, At(0, 1)], ["poll", [[other, [At(0, 1)]]]]]
        world.halves.append(Half(time + 3, process, "ok", "txn", told))
    return True


def on_another_log(world: World) -> bool:
    """A record is in a log to which nobody sent it."""
    for one in _acked(world):
        for key in world.keys:
            sent = any(_is(other, key, one.value) for other in world.records)
            if not same(key, one.key) and not sent:
                return _add(world, key, one.value)
    return False


def read_before_sent(world: World) -> bool:
    """A poll returns what is sent only after it."""
    for half, key, records in world.polls():
        for one in _acked(world):
            if same(one.key, key) and one.begun.time > half.time and records and not half.final:
                records.append(At(one.offset, one.value))
                return True
    return False


LOG_ANOMALIES: dict[Anomaly, set[str]] = {
    lost_never_read: {"lost-write"},
    lost_after_read: {"lost-write"},
    lost_tail: {"lost-write"},
    lost_tail_after_read: {"lost-write"},
    log_gone: {"lost-write"},
    final_reads_differ: {"final-reads-disagree", "lost-write"},
    duplicate: {"duplicate"},
    reordered: {"inconsistent-offsets"},
    phantom: {"phantom"},
    aborted_read: {"G1a"},
    aborted_transaction_read: {"G1a"},
    rewind: {"nonmonotonic-poll"},
    rewind_after_empty: {"nonmonotonic-poll"},
    skip: {"poll-skip"},
    skip_after_empty: {"poll-skip"},
    internal_skip: {"int-poll-skip"},
    internal_rewind: {"int-nonmonotonic-poll"},
    wrong_offset: {"inconsistent-offsets", "duplicate"},
    precommitted_read: {"precommitted-read"},
    sent_backwards: {"nonmonotonic-send", "int-nonmonotonic-send"},
    sent_backwards_at_once: {"int-nonmonotonic-send"},
    circle: {"G1c"},
    on_another_log: {"phantom"},
    read_before_sent: {"G1c", "G1c-process", "G1c-realtime"},
}
"""Each with the names by which it may be found."""
