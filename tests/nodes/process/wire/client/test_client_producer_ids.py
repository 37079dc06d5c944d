"""InitProducerId: ids that nobody else gives."""

from datetime import timedelta

import pytest
from kio.index import load_payload_module
from kio.schema.errors import ErrorCode
from kio.static.constants import EntityType


def init(broker, version=1, transactional_id=None, **more):
    m = load_payload_module(22, version, EntityType.request)
    entity = m.InitProducerIdRequest(
        transactional_id=transactional_id, transaction_timeout=timedelta(seconds=1), **more
    )
    return broker.ask(22, version, entity).answer


@pytest.mark.parametrize("version", range(4))
def test_every_producer_gets_another_id_in_epoch_zero(node, version):
    broker = node()
    answers = [init(broker, version) for _ in range(3)]

    assert {(a.error_code, a.producer_epoch) for a in answers} == {(ErrorCode.none, 0)}
    assert len({a.producer_id for a in answers}) == 3


def test_a_producer_that_names_its_old_id_gets_a_new_one(node):
    broker = node()
    old = init(broker).producer_id
    new = init(broker, 3, producer_id=old, producer_epoch=0)

    assert new.producer_id not in (-1, old)
    assert new.producer_epoch == 0


def test_ids_hold_node_and_incarnation(node):
    """Node 1, incarnation 3."""
    assert init(node()).producer_id == (1 << 52) + (3 << 32)


def test_transactions_are_refused(node):
    answer = init(node(), transactional_id="x")

    assert (answer.error_code, answer.producer_id) == (ErrorCode.transactional_id_authorization_failed, -1)
