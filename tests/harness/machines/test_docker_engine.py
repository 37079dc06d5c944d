"""Finding an engine, saying what is wrong with it, and starting one that leaves nothing behind."""

import os
import secrets
import shutil
import subprocess
import tempfile
from pathlib import Path

import docker as docker_sdk
import pytest
from host_network import HostNetwork
from missing import needs
from started_engine import can_start, start_engine

from tidemark.harness.machines import docker_engine
from tidemark.harness.machines.docker_engine import connect, diagnose
from tidemark.harness.machines.errors import EngineError


@pytest.fixture
def no_engine(monkeypatch, tmp_path):
    """As if none ran, and nobody had asked for one elsewhere."""
    monkeypatch.delenv("DOCKER_HOST", raising=False)
    monkeypatch.setattr(docker_engine, "SOCKET", tmp_path / "docker.sock")
    monkeypatch.setattr(docker_engine, "_address_of_context", lambda: f"unix://{tmp_path}/docker.sock")


@pytest.fixture
def programs(monkeypatch):
    """Only these programs are on PATH."""

    def programs(*names):
        monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}" if name in names else None)

    return programs


# What is wrong, and what helps


@pytest.mark.parametrize(
    ("there", "root", "systemd", "expected"),
    [
        (["apt-get"], True, True, ("missing", "Docker is not installed", "run: apt-get install docker.io")),
        (["apt-get"], False, True, ("missing", "Docker is not installed", "run: sudo apt-get install docker.io")),
        ([], False, True, ("missing", "Docker is not installed", "install Docker Engine")),
        (
            ["dockerd", "apt-get"],
            False,
            True,
            ("stopped", "Docker is installed but does not run", "run: sudo systemctl start docker"),
        ),
        (["dockerd"], True, False, ("stopped", "Docker is installed but does not run", "run: service docker start")),
    ],
)
def test_without_an_engine_the_command_that_helps_is_named(
    no_engine, programs, monkeypatch, there, root, systemd, expected
):
    programs(*there)
    monkeypatch.setattr(os, "geteuid", lambda: 0 if root else 1000)
    monkeypatch.setattr(docker_engine.Path, "is_dir", lambda self: systemd)

    assert diagnose() == expected


def test_an_engine_that_may_not_be_used_is_no_missing_engine(monkeypatch):
    monkeypatch.delenv("DOCKER_HOST", raising=False)

    def refuse(timeout_s):
        raise docker_sdk.errors.DockerException("Error: PermissionError(13, 'Permission denied')")

    monkeypatch.setattr(docker_engine, "_client", refuse)

    assert diagnose() == (
        "forbidden",
        "no permission to use /var/run/docker.sock",
        "run: sudo usermod -aG docker $USER, and log in again",
    )


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "unix:///nowhere/docker.sock", "nonsense"])
def test_docker_host_is_respected_even_if_nobody_answers_there(monkeypatch, address):
    monkeypatch.setenv("DOCKER_HOST", address)

    with pytest.raises(EngineError) as error:
        connect()

    assert str(error.value) == (
        f"no Docker engine answers at DOCKER_HOST={address}; start it there, or run: unset DOCKER_HOST"
    )
    assert not can_start()


# Starting one

docker = pytest.mark.docker
as_root = needs(
    *("dockerd", "ip", "iptables"),
    also=os.geteuid() == 0,
    what="root, who may start a second dockerd in a network namespace of its own",
)


@pytest.fixture
def namespace():
    """A network namespace of its own, so that the second engine's rules and bridge meet nobody."""
    name = f"tidemark-{secrets.token_hex(4)}"
    subprocess.run(["ip", "netns", "add", name], check=True)
    subprocess.run(["ip", "-n", name, "link", "set", "lo", "up"], check=True)
    yield ["nsenter", f"--net=/run/netns/{name}"]  # ip netns exec would hide the cgroups
    subprocess.run(["ip", "netns", "delete", name], check=True)


@pytest.fixture
def short_path():
    """A folder whose sockets have names shorter than 108 bytes, which is all that a unix socket may have."""
    with tempfile.TemporaryDirectory(prefix="tm-") as folder:
        yield Path(folder)


@pytest.fixture
def second_engine(namespace, short_path):
    """Starts an engine that shares nothing with the host's."""
    host = f"unix://{short_path}/docker.sock"
    started = []

    def second_engine(*more):
        folders = ["--data-root", str(short_path / "data"), "--exec-root", str(short_path / "exec")]
        started.append(
            start_engine(short_path, arguments=[*folders, *more], prefix=namespace, host=host),
        )
        return started[-1], host

    yield second_engine
    for one in started:
        one.stop()


@docker
@as_root
def test_a_started_engine_answers_and_leaves_nothing_when_it_is_stopped(second_engine, namespace, short_path):
    before = HostNetwork.remember(namespace)

    started, host = second_engine()
    client = docker_sdk.DockerClient(base_url=host)
    assert client.ping()
    client.close()
    assert (short_path / "dockerd.pid").exists()
    during = HostNetwork.remember(namespace)
    started.stop()
    started.stop()

    after = HostNetwork.remember(namespace)
    assert during.had_bridge
    assert any("DOCKER" in line for line in during.tables["filter"])
    assert not after.had_bridge
    assert [line for lines in after.tables.values() for line in lines if "DOCKER" in line or "docker0" in line] == []
    assert policy(after) == policy(before)
    assert not (short_path / "dockerd.pid").exists()
    with pytest.raises(ProcessLookupError):
        os.kill(started.pid, 0)


@docker
@as_root
def test_rules_of_others_stay_when_a_started_engine_is_stopped(second_engine, namespace):
    started, _ = second_engine()
    subprocess.run([*namespace, "iptables", "-A", "INPUT", "-s", "10.9.9.9", "-j", "DROP"], check=True)

    started.stop()

    listed = subprocess.run([*namespace, "iptables", "-S"], check=True, capture_output=True, text=True).stdout
    assert "-A INPUT -s 10.9.9.9/32 -j DROP" in listed


@docker
@as_root
def test_an_engine_that_does_not_start_is_told_by_the_end_of_its_log(second_engine):
    with pytest.raises(EngineError, match=r"^dockerd does not start: .*no-such-file.* \(its log is .*dockerd.log\)$"):
        second_engine("--config-file", "/no-such-file")


def policy(network):
    """Of forwarding."""
    return next((line.split()[1] for line in network.tables.get("filter", []) if line.startswith(":FORWARD")), "ACCEPT")
