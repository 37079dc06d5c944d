"""A cluster as a few small integers, and what may happen to it next.

Nearly every move concerns one broker, or two, or the controller and one. So a state is the number of what belongs to no broker and
the number of each broker's own state, and what a move does to those it concerns is worked out once, by the core, and looked up from
then on: the same follower and the same leader come together in a great many clusters.
"""

from __future__ import annotations

from tidemark.harness.search.explore.bounds import Bounds
from tidemark.harness.search.explore.broker_steps import BrokerSteps
from tidemark.harness.search.explore.controller_steps import ControllerSteps, Decided
from tidemark.harness.search.explore.frozen import Common, Place, Word
from tidemark.harness.search.explore.moves import Kind, Move
from tidemark.harness.search.explore.numbered import Numbered
from tidemark.nodes.core.roles import Role
from tidemark.nodes.core.variant import Variant

State = tuple[int, ...]
"""The number of the :class:`~tidemark.harness.search.explore.frozen.Common`, then of each broker's place."""
Told = tuple[tuple[int, int], ...]
"""Who is told what: (index of the broker in a state, number of the word)."""

RECORD, CRASH, LAPSE = "records", "crashes", "lapses"
"""What there is so much of: fields of a :class:`~tidemark.harness.search.explore.frozen.Common`."""
FREE = ""
FOLLOWING = frozenset({Role.FETCHING, Role.TRUNCATING})


class World:
    """All clusters of a variant within bounds.

    Args:
        variant: the protocol. bounds: what may happen.
        watch_fetching: keep who has fetched in its epoch. watch_commits: keep what was committed.
    """

    def __init__(
        self, variant: Variant, bounds: Bounds, *, watch_fetching: bool = False, watch_commits: bool = False
    ) -> None:
        """See the class."""
        self.variant = variant
        self.bounds = bounds
        self.watch_commits = watch_commits
        self.brokers = BrokerSteps(variant, bounds, watch_fetching=watch_fetching)
        self.controllers = ControllerSteps(variant, bounds)
        self.commons: Numbered[Common] = Numbered()
        self.places: Numbered[Place] = Numbered()
        self.words: Numbered[Word] = Numbered()
        self._alone: dict[int, list[tuple[Move, int, str]]] = {}
        self._pairs: dict[tuple[int, int], list[tuple[Move, int, int]]] = {}
        self.asks: list[int] = []
        """Place → the broker it asks, 0: none."""
        self.proposes: list[bool] = []
        self._control: dict[int, list[tuple[Move, int, Told]]] = {}
        self._decisions: dict[tuple[int, int], list[tuple[Move, int, int, Told]]] = {}
        self._spent: dict[tuple[int, str], int] = {}
        self._told: dict[tuple[int, int], int] = {}
        self._returns: dict[tuple[int, int], tuple[Move, int, int, Told] | None] = {}
        self._commits: dict[tuple[int, int], int] = {}
        self.away: list[bool] = []
        """Common → whether some broker has no session."""

    def first(self) -> State:
        """All are there, know that broker 1 leads epoch 0, and have empty logs."""
        bounds = self.bounds
        state = self.controllers.first()
        common = Common(state, bounds.records, bounds.crashes, bounds.lapses)
        word = Word(state.leader, state.leader_epoch, state.isr)
        places = [self.brokers.hears(self.brokers.told(self.brokers.first(b), word), 0) for b in bounds.nodes()]
        return (self.numbered_common(common), *(self.numbered_place(place) for place in places))

    def successors(self, state: State) -> list[tuple[Move, State]]:
        """Every move that is possible and changes something, and what is then; always in the same order."""
        found: list[tuple[Move, State]] = []
        common = state[0]
        size = len(state)
        alone, pairs, leader = self._alone, self._pairs, self.asks
        for index in range(1, size):
            place = state[index]
            before, after = state[1:index], state[index + 1 :]
            moves = alone.get(place)
            if moves is None:
                moves = alone[place] = self.moves_alone(place)
            for move, then, price in moves:
                left = self.spend(common, price) if price else common
                if left >= 0:
                    found.append((move, (left, *before, then, *after)))
            asked = leader[place]
            if asked:
                key = (place, state[asked])
                together = pairs.get(key)
                if together is None:
                    together = pairs[key] = self.moves_together(place, state[asked])
                for move, then, theirs in together:
                    both = list(state)
                    both[index] = then
                    both[asked] = theirs
                    found.append((move, tuple(both)))
            elif self.proposes[place]:
                deciding = (common, place)
                decisions = self._decisions.get(deciding)
                if decisions is None:
                    decisions = self._decisions[deciding] = self.decide(common, place)
                for move, left, then, told in decisions:
                    found.append((move, self._tell((left, *before, then, *after), told)))
        if self.away[common]:
            self._add_returns(found, state)
        self._add_control(found, state)
        if self.watch_commits:
            return [(move, self._committed(then)) for move, then in found]
        return found

    def _add_returns(self, found: list[tuple[Move, State]], state: State) -> None:
        for index in range(1, len(state)):
            key = (state[0], state[index])
            if key not in self._returns:
                self._returns[key] = self.return_of(*key)
            back = self._returns[key]
            if back is not None:
                move, left, then, told = back
                found.append((move, self._tell((left, *state[1:index], then, *state[index + 1 :]), told)))

    def _add_control(self, found: list[tuple[Move, State]], state: State) -> None:
        common = state[0]
        control = self._control.get(common)
        if control is None:
            control = self._control[common] = self.moves_of_controller(common)
        for move, left, told in control:
            if move.kind is not Kind.LAPSE:
                found.append((move, self._tell((left, *state[1:]), told)))
                continue
            spent = self.spend(left, LAPSE) if self.places.values[state[move.broker]].up else left
            if spent >= 0:
                alone = self.cut_off(state[move.broker])
                found.append(
                    (move, self._tell((spent, *state[1 : move.broker], alone, *state[move.broker + 1 :]), told))
                )

    # What belongs to one broker

    def moves_alone(self, number: int) -> list[tuple[Move, int, str]]:
        """(move, place then, what it costs)."""
        place = self.places.values[number]
        found: list[tuple[Move, int, str]] = []
        if not place.up:
            return found
        steps, node = self.brokers, place.node
        last = len(place.unheard) if self.bounds.leadership == "lost" else min(len(place.unheard), 1)
        found += [
            (
                Move(Kind.HEAR, node, place.unheard[index].leader, index),
                self.numbered_place(steps.hears(place, index)),
                FREE,
            )
            for index in range(last)
        ]
        term = place.replica.term
        if term is not None:
            grown = steps.appends(place)
            if grown is not None:
                found.append((Move(Kind.APPEND, node), self.numbered_place(grown), RECORD))
            for member in term.isr:
                shrunk = steps.shrinks(place, member) if member != node else None
                if shrunk is not None:
                    found.append((Move(Kind.SHRINK, node, member), self.numbered_place(shrunk), FREE))
        if self.bounds.crashes:
            for hw in range(place.replica.hw, -1, -1):
                found.append((Move(Kind.CRASH, node, 0, hw), self.numbered_place(steps.crashes(place, hw)), CRASH))
        return found

    # A follower and its leader

    def moves_together(self, follower: int, leader: int) -> list[tuple[Move, int, int]]:
        """What a follower and its leader do: (move, place of the one then, of the other)."""
        mine, theirs = self.places.values[follower], self.places.values[leader]
        if not theirs.up:
            return []
        then, there = (self.numbered_place(place) for place in self.brokers.asks_leader(mine, theirs))
        if mine.replica.role is Role.TRUNCATING:
            return (
                [(Move(Kind.ASK, mine.node, theirs.node), then, there)] if (then, there) != (follower, leader) else []
            )
        found = []
        if (then, there) != (follower, leader):
            found.append((Move(Kind.FETCH, mine.node, theirs.node), then, there))
        if there != leader and then != follower:
            found.append((Move(Kind.FETCH_UNANSWERED, mine.node, theirs.node), follower, there))
        return found

    # The controller

    def moves_of_controller(self, number: int) -> list[tuple[Move, int, Told]]:
        """Elections, and sessions that end: (move, common then, who is told what)."""
        common = self.commons.values[number]
        state = common.controller
        steps = self.controllers
        found: list[tuple[Move, Decided, Common]] = []
        for broker in self.bounds.nodes():
            found.append((Move(Kind.ELECT, broker), steps.elects(state, broker), common))
            if self.bounds.unclean and broker not in (state.isr or state.elr):
                decided = steps.elects(state, broker, unclean=True)
                found.append((Move(Kind.ELECT_UNCLEAN, broker), decided, common))
        found += self._lapses(common)
        return [
            (move, self.numbered_common(left._replace(controller=decided.state)), self._words(decided))
            for move, decided, left in found
            if decided.state != state and decided.state.leader_epoch < self.bounds.epochs
        ]

    def _lapses(self, common: Common) -> list[tuple[Move, Decided, Common]]:
        """The session of a broker ends, with each possible leader after it; what it costs depends on whether its process runs."""
        found: list[tuple[Move, Decided, Common]] = []
        state = common.controller
        if not self.bounds.lapses and not self.bounds.crashes:
            return found
        for broker in state.live:
            choices = [b for b in state.live if b != broker] if state.leader == broker else []
            seen = set()
            for preferred in choices or [0]:
                decided = self.controllers.misses(state, broker, preferred)
                if decided not in seen:
                    seen.add(decided)
                    found.append((Move(Kind.LAPSE, broker, decided.state.leader), decided, common))
        return found

    def decide(self, number: int, leader: int) -> list[tuple[Move, int, int, Told]]:
        """The controller takes a leader's proposal, or does not."""
        common, place = self.commons.values[number], self.places.values[leader]
        proposal = self.brokers.proposal(place)
        if proposal is None:
            return []
        state = common.controller
        current = place.replica.leader_epoch == state.leader_epoch and not place.unheard
        decided = self.controllers.takes(state, proposal, current=current)
        if decided.answer is None or decided.state.leader_epoch >= self.bounds.epochs:
            return []
        left = self.numbered_common(common._replace(controller=decided.state))
        then = self.numbered_place(self.brokers.hears_answer(place, decided.answer))
        found = []
        if (left, then) != (number, leader):
            found.append((Move(Kind.DECIDE, place.node), left, then, self._words(decided)))
        if self.bounds.late_answers and left != number and decided.answer.error is None:
            word = Word(place.node, decided.state.leader_epoch, decided.state.isr)
            later = self.numbered_place(self.brokers.told(place, word))
            found.append((Move(Kind.DECIDE_UNHEARD, place.node), left, later, self._words(decided)))
        return found

    def return_of(self, number: int, index: int) -> tuple[Move, int, int, Told] | None:
        """A broker without a session gets one, with the process it has or with a new one."""
        common, place = self.commons.values[number], self.places.values[index]
        state = common.controller
        if place.node in state.live:
            return None
        if not place.up:
            decided = self.controllers.registers(state, place.node)
            then, kind = self.numbered_place(self.brokers.starts(place)), Kind.START
        elif place.unheard and self.variant.metadata_log:
            return None
        else:
            decided = self.controllers.hears_again(state, place.node)
            then, kind = index, Kind.RETURN
        if decided.state.leader_epoch >= self.bounds.epochs:
            return None
        return (
            Move(kind, place.node),
            self.numbered_common(common._replace(controller=decided.state)),
            then,
            self._words(decided),
        )

    def cut_off(self, number: int) -> int:
        """With ZooKeeper what waited for a broker goes with its session."""
        place = self.places.values[number]
        if self.variant.metadata_log or not place.unheard:
            return number
        return self.numbered_place(place._replace(unheard=()))

    # Who hears of it

    def _words(self, decided: Decided) -> Told:
        return tuple((broker, self.words.number(word)) for broker, word in decided.words)

    def _tell(self, state: State, told: Told) -> State:
        places = list(state)
        for index, word in told:
            places[index] = self.told(places[index], word)
        return tuple(places)

    def told(self, number: int, word: int) -> int:
        """The place that a broker is in when the controller has said something to it."""
        key = (number, word)
        then = self._told.get(key)
        if then is None:
            place = self.brokers.told(self.places.values[number], self.words.values[word])
            while place.unheard and self.bounds.leadership == "at-once":
                place = self.brokers.hears(place, 0)
            then = self._told[key] = self.numbered_place(place)
        return then

    # Bookkeeping

    def worked_out(self) -> int:
        """How often the core was asked."""
        tables = (self._alone, self._pairs, self._control, self._decisions, self._returns, self._told)
        return sum(len(table) for table in tables)

    def spend(self, number: int, price: str) -> int:
        """What is left after one of them; −1 if there was none left."""
        key = (number, price)
        left = self._spent.get(key)
        if left is None:
            common = self.commons.values[number]
            had = getattr(common, price)
            left = self.numbered_common(common._replace(**{price: had - 1})) if had else -1
            self._spent[key] = left
        return left

    def _committed(self, state: State) -> State:
        common = state[0]
        for place in state[1:]:
            key = (common, place)
            then = self._commits.get(key)
            if then is None:
                then = self._commits[key] = self.commit(*key)
            common = then
        return (common, *state[1:])

    def commit(self, number: int, index: int) -> int:
        """The common that knows what a place has committed."""
        common, replica = self.commons.values[number], self.places.values[index].replica
        if replica.term is None or replica.hw <= len(common.committed):
            return number
        return self.numbered_common(common._replace(committed=replica.log[: replica.hw]))

    def numbered_common(self, common: Common) -> int:
        """Its number, here."""
        number = self.commons.number(common)
        if number == len(self.away):
            self.away.append(len(common.controller.live) < self.bounds.brokers)
        return number

    def numbered_place(self, place: Place) -> int:
        """Its number, here."""
        number = self.places.number(place)
        if number == len(self.asks):
            replica = place.replica
            self.asks.append(replica.leader if replica.role in FOLLOWING else 0)
            self.proposes.append(replica.term is not None and replica.term.pending is not None)
        return number
