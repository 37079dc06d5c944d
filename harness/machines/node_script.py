"""The shell scripts that act on a node process. Plain POSIX sh, and few forks: a fault should strike when it is due."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tidemark.harness.machines.node_places import Places

_LOOKS = 3_000
"""So often, 5 ms apart, is looked whether a signal has had its effect: on a busy machine a killed process takes its time."""


class NodeScripts:
    """Scripts for one node. The process is named by its number and its start time, so that no other is ever hit.

    Attributes:
        module: what Python runs. damages: what it runs to damage files. preload: the environment variable that loads libfaketime.
        start_looks, start_pause_s: so often, and so far apart, is looked whether a process that was started listens.
    """

    module = "tidemark.nodes.process"
    damages = "tidemark.nodes.admin.damage"
    preload = "LD_PRELOAD"
    start_looks = 1200
    start_pause_s = 0.025

    def __init__(self, places: Places) -> None:
        self._places = places
        self._prelude = f"""{self._look()}
until_state() {{
  n=0
  while look; [ "$state" != gone ] && [ "$state" != "$1" ] && [ "$n" -lt {_LOOKS} ]; do
    n=$((n + 1))
    sleep 0.005
  done
}}
"""

    def _look(self) -> str:
        """Defines ``look``, which sets ``pid`` and ``state``."""
        return f"""
look() {{
  pid= state=gone
  {{ read -r pid since <{quote(self._places.pid)}; }} 2>/dev/null || return 0
  {{ read -r line </proc/$pid/stat; }} 2>/dev/null || return 0
  set -- ${{line##*) }}
  [ "${{20}}" = "$since" ] || return 0
  case $1 in Z|X) ;; T|t) state=stopped ;; *) state=running ;; esac
}}"""

    @property
    def pid_file(self) -> str:
        """Where the number of the process that is started here is written to."""
        return self._places.pid

    def state(self) -> str:
        """Prints ``running``, ``stopped`` (by a signal) or ``gone``."""
        return f'{self._prelude}look; echo "$state"'

    def signal(self, name: str, until: str = "") -> str:
        """Sends a signal to a process that is there; prints its state before, and when it is ``until`` (or gone)."""
        wait = f"until_state {until}" if until else ":"
        return f"""{self._prelude}
look; echo "$state"
[ "$state" = gone ] || {{ kill -{name} "$pid" && {wait}; }}
echo "$state"
"""

    def start(self, port: int, *, fake_clock: bool) -> str:
        """Starts the process with the configuration that stands on standard input, and waits until it listens at a port.

        Prints the trace's size before the start, and ``listening``, ``gone`` or ``silent``.
        """
        places = self._places
        needed = " ".join(
            quote(path.rpartition("/")[0]) for path in (places.config, places.trace, places.log, places.pid)
        )
        environment = "PYTHONUNBUFFERED=1"
        clock = ":"
        if fake_clock:
            environment += (
                f" {self.preload}={quote(places.faketime_library)} FAKETIME_TIMESTAMP_FILE={quote(places.faketime)}"
                " FAKETIME_CACHE_DURATION=1 FAKETIME_DONT_FAKE_MONOTONIC=1"
                # Else every timed wait of a JVM is over at once, and each of its threads spins.
                " FAKETIME_FORCE_MONOTONIC_FIX=0"
            )
            library, offset = quote(places.faketime_library), quote(places.faketime)
            clock = f"[ -e {library} ] && {{ [ -e {offset} ] || echo +0 >{offset}; }}"
        config = quote(places.config)
        return f"""{self._prelude}
look
[ "$state" = gone ] || {{ echo "a node process is running already" >&2; exit 3; }}
mkdir -p {needed} {quote(places.data)} {quote(places.volatile)} || exit
{clock} || {{ echo "libfaketime is not installed, and this run wants clock faults" >&2; exit 4; }}
cat >{config}.new && mv -f {config}.new {config} || exit
cd / || exit
stat -c %s {quote(places.trace)} 2>/dev/null || echo 0
{environment} setsid python3 -m {self.module} --config {config} </dev/null >>{quote(places.log)} 2>&1 &
pid=$!
{{ read -r line </proc/$pid/stat; }} 2>/dev/null || {{ echo gone; exit 0; }}
set -- ${{line##*) }}
echo "$pid ${{20}}" >{quote(self.pid_file)}
n=0
until grep -q ':{port:04X} 00000000:0000 0A' /proc/net/tcp; do
  look
  [ "$state" = gone ] && {{ echo gone; exit 0; }}
  n=$((n + 1))
  [ "$n" -lt {self.start_looks} ] || {{ echo silent; exit 0; }}
  sleep {self.start_pause_s}
done
echo listening
"""

    def lose_power(self, how: str) -> str:
        """What a power loss does to the files of a process that is gone."""
        directories = f"--data {quote(self._places.data)} --volatile {quote(self._places.volatile)}"
        return f"python3 -m tidemark.nodes.process.storage.power_loss {directories} {how}"

    def damage(self, what: str) -> str:
        """Damages the files of a process that is gone; prints what was done to each."""
        return f"python3 -m {self.damages} {self._places_of_files()} {what}"

    def _places_of_files(self) -> str:
        return f"--data {quote(self._places.volatile)} --data {quote(self._places.data)}"

    def wipe(self, partitions: tuple[str, ...]) -> str:
        """Empties both directories; of these partitions an empty directory is left in each."""
        places = self._places
        script = "set -e\n"
        for directory in (places.data, places.volatile):
            script += f"mkdir -p {quote(directory)}\nfind {quote(directory)} -mindepth 1 -delete\n"
        for name in partitions:
            script += f"mkdir -p {quote(f'{places.data}/{name}')}\n"
        return script

    def clean(self) -> str:
        """Removes whatever a run left: files, configuration, clock offset."""
        places = self._places
        files = " ".join(map(quote, (places.config, places.trace, places.log, places.pid)))
        reset_clock = f"[ ! -e {quote(places.faketime)} ] || echo +0 >{quote(places.faketime)}"
        return f"{self.wipe(())}rm -f {files}\n{reset_clock}\n"

    def tail(self, path: str, lines: int, after: int = 0) -> str:
        """The last lines of a file, looked for after so many bytes; nothing if it is not there."""
        return f"tail -c +{after + 1} {quote(path)} 2>/dev/null | tail -n {lines}"
