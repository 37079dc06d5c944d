"""What the kernel under the containers can do to packets: delay them (``tc netem``), lose some (``iptables -m statistic``)."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, NamedTuple

from docker.errors import DockerException
from requests import RequestException

from tidemark.harness.machines.survivor import survived

if TYPE_CHECKING:
    from docker import DockerClient

_SCRIPT = """
tc qdisc add dev lo root netem delay 1ms 2>/dev/null && echo netem
iptables -w -A INPUT -m statistic --mode random --probability 0.5 -j DROP 2>/dev/null && echo statistic
echo done
"""


class KernelProbe(NamedTuple):
    """Whether it can; None where there was no way to try."""

    netem: bool | None
    statistic: bool | None


def probe_kernel(client: DockerClient, image: str | None) -> KernelProbe:
    """Try it in a network namespace that is thrown away: a container's (0.5 s), or without an image one of our own.

    Args:
        client: of the engine; its kernel need not be this computer's.
        image: the node image, if there is one.
    """
    said = _in_container(client, image) if image is not None else _in_namespace()
    if "done" not in said:
        return KernelProbe(None, None)
    return KernelProbe("netem" in said, "statistic" in said)


def _in_container(client: DockerClient, image: str) -> list[str]:
    try:
        output = client.containers.run(
            image,
            ["-c", _SCRIPT],
            entrypoint="sh",
            network_mode="none",
            cap_add=["NET_ADMIN"],
            labels=survived().labels("probe"),
            remove=True,
        )
    except (DockerException, RequestException):
        return []
    return bytes(output).decode(errors="replace").split()


def _in_namespace() -> list[str]:
    if sys.platform != "linux" or os.geteuid() != 0 or shutil.which("unshare") is None:
        return []
    done = subprocess.run(
        ["unshare", "--net", "sh", "-c", _SCRIPT], capture_output=True, text=True, timeout=20, check=False
    )
    return done.stdout.split()
