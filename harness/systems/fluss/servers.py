"""How Fluss' servers are started: ZooKeeper, the coordinator, tablet servers, each a JVM with the same jars."""

from __future__ import annotations

from tidemark.harness.systems.outside.real_system import CLIENT_PORT, DATA, Jar

LIBS = "/opt/fluss/libs"
ZOOKEEPER_PORT, INTERNAL_PORT = 2181, 9123
SESSION_S = 12
"""After which a server that is not heard of is missed; 60 s as it comes."""
MIN_ISR = 2
LOGGER = ("org.slf4j", "1.7.36")
SERVER_HASHES = {"0.9.1": "fdda82aa7cc936086c420090920836066d48d741cf7e0aadde3c0e6f0832a169"}
LOGGER_HASHES = {
    "slf4j-api": "d3ef575e3e4979678dc01bf1dcce51021493b4d11fb7f1be8ad982877c16a1c0",
    "slf4j-simple": "2f39bed943d624dfa8f4102d0571283a10870b6aa36f197a8a506f147010c10f",
}
ZOOKEEPER = "org.apache.fluss.shaded.zookeeper3.org.apache.zookeeper.server.ZooKeeperServerMain"
COORDINATOR = "org.apache.fluss.server.coordinator.CoordinatorServer"
TABLET_SERVER = "org.apache.fluss.server.tablet.TabletServer"
_OPTIONS = (
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "-Dorg.slf4j.simpleLogger.showDateTime=true",
    "-Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss.SSS",
    "-Dorg.slf4j.simpleLogger.showLogName=false",
    "-Dorg.slf4j.simpleLogger.showShortLogName=true",
    "-Dorg.slf4j.simpleLogger.log.org.apache.fluss.shaded.zookeeper3=warn",
)


def jars(version: str) -> dict[str, Jar]:
    """Path there → a jar: the server, with all that it needs in it, and a logger that prints plain lines."""
    group, logger = LOGGER
    loggers = {f"{LIBS}/{name}.jar": Jar(f"{group}:{name}:{logger}", known) for name, known in LOGGER_HASHES.items()}
    server = Jar(f"org.apache.fluss:fluss-server:{version}-incubating", SERVER_HASHES.get(version, ""))
    return {f"{LIBS}/fluss-server.jar": server, **loggers}


def java(main: str, megabytes: int, *arguments: str) -> tuple[str, ...]:
    """The command of a server."""
    return ("java", f"-Xmx{megabytes}m", *_OPTIONS, "-cp", f"{LIBS}/*", main, *arguments)


def zookeeper_config(folder: str) -> str:
    """As its ``zoo.cfg`` has it."""
    return f"dataDir={folder}\nclientPort={ZOOKEEPER_PORT}\nmaxClientCnxns=0\nadmin.enableServer=false\ntickTime=1000\n"


def coordinator_config(coordinator: str, for_clients: tuple[str, int], folder: str) -> str:
    """As ``server.yaml`` has it.

    Args:
        coordinator: address of the machine with ZooKeeper and the coordinator.
        for_clients: where clients reach it.
        folder: for tiered storage, which nobody uses.
    """
    return _common(coordinator, coordinator, for_clients, folder)


def tablet_server_config(number: int, coordinator: str, own: str, for_clients: tuple[str, int]) -> str:
    """The same of a tablet server.

    Args:
        number: its id.
        coordinator: as above.
        own: its address for others.
        for_clients: where clients reach it.
    """
    common = _common(coordinator, own, for_clients, f"{DATA}/remote")
    return f"{common}tablet-server.id: {number}\ndata.dir: {DATA}\n"


def _common(coordinator: str, own: str, for_clients: tuple[str, int], remote: str) -> str:
    host, port = for_clients
    return f"""zookeeper.address: {coordinator}:{ZOOKEEPER_PORT}
zookeeper.client.session-timeout: {SESSION_S}s
log.replica.min-in-sync-replicas-number: {MIN_ISR}
remote.data.dir: {remote}
internal.listener.name: INTERNAL
bind.listeners: INTERNAL://0.0.0.0:{INTERNAL_PORT},FLUSS://0.0.0.0:{CLIENT_PORT}
advertised.listeners: INTERNAL://{own}:{INTERNAL_PORT},FLUSS://{host}:{port}
"""
