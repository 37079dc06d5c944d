"""``tidemark cluster``: containers with nodes in them, to play with by hand, and what runs have left."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tidemark.cli.cluster_options import ClusterOptions
from tidemark.cli.cluster_text import cluster_json, print_cluster, print_hints
from tidemark.cli.docker_client import engine, telling
from tidemark.cli.exits import VALID
from tidemark.cli.extras import need
from tidemark.cli.options import FILE, json_option, variant_option
from tidemark.cli.output import output
from tidemark.cli.refused import refused
from tidemark.cli.system_option import SystemOptions, variant_on
from tidemark.cli.typed_options import Options, argument, flag, group, shared, taking
from tidemark.cli.world import World
from tidemark.harness.machines.errors import ContainerWorldError
from tidemark.harness.machines.node_places import Places

if TYPE_CHECKING:
    from docker import DockerClient

    from tidemark.harness.live.by_hand import ByHand

DEFAULT_NAME = "play"

UP_EPILOG = """\b
Examples:
  tidemark cluster up --detach                         a controller and three brokers, until `tidemark cluster down`
  tidemark cluster up                                  the same until Ctrl-C, with their logs
  tidemark cluster up other --brokers 5 --partitions 3 --variant kafka-0.11 --detach
  tidemark cluster up --variant raft --detach          servers that elect among themselves (docs/families)
  tidemark cluster up --system kafka:4.1.1 --detach    real Kafka brokers
"""
STATUS_EPILOG = """\b
Examples:
  tidemark cluster status
  tidemark cluster status play --json"""
LOGS_EPILOG = """\b
Examples:
  tidemark cluster logs                  all nodes of the only cluster there is
  tidemark cluster logs b1 --follow      one node, as it goes on
  tidemark cluster logs controller --name play --lines 1000"""
DOWN_EPILOG = """\b
Examples:
  tidemark cluster down                  the only cluster that was started by hand
  tidemark cluster down play
  tidemark cluster down --all            what runs left that were killed
  tidemark cluster down --all --force    everything of Tidemark in this engine, also of runs under way
  tidemark cluster down --hosts FILE     what a killed run left on machines of a hosts file"""


@click.group("cluster")
def cluster_group() -> None:
    """Start nodes in containers to play with, look at them, and remove what is left."""


class UpOptions(Options):
    """What ``tidemark cluster up`` can be asked."""

    name: str = argument(default=DEFAULT_NAME)
    variant: str = shared(variant_option)
    cluster: ClusterOptions = group(ClusterOptions)
    system: SystemOptions = group(SystemOptions)
    detach: bool = flag("Leave it running when this command ends.", "--detach", "-d")


@cluster_group.command("up", epilog=UP_EPILOG)
@taking(UpOptions)
def up_command(options: UpOptions) -> int:
    """Start containers and the nodes in them, and say how to reach them. NAME is the cluster's, `play` by default."""
    from tidemark.harness.live import by_hand
    from tidemark.harness.machines.leftovers import offer_cleanup
    from tidemark.harness.machines.owner import Owner

    spec = options.cluster.spec()
    need(containers=True)
    system, name, detach = options.system.found(), options.name, options.detach
    (name_of_variant,) = World("docker", system).variants((options.variant,), typed="variant" in options.typed)
    variant = variant_on(system, name_of_variant)
    console = output()
    offer_cleanup(output(stderr=True))
    with engine() as client:
        with telling() as tell:
            image = system.install(client, tell)
            tell(f"starting {spec.brokers + 1} containers")
            owner = Owner.by_hand() if detach else None
            cluster = by_hand.up(client, name, spec, variant, system=system, image=image, owner=owner)
        try:
            found = by_hand.find(client, name)
            assert found is not None  # noqa: S101 - it was made a moment ago
            print_hints(console, found, spec, detached=detach)
            if not detach:
                _follow(found, list(found.machines), lines=0)
        finally:
            for machine in cluster.machines.values():
                machine.shell.close()
            if not detach:
                console.print("removing it", highlight=False)
                by_hand.down(client, name)
    return VALID


@cluster_group.command("status", epilog=STATUS_EPILOG)
@click.argument("name", required=False)
@json_option
def status_command(name: str | None, as_json: bool) -> int:
    """Show clusters, their nodes, and what each node says of itself. Without NAME, of all clusters."""
    from tidemark.harness.live import by_hand

    with engine() as client:
        clusters = by_hand.all_clusters(client) if name is None else [_existing(client, name)]
        described = []
        for cluster in clusters:
            states = by_hand.node_states(cluster)
            cluster.close()
            described.append(cluster_json(cluster, states))
    if as_json:
        click.echo(json.dumps({"clusters": described}, indent=1))
    elif not described:
        click.echo("no clusters; start one with: tidemark cluster up --detach")
    else:
        console = output()
        for one in described:
            print_cluster(console, one)
    return VALID


@cluster_group.command("logs", epilog=LOGS_EPILOG)
@click.argument("node", required=False)
@click.option("--name", help="The cluster.  [default: the only one]")
@click.option("--lines", type=click.IntRange(min=0), default=100, show_default=True, help="How many of each node.")
@click.option("--follow", "-f", is_flag=True, help="Go on until Ctrl-C.")
def logs_command(node: str | None, name: str | None, lines: int, follow: bool) -> int:
    """Print what node processes have printed. NODE is `controller`, `b1`, `b2` …; without it, all of them."""
    with engine() as client:
        cluster = _existing(client, name) if name else _only(client)
        try:
            if cluster.key is None:
                raise click.ClickException(f"the SSH key of {cluster.name} belongs to the run that started it")
            known = {machine.name: number for number, machine in cluster.machines.items()}
            if node is not None and node not in known:
                raise click.ClickException(f"{cluster.name} has no node {node}; it has {', '.join(known)}")
            wanted = [known[node]] if node is not None else list(cluster.machines)
            if follow:
                _follow(cluster, wanted, lines)
            else:
                for number in wanted:
                    machine = cluster.machines[number]
                    for line in machine.shell.run(_tail(Places().log, lines), check=False).out.splitlines():
                        click.echo(line if node is not None else f"{machine.name:10} | {line}")
        finally:
            cluster.close()
    return VALID


@cluster_group.command("down", epilog=DOWN_EPILOG)
@click.argument("name", required=False)
@click.option("--all", "everything", is_flag=True, help="Remove what killed runs left.")
@click.option("--force", is_flag=True, help="With --all, --hosts or a run's name: also what is in use.")
@click.option("--hosts", type=FILE, help="Clean the machines of a hosts file.")
def down_command(name: str | None, everything: bool, force: bool, hosts: Path | None) -> int:
    """Remove a cluster: containers, network, volumes. Without NAME, the only one that was started by hand."""
    from tidemark.harness.live import by_hand

    if sum((name is not None, everything, hosts is not None)) > 1:
        raise click.UsageError("give a NAME, or --all, or --hosts FILE")
    if hosts is not None:
        return _clean_hosts(hosts, force=force)
    with engine() as client:
        if everything:
            return _remove_all(client, force=force)
        cluster = _existing(client, name) if name else _only_by_hand(client)
        cluster.close()
        if not force and cluster.owner.pid.isdigit() and not cluster.owner.is_gone:
            raise click.ClickException(
                f"{cluster.name} is in use by {cluster.owner}; remove it all the same with --force"
            )
        count = by_hand.down(client, cluster.name)
        click.echo(f"{cluster.name} is removed ({count} containers, networks and volumes)")
    return VALID


def _remove_all(client: DockerClient, *, force: bool) -> int:
    from tidemark.harness.machines.leftovers import every, remove, stale

    found = every(client) if force else stale(client)
    remove(client, found)
    for run in sorted({item.run for item in found}):
        click.echo(f"{run} is removed ({sum(item.run == run for item in found)} containers, networks and volumes)")
    if not found:
        click.echo("nothing of Tidemark is in this engine" if force else "nothing is left of runs that were killed")
    return VALID


def _clean_hosts(hosts: Path, *, force: bool) -> int:
    from tidemark.harness.machines.hosts_file import HostsCluster

    with refused(ContainerWorldError):
        cluster = HostsCluster.from_file(hosts)
        cluster.down(force=force)
    click.echo(f"{len(cluster.machines)} machines are clean")
    return VALID


def _existing(client: DockerClient, name: str) -> ByHand:
    from tidemark.harness.live.by_hand import all_clusters, find

    cluster = find(client, name)
    if cluster is None:
        names = ", ".join(one.name for one in all_clusters(client))
        raise click.ClickException(f"there is no cluster {name}" + (f"; there are {names}" if names else ""))
    return cluster


def _only(client: DockerClient) -> ByHand:
    """The one that was started from here; runs that are under way keep their keys to themselves."""
    from tidemark.harness.live.by_hand import all_clusters

    return _one_of([one for one in all_clusters(client) if one.key is not None])


def _only_by_hand(client: DockerClient) -> ByHand:
    from tidemark.harness.live.by_hand import all_clusters
    from tidemark.harness.machines.owner import BY_HAND

    return _one_of([one for one in all_clusters(client) if one.owner.pid == BY_HAND])


def _one_of(clusters: list[ByHand]) -> ByHand:
    if not clusters:
        raise click.ClickException("there is no cluster; start one with: tidemark cluster up --detach")
    if len(clusters) > 1:
        raise click.ClickException(f"which one: {', '.join(one.name for one in clusters)}?")
    return clusters[0]


def _tail(path: str, lines: int, *, follow: bool = False) -> str:
    return f"exec tail -n {lines} {'-F' if follow else ''} {path} 2>/dev/null"


def _follow(cluster: ByHand, nodes: list[int], lines: int) -> None:
    """Print what nodes print until Ctrl-C, or until all of them are gone."""

    def show(node: int) -> None:
        machine = cluster.machines[node]
        try:
            for line in machine.shell.lines(_tail(Places().log, lines, follow=True)):
                click.echo(line if len(nodes) == 1 else f"{machine.name:10} | {line}")
        except ContainerWorldError as error:
            click.echo(str(error), err=True)

    threads = [threading.Thread(target=show, args=(node,), daemon=True) for node in nodes]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            thread.join()
    except KeyboardInterrupt:
        click.echo("", err=True)
    finally:
        cluster.close()  # which ends the threads
        for thread in threads:
            thread.join()
