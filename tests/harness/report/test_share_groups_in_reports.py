"""The story of a record that a share group was given again."""

from tidemark.checkers import History, Op, check
from tidemark.harness.report.story import tell

TRACE = [
    (1_000_000, 1, "lead", "t-0", 0, 0, 0, (1,)),
    (3_000_000, 1, "append", "t-0", 0, 0, (7,)),
    (4_000_000, 1, "hw", "t-0", 1, 0, True),
]
SENT = (("send", "t-0", 7),)


def given(count):
    return (("share-fetch", 1, {"t-0": [(0, 7, count)]}),)


def said(how):
    return (("share-acknowledge", 1, {"t-0": [(0, how)]}),)


def test_it_goes_on_to_the_delivery_that_must_not_be():
    ops = [
        Op(2, "p1", "invoke", "send", SENT),
        Op(5, "p1", "ok", "send", (("send", "t-0", (0, 7)),)),
        Op(6, "m1", "invoke", "share-fetch", ()),
        Op(7, "m1", "ok", "share-fetch", given(1)),
        Op(8, "m1", "invoke", "share-acknowledge", said("release")),
        Op(9, "m1", "fail", "share-acknowledge", said("release"), "INVALID_RECORD_STATE"),
        Op(10, "m1", "invoke", "share-fetch", ()),
        Op(11, "m1", "ok", "share-fetch", given(2)),
        Op(12, "m1", "invoke", "share-acknowledge", said("accept")),
        Op(13, "m1", "ok", "share-acknowledge", said("accept")),
        Op(14, "m2", "invoke", "share-fetch", ()),
        Op(15, "m2", "ok", "share-fetch", given(3)),
    ]
    ops = [op._replace(time=op.time * 1_000_000) for op in ops]
    history = History.of(share_group={}, replicas={"t-0": [1]}, ops=ops, trace=TRACE)
    (anomaly,) = check(history).named("redelivered")
    sentences = [moment.sentence for moment in tell(history, anomaly).moments]

    assert sentences[-5:] == [
        "Broker 1 gives m1, a member of the share group, record 7 (delivery 1).",
        "m1 says of it: release, and broker 1 refuses that (INVALID_RECORD_STATE).",
        "Broker 1 gives m1, a member of the share group, record 7 (delivery 2).",
        "m1 says of it: accept, and broker 1 confirms that.",
        "Broker 1 gives m2, a member of the share group, record 7 (delivery 3).",
    ]
