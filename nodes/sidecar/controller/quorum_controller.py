"""One of several controllers as its sidecar sees it: traces what is committed, whoever decided it. What an operator wants it does
only while it is the active one.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from tidemark.nodes.admin.trace_file import QUORUM_DECIDED, QUORUM_ORDERED, Entry
from tidemark.nodes.sidecar.config import SidecarConfig
from tidemark.nodes.sidecar.controller.cluster_controller import ClusterController
from tidemark.nodes.sidecar.controller.find_log import open_committed_log
from tidemark.nodes.sidecar.operations import Operations
from tidemark.nodes.sidecar.quorum_place import QuorumPlace


class QuorumController(ClusterController):
    """What each of several traces is put together by the harness, which takes every decision once: a record of the metadata log is
    the same on all, and the earliest that anybody saw it is nearest to when it was written.

    Args:
        config, write, fail: as for every :class:`ClusterController`.
        place: of this node in the quorum.
        show: is shown decisions as a sole controller would trace them, with offset and place in the metadata log behind.
    """

    ordered = QUORUM_ORDERED

    def __init__(
        self,
        config: SidecarConfig,
        write: Callable[[list[Entry]], None],
        fail: Callable[[str], None],
        place: QuorumPlace,
        show: Callable[[list[Entry]], None],
    ) -> None:
        """Nothing is read yet.

        Raises:
            OSError: the trace of an earlier sidecar cannot be read.
        """
        assert config.controls is not None  # noqa: S101 (this node votes)
        self._place = place
        self._show = show
        self._committed = open_committed_log(config, lambda: place.hw)
        operations = Operations(config.controls, config.node, {}, sole=False)
        super().__init__(config, write, fail, operations, self._committed)

    def status(self) -> dict[str, Any]:
        """As a sole controller's, below ``controller``; with how far it has read, and whether it is the active one: not before it
        knows what is committed.
        """
        found, place = super().status(), self._place
        offset = self._committed.next
        return {"controller": {**found, "offset": offset, "epoch": place.epoch, "leads": place.leads and offset > 0}}

    def _look(self) -> None:
        """Trace what is committed. A decision's time is that of the record, which its writer's clock tells to a whole millisecond;
        but a clock may have been moved: it is between the look that did not find it in the log and that which did.
        """
        try:
            found = self._committed.poll_committed()
        except OSError as e:
            self._fail(f"the metadata log cannot be read: {e}")
            return
        ahead = self._clocks.ahead_us()
        shown: list[Entry] = []
        for one in found:
            before_us, after_us = one.seen_us
            at_us = min(max(one.wall_us - ahead, before_us), after_us)
            kind, partition, *fields = one.event
            self._held.append((at_us, self._node, QUORUM_DECIDED, partition, one.offset, one.place, kind, fields))
            shown.append((at_us, self._node, *one.event, one.offset, one.place))
        self._write_held()
        if shown:
            self._show(shown)

    def _asked_us(self) -> int:
        """Now, as the records will tell it."""
        ahead = self._clocks.ahead_us()
        return (time.monotonic_ns() // 1000 + ahead) // 1000 * 1000 - ahead
