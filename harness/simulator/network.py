"""The simulated network: a latency per message, and the link faults in force."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nemesis.injector import EVERYONE
from nodes.families.kafka import KAFKA

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from nemesis.injector import Link

BASE_US = 300
SPREAD_US = 2_000
CLIENTS_FROM = 100
"""Node ids from here on are clients."""


class NetworkFaults:
    """Which links are cut, slow or lossy now. A link with several faults suffers all of them."""

    def __init__(
        self,
        noise: Random,
        delays: Random | None = None,
        tells_leadership: Callable[[object], bool] = KAFKA.tells_leadership,
    ) -> None:
        """No faults. ``delays`` draws how much later messages come, ``noise`` which are lost, and delays too without it;
        ``tells_leadership`` knows the messages that faults of leadership are about.
        """
        self._tells_leadership = tells_leadership
        self._noise = noise
        self._delays = delays or noise
        self.rules: dict[int, tuple[frozenset[Link], str, int]] = {}

    def add(self, key: int, links: tuple[Link, ...], effect: str, amount: int) -> None:
        """Put a fault on links."""
        self.rules[key] = (frozenset(links), effect, amount)

    def remove(self, key: int) -> None:
        """Take it off."""
        self.rules.pop(key, None)

    def judge(self, source: int, to: int, message: object) -> int:
        """Extra delay in µs for this message, or −1 if it is lost."""
        link = (EVERYONE if source >= CLIENTS_FROM else source, EVERYONE if to >= CLIENTS_FROM else to)
        extra = 0
        for links, effect, amount in self.rules.values():
            if link not in links:
                continue
            if effect == "cut":
                return -1
            if effect == "slow":
                extra += int(amount * self._delays.random())
            elif effect == "lossy":
                if self._noise.random() * 1000 < amount:
                    return -1
            elif self._tells_leadership(message):
                if effect == "lost-leadership":
                    return -1
                extra += int(amount * self._delays.random())
        return extra
