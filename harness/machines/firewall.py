"""Chains of iptables rules on a node, one for each fault: put in force, verified, taken out.

Which packets a cut or lossy link drops is written in :func:`tidemark.harness.live.link_faults.drop_rules`.

Only the filter table is touched, and only packets from other nodes and those of the clients' listener are dropped, so SSH always
gets through.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.harness.machines.errors import NodeError

if TYPE_CHECKING:
    from tidemark.harness.machines.node_control import NodeControl

CHAIN = "TM"
"""Chains are named TM and the fault's key."""

_HOOKS = ("INPUT", "OUTPUT")
_LIST = "iptables -w 5 -S"


def install(control: NodeControl, key: object, rules: list[str]) -> None:
    """Put a chain with these rules in force, in one transaction; one that had the key is replaced.

    Raises:
        NodeError: it is not in force afterwards.
    """
    chain = f"{CHAIN}{key}"
    lines = ["*filter", f":{chain} - [0:0]"]
    lines += [f"-A {chain} {rule}" for rule in rules]
    lines += [f"-I {hook} -j {chain}" for hook in _HOOKS]
    script = f"{_unhook(chain)}iptables-restore -w 5 -n && {_LIST}"
    have = control.run(
        script, to=f"set the firewall for fault {key}", stdin="\n".join([*lines, "COMMIT", ""])
    ).splitlines()
    there = sum(line.startswith(f"-A {chain} ") for line in have)
    if there != len(rules) or any(have.count(f"-A {hook} -j {chain}") != 1 for hook in _HOOKS):
        raise NodeError(f"{control.name}: the firewall rules of fault {key} are not in force ({there} of {len(rules)})")


def remove(control: NodeControl, key: object) -> None:
    """Take a chain out; nothing happens if there is none.

    Raises:
        NodeError: it is still there.
    """
    chain = f"{CHAIN}{key}"
    have = control.run(f"{_unhook(chain)}{_drop(chain)}{_LIST}", to="clear the firewall").split()
    if chain in have:
        raise NodeError(f"{control.name}: the firewall rules of fault {key} cannot be removed")


def leftovers(listing: str) -> list[str]:
    """The chains of faults in what ``iptables -S`` prints."""
    return sorted(
        {line.split()[1] for line in listing.splitlines() if line.startswith(f"-N {CHAIN}")},
        key=lambda chain: (len(chain), chain),
    )


def remove_all(control: NodeControl) -> None:
    """Take out every fault's chain, whoever put it there.

    Raises:
        NodeError: some are still there.
    """
    script = "".join(
        _unhook(chain) + _drop(chain) for chain in leftovers(control.run(_LIST, to="look at the firewall"))
    )
    if script:
        left = leftovers(control.run(f"{script}{_LIST}", to="clear the firewall"))
        if left:
            raise NodeError(f"{control.name}: the firewall chains {', '.join(left)} cannot be removed")


def _unhook(chain: str) -> str:
    return "".join(f"while iptables -w 5 -D {hook} -j {chain} 2>/dev/null; do :; done\n" for hook in _HOOKS)


def _drop(chain: str) -> str:
    return f"iptables -w 5 -F {chain} 2>/dev/null && iptables -w 5 -X {chain}\n"
