"""A transactional log that does what it promises, and clients that overlap: for histories that are correct, and long if need be."""

from random import Random

from tidemark.checkers import Op


class TransactionalLog:
    """Transactions of several sends and polls, whose outcome their clients know, do not know, or know to be failure.

    Args:
        seed: of everything.
        isolated: whether a transaction's writes get their offsets all at once when it commits; else each when it is sent, as in
            Kafka, so that transactions interleave. Readers see what is committed either way, up to the first record that is not.
        keys, processes: how many.
        longest: how many sends and polls a transaction may have.
    """

    def __init__(self, seed, *, isolated=True, keys=3, processes=5, longest=4):
        self._random = Random(seed)
        self._isolated = isolated
        self._keys = [f"k{number}" for number in range(keys)]
        self._processes = processes
        self._longest = longest
        self._logs = {key: [] for key in self._keys}
        self._stable = dict.fromkeys(self._keys, 0)
        self._values = 0
        self._time = 0
        self.ops = []

    def play(self, operations):
        """So many operations; the history."""
        running = {}
        names = [f"p{number}" for number in range(self._processes)]
        while operations or running:
            self._time += self._random.randrange(3)
            name = self._random.choice(names if operations else sorted(running))
            if name not in running:
                running[name] = self._operation(name)
                operations -= 1
            if next(running[name], None) is None:
                del running[name]
        return self.ops

    def _operation(self, name):
        """One operation, a step at a time."""
        random = self._random
        f = random.choice(("txn", "txn", "send", "poll"))
        plan = [f if f != "txn" else random.choice(("send", "poll")) for _ in range(random.randint(1, self._longest))]
        asked = []
        for what in plan:
            self._values += what == "send"
            asked.append(("send", random.choice(self._keys), self._values) if what == "send" else ("poll", {}))
        self._add(name, "invoke", f, asked)
        yield True
        fate = {"committed": False, "aborted": False}
        done, sent = [], []
        for micro in asked:
            if micro[0] == "send":
                record = [None, micro[2], fate]
                sent.append((micro[1], record))
                if not self._isolated:
                    self._append(micro[1], record)
                done.append((micro, record))
            else:
                done.append((("poll", {key: found for key in self._keys if (found := self._visible(key))}), None))
            yield True
        outcome = random.choice(("ok", "ok", "ok", "ok", "info", "fail"))
        committed = outcome == "ok" or (outcome == "info" and random.random() < 0.5)
        fate["committed"], fate["aborted"] = committed, not committed
        if committed and self._isolated:
            for key, record in sent:
                self._append(key, record)
        yield True
        told = outcome == "ok" and random.random() < 0.9
        answer = [
            ("send", micro[1], (record[0], micro[2])) if record is not None and told else micro
            for micro, record in done
        ]
        self._add(name, outcome, f, answer)

    def _append(self, key, record):
        log = self._logs[key]
        record[0] = log[-1][0] + self._random.randint(1, 2) if log else 0
        log.append(record)

    def _visible(self, key):
        """A piece of what is committed, up to the first record of which nobody knows yet."""
        log = self._logs[key]
        end = self._stable[key]
        while end < len(log) and (log[end][2]["committed"] or log[end][2]["aborted"]):
            end += 1
        self._stable[key] = end
        begin = self._random.randint(max(0, end - 4), end)
        return [(offset, value) for offset, value, fate in log[begin:end] if fate["committed"]]

    def _add(self, process, type_, f, micros):
        self.ops.append(Op(self._time, process, type_, f, tuple(micros)))
