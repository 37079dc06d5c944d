"""One operation of each kind that clients do, for histories that go through a file and back."""

from tidemark.checkers import Op, polled, sent

OPS = [
    sent(1, "p1", "t-0", 7, 0),
    sent(2, "p1", "t-0", "seven", None),
    sent(3, "p1", "t-0", 8, 2)._replace(type="info"),
    polled(4, "c1", "t-0", (0, 7)),
    polled(5, "c1", "t-0", (2, 8)),
    Op(6, "c2", "ok", "assign", ("t-0", "t-1")),
    Op(7, "d1", "ok", "delete", (("delete", "t-1", 1),)),
    Op(8, "c1", "ok", "poll", (("poll", {"t-0": []}),), final=True),
]


def pairs(ops):
    """With an invocation before each completion."""
    for op in ops:
        value = (
            tuple(("send", m[1], m[2][1]) if m[0] == "send" else m for m in op.value) if op.f == "send" else op.value
        )
        yield op._replace(type="invoke", value=(("poll", {}),) if op.f == "poll" else value)
        yield op
