"""The simulated network: a latency per message, and the link faults in force."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.nemesis.kinds import late_or_lost
from tidemark.nemesis.links import EVERYONE
from tidemark.nodes.core.messages import KINDS

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from tidemark.nemesis.links import Link

BASE_US = 300
SPREAD_US = 2_000
CLIENTS_FROM = 10_000
"""Node ids from here on are clients."""


def _of_kinds(kinds: frozenset[type]) -> Callable[[object], bool]:
    return lambda message: message.__class__ in kinds


class NetworkFaults:
    """Which links are cut, slow or lossy now. A link with several faults suffers all of them."""

    def __init__(
        self,
        noise: Random,
        delays: Random | None = None,
        tells_leadership: Callable[[object], bool] | None = None,
    ) -> None:
        """No faults. ``delays`` draws how much later messages come, ``noise`` which are lost, and delays too without it;
        ``tells_leadership`` knows the messages that faults of leadership are about, where they are not a controller's.
        """
        self._tells_leadership = tells_leadership
        self._noise = noise
        self._delays = delays or noise
        self.rules: dict[int, tuple[frozenset[Link], str, int, Callable[[object], bool]]] = {}
        """Key → links, effect, amount, and the messages that suffer it where that is not all."""

    def add(self, key: int, links: tuple[Link, ...], effect: str, amount: int) -> None:
        """Put a fault on links."""
        found = late_or_lost(effect)
        how, kinds = (effect, ()) if found is None else found
        concerned = _of_kinds(frozenset(KINDS[kind] for kind in kinds if kind))
        if self._tells_leadership is not None and "leadership" in kinds:
            concerned = self._tells_leadership
        self.rules[key] = (frozenset(links), how, amount, concerned)

    def remove(self, key: int) -> None:
        """Take it off."""
        self.rules.pop(key, None)

    def judge(self, source: int, to: int, message: object) -> int:
        """Extra delay in µs for this message, or −1 if it is lost."""
        link = (EVERYONE if source >= CLIENTS_FROM else source, EVERYONE if to >= CLIENTS_FROM else to)
        extra = 0
        for links, effect, amount, concerned in self.rules.values():
            if link not in links:
                continue
            if effect == "cut":
                return -1
            if effect == "slow":
                extra += int(amount * self._delays.random())
            elif effect == "lossy":
                if self._noise.random() * 1000 < amount:
                    return -1
            elif concerned(message):
                if effect == "lost":
                    return -1
                extra += int(amount * self._delays.random())
        return extra
