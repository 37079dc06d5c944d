"""One anomaly put into a correct history of an object, such that no order of effects explains it; see `log_anomalies`.

Values were written once only, so what a read shows tells which write it saw.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from bench.forged.objects import NO, Call, Use

Anomaly = Callable[[Use], bool]

NOWHERE = 10**6
"""A value that nobody wrote."""


def _answered(use: Use, *fs: str) -> list[Call]:
    """Operations that were answered, in random order."""
    found = [call for call in use.calls if call.ok and call.begun.f in fs]
    use.random.shuffle(found)
    return found


def _failed(use: Use, *fs: str) -> list[Call]:
    """Operations that failed, and not because the object refused them."""
    found = [call for call in use.calls if call.done is not None and call.done.type == "fail" and call.answer is not NO]
    return [call for call in found if call.begun.f in fs]


def _key(use: Use, call: Call) -> Any:
    return call.begun.value[0] if use.model in ("key-value", "append-log") else None


def _say(use: Use, call: Call, value: Any) -> bool:
    """It was answered something else."""
    assert call.done is not None
    call.done.value = [_key(use, call), value] if use.model in ("key-value", "append-log") else value
    return True


def _said(use: Use, call: Call) -> Any:
    assert call.done is not None
    return call.done.value[1] if use.model in ("key-value", "append-log") else call.done.value


def _written(use: Use, call: Call) -> Any:
    """The value that a write, or a compare-and-set, is about."""
    value = call.begun.value[1] if use.model == "key-value" else call.begun.value
    return value[1] if call.begun.f == "cas" else value


def _before(one: Call, other: Call) -> bool:
    """The one had ended when the other began."""
    return one.done is not None and one.done.time < other.begun.time


def _overwritten(use: Use) -> Iterator[tuple[Call, Call, Call]]:
    """Two writes and a read, one after the other."""
    writes = _answered(use, "write", "put")
    for read in _answered(use, "read", "get"):
        mine = [one for one in writes if _key(use, one) == _key(use, read) and _before(one, read)]
        for new in mine:
            yield from ((old, new, read) for old in mine if _before(old, new))


def stale_read(use: Use) -> bool:
    """A read has a value that was overwritten before it began."""
    return any(_say(use, read, _written(use, old)) for old, _, read in list(_overwritten(use))[:1])


def lost_update(use: Use) -> bool:
    """A write was answered, and a read after it has what was there before anybody wrote."""
    return any(_say(use, read, None) for _, _, read in list(_overwritten(use))[:1] if not _deleted(use, read))


def _deleted(use: Use, read: Call) -> bool:
    return any(call.begun.f in ("delete", "cas") and _key(use, call) == _key(use, read) for call in use.calls)


def phantom_read(use: Use) -> bool:
    """A read has what nobody wrote."""
    return any(_say(use, read, NOWHERE) for read in _answered(use, "read", "get")[:1])


def failed_write_read(use: Use) -> bool:
    """A read has what a failed write would have written."""
    for write in _failed(use, "write", "put", "cas"):
        for read in _answered(use, "read", "get"):
            if _key(use, read) == _key(use, write):
                return _say(use, read, _written(use, write))
    return False


def read_before_written(use: Use) -> bool:
    """A read has what was written only after it."""
    for write in _answered(use, "write", "put"):
        for read in _answered(use, "read", "get"):
            if _key(use, read) == _key(use, write) and _before(read, write):
                return _say(use, read, _written(use, write))
    return False


def cas_of_another_value(use: Use) -> bool:
    """A compare-and-set was done though the register never held what it compared with."""
    for call in _answered(use, "cas"):
        if len(_said(use, call)) == 2:
            value = call.begun.value[1] if use.model == "key-value" else call.begun.value
            value[0] = NOWHERE
            return _say(use, call, [NOWHERE, value[1]])
    return False


def _logs(use: Use) -> Iterator[tuple[Call, list[Any]]]:
    for read in _answered(use, "read"):
        elements = _said(use, read)
        if len(elements) > 1:
            yield read, elements


def lost_element(use: Use) -> bool:
    """A read lacks an element between others."""
    return any(_say(use, read, elements[1:]) for read, elements in list(_logs(use))[:1])


def lost_end(use: Use) -> bool:
    """A read lacks an element that was appended before it began."""
    for read, elements in _logs(use):
        for write in _answered(use, "append"):
            if write.begun.value == [_key(use, read), elements[-1]] and _before(write, read):
                return _say(use, read, elements[:-1])
    return False


def swapped(use: Use) -> bool:
    """The last read has two elements the other way round than another read."""
    reads = list(_logs(use))
    for read, elements in reads:
        for other, others in reads:
            if read is not other and _key(use, read) == _key(use, other) and others[:2] == elements[:2]:
                return _say(use, read, [elements[1], elements[0], *elements[2:]])
    return False


def element_twice(use: Use) -> bool:
    """A read has an element twice."""
    return any(_say(use, read, [*elements, elements[0]]) for read, elements in list(_logs(use))[:1])


def phantom_element(use: Use) -> bool:
    """A read has an element that nobody appended."""
    return any(_say(use, read, [*elements, NOWHERE]) for read, elements in list(_logs(use))[:1])


def wrong_place(use: Use) -> bool:
    """An append is told a place that another element has."""
    told = [call for call in _answered(use, "append") if len(call.done.value) == 3]  # type: ignore[union-attr]
    for one in told:
        for other in told:
            if one is not other and _key(use, one) == _key(use, other):
                assert one.done is not None
                assert other.done is not None
                one.done.value = [*one.begun.value, other.done.value[2]]
                return True
    return False


def _last_read(use: Use) -> Call:
    """Of a set the read that ended last; of one that is read all the time the one that began last."""
    return max(_answered(use, "read"), key=lambda call: (call.done if use.model == "set" else call.begun).time)  # type: ignore[union-attr]


def set_lost(use: Use) -> bool:
    """The last read lacks an element whose add was answered."""
    last = _last_read(use)
    added = [call.begun.value for call in _answered(use, "add") if _before(call, last)]
    seen = [one for call in _answered(use, "read") if call is not last for one in _said(use, call)]
    found = [one for one in added if use.model == "set" or one in seen]
    return any(_say(use, last, [one for one in _said(use, last) if one != lost]) for lost in found[:1])


def set_phantom(use: Use) -> bool:
    """The last read has an element that nobody added."""
    last = _last_read(use)
    return _say(use, last, [*_said(use, last), NOWHERE])


def set_failed(use: Use) -> bool:
    """A read has an element whose add failed."""
    failed = _failed(use, "add")
    last = _last_read(use)
    return bool(failed) and _say(use, last, [*_said(use, last), failed[0].begun.value])


def set_twice(use: Use) -> bool:
    """A read has an element twice."""
    found = [call for call in _answered(use, "read") if _said(use, call)]
    return any(_say(use, call, [*_said(use, call), _said(use, call)[0]]) for call in found[:1])


def set_forgotten(use: Use) -> bool:
    """Every read after one that had an element lacks it."""
    for call in sorted(_answered(use, "read"), key=lambda one: one.begun.time):
        later = [one for one in _answered(use, "read") if _before(call, one)]
        if _said(use, call) and later:
            gone = _said(use, call)[0]
            for one in _answered(use, "read"):
                if one is not call and not _before(one, call):
                    _say(use, one, [value for value in _said(use, one) if value != gone])
            return True
    return False


def counted_too_little(use: Use) -> bool:
    """A read is below the sum of what was added before it began."""
    for read in _answered(use, "read"):
        least = sum(call.begun.value for call in _answered(use, "add") if _before(call, read))
        if least:
            return _say(use, read, least - 1)
    return False


def counted_too_much(use: Use) -> bool:
    """A read is above the sum of all that anybody tried to add."""
    most = sum(call.begun.value for call in use.calls if call.begun.f == "add")
    return any(_say(use, read, most + 1) for read in _answered(use, "read")[:1])


def id_twice(use: Use) -> bool:
    """An id is given out twice."""
    found = _answered(use, "generate")
    return len(found) > 1 and _say(use, found[0], _said(use, found[1]))


def dequeued_from_nowhere(use: Use) -> bool:
    """What comes out was never put in."""
    return any(_say(use, call, NOWHERE) for call in _answered(use, "dequeue")[:1])


def dequeued_twice(use: Use) -> bool:
    """What came out comes out once more."""
    found = _answered(use, "dequeue")
    return len(found) > 1 and _say(use, found[0], _said(use, found[1]))


def dequeued_before_put_in(use: Use) -> bool:
    """What comes out is put in only later."""
    for call in _answered(use, "dequeue"):
        for put in _answered(use, "enqueue"):
            if _before(call, put):
                return _say(use, call, put.begun.value)
    return False


def failed_dequeued(use: Use) -> bool:
    """What comes out failed to go in."""
    failed = _failed(use, "enqueue")
    found = _answered(use, "dequeue")
    return bool(failed and found) and _say(use, found[0], failed[0].begun.value)


def never_dequeued(use: Use) -> bool:
    """What was put in, and answered, never comes out, though all was taken out in the end."""
    last = _answered(use, "drain")[0]
    if any(call.begun.f == "dequeue" and (call.done is None or call.done.type == "info") for call in use.calls):
        return False
    sure = [call.begun.value for call in _answered(use, "enqueue") if _before(call, last)]
    found = [one for one in _said(use, last) if one in sure]
    return any(_say(use, last, [one for one in _said(use, last) if one != lost]) for lost in found[:1])


OBJECT_ANOMALIES: dict[str, tuple[Anomaly, ...]] = {
    "register": (stale_read, lost_update, phantom_read, failed_write_read, read_before_written),
    "cas-register": (stale_read, phantom_read, failed_write_read, read_before_written, cas_of_another_value),
    "key-value": (stale_read, phantom_read, failed_write_read, read_before_written, cas_of_another_value),
    "append-log": (lost_element, lost_end, swapped, element_twice, phantom_element, wrong_place),
    "set": (set_lost, set_phantom, set_failed),
    "set-full": (set_lost, set_phantom, set_failed, set_twice, set_forgotten),
    "counter": (counted_too_little, counted_too_much),
    "unique-ids": (id_twice,),
    "total-queue": (dequeued_from_nowhere, dequeued_before_put_in, failed_dequeued, never_dequeued),
    "queue": (dequeued_from_nowhere, dequeued_twice, dequeued_before_put_in, failed_dequeued),
}
"""For each model, by its name."""
