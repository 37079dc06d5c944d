"""Slow links by the kernel: ``tc netem`` on the sending node, one class for each receiver.

Only where the kernel has it (:func:`has_netem`); elsewhere the node's own transport delays its messages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.harness.machines.errors import NodeError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.harness.machines.node_control import NodeControl

LIMIT = 100_000
"""Packets that may wait; netem drops beyond, and its own default of 1,000 is little for a delay of seconds."""
_SPARE_BANDS = 3
"""Bands of the prio qdisc that everything else goes through."""


def has_netem(control: NodeControl) -> bool:
    """Whether the machine's kernel delays packets."""
    probe = "tc qdisc add dev lo root netem delay 1ms 2>/dev/null && tc qdisc del dev lo root && echo yes || echo no"
    return control.run(probe, to="try netem").strip() == "yes"


def delay_script(delays: Mapping[str, int]) -> str:
    """Replaces all delays of a node's network interface (``$dev``) by these.

    Args:
        delays: receiver's address → µs; a packet takes up to so much longer, drawn evenly, so packets may overtake each other.
    """
    lines = ["tc qdisc del dev $dev root 2>/dev/null || :"]
    if delays:
        lines.append(f"tc qdisc add dev $dev root handle 1: prio bands {_SPARE_BANDS + len(delays)}")
    for place, (address, amount) in enumerate(sorted(delays.items()), start=_SPARE_BANDS + 1):
        half = max(amount // 2, 1)
        lines.append(
            f"tc qdisc add dev $dev parent 1:{place:x} handle {place + 16:x}: netem delay {half}us {half}us limit {LIMIT}"
        )
        lines.append(
            f"tc filter add dev $dev parent 1: protocol ip prio 1 u32 match ip dst {address}/32 flowid 1:{place:x}"
        )
    return "\n".join(lines)


def set_delays(control: NodeControl, own_address: str, delays: Mapping[str, int]) -> None:
    """Put exactly these delays in force; none takes the qdisc off.

    Raises:
        NodeError: they are not in force afterwards.
    """
    find = f"dev=$(ip -o -4 addr show to {own_address} | cut -d' ' -f2)\n"
    check = f'[ -n "$dev" ] || {{ echo "no interface has the address {own_address}" >&2; exit 9; }}\n'
    listing = control.run(f"{find}{check}{delay_script(delays)}\ntc qdisc show dev $dev", to="slow its links")
    there = listing.count("qdisc netem ")
    if there != len(delays):
        raise NodeError(f"{control.name}: {there} of {len(delays)} delays are in force")
