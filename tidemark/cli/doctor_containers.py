"""The part of ``tidemark doctor`` that looks at the container world."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.cli.finding import Finding, extra_finding
from tidemark.harness.machines.errors import ContainerWorldError

if TYPE_CHECKING:
    from docker import DockerClient


def container_findings() -> list[Finding]:
    """Packages, engine, images, what the kernel can do, leftovers; all of them optional."""
    packages = extra_finding("containers")
    return [packages, *_engine()] if packages.well else [packages]


def _engine() -> list[Finding]:
    from tidemark.harness.machines.docker_engine import connect, diagnose

    state, found, fix = diagnose()
    engine = Finding("Docker engine", well=state == "running", found=found, advice=fix, optional=True)
    if not engine.well:
        return [engine]
    try:
        client = connect(20)
    except ContainerWorldError as error:
        return [engine._replace(well=False, found=str(error), advice="try again")]
    try:
        return [engine, *_image_and_kernel(client), _kafka_images(client), _leftovers(client)]
    finally:
        client.close()


def _image_and_kernel(client: DockerClient) -> list[Finding]:
    from tidemark.harness.machines.images import current_image
    from tidemark.harness.machines.kernel_probe import probe_kernel

    try:
        name = current_image(client)
    except ContainerWorldError as error:
        image = Finding("node image", well=False, found=str(error), advice="run: tidemark images build", optional=True)
        name = None
    else:
        found = name or "not built yet; the first run builds it, or: tidemark images build"
        image = Finding("node image", well=True, found=found, optional=True)
    netem, statistic = probe_kernel(client, name)
    delay = {
        True: "netem",
        False: "the node's own transport (this kernel has no netem)",
        None: "not tried before there is a node image",
    }[netem]
    loss = {
        True: "iptables -m statistic",
        False: "this kernel has no iptables -m statistic",
        None: "not tried before there is a node image",
    }[statistic]
    advice = "load the kernel's module: modprobe xt_statistic" if statistic is False else ""
    return [
        image,
        Finding("delay", well=True, found=delay, optional=True),
        Finding("loss", well=statistic is not False, found=loss, advice=advice, optional=True),
    ]


def _kafka_images(client: DockerClient) -> Finding:
    from tidemark.harness.machines.kafka_image import list_kafka_images

    try:
        images = list_kafka_images(client)
    except ContainerWorldError as error:
        return Finding("Kafka images", well=False, found=str(error), advice="try again", optional=True)
    if not images:
        words = "none yet; the first run with --system kafka:VERSION builds one, or: tidemark images build --system kafka:2.8.2"
        return Finding("Kafka images", well=True, found=words, optional=True)
    current = {image.version for image in images if image.current}
    built = [
        version if version in current else f"{version} (of older code; the next run builds it anew)"
        for version in sorted({image.version for image in images})
    ]
    return Finding("Kafka images", well=True, found=", ".join(built), optional=True)


def _leftovers(client: DockerClient) -> Finding:
    from tidemark.harness.machines.leftovers import stale

    try:
        found = stale(client)
    except ContainerWorldError as error:
        return Finding("leftovers", well=False, found=str(error), advice="try again", optional=True)
    if not found:
        return Finding("leftovers", well=True, found="none", optional=True)
    words = f"{len(found)} containers, networks and volumes of runs that were killed"
    return Finding("leftovers", well=False, found=words, advice="run: tidemark cluster down --all", optional=True)
