"""Operations that depend on each other: written down as one, asked for cycles, and looked at pair by pair."""

from itertools import pairwise

from tidemark.checkers import History, Op
from tidemark.checkers.clients.check_clients import clients_of
from tidemark.checkers.clients.cycles import cycles


def operation(process, began, ended, *micros, f="txn", type_="ok", acks=None):
    """Both halves; micros as they were answered. Without `began`, or without `ended`, one half."""
    asked = tuple(("send", micro[1], micro[2][1]) if micro[0] == "send" else ("poll", {}) for micro in micros)
    halves = []
    if began is not None:
        halves.append(Op(began, process, "invoke", f, asked, None, acks))
    if ended is not None:
        halves.append(Op(ended, process, type_, f, micros, None, acks))
    return halves


def wrote(key, offset, value):
    """A send as it was answered."""
    return ("send", key, (offset, value))


def read(key, *records):
    """A poll that returned ``(offset, value)`` of a key."""
    return ("poll", {key: list(records)})


def listed(*operations):
    """Their halves in order of time."""
    return sorted((half for halves in operations for half in halves), key=lambda half: half.time)


def cycles_in(ops, **meta):
    """The anomalies."""
    clients = clients_of(History(meta=meta, ops=list(ops)))
    return cycles(clients.versions, acks=meta.get("acks", "all"), listed=meta.get("ties") == "listed")


def told(*operations, **meta):
    """The cycles among operations: ``(name, verdict, number of operations on it)``."""
    return [(one.name, one.verdict, len(one.evidence["steps"])) for one in cycles_in(listed(*operations), **meta)]


CLASSES = [
    (name + suffix, frozenset(kinds + more), verdict)
    for suffix, more in (("", ()), ("-process", ("process",)), ("-realtime", ("process", "realtime")))
    for name, kinds, verdict in (
        ("G0", ("ww",), "informational"),
        ("G1c", ("wr",), "violation"),
        ("G1c", ("ww", "wr"), "informational"),
    )
]


class PairByPair:
    """The dependencies of a short history whose values are unique and whose offsets are in no doubt, each asked for by itself.

    Halves of one time are concurrent; where all are of one time, nobody had a clock, and they are listed in order.
    """

    def __init__(self, ops):
        if len({half.time for half in ops}) == 1:
            ops = [half._replace(time=place) for place, half in enumerate(ops)]
        self.operations = []
        open_ = {}
        for index, half in enumerate(ops):
            if half.type == "invoke":
                open_[half.process] = {
                    "process": half.process,
                    "began": half.time,
                    "ended": None,
                    "wrote": {},
                    "read": {},
                }
                open_[half.process] |= {"ok": False, "info": False, "place": index}
                self.operations.append(open_[half.process])
            else:
                one = open_.pop(half.process, None)
                if one is None:
                    one = {"process": half.process, "began": None, "wrote": {}, "read": {}, "place": index}
                    self.operations.append(one)
                one |= {"ended": half.time, "ok": half.type == "ok", "info": half.type == "info"}
                for micro in half.value:
                    if micro[0] == "send":
                        one["wrote"].setdefault(micro[1], {})[micro[2][1]] = micro[2][0]
                    else:
                        for key, records in micro[1].items():
                            one["read"].setdefault(key, set()).update(value for _, value in records)
        self._visible(ops)

    def _visible(self, ops):
        """Offsets that anybody may rely on: those that polls tell, and those of sends that are ok, or of which an ok poll tells."""
        ok = {
            (key, value)
            for half in ops
            for micro in half.value
            if half.type == "ok" and micro[0] == "poll"
            for key, records in micro[1].items()
            for _, value in records
        }
        polled = {(key, value) for one in self.operations for key, values in one["read"].items() for value in values}
        for one in self.operations:
            sends = {(key, value) for key, values in one["wrote"].items() for value in values}
            known = one["ok"] or (one["ended"] is not None and one["info"] and sends & ok)
            one["at"] = {
                (key, offset)
                for key, values in one["wrote"].items()
                for value, offset in values.items()
                if known or (key, value) in polled
            }

    def edge(self, a, b, kind):
        """Whether one came before the other."""
        if a is b:
            return False
        if kind == "ww":
            return any(key == other and p < q for key, p in a["at"] for other, q in b["at"])
        if kind == "wr":
            return any(value in b["read"].get(key, ()) for key, values in a["wrote"].items() for value in values)
        if kind == "process":
            return a["ok"] and b["ok"] and a["process"] == b["process"] and a["place"] < b["place"]
        return a["ok"] and b["began"] is not None and a["ended"] < b["began"]

    def expected(self):
        """What is to be told: ``(name, verdict, length of the shortest cycle, operations in the component)``."""
        count = len(self.operations)
        pairs = {
            kind: {
                (a, b)
                for a in range(count)
                for b in range(count)
                if self.edge(self.operations[a], self.operations[b], kind)
            }
            for kind in ("ww", "wr", "process", "realtime")
        }
        told, violating, found = set(), set(), []
        for name, kinds, verdict in CLASSES:
            distance = _distances(set().union(*(pairs[kind] for kind in kinds)), count)
            for component in _components(distance, count):
                if component & (violating if verdict == "violation" else told):
                    continue
                told |= component
                violating |= component if verdict == "violation" else set()
                found.append((name, verdict, min(distance[one, one] for one in component), len(component)))
        return sorted(found)


def _distances(edges, count):
    """``(from, to)`` → the least number of edges, at least one."""
    distance = dict.fromkeys(edges, 1)
    for middle in range(count):
        for a in range(count):
            for b in range(count):
                if (a, middle) in distance and (middle, b) in distance:
                    way = distance[a, middle] + distance[middle, b]
                    if way < distance.get((a, b), way + 1):
                        distance[a, b] = way
    return distance


def _components(distance, count):
    found = []
    for a in range(count):
        component = {b for b in range(count) if (a, b) in distance and (b, a) in distance}
        if component and a == min(component):
            found.append(component)
    return found


def is_circle(anomaly):
    """Whether each step of an anomaly leads on from where the last one ended, back to the first."""
    steps = anomaly.evidence["steps"]
    return all(one["after"] == following["before"] for one, following in pairwise([*steps, steps[0]]))
