"""A leader and a follower whose log start moves (docs/protocol.md, "Log start")."""

import pytest


@pytest.fixture(scope="session")
def leader(broker, batch):
    """Broker 1 leads epoch 5 with offsets 0-2 (epoch 1, one batch) and 3-4 (epoch 2), all committed; 2 and 3 follow."""

    def start(variant="kafka-2.7", *, hw=5, **settings):
        one = broker(variant, batches=[batch(0, 1, 70, 71, 72), batch(3, 2, 73, 74)], hw=hw, **settings)
        one.lead(0, 5)
        return one

    return start


@pytest.fixture(scope="session")
def follower(broker, batch):
    """Broker 2 with offsets 0-1 of epoch 1, both committed, follows broker 1 in epoch 5 and has a fetch out."""

    def start(variant="kafka-2.7", *, batches=None, hw=2, **kwargs):
        batches = [batch(0, 1, 70), batch(1, 1, 71)] if batches is None else batches
        two = broker(variant, node=2, batches=batches, hw=hw, **kwargs)
        two.told(0, 1, 5)
        return two

    return start
