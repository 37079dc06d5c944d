"""A process that outlives this one, and removes what this one leaves if it is killed: nobody else is told of a ``kill -9``.

It is begun with the first thing that would stay, sleeps until its owner is gone, looks what there is of it, and ends.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import closing
from typing import Final

from tidemark.harness.machines.errors import ClusterError, EngineError
from tidemark.harness.machines.owner import Owner
from tidemark.harness.runs.temporary_folder import remove_folders_of

LOOK_S: Final = 0.5
"""So often it looks whether its owner is gone."""
QUIET_S: Final = 5.0
"""So long nothing must come up before it ends: the engine may still be making what was ordered last."""
_begun: set[Owner] = set()


def survived() -> Owner:
    """This process, as the owner of things that are removed should it be killed."""
    owner = Owner.this_process()
    if owner not in _begun:
        nowhere = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in range(3)]
        command = [sys.executable, "-P", "-m", __name__, *owner]
        os.posix_spawn(sys.executable, command, os.environ, file_actions=nowhere, setsid=True, setsigmask=())
        _begun.add(owner)
    return owner


def main(owner: Owner) -> None:
    """Wait until a process is gone, and remove what it left."""
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))  # what libraries leave open across an exec keeps its other end waiting
    while not owner.is_gone:
        time.sleep(LOOK_S)
    remove_folders_of(owner.pid, owner.start)
    try:
        _remove_what_it_left(owner)
    except (EngineError, ClusterError):
        return  # the next command says what is left


def _remove_what_it_left(owner: Owner) -> None:
    from tidemark.harness.machines.docker_engine import connect  # not before: mostly there is nothing to do
    from tidemark.harness.machines.leftovers import every, remove

    with closing(connect()) as client:
        looked = time.monotonic()
        while time.monotonic() < looked + QUIET_S:
            left = [found for found in every(client) if found.owner == owner]
            if left:
                remove(client, left)
                looked = time.monotonic()
            time.sleep(LOOK_S)


if __name__ == "__main__":
    main(Owner(*sys.argv[1:]))
