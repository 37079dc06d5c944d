"""Kafka's replication protocol as a family: brokers that fetch, a controller that elects, an ISR that commits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.nodes.core.broker import Broker
from tidemark.nodes.core.controller import make_controller
from tidemark.nodes.core.variant import BUNDLES, EVERY, known
from tidemark.nodes.families.family import Family

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.nodes.core.recovery import Recovered
    from tidemark.nodes.core.settings import Settings
    from tidemark.nodes.core.variant import Variant


def _broker(
    node_id: int,
    incarnation: int,
    variant: Variant,
    settings: Settings,
    recovered: Recovered,
    _assignment: Mapping[str, tuple[int, ...]],
) -> Broker:
    """A broker hears from the controller which replicas it has."""
    return Broker(node_id, incarnation, variant, settings, recovered)


def _not_suffered(variant: Variant) -> Mapping[str, Mapping[str, str]]:
    """Where there is no ELR nobody can switch it."""
    return {} if variant.elr else {"not_suffered": {"elr": "there is no ELR"}}


KAFKA = Family(
    name="kafka",
    title="Kafka's replication protocol",
    presets=EVERY,
    bundles=BUNDLES,
    known=known,
    machine=_broker,
    controller=make_controller,
    unheard={"members": ""},
    differs=_not_suffered,
)
