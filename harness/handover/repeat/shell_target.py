"""A script's commands as lines of shell, which call what ``cluster.sh`` defines; what Kafka's tools cannot do is said instead.

It takes the place of a `ScriptTarget`: each command is performed on it, and writes down what it would do. Containers cut off whole
machines from each other, so messages of one kind can be stopped only where it comes to the same; that is noted.
"""

from __future__ import annotations

from shlex import join
from typing import TYPE_CHECKING, Final

from tidemark.harness.scenario.conditions import CONDITIONS
from tidemark.harness.scenario.records import expand_list
from tidemark.harness.scenario.words import BrokerNames
from tidemark.nodes.core.messages import CONTROLLER

if TYPE_CHECKING:
    import re
    from collections.abc import Callable

    from tidemark.harness.scenario.links import Link
    from tidemark.harness.scenario.model import Command, Scenario

TO_CONTROLLER: Final = "all between these two is cut, heartbeats and metadata: the broker's session ends if it lasts"
BETWEEN: Final = "all between these two is cut, either way"
AS_CUT: Final = {
    "fetch requests": BETWEEN,
    "fetch responses": f"{BETWEEN}; requests for records do not pass",
    "epoch requests": BETWEEN,
    "leadership": TO_CONTROLLER,
    "heartbeats": TO_CONTROLLER,
    "registrations": TO_CONTROLLER,
    "ISR changes": TO_CONTROLLER,
}
"""Kinds that are stopped with all else between two nodes, and what has to be said of it."""
DEAF: Final = (
    "the broker is cut off from the controller until it has given up asking for its log; then all else passes again"
)
SECOND_US: Final = 1_000_000
RESTS: Final = "a copy that is throttled rests for a minute after a batch, and not for eleven seconds"


class CannotError(Exception):
    """Kafka's tools have no means for it; the message says what that is."""


class ShellTarget:
    """Gathers the lines of one script.

    Args:
        scenario: the script.

    Attributes:
        lines: so far. cannot, nearly: (command, why) of those that cannot be done, or not exactly so.
        deaf: brokers that at some time hear nothing of the controller's log, though they reach the controller.
    """

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        self._cast = BrokerNames(scenario.brokers)
        self._acks = scenario.cluster.acks
        self._nearly = ""
        self._down: set[int] = set()
        self.deaf: set[int] = set()
        self.lines: list[str] = []
        self.cannot: list[tuple[str, str]] = []
        self.nearly: list[tuple[str, str]] = []

    def carry_out(self, command: Command) -> None:
        """Write down a command."""
        text = command.text
        if text.startswith("expect "):
            self.lines.append(f"say {_quoted('the script expects: ' + text.removeprefix('expect '))}")
            return
        self._nearly = ""
        before = len(self.lines)
        try:
            command.perform(self)
        except CannotError as error:
            del self.lines[before:]
            self._call("cannot", f"{text}: {error}")
            self.cannot.append((text, str(error)))
            return
        if self._nearly:
            self.lines.insert(before, f"# {text}: {self._nearly}")
            self.nearly.append((text, self._nearly))

    def _call(self, *words: object) -> None:
        self.lines.append(join(map(str, words)))

    def _leader_or(self, broker: int | None) -> str:
        """Words of shell."""
        return '"$(leader)"' if broker is None else str(broker)

    # Clients

    def send(self, names: tuple[str, ...], broker: int | None, acks: str | None) -> None:
        """A batch that nobody waits for."""
        self.lines.append(f"sends {self._leader_or(broker)} {acks or self._acks} {join(names)}")

    def write(self, names: tuple[str, ...], broker: int | None, acks: str | None) -> None:
        """One that is waited for."""
        self.lines.append(f"writes {self._leader_or(broker)} {acks or self._acks} {join(names)}")

    def read(self, broker: int | None) -> None:
        """A consumer."""
        self.lines.append(f"reads {self._leader_or(broker)}")

    def delete_records(self, offset: int, broker: int | None) -> None:
        """A client deletes."""
        self.lines.append(f"deletes {self._leader_or(broker)} {offset}")

    # Time

    def run(self, duration_us: int) -> None:
        """Time passes."""
        if duration_us < SECOND_US:
            self._nearly = "Kafka's tools, before and after, take longer than that"
        self._call("sleep", f"{duration_us / 1e6:g}")

    def wait(self, what: str, _condition: Callable[[], bool], _within_us: int = 0) -> None:
        """A condition, in the words of the script."""
        name, match = next((name, found) for name, (one, _) in CONDITIONS.items() if (found := one.fullmatch(what)))
        self._call("waits", what, *self._seen(name, match))

    def _seen(self, name: str, match: re.Match[str]) -> tuple[object, ...]:
        if name == "offset":
            if match[2] == "HW" and not match[4]:
                self._nearly = "seen in the checkpoint, some seconds late"
            fields = {"LEO": "leo", "HW": "hw", "log start": "log_start_on_disk" if match[4] else "log_start"}
            return "have", fields[match[2]], match[3], *self._cast.brokers(match[1])
        if name == "leads":
            return "leads", self._cast.broker(match[1]), match[2] or 0
        if name == "follows":
            return "follows", self._cast.broker(match[2]), match[3] or 0, *self._cast.brokers(match[1])
        if name in ("isr", "replicas"):
            brokers = ",".join(map(str, sorted(self._cast.brokers(match[1]))))
            return "isr_is" if name == "isr" else "replicas_are", brokers
        if name == "leader":
            return "leader_is", -1 if match[1] == "none" else self._cast.broker(match[1])
        if name == "acked":
            return "acked", *expand_list(match[1])
        if name == "fenced":
            return "is_fenced", self._cast.broker(match[1])
        self._nearly = "all replicas are in sync"
        return ("at_rest",)

    # Processes and links

    def end_process(self, broker: int, how: str, keep: int = 0) -> None:
        """Crash, clean stop, lost disk; lost power, as far as the log goes."""
        self._down.add(broker)
        if how == "power":
            self._nearly = "SIGKILL, and what had not reached the disk is cut off the log's first segment"
            self._call("loses_power", broker, keep)
            return
        self._call({"crash": "crashes", "clean": "stops", "disk": "wipes"}[how], broker)

    def start(self, broker: int) -> None:
        """A process."""
        self._down.discard(broker)
        self._call("starts", broker)

    def pause(self, broker: int) -> None:
        """SIGSTOP."""
        self._call("pauses", broker)

    def resume(self, broker: int) -> None:
        """SIGCONT."""
        self._call("resumes", broker)

    def block(self, links: tuple[Link, ...]) -> None:
        """Packets are lost. Who tells the controller of a log directory has to reach it, and so is deaf to its log only."""
        if self._scenario.moves_logs and all(link.kind == "leadership" for link in links):
            self.hold(links)
            return
        for tag, one, other in self._pairs(links):
            self._call("cuts", tag, one, other)

    def unblock(self, links: tuple[Link, ...]) -> None:
        """They pass again."""
        if self.deaf and all(link.kind == "leadership" for link in links):
            self.release(links)
            return
        for tag, one, other in self._pairs(links):
            self._call("joins", tag, one, other)

    def _pairs(self, links: tuple[Link, ...]) -> list[tuple[str, int, int]]:
        """What is cut, as (tag, node, node); each pair once."""
        pairs: dict[tuple[str, int, int], None] = {}
        for link in links:
            if link.kind is not None:
                if link.kind not in AS_CUT:
                    raise CannotError(f"{link.kind} cannot be told from all other messages")
                self._nearly = AS_CUT[link.kind]
            with_controller = link.kind is not None and AS_CUT[link.kind] == TO_CONTROLLER
            sources, targets = self._ends(link.source, with_controller), self._ends(link.to, with_controller)
            tag = (link.kind or "all").replace(" ", "-")
            for one in sources:
                for other in targets:
                    if one != other and (not with_controller or CONTROLLER in (one, other)):
                        pairs[tag, min(one, other), max(one, other)] = None
        return list(pairs)

    def _ends(self, node: int | None, with_controller: bool) -> tuple[int, ...]:
        if node is not None:
            return (node,)
        brokers = tuple(self._scenario.cluster.broker_ids())
        return (CONTROLLER, *brokers) if with_controller else brokers

    def hold(self, links: tuple[Link, ...]) -> None:
        """Messages that come late: the controller's log to a broker, until that is started again, and no others."""
        for link in links:
            if link.kind != "leadership" or not link.to:
                raise CannotError("messages cannot be held back and let go later")
            self._nearly = DEAF
            self.deaf.add(link.to)
            self._call("deafens", link.to)

    def release(self, links: tuple[Link, ...]) -> None:
        """A broker that is started hears all of it."""
        if any(link.to not in self._down for link in links):
            raise CannotError(
                "a broker that has given up asking for the controller's log asks again when it is started"
            )

    # The controller

    def elect(self, how: str, broker: int) -> None:
        """An operator's election."""
        if how == "unclean":
            self._nearly = "Kafka chooses which replica"
            self._call("elects_as", how)
        else:
            self.lines.append(f"elects {broker if how == 'forced' else '${ASSIGNED%%,*}'}")

    def reassign(self, replicas: tuple[int, ...]) -> None:
        """An operator's order; with no replicas, to cancel the one before."""
        if replicas:
            self._call("reassigns", ",".join(map(str, replicas)))
        else:
            self._call("cancels")

    def set_min_isr(self, min_isr: int) -> None:
        """An operator's change of a topic's setting."""
        self._call("sets_min_isr", min_isr)

    def allow_unclean(self, *, on: bool) -> None:
        """An operator's change of a topic's setting."""
        self._call("sets_unclean", str(on).lower())

    def switch_elr(self, *, on: bool) -> None:
        """An operator's change of a feature."""
        self._call("switches_elr", *(("upgrade", 1) if on else ("downgrade", 0)))

    def move_log(self, broker: int) -> None:
        """From one log directory of a broker to another."""
        self._call("moves", broker)

    def throttle_moves(self, broker: int, rate: int) -> None:
        """A broker's setting."""
        self._nearly = RESTS
        self._call("throttles", broker, rate)

    def crash_controller(self) -> None:
        """Of several, one."""
        raise CannotError("there is one controller, and none that could take over")

    start_controller = crash_controller

    def retain(self, _broker: int, _batches: int) -> None:
        """Retention of one broker."""
        raise CannotError("retention acts on all brokers by their own clocks")


def _quoted(words: str) -> str:
    return join([words])
