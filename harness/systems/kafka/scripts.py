"""The shell scripts that act on a broker's process and its sidecar."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING

from tidemark.harness.machines.node_script import NodeScripts
from tidemark.harness.systems.kafka.places import KafkaPlaces

if TYPE_CHECKING:
    from tidemark.harness.machines.node_places import Places

POWER_LOSS = "tidemark.nodes.sidecar.power_loss"


class KafkaScripts(NodeScripts):
    """Signals go to the JVM; the node is gone when its sidecar is, which ends a moment after the JVM, with the trace whole."""

    module = "tidemark.nodes.sidecar"
    preload = "TIDEMARK_JVM_LD_PRELOAD"
    start_looks = 900
    start_pause_s = 0.2

    def __init__(self, places: Places) -> None:
        self._sidecar = places.sidecar if isinstance(places, KafkaPlaces) else f"{places.pid}.sidecar"
        super().__init__(places)

    @property
    def pid_file(self) -> str:
        """The sidecar's: the JVM's is the sidecar's to write."""
        return self._sidecar

    def _look(self) -> str:
        return f"""
process_in() {{
  pid= state=gone
  {{ read -r pid since <"$1"; }} 2>/dev/null || return 0
  {{ read -r line </proc/$pid/stat; }} 2>/dev/null || return 0
  set -- ${{line##*) }}
  [ "${{20}}" = "$since" ] || return 0
  case $1 in Z|X) ;; T|t) state=stopped ;; *) state=running ;; esac
}}
look() {{
  process_in {quote(self._sidecar)}
  [ "$state" = gone ] && return 0
  sidecar=$pid
  process_in {quote(self._places.pid)}
  if [ "$state" = gone ]; then pid=$sidecar state=running; fi
  return 0
}}"""

    def signal(self, name: str, until: str = "") -> str:
        """Sends a signal to the JVM; to the sidecar only if it is to be killed before it has started one."""
        wait = f"until_state {until}" if until else ":"
        spare = "" if name == "KILL" else '[ "$pid" = "$sidecar" ] || '
        return f"""{self._prelude}
look; echo "$state"
[ "$state" = gone ] || {{ {{ {spare}kill -{name} "$pid"; }} && {wait}; }}
echo "$state"
"""

    def lose_power(self, how: str) -> str:
        """Cuts off what the broker had not provably flushed."""
        return f"python3 -m {POWER_LOSS} --data {quote(self._places.data)} {how}"

    def _places_of_files(self) -> str:
        return f"--data {quote(self._places.data)}"

    def wipe(self, partitions: tuple[str, ...]) -> str:
        """Empties the disk."""
        data = quote(self._places.data)
        return f"set -e\nmkdir -p {data}\nfind {data} -mindepth 1 -delete\n"

    def clean(self) -> str:
        """Removes whatever a run left."""
        more = " ".join(map(quote, self._places.more))
        before = quote(f"{self._places.trace}.before")
        return f"{super().clean()}rm -f {quote(self._sidecar)} {before}\n" + (f"rm -rf {more}\n" if more else "")
