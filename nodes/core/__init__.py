"""The protocol core: replicas and a controller as state machines without I/O.

Theory of operation. A :class:`~tidemark.nodes.core.broker.Broker` (which hosts one
:class:`~tidemark.nodes.core.replica.Replica` per partition)
and the :class:`~tidemark.nodes.core.controller.Controller` are both driven the same way::

    actions = machine.step(now_us, event)

An event is a message that arrived, a timer that fired, or one of the life-cycle events of :mod:`tidemark.nodes.core.events`; the
actions (:mod:`tidemark.nodes.core.actions`) tell the driver what to send, store and trace. Time is always an argument. There
is no clock,
no thread, no randomness and no set whose order could matter in here, so the same events give the same actions anywhere: the
simulator and the container node drive the very same code.

What differs between Kafka's generations is data: a :class:`~tidemark.nodes.core.variant.Variant` names a truncation rule (one
module each in
:mod:`tidemark.nodes.core.truncation`), the KIP-320 fences that are on, and a few switches. See ``docs/protocol.md``.
"""
