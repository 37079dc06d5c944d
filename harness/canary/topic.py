"""The canary's own topic: made in a cluster that exists, and deleted in the end."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Any, Final

from confluent_kafka import KafkaException
from confluent_kafka.admin import AclOperation, AdminClient, NewTopic  # type: ignore[attr-defined]  # it does not say __all__

from tidemark.harness.canary.canary_error import CanaryError
from tidemark.harness.canary.unreached import REASONS, Disconnections, bare, settings_refused
from tidemark.harness.clients.error_names import error_name

if TYPE_CHECKING:
    from collections.abc import Mapping
    from concurrent.futures import Future

    from confluent_kafka import KafkaError

PATIENCE_S: Final = 20.0
"""For each thing that is asked of the cluster."""
ASK_S: Final = 2.0
"""For one try to reach anybody."""
LOOK_S: Final = 0.2

_NEEDED: Final = {AclOperation.READ: "read", AclOperation.WRITE: "write"}
_FORBIDDEN: Final = frozenset({"TOPIC_AUTHORIZATION_FAILED", "CLUSTER_AUTHORIZATION_FAILED"})


class Topics:
    """Asks a cluster for topics. What it says while it cannot be reached is remembered for the sentence."""

    def __init__(self, bootstrap: str, security: Mapping[str, str]) -> None:
        """Connect to nothing yet.

        Raises:
            CanaryError: librdkafka refuses a setting.
        """
        self._bootstrap = bootstrap
        self._said: dict[str, str] = {}
        settings: dict[str, Any] = {
            "bootstrap.servers": bootstrap,
            "client.id": "tidemark-canary",
            "error_cb": self._note,
            **security,
        }
        overheard = logging.Logger("canary", logging.INFO)  # noqa: LOG001 - of this client alone
        overheard.addHandler(Disconnections(self._said))
        try:
            self._admin = AdminClient(settings, logger=overheard)
        except (KafkaException, ValueError) as error:
            said = error.args[0].str() if isinstance(error, KafkaException) else str(error)
            raise CanaryError(settings_refused(said)) from None

    def _note(self, error: KafkaError) -> None:
        self._said[error_name(error.code(), error.name())] = bare(error.str())

    def brokers(self) -> int:
        """How many there are.

        Raises:
            CanaryError: the cluster cannot be reached.
        """
        began = time.monotonic()
        while True:
            try:
                return len(self._admin.list_topics(timeout=min(ASK_S, PATIENCE_S)).brokers)
            except KafkaException:
                self._admin.poll(0)
                waited = time.monotonic() - began
                found = next((one for one in REASONS if one.found_in(self._said)), None)
                if found is not None and waited >= min(found.patience_s, PATIENCE_S):
                    raise CanaryError(f"{self._bootstrap} {found.told(self._said)}") from None
                if waited >= PATIENCE_S:
                    raise CanaryError(self._silent()) from None

    def _silent(self) -> str:
        why = self._said.get("_TRANSPORT", "")
        return (
            f"no broker of {self._bootstrap} answers within {PATIENCE_S:g} s{f' ({why})' if why else ''}: check host and port, "
            "and whether the listener wants TLS or SASL (--client-config)"
        )

    def create(self, name: str, partitions: int, replication_factor: int, settings: Mapping[str, str]) -> None:
        """Make the topic, and wait until each partition has a leader.

        Raises:
            CanaryError: it is there already, or refused, or this client may not write and read it.
        """
        asked = NewTopic(name, partitions, replication_factor, config=dict(settings))
        self._done(self._admin.create_topics([asked], operation_timeout=PATIENCE_S)[name], f"make topic {name}")
        try:
            self._wait_until_led(name, partitions)
            self._refuse_without_rights(name)
        except BaseException:
            self.delete(name)
            raise

    def _wait_until_led(self, name: str, partitions: int) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            try:
                found = self._admin.list_topics(name, timeout=PATIENCE_S).topics[name].partitions
            except KafkaException:
                found = {}
            if len(found) == partitions and all(one.leader >= 0 for one in found.values()):
                return
            time.sleep(LOOK_S)
        raise CanaryError(f"topic {name} has a partition without a leader after {PATIENCE_S:g} s: is a broker down?")

    def _refuse_without_rights(self, name: str) -> None:
        """Before anything is written; a broker that is too old to say lets all pass, and the operations will tell."""
        from confluent_kafka import TopicCollection

        try:
            asked = self._admin.describe_topics(
                TopicCollection([name]), include_authorized_operations=True, request_timeout=PATIENCE_S
            )
            allowed = asked[name].result().authorized_operations
        except KafkaException:
            return
        if lacking := [word for operation, word in _NEEDED.items() if allowed and operation not in allowed]:
            raise CanaryError(
                f"this client may make topic {name} and not {' or '.join(lacking)} it: grant it "
                f"{' and '.join(word.upper() for word in lacking)} on topics that begin with the name"
            )

    def delete(self, name: str) -> None:
        """Delete the topic.

        Raises:
            CanaryError: that is refused, or not answered.
        """
        self._done(self._admin.delete_topics([name], operation_timeout=PATIENCE_S)[name], f"delete topic {name}")

    def _done(self, future: Future[Any], what: str) -> None:
        try:
            future.result(timeout=3 * PATIENCE_S)
        except TimeoutError:
            raise CanaryError(f"cannot {what}: the cluster does not answer") from None
        except KafkaException as raised:
            error: KafkaError = raised.args[0]
            code = error_name(error.code(), error.name())
            if code in _FORBIDDEN:
                do = "grant this client CREATE, DELETE, READ and WRITE on the topic, or use another user (--client-config)"
            elif code == "TOPIC_ALREADY_EXISTS":
                do = "name another one with --topic"
            elif code == "INVALID_REPLICATION_FACTOR":
                do = "ask for fewer replicas with --replication-factor, or start more brokers"
            else:
                do = "ask whoever runs the cluster, or give other options"
            raise CanaryError(f"cannot {what}: {error.str().rstrip('.')} ({code}); {do}") from None
