"""A file of client settings, as Kafka's tools take it with ``--command-config``, for librdkafka: TLS and SASL.

Names may be Kafka's (``ssl.truststore.location``, ``sasl.jaas.config``) or librdkafka's (``ssl.ca.location``, ``sasl.username``).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

SAME: Final = frozenset(
    {
        "security.protocol",
        "sasl.mechanism",
        "sasl.mechanisms",
        "sasl.username",
        "sasl.password",
        "sasl.kerberos.service.name",
        "sasl.kerberos.principal",
        "sasl.kerberos.keytab",
        "sasl.oauthbearer.method",
        "sasl.oauthbearer.client.id",
        "sasl.oauthbearer.client.secret",
        "sasl.oauthbearer.scope",
        "sasl.oauthbearer.extensions",
        "sasl.oauthbearer.token.endpoint.url",
        "ssl.ca.location",
        "ssl.ca.pem",
        "ssl.certificate.location",
        "ssl.certificate.pem",
        "ssl.key.location",
        "ssl.key.pem",
        "ssl.key.password",
        "ssl.keystore.location",
        "ssl.keystore.password",
        "ssl.cipher.suites",
        "ssl.curves.list",
        "ssl.sigalgs.list",
        "ssl.crl.location",
        "ssl.endpoint.identification.algorithm",
        "enable.ssl.certificate.verification",
        "client.dns.lookup",
        "broker.address.family",
        "socket.keepalive.enable",
    }
)
"""Settings that librdkafka takes by these names."""

PEM: Final = "PEM"
JKS: Final = "JKS"
_JKS_MAGIC: Final = b"\xfe\xed\xfe\xed"
_OF_JAVA_ALONE: Final = frozenset(
    {"ssl.truststore.type", "ssl.keystore.type", "ssl.truststore.password", "ssl.protocol", "ssl.enabled.protocols"}
)
"""Of a PEM file there is no password, its type is seen, and librdkafka agrees on the newest protocol that both sides have."""
_PEM_NAMES: Final = {
    "ssl.truststore.certificates": "ssl.ca.pem",
    "ssl.keystore.certificate.chain": "ssl.certificate.pem",
    "ssl.keystore.key": "ssl.key.pem",
}
_JAAS_LOGIN: Final = re.compile(r"\b(username|password)\s*=\s*(?:\"((?:[^\"\\]|\\.)*)\"|'([^']*)')")
_JAAS_MODULES: Final = ("PlainLoginModule", "ScramLoginModule")
_LINE: Final = re.compile(r"\s*([^=:\s]+)\s*[=:\s]\s*(.*)")


class ClientConfigError(ValueError):
    """A file of client settings that cannot be used; the message says why and what to do."""


def read_client_config(path: Path) -> dict[str, str]:
    """The settings of a file, by librdkafka's names.

    Raises:
        ClientConfigError: it cannot be read, or has a setting that is unknown, or that librdkafka has nothing for.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text in UTF-8"
        raise ClientConfigError(
            f"{path} cannot be read ({why}); name a file with lines such as security.protocol=SSL"
        ) from None
    try:
        return _for_librdkafka(dict(_entries(text)))
    except ClientConfigError as error:
        raise ClientConfigError(f"{path}: {error}") from None


def _entries(text: str) -> Iterator[tuple[str, str]]:
    """Names and values of a properties file; a line that ends with a backslash goes on with the next one."""
    lines = re.sub(r"\\\r?\n[ \t]*", "", text).splitlines()
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.lstrip().startswith(("#", "!")):
            continue
        found = _LINE.fullmatch(line)
        if found is None:
            raise ClientConfigError(f"line {number} is no setting; write NAME=VALUE")
        value = found[2].strip()
        yield found[1], value.encode().decode("unicode_escape") if "\\n" in value else value


def _for_librdkafka(asked: dict[str, str]) -> dict[str, str]:
    settings: dict[str, str] = {}
    for name, value in asked.items():
        if name == "sasl.jaas.config":
            settings |= _login(value)
        elif name == "ssl.truststore.location":
            if (kind := _kind_of_store(name, value)) != PEM:
                raise ClientConfigError(
                    f"{name} is a {kind} file, which librdkafka cannot read; export the CA's certificate as PEM: "
                    f"keytool -exportcert -rfc -keystore {value} -alias NAME -file ca.pem"
                )
            settings["ssl.ca.location"] = value
        elif name == "ssl.keystore.location":
            kind = _kind_of_store(name, value)
            if kind == JKS:
                raise ClientConfigError(
                    f"{name} is a JKS file, which librdkafka cannot read; make it PKCS12: keytool -importkeystore "
                    f"-srckeystore {value} -destkeystore client.p12 -deststoretype PKCS12"
                )
            settings |= _key_in(value, kind)
        elif name in _OF_JAVA_ALONE:
            continue
        elif name in _PEM_NAMES:
            settings[_PEM_NAMES[name]] = value
        elif name == "ssl.endpoint.identification.algorithm":
            settings[name] = value.lower() or "none"
        elif name in SAME:
            settings[name] = value
        else:
            raise ClientConfigError(
                f"{name} is no setting of TLS or SASL that is known here; leave it out (docs/for-operators.md lists them)"
            )
    return settings


def _login(jaas: str) -> dict[str, str]:
    """User name and password of a ``sasl.jaas.config``."""
    found = {name: re.sub(r"\\(.)", r"\1", quoted or plain) for name, quoted, plain in _JAAS_LOGIN.findall(jaas)}
    if not any(module in jaas for module in _JAAS_MODULES) or len(found) != 2:
        raise ClientConfigError(
            "sasl.jaas.config must be a PlainLoginModule or ScramLoginModule with username and password; "
            "for others use librdkafka's names (sasl.kerberos.…, sasl.oauthbearer.…)"
        )
    return {f"sasl.{name}": value for name, value in found.items()}


def _kind_of_store(name: str, path: str) -> str:
    """Of what its bytes are: what ``ssl.….type`` says, Java itself does not take literally."""
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise ClientConfigError(
            f"{name} names {path}, which cannot be read ({error.strerror}); give the file's path"
        ) from None
    return PEM if b"-----BEGIN" in content else JKS if content.startswith(_JKS_MAGIC) else "PKCS12"


def _key_in(path: str, kind: str) -> dict[str, str]:
    """A key store of Kafka's: of PEM, key and certificates are in one file."""
    if kind == PEM:
        return {"ssl.certificate.location": path, "ssl.key.location": path}
    return {"ssl.keystore.location": path}
