"""A cluster of machines that exist: made ready over SSH, and left as they were found.

A machine needs Linux with glibc, Python 3.11 or newer, iptables, iproute2, sshd, and root's login. Nothing is downloaded there: the
node's code and packages are chosen for its Python here, and sent.
"""

from __future__ import annotations

import gzip
import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Self, TypeVar

from tidemark.harness.machines import firewall
from tidemark.harness.machines.errors import ContainerWorldError, HostsFileError, NodeError
from tidemark.harness.machines.host_trust import HostTrust, known_hosts
from tidemark.harness.machines.hosts_format import Host, read_hosts
from tidemark.harness.machines.interrupts import held_interrupts
from tidemark.harness.machines.machine import HOST_PORT, INTERNAL_PORT, Machine
from tidemark.harness.machines.netem import set_delays
from tidemark.harness.machines.node_code import PROBE, PythonPlatform, code_files, package_files, site_packages, tar_of
from tidemark.harness.machines.node_control import NodeControl
from tidemark.harness.machines.owner import Owner
from tidemark.harness.machines.ssh import Shell

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

T = TypeVar("T")

SEND_S = 300.0
HOME = "/opt/tidemark"
MARK = f"{HOME}/owner.json"
"""Says whose this folder is; its being there says that it is ours to remove."""
FOLDERS = "/etc/tidemark /run/tidemark /var/lib/tidemark /var/log/tidemark"

_CHECK = f"""
[ "$(id -u)" = 0 ] || {{ echo "user must be one that is root there"; exit 1; }}
missing() {{ echo "$1 is missing there (Debian: apt-get install bash python3 iptables iproute2)"; exit 1; }}
for tool in bash python3 iptables ip tar gzip; do
  command -v $tool >/dev/null || missing $tool
done
if [ -e {HOME} ]; then echo "{HOME} is there already, and not of our making"; exit 1; fi
for port in {INTERNAL_PORT} {HOST_PORT}; do
  if bash -c "exec 3<>/dev/tcp/127.0.0.1/$port" 2>/dev/null; then echo "port $port is in use there"; exit 1; fi
done
python3 -c {quote(PROBE)}
"""

_UNPACK = f"""set -e
mkdir -p {HOME} {FOLDERS}
printf '%s\n' OWNER >{MARK}
tar -xzf - -C {HOME} --no-same-owner
site=$(python3 -c 'import site; print(site.getsitepackages()[0])')
mkdir -p "$site"
printf '{HOME}\n{HOME}/site-packages\n' >"$site/tidemark.pth"
library=$(find /usr/lib -name libfaketime.so.1 2>/dev/null | head -n 1)
[ -z "$library" ] || ln -sf "$library" {HOME}/libfaketime.so.1
python3 -c 'import crc32c, kio, uvloop, tidemark.nodes'
"""

_REMOVE = f"""
rm -f "$(python3 -c 'import site; print(site.getsitepackages()[0])')/tidemark.pth"
rm -rf {FOLDERS} {HOME}
"""


def _silent(sentence: str) -> None:
    """Say nothing."""


class HostsCluster:
    """Machines from a hosts file. Call :meth:`prepare` before anything runs on them.

    Attributes:
        machines: node → machine; 0 is the controller.
    """

    def __init__(self, hosts: list[Host]) -> None:
        known = known_hosts()
        self._hosts = hosts
        self._owner = Owner.this_process()
        self.machines: dict[int, Machine] = {}
        for node, host in enumerate(hosts):
            name = f"b{node} ({host.name})" if node else f"controller ({host.name})"
            trust = HostTrust(known, host.host_key)
            shell = Shell(host.name, host.port, host.user, name=name, key_filename=host.key, trust=trust)
            self.machines[node] = Machine(node, name, shell, host.inner, host.advertised_host, host.advertised_port)

    @classmethod
    def from_file(cls, path: Path) -> Self:
        """The machines that a file names.

        Raises:
            HostsFileError: it cannot be used; the message names the line.
        """
        return cls(read_hosts(path))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.down()

    def prepare(self, tell: Callable[[str], None] = _silent) -> None:
        """Check every machine, then send code and packages to all; on a failure take away again what was sent.

        What a run that was killed left there is removed first.

        Args:
            tell: says what takes long.

        Raises:
            NodeError: a machine cannot be reached, lacks something, is in use, or does not take the code.
            HostsFileError: the name of a machine has no address there.
        """
        try:
            tell(f"looking at {len(self.machines)} machines")
            platforms = self._everywhere(self._check)
            self._look_up_inner()
            archives = {there: _archive(there, tell) for there in dict.fromkeys(platforms.values())}
            tell("sending the nodes' code")
            self._everywhere(lambda machine: self._send(machine, archives[platforms[machine.node]]))
        except BaseException:
            with suppress(ContainerWorldError):
                self.down()
            raise

    def down(self, *, force: bool = False) -> None:
        """End node processes, take out rules, and remove what was put there; on all machines, also if one fails.

        Args:
            force: also what another process put there.

        Raises:
            NodeError: a machine that could not be cleaned, and why.
        """
        with held_interrupts():
            try:
                self._everywhere(lambda machine: self._clean(machine, force=force))
            finally:
                for machine in self.machines.values():
                    machine.shell.close()

    def _everywhere(self, act: Callable[[Machine], T]) -> dict[int, T]:
        """Do something on all machines at once; the first error is raised when all have ended."""
        with ThreadPoolExecutor(len(self.machines)) as pool:
            done = {node: pool.submit(act, machine) for node, machine in self.machines.items()}
        return {node: future.result() for node, future in done.items()}

    def _look_up_inner(self) -> None:
        """Give machines that were named by name only the address which the controller's machine finds for it."""
        ask = self.machines[0].shell
        for node, host in enumerate(self._hosts):
            machine = self.machines[node]
            if not machine.inner_ip:
                found = ask.run(f"getent ahostsv4 {quote(host.name)}", check=False).out.split()
                if not found or found[0].startswith("127."):
                    raise HostsFileError(
                        f"line {host.line} of the hosts file: the controller's machine knows no address of {host.name} "
                        "that others could use; add inner=ADDRESS"
                    )
                machine.inner_ip = found[0]

    def _check(self, machine: Machine) -> PythonPlatform:
        """Whether a machine can be used, and what Python it has."""
        self._clean(machine, force=False)
        result = machine.shell.run("sh -s", stdin=_CHECK, check=False)
        if result.code:
            raise NodeError(f"{machine.name}: {(result.out or result.err).strip() or 'it does not run commands'}")
        try:
            return PythonPlatform.parse(result.out)
        except ContainerWorldError as error:
            raise NodeError(f"{machine.name}: {error}") from None

    def _send(self, machine: Machine, archive: bytes) -> None:
        owner = json.dumps(self._owner.labels(machine.name))
        machine.shell.run(f"sh -c {quote(_UNPACK.replace('OWNER', quote(owner)))}", stdin=archive, timeout_s=SEND_S)

    def _clean(self, machine: Machine, *, force: bool) -> None:
        """Remove what is ours there, or a dead process's of this computer.

        Raises:
            NodeError: it belongs to another process, and ``force`` is not given.
        """
        mark = machine.shell.run(f"[ ! -e {HOME} ] || cat {MARK}", check=False).out
        if not mark:
            return
        owner = _owner(mark)
        if not (force or owner == self._owner or owner.is_gone):
            raise NodeError(
                f"{machine.name} is used by {owner}; if that is over, run: tidemark cluster down --hosts FILE --force"
            )
        control = NodeControl(machine)
        control.kill()
        firewall.remove_all(control)
        if machine.inner_ip:
            set_delays(control, machine.inner_ip, {})
        machine.shell.run(_REMOVE)


def _owner(mark: str) -> Owner:
    try:
        return Owner.of(json.loads(mark))
    except (ValueError, AttributeError):
        return Owner("", "")


def _archive(there: PythonPlatform, tell: Callable[[str], None]) -> bytes:
    return gzip.compress(tar_of([*code_files(), *package_files(site_packages(there, tell))]), compresslevel=1)
