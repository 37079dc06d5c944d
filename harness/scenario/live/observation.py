"""How nodes stand, for a script: who runs and does not answer is an error, and nothing is a moment old."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from tidemark.harness.live.observation import PATIENCE_S, Observation
from tidemark.harness.machines.admin_channel import AdminReply
from tidemark.harness.machines.errors import NodeError
from tidemark.harness.machines.node_control import NodeControl
from tidemark.harness.runs.at_rest import PartitionView
from tidemark.harness.scenario.target import PARTITION, ScriptError
from tidemark.nodes.core.messages import CONTROLLER

T = TypeVar("T")


@contextmanager
def carried_out() -> Iterator[None]:
    """What a node refuses is a command that could not be carried out.

    Raises:
        ScriptError: in place of a ``NodeError``.
    """
    try:
        yield
    except NodeError as error:
        raise ScriptError(str(error)) from error


class ScriptObservation(Observation):
    """Every look may raise ``ScriptError``. ``ask`` says how a node stands, None if its process is gone, and raises ``NodeError``
    if it runs and does not answer; the rest is as in the base class.
    """

    def __init__(
        self,
        controls: Mapping[int, NodeControl],
        ask: Callable[[int], AdminReply | None],
        paused: Callable[[int], bool],
        assignment: Mapping[str, tuple[int, ...]],
        *,
        asks_controller: bool,
        controllers: Sequence[int] = (CONTROLLER,),
    ) -> None:
        super().__init__(controls, paused, assignment, asks_controller=asks_controller, controllers=controllers)
        self._ask = ask
        self._said: dict[int, AdminReply] = {}

    def status(self, node: int) -> AdminReply | None:
        """How a node stands; of one that is paused, how it stood before; `None` if its process is gone."""
        if self._excused(node):
            return self._said.get(node)
        with carried_out():
            found = self._ask(node)
        if found is not None:
            self._said[node] = found
        return found

    def statuses(self, nodes: Iterable[int], patience_s: float = PATIENCE_S) -> dict[int, AdminReply | None]:
        """What these nodes say of themselves, one after the other."""
        return {node: self.controller() if self._is_controller(node) else self.status(node) for node in nodes}

    def _is_controller(self, node: int) -> bool:
        return node == CONTROLLER and not self._puts_together and len(self._controllers) == 1

    def controller(self) -> AdminReply:
        """How the controller stands."""
        if len(self._controllers) > 1:
            return self.of_quorum()
        status = self.status(CONTROLLER)
        if status is None:
            raise ScriptError("the controller's process has ended")
        return status

    def partition(self, name: str = PARTITION) -> dict[str, Any]:
        """The controller's state of the partition; without one, what the brokers say put together."""
        partitions = (
            self._put_together(self.statuses(self._controls))
            if self._puts_together
            else self.controller()["partitions"]
        )
        return dict(_known(partitions)[name])

    def view(self) -> PartitionView:
        """The partition, as :mod:`tidemark.harness.runs.at_rest` looks at it."""
        return _known(self.views())[PARTITION]


def _known(partitions: dict[str, T]) -> dict[str, T]:
    if PARTITION not in partitions:
        raise ScriptError(f"the controller knows of no partition {PARTITION}")
    return partitions
