"""What ran: models, own processes, a real system, or nothing of ours. A reader must know before believing a number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tidemark.harness.runs.shown_as import without_quorum
from tidemark.nodes.core.variant import VariantError
from tidemark.nodes.families import parse_variant


def what_ran_of(meta: Mapping[str, Any]) -> tuple[str, str]:
    """As `what_ran`, by a history's own meta line (docs/history.md). A history that we did not record is somebody's own, whatever
    name it gives its variant.
    """
    system, world = str(meta.get("system", "tidemark")), str(meta.get("world", "sim"))
    if world == "canary":
        return "A cluster that existed", (
            "Tidemark's clients wrote and read a topic of their own in it, and made no faults but those of "
            "commands it was given. What happened inside the brokers is not known."
        )
    ours = "system" in meta or "world" in meta or ("replicas" in meta and _is_known(str(meta.get("variant", ""))))
    if not ours:
        return "Somebody's own history", (
            "Tidemark ran nothing here: it judges what the file says, and cannot know whether that is so."
        )
    return what_ran(world, system)


def what_ran(world: str, system: str) -> tuple[str, str]:
    """What a run's brokers were: a word or two, and a sentence or two about what that means for a reader."""
    if world == "imported":
        return "Histories of others", (
            "Tidemark ran nothing here: it judges what the imported files say. They are whatever somebody recorded and chose to "
            "import, so shares are of these files, and not of plans that anybody drew."
        )
    if system.startswith("kafka:"):
        which = _which_kafka(system.removeprefix("kafka:"))
        return (
            "Real brokers",
            f"Apache Kafka {which} ran in containers; the nemesis struck its processes and its network.",
        )
    if system != "tidemark":
        return "A real system", f"{system} ran in containers; the nemesis struck its processes and its network."
    if world != "sim":
        return (
            "Own brokers",
            "Tidemark's own brokers ran as processes in containers. No broker of Apache Kafka took part.",
        )
    return "Simulated models", (
        "These are models of the protocols, in a simulator. No real broker took part, and one may behave differently. A 0 does not "
        "prove that a rule is safe: a search may find what random plans miss."
    )


def _which_kafka(name: str) -> str:
    """The release and its protocol; of somebody's own build the digest of its jars, too."""
    name, controllers = without_quorum(name)
    binary, at, protocol = name.partition("@")
    version, _, digest = binary.partition("+")
    built = f", as somebody built it (digest {digest})," if digest else ""
    return f"{version}{at}{protocol}{built}" + (f" with a quorum of {controllers}" if controllers else "")


def _is_known(variant: str) -> bool:
    try:
        parse_variant(variant)
    except VariantError:
        return False
    return True
