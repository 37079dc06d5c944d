"""A follower, driven message by message (docs/protocol.md, "Truncation")."""

import pytest


@pytest.fixture(scope="session")
def follower(broker, batch):
    """Broker 2 with records of epoch 1 (offsets 0-1) and epoch 3 (2-3), high watermark 1; it follows broker 1 in epoch 5."""

    def start(variant="kafka-2.7", *, hw=1, batches=None, epochs=None, **settings):
        if batches is None:
            batches = [batch(0, 1, 70), batch(1, 1, 71), batch(2, 3, 72), batch(3, 3, 73)]
        two = broker(variant, node=2, batches=batches, epochs=epochs, hw=hw, **settings)
        two.told(0, 1, 5)
        return two

    return start
