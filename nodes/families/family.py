"""What a family of protocols tells the worlds that run it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from tidemark.nodes.core.messages import KINDS
from tidemark.nodes.core.switches import all_words, parse

if TYPE_CHECKING:
    from tidemark.nodes.core.actions import Action
    from tidemark.nodes.core.controller import Controller
    from tidemark.nodes.core.recovery import Recovered, RecoveryRules
    from tidemark.nodes.core.settings import Settings


class AnyVariant(Protocol):
    """One point in the space of a family's protocols, named so that it can be typed."""

    @property
    def name(self) -> str:
        """As it is typed."""

    @property
    def contract(self) -> str:
        """The promise it makes (docs/anomalies.md)."""

    @property
    def judged_by(self) -> str:
        """What judges losses, in words."""

    @property
    def has_epoch_cache(self) -> bool:
        """Whether replicas keep a leader epoch cache."""

    @property
    def recovery(self) -> RecoveryRules:
        """How a replica recovers its log."""


class Machine(Protocol):
    """The state machine of one process: a Kafka broker, a voting server.

    Attributes:
        replicas: partition → its replica, with ``log``, ``hw``, ``leader_epoch``, ``leading``, ``following`` and ``cache``.
        out: where the actions of a step go, in order.
    """

    replicas: Any
    out: list[Action]

    def step(self, now_us: int, event: Any) -> list[Action]:  # noqa: ANN401 (a message or one of tidemark.nodes.core.events)
        """Take one event; what to do about it, in order."""


MakeMachine = Callable[[int, int, Any, "Settings", "Recovered", Mapping[str, tuple[int, ...]]], Machine]
"""Node id, incarnation, variant, settings, what the disk gave back, partition → replicas: a process that starts."""


_COMMON = {kind: name for name, kind in KINDS.items()}


@dataclass(frozen=True, slots=True)
class Family:
    """A family of protocols.

    Attributes:
        name: in the meta line of histories.
        title: for people.
        presets: name → variant.
        bundles: modifier → all that it sets at once. known: what a refusal says of the modifiers there are.
        machine: makes a process.
        controller: makes the controller; None: there is none.
        store: makes a metadata store, which is node 0 where there is no controller; None: there is none.
        counterparts: kind of fault, or what kinds need → what they do here instead, as a sentence.
        not_suffered: kind of fault, or what kinds need → why there is no such thing here.
        unheard: trace event that a fault may wait for, and that never happens here → what it waits for instead, "" if nothing.
        hears: whether trace events can be waited for; where not, a fault that waits for one strikes at its time.
        tells_leadership: whether a message is one of those that tell who leads, where that is not a controller's word.
        kinds: message → what kind a script calls it (as ``tidemark.nodes.core.messages.KINDS``), where it tells no leadership.
        messages: between its servers; those with an ``api_key`` have it, a key that no version of Kafka uses, on real networks.
        reads_anywhere: whether consumers may read from any server.
        marks: what its runs can come to of what runs exercise (``tidemark.checkers.marks``); None: all with an ISR.
        changes_members: whether a reassignment changes the members of a group that has no controller.
        differs: a variant → what of all this is otherwise for it, by attribute; None: nothing ever is.
    """

    name: str
    title: str
    presets: Mapping[str, Any]
    machine: MakeMachine
    bundles: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    known: Callable[[str, Sequence[str]], str] = all_words
    controller: Callable[..., Controller] | None = None
    store: Callable[..., Any] | None = None
    counterparts: Mapping[str, str] = field(default_factory=dict)
    not_suffered: Mapping[str, str] = field(default_factory=dict)
    unheard: Mapping[str, str] = field(default_factory=dict)
    hears: bool = True
    tells_leadership: Callable[[object], bool] | None = None
    kinds: Mapping[type, str] = field(default_factory=dict)
    messages: Collection[type] = ()
    reads_anywhere: bool = False
    marks: frozenset[str] | None = None
    changes_members: bool = False
    differs: Callable[[Any], Mapping[str, Any]] | None = None

    @property
    def kind(self) -> type:
        """The class of its variants."""
        return type(next(iter(self.presets.values())))

    def parse(self, text: str) -> AnyVariant:
        """Read a preset with its modifiers.

        Raises:
            VariantError: with one sentence that lists what is possible.
        """
        variant: AnyVariant = parse(text, self.presets, self.bundles, self.known)
        return variant

    def of(self, variant: AnyVariant) -> Family:
        """The family as one of its variants has it."""
        other = self.differs(variant) if self.differs is not None else {}
        return replace(self, **other) if other else self

    def kinds_of(self, message: object) -> tuple[str, ...]:
        """What kinds of message this is, for scripts and transports that stop a kind; none where nobody could tell."""
        if self.tells_leadership is not None and self.tells_leadership(message):
            return ("leadership",)
        kind = self.kinds.get(type(message)) or _COMMON.get(type(message))
        return () if kind is None else (kind,)

    @property
    def votes(self) -> bool:
        """Whether servers elect their leaders themselves."""
        return self.controller is None and self.store is None

    @property
    def has_node_0(self) -> bool:
        """Whether something runs on node 0: a controller, or a metadata store."""
        return not self.votes

    @property
    def has_isr(self) -> bool:
        """Whether a controller keeps an ISR; without, a majority decides."""
        return self.controller is not None
