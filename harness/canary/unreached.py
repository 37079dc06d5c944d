"""Why a cluster cannot be asked: what librdkafka says of that, as a sentence that tells what to do."""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

CLOSED_S: Final = 6.0
"""So long for a broker that takes connections and closes them at once: the port may be open before the broker is."""
_AROUND: Final = re.compile(r"^\S+: | \(after \d+ms in state .*|error:[0-9A-F]+:")
"""What librdkafka puts around the reason: the broker's address, how long it took, OpenSSL's number."""
_CLOSED: Final = re.compile(r"(?:closed|reset) by peer.* in state (APIVERSION_QUERY|UP)\b")

_IN_THE_FILE: Final = "in the file of --client-config"


class Reason(NamedTuple):
    """Why a cluster that can be reached is of no use, and what to do.

    Attributes:
        name: of librdkafka's error, or of the state in which the broker closed the connection.
        words: part of what is said then, if the name is not enough.
        sentence: what `told` fills in. patience_s: how long it may still turn out otherwise.
    """

    name: str
    words: str
    sentence: str
    patience_s: float = 0

    def found_in(self, said: Mapping[str, str]) -> bool:
        """Whether it is this; said is what librdkafka said last, by name."""
        return self.name in said and self.words in said[self.name]

    def told(self, said: Mapping[str, str]) -> str:
        """Goes behind the address."""
        return self.sentence.format(said=said[self.name])


REASONS: Final = (
    Reason(
        "_AUTHENTICATION",
        "not valid in current SASL state",
        f"takes no SASL: set security.protocol to PLAINTEXT or SSL {_IN_THE_FILE}, or name another port",
    ),
    Reason(
        "_AUTHENTICATION",
        "",
        f"refuses to authenticate this client ({{said}}): check user, password and mechanism {_IN_THE_FILE}",
    ),
    Reason(
        "_SSL",
        "certificate verify failed",
        "shows a certificate that no known CA has signed, or that is for another host name: set ssl.truststore.location to the "
        f"CA's certificate (PEM) {_IN_THE_FILE}, and name brokers in --bootstrap as their certificates do",
    ),
    Reason(
        "_TRANSPORT",
        "certificate required",
        f"wants a certificate of this client: set ssl.keystore.location to a PEM file with key and certificate {_IN_THE_FILE}",
    ),
    Reason(
        "_SSL",
        "",
        f"cannot be spoken to with TLS ({{said}}): check security.protocol and the certificates {_IN_THE_FILE}",
    ),
    Reason(
        "_TRANSPORT",
        "PLAINTEXT broker listener",
        f"speaks no TLS: set security.protocol to PLAINTEXT or SASL_PLAINTEXT {_IN_THE_FILE}, or name another port",
    ),
    Reason("_RESOLVE", "", "has a name that nobody knows ({said}): check --bootstrap", CLOSED_S),
    Reason(
        "UP",
        "",
        "closes the connection when it is asked for topics: it probably wants SASL; set security.protocol to SASL_SSL or "
        f"SASL_PLAINTEXT, and sasl.mechanism and sasl.jaas.config, {_IN_THE_FILE}",
        CLOSED_S,
    ),
    Reason(
        "APIVERSION_QUERY",
        "Disconnected: connection",
        f"closes the connection at once: it probably wants TLS; set security.protocol to SSL or SASL_SSL {_IN_THE_FILE}",
        CLOSED_S,
    ),
)


def bare(said: str) -> str:
    """The reason alone."""
    return _AROUND.sub("", said)


class Disconnections(logging.Handler):
    """Notes the state in which a broker closed a connection: librdkafka tells of that in its log alone."""

    def __init__(self, said: dict[str, str]) -> None:
        super().__init__()
        self._said = said

    def emit(self, record: logging.LogRecord) -> None:
        """Take a line of the log."""
        if found := _CLOSED.search(message := record.getMessage()):
            self._said[found[1]] = message


def settings_refused(said: str) -> str:
    """Of settings with which there is no client."""
    if "No provider for SASL mechanism" in said:
        return "this client cannot do the mechanism of sasl.mechanism: use PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 or OAUTHBEARER"
    why = bare(said.strip().removeprefix("Failed to create admin client: "))
    return f"the client's settings are refused: {why}; mend the file of --client-config"
