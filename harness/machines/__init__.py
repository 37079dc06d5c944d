"""Machines, and what is done to one: containers or hosts, reached by SSH.

``engine`` finds or starts Docker, ``images`` builds what the nodes run from, ``cluster`` makes machines of containers and
``hosts_file`` of a list of hosts; both give :class:`tidemark.harness.machines.machine.Machine`, and nothing above can tell which.
``survivor`` removes what a run that was killed left behind; ``leftovers`` finds what it could not.
"""
