"""What a server of a voting family says to the others and hears from them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from tidemark.nodes.families.raft.messages import PermittedVoteRequest
from tidemark.nodes.families.reconciliation.messages import Leading
from tidemark.nodes.families.voting.messages import VoteRequest, VoteResponse
from tidemark.nodes.formats.bad_batch import BadBatchError
from tidemark.nodes.formats.wire.names import MeaninglessError
from tidemark.nodes.formats.wire.own_entities import VERSION
from tidemark.nodes.formats.wire.voting import BEGIN_QUORUM_EPOCH, VOTE
from tidemark.nodes.process.wire import translate_voting as translate
from tidemark.nodes.process.wire.peer_sending import PeerSending, Versions, nothing

if TYPE_CHECKING:
    from tidemark.nodes.process.node_driver import NodeDriver
    from tidemark.nodes.process.wire.server import Connection, Handler, Request


class VotingPeers:
    """The inter-node side of one server."""

    def __init__(self, driver: NodeDriver) -> None:
        """Know the messages, and how each is sent."""
        self._driver = driver
        self._sending = PeerSending(driver)
        self.senders: dict[type, Callable[[int, Any], None]] = {
            VoteRequest: self._ask_for_vote,
            VoteResponse: self._vote,
            Leading: self._make_known,
            **dict.fromkeys(translate.KEYS, self._tell),
            PermittedVoteRequest: self._ask_for_permitted_vote,
        }

    # Heard

    def add_to(self, versions: Versions, handlers: dict[int, Handler]) -> None:
        """Add the APIs between servers."""
        own: dict[int, Handler] = {key: partial(self._on_message, key) for key in translate.KEYS.values()}
        for key, handler in {**own, VOTE: self._on_vote_request, BEGIN_QUORUM_EPOCH: self._on_leading}.items():
            versions[key] = (VERSION, VERSION)
            handlers[key] = handler

    def forget(self, connection: Connection) -> None:
        """Nothing waits for it: a vote is given in the step that it is asked for in."""

    def _on_message(self, key: int, request: Request) -> None:
        votes = key == translate.PERMITTED
        if self._takes(request, partial(translate.message, key), to_be_answered=votes) is not None and not votes:
            request.reply(translate.heard(key))

    def _on_leading(self, request: Request) -> None:
        message = self._takes(request, translate.leading_message)
        if message is not None:
            request.reply(translate.leading_response(message))

    def _on_vote_request(self, request: Request) -> None:
        self._takes(request, translate.vote_message, to_be_answered=True)

    def _takes(self, request: Request, read: Callable[[Any], Any], *, to_be_answered: bool = False) -> Any:  # noqa: ANN401
        """Give the core the message of a request; None if it is none of this cluster."""
        try:
            message = read(request.body)
            self._sending.check_peer(message.source, message.partition)
        except (MeaninglessError, BadBatchError) as e:
            request.connection.refuse(str(e))
            return None
        self._driver.deliver(message, request if to_be_answered else None)
        return message

    # Said

    def _tell(self, to: int, m: object) -> None:
        self._sending.send(to, m, translate.KEYS[type(m)], VERSION, translate.request(m), nothing)

    def _make_known(self, to: int, m: Leading) -> None:
        self._sending.send(to, m, BEGIN_QUORUM_EPOCH, VERSION, translate.leading_request(m), nothing)

    def _ask_for_vote(self, to: int, m: VoteRequest) -> None:
        read = partial(translate.vote_answer, voter=to)
        self._sending.send(to, m, VOTE, VERSION, translate.vote_request(m), read)

    def _ask_for_permitted_vote(self, to: int, m: PermittedVoteRequest) -> None:
        read = partial(translate.permitted_answer, voter=to, partition=m.partition)
        self._sending.send(to, m, translate.PERMITTED, VERSION, translate.request(m), read)

    def _vote(self, to: int, m: VoteResponse) -> None:
        request, self._driver.request = self._driver.request, None
        if request is None:
            raise TypeError(f"nobody asked for {m!r}")
        answer = translate.vote_response if request.api_key == VOTE else translate.permitted_vote
        self._driver.reply(request, to, m, answer(m))
