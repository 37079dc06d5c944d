"""BookKeeper's messages arrive as they were said, in Kafka's framing."""

from dataclasses import fields

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kio.index import load_request_schema

from tidemark.nodes.core.log import Batch
from tidemark.nodes.families.bookkeeper.ledger import CLOSED, OPEN, Fragment, Ledger
from tidemark.nodes.families.bookkeeper.messages import OK, AddEntry, AddResponse, RecoveryReadResponse, Update
from tidemark.nodes.formats.bad_batch import BadBatchError
from tidemark.nodes.formats.record_batch import Records, build
from tidemark.nodes.formats.wire.codec import codec
from tidemark.nodes.formats.wire.ledgers import LEDGER, SHAPES
from tidemark.nodes.formats.wire.names import MeaninglessError
from tidemark.nodes.process.wire import translate_ledgers as translate
from tidemark.nodes.process.wire import translate_voting

NUMBER = st.integers(-1, 1 << 40)
NODE = st.integers(1, 9)
BATCH = st.builds(
    lambda base, ledger, values: Batch(base, ledger, Records(build(values, base, ledger))),
    st.integers(0, 99),
    st.integers(0, 9),
    st.lists(st.integers(0, 9), min_size=1, max_size=3),
)
FRAGMENTS = st.lists(st.builds(Fragment, NUMBER, st.lists(NODE, max_size=5).map(tuple)), max_size=3).map(tuple)
LEDGERS = st.builds(Ledger, NODE, NODE, NUMBER, NODE, NODE, FRAGMENTS, st.sampled_from([OPEN, CLOSED]), NUMBER, NUMBER)
OF = {
    "source": NODE,
    "partition": st.just("t-1"),
    "batch": BATCH,
    "entries": st.dictionaries(st.integers(0, 99), BATCH, max_size=3),
    "ledgers": st.lists(LEDGERS, max_size=3).map(tuple),
    "live": st.lists(NODE, max_size=3).map(tuple),
    "known": st.dictionaries(st.sampled_from(["t-0", "t-1"]), NUMBER),
    "status": st.sampled_from(["ok", "fenced", "no-such-entry", "unknown"]),
    **dict.fromkeys(("recovery", "fence", "by_force", "done"), st.booleans()),
}


def messages(kind):
    of = OF | ({"batch": st.none() | BATCH} if kind is RecoveryReadResponse else {})
    return st.builds(kind, **{name: of.get(name, NUMBER) for name in SHAPES[translate.KEYS[kind]].fields})


@given(st.sampled_from(translate.MESSAGES).flatmap(messages))
@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])  # it only encodes
def test_a_message_arrives_as_it_was_said(body_bytes, message):
    key = translate.KEYS[type(message)]
    body = body_bytes(key, 0, translate.request(message))
    assert translate.message(key, codec(key, 0).read_request(body, 0)) == message
    assert codec(key, 0).read_response(body_bytes(key, 0, translate.heard(key), "response"), 0).heard


def test_every_message_has_a_key_of_its_own_and_all_of_its_fields():
    assert len(set(translate.KEYS.values())) == len(translate.MESSAGES) == len(SHAPES)
    assert not set(translate.KEYS.values()) & set(translate_voting.KEYS.values())
    for kind, key in translate.KEYS.items():
        named = [one.name for one in fields(kind)]
        assert list(SHAPES[key].fields) == named[: len(SHAPES[key].fields)]
        with pytest.raises(Exception, match=str(key)):
            load_request_schema(key, 0)


def test_what_makes_no_sense_is_refused():
    said = translate.request(AddResponse(1, "t-0", 1, 0, "perhaps", recovery=False))
    with pytest.raises(MeaninglessError, match="'perhaps'"):
        translate.message(translate.KEYS[AddResponse], said)
    whole = translate.request(AddEntry(1, "t-0", 1, 0, -1, Batch(0, 1, Records(build([1]))), recovery=False))
    key = translate.KEYS[AddEntry]
    for batch, error in (
        (whole.batch[:-1], BadBatchError),
        (whole.batch * 2, MeaninglessError),
        (b"", MeaninglessError),
    ):
        known = {one.name: getattr(whole, one.name) for one in fields(whole)}
        with pytest.raises(error):
            translate.message(key, type(whole)(**known | {"batch": batch}))
    ledger = LEDGER(number=1, writer=1, base=0, write=2, ack=2, fragments=(), state="ajar", last=-1, end=-1)
    update = translate.request(Update(1, "t-0", 1, (), 1))
    known = {one.name: getattr(update, one.name) for one in fields(update)}
    with pytest.raises(MeaninglessError, match="'ajar'"):
        translate.message(translate.KEYS[Update], type(update)(**known | {"ledgers": (ledger,)}))


def test_that_a_bookie_does_not_have_an_entry_is_told_without_one():
    said = translate.request(RecoveryReadResponse(1, "t-0", 1, 0, OK, None, 3))
    assert translate.message(translate.KEYS[RecoveryReadResponse], said).batch is None
