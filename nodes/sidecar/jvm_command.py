"""The command lines of the JVMs, and the environment they run in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from tidemark.nodes.sidecar.config import SidecarConfig

BROKER_MAIN = "kafka.Kafka"
ZOOKEEPER_MAIN = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
OPTIONS_FILE = Path("/opt/kafka/jvm-options")
"""What the image adds to every JVM's options."""

ZOOKEEPER_HEAP = "128m"

KEEPER_LEVELS = {
    "kafka.network.Acceptor": "debug",
    "kafka.network.DataPlaneAcceptor": "debug",
}
"""A line for each new connection: the sidecar makes one when it wants to know the JVM's clock."""

_LOGGER = "org.slf4j.simpleLogger"
_PRELOAD = "TIDEMARK_JVM_LD_PRELOAD"
_FAKETIME = "FAKETIME_"


def broker_command(
    config: SidecarConfig, properties: Path, levels: Mapping[str, str], image_options: str = ""
) -> list[str]:
    """How to run ``kafka.Kafka``, as a broker or as KRaft's controller.

    Args:
        config: the sidecar's.
        properties: the ``server.properties`` file.
        levels: logger → level, beside ``info`` for all others; of no account if it shall be quiet.
        image_options: what :data:`OPTIONS_FILE` holds.
    """
    wanted = {} if config.quiet else {**KEEPER_LEVELS, **levels}
    loggers = [f"-D{_LOGGER}.log.{name}={level}" for name, level in wanted.items()]
    # Out of memory a broker would go on, half dead.
    options = [f"-Xmx{config.heap}", "-XX:+ExitOnOutOfMemoryError", *image_options.split(), *config.jvm_options]
    return ["java", *options, *_LOGGING, *loggers, "-cp", class_path(config.libs), BROKER_MAIN, str(properties)]


def zookeeper_command(config: SidecarConfig, zoo_cfg: Path) -> list[str]:
    """How to run ZooKeeper."""
    options = [f"-Xmx{ZOOKEEPER_HEAP}", "-XX:+ExitOnOutOfMemoryError", *config.jvm_options]
    return ["java", *options, *_LOGGING, "-cp", class_path(config.libs), ZOOKEEPER_MAIN, str(zoo_cfg)]


def tool_command(config: SidecarConfig, main: str, arguments: Sequence[str]) -> list[str]:
    """How to run one of Kafka's tools."""
    options = [f"-Xmx{config.heap}", *image_options().split(), *config.jvm_options]
    return ["java", *options, "-cp", class_path(config.libs), main, *arguments]


def class_path(libs: Path) -> str:
    """Kafka's jars, and before them those that somebody put in front of a release."""
    in_front = libs.with_name("in-front")
    return f"{in_front}/*:{libs}/*" if in_front.is_dir() else f"{libs}/*"


_LOGGING = (
    "-Djava.awt.headless=true",
    f"-D{_LOGGER}.defaultLogLevel=info",
    f"-D{_LOGGER}.showDateTime=true",
    f"-D{_LOGGER}.dateTimeFormat=yyyy-MM-dd'T'HH:mm:ss.SSS",
    f"-D{_LOGGER}.showThreadName=false",
)


def image_options(path: Path = OPTIONS_FILE) -> str:
    """The image's options; empty if it has none."""
    try:
        return path.read_text()
    except OSError:
        return ""


def environment(given: Mapping[str, str], *, clock: bool) -> dict[str, str]:
    """The environment of a JVM.

    Args:
        given: the sidecar's, in which the library that moves the clock stands under a name of our own, so that it is not
            loaded into the sidecar.
        clock: whether this JVM's clock may be moved.
    """
    found = {
        name: value
        for name, value in given.items()
        if name not in (_PRELOAD, "LD_PRELOAD") and (clock or not name.startswith(_FAKETIME))
    }
    if clock and given.get(_PRELOAD):
        found["LD_PRELOAD"] = given[_PRELOAD]
    return found
