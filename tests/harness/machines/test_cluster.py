"""Containers that come up, survive what is done to them, and leave nothing behind."""

import os
import secrets
from types import SimpleNamespace

import pytest
from local_cluster import eventually

from tidemark.harness.machines import addresses
from tidemark.harness.machines.cluster import ContainerCluster
from tidemark.harness.machines.errors import ClusterError, NodeError
from tidemark.harness.machines.leftovers import every
from tidemark.harness.machines.machine import Machine
from tidemark.harness.machines.needs import MachineNeeds
from tidemark.harness.machines.ssh import Shell
from tidemark.harness.machines.ssh_keys import new_key_pair

docker = pytest.mark.docker


@pytest.fixture
def run_id():
    return f"test-{secrets.token_hex(4)}"


def listening(machine, port):
    """What else the container would answer at, seen from the engine."""
    return machine.container.attrs["NetworkSettings"]["Ports"][f"{port}/tcp"]


# Without an engine


def test_a_machine_without_a_container_says_that_it_needs_one():
    machine = Machine(1, "b1", Shell("127.0.0.1", 22), "10.0.0.1", "10.0.0.1", 19092)

    for act, done in (
        (machine.kill_container, "killed"),
        (machine.start_container, "started"),
        (machine.disconnect, "disconnected"),
        (machine.connect, "connected"),
    ):
        with pytest.raises(NodeError) as error:
            act()
        assert str(error.value) == f"b1 is a machine from a hosts file; only a container can be {done}"


def test_addresses_are_written_as_the_node_process_wants_them():
    machine = Machine(1, "b1", Shell("127.0.0.1", 22), "10.77.0.11", "127.0.0.1", 40001)

    assert machine.internal == "10.77.0.11:9092"
    assert machine.advertised == "127.0.0.1:40001"


@pytest.mark.parametrize("brokers", [0, 101])
def test_an_impossible_number_of_brokers_is_refused(brokers, run_id):
    with pytest.raises(ClusterError) as error:
        ContainerCluster.up(brokers, run_id=run_id, image="", client=None)

    assert str(error.value) == f"a cluster of containers has 1 to 100 brokers, not {brokers}"


@pytest.mark.parametrize(
    ("needs", "why"),
    [
        (MachineNeeds(volatile_size="much"), "'much' is not a size; write one such as 256m"),
        (MachineNeeds(data_size="1.5g"), "'1.5g' is not a size; write one such as 256m"),
        (MachineNeeds(data_size="7t"), "'7t' is not a size; write one such as 256m"),
    ],
)
def test_a_need_that_is_no_size_is_refused(needs, why):
    made = ContainerCluster(None, "sizes", {}, new_key_pair("sizes"))

    with pytest.raises(ClusterError) as error:
        made._make_machine(1, SimpleNamespace(name="n"), "10.77.0.11", "an image", needs, [None, VOLUME])

    assert str(error.value) == why


VOLUME = SimpleNamespace(name="a-volume")


# With one


@docker
def test_all_machines_answer_and_know_each_other_by_static_addresses(cluster):
    first = cluster.machines[1]

    assert list(cluster.machines) == [0, 1, 2]
    assert [machine.shell.run("hostname").out for machine in cluster.machines.values()] == [
        "controller\n",
        "b1\n",
        "b2\n",
    ]
    for machine in cluster.machines.values():
        assert machine.shell.run("hostname -I").out.split() == [machine.inner_ip]
        first.shell.run(f"exec 3<>/dev/tcp/{machine.inner_ip}/22")


@docker
def test_ports_are_published_on_the_loopback_only(cluster):
    for machine in cluster.machines.values():
        machine.container.reload()
        assert listening(machine, 22) == [{"HostIp": "127.0.0.1", "HostPort": str(machine.shell.port)}]
    assert listening(cluster.machines[1], 19092) == [
        {"HostIp": "127.0.0.1", "HostPort": str(cluster.machines[1].host_port)}
    ]
    assert cluster.machines[0].host_port == 0


@docker
def test_a_node_can_run_its_code_and_what_faults_need(cluster):
    shell = cluster.machines[1].shell

    shell.run("python3 -c 'import tidemark.nodes, kio, crc32c, uvloop'")
    shell.run("iptables -w -A INPUT -p tcp --dport 1 -j DROP && iptables -w -D INPUT -p tcp --dport 1 -j DROP")
    shell.run("test -e /opt/tidemark/libfaketime.so.1 && ps -p 1 && tc qdisc show")
    assert shell.run("cat /run/tidemark/clock").out == "+0\n"
    assert shell.run("stat -f -c %T /var/lib/tidemark/volatile").out == "tmpfs\n"


@docker
def test_orphans_are_reaped(cluster):
    shell = cluster.machines[1].shell

    shell.run("(setsid sh -c 'exit 0' >/dev/null 2>&1 &)")

    eventually(lambda: "Z" not in shell.run("ps -e -o stat=").out, "no orphan waits to be reaped")


@docker
def test_a_killed_container_loses_its_tmpfs_and_keeps_volume_layer_addresses_and_ports(cluster):
    machine = cluster.machines[1]
    machine.shell.run("touch /var/lib/tidemark/volatile/page /var/lib/tidemark/data/synced /var/log/tidemark/trace")
    machine.shell.run("iptables -w -A INPUT -p tcp --dport 1 -j DROP")
    ports = listening(machine, 22), listening(machine, 19092)

    machine.kill_container()
    with pytest.raises(NodeError):
        machine.shell.connect(timeout_s=0.2)
    machine.start_container()

    found = machine.shell.run("ls /var/lib/tidemark/volatile /var/lib/tidemark/data /var/log/tidemark; iptables -S").out
    assert "page" not in found
    assert "synced" in found
    assert "trace" in found
    assert "dport 1 " not in found
    assert machine.shell.run("hostname -I").out.split() == [machine.inner_ip]
    assert (listening(machine, 22), listening(machine, 19092)) == ports


@docker
def test_a_pulled_cable_cuts_it_off_and_comes_back_with_the_same_address(cluster):
    machine, other = cluster.machines[1], cluster.machines[2]
    reach = f"timeout 1 bash -c 'exec 3<>/dev/tcp/{machine.inner_ip}/22'"
    other.shell.run(reach)

    machine.disconnect()
    assert other.shell.run(reach, check=False).code != 0
    machine.connect()

    other.shell.run(reach)
    assert machine.shell.run("hostname -I").out.split() == [machine.inner_ip]


@docker
def test_killing_what_is_dead_or_gone_is_an_error_of_one_sentence(engine, image, run_id):
    with ContainerCluster.up(1, run_id=run_id, image=image, client=engine) as cluster:
        machine = cluster.machines[1]
        machine.kill_container()
        with pytest.raises(NodeError, match=r"^cannot kill b1: .*is not running"):
            machine.kill_container()
        machine.container.remove()
        with pytest.raises(NodeError, match=r"^cannot start b1: its container or network is gone$"):
            machine.start_container()


@docker
def test_down_removes_everything_whatever_state_it_is_in_and_twice_is_fine(engine, image, run_id):
    cluster = ContainerCluster.up(2, run_id=run_id, image=image, client=engine)
    labelled = every(engine, run_id)
    cluster.machines[1].kill_container()
    cluster.machines[2].container.pause()

    cluster.down()
    cluster.down()

    assert sorted(item.kind for item in labelled) == ["container"] * 3 + ["network"] + ["volume"] * 3
    assert {item.owner.pid for item in labelled} == {str(os.getpid())}
    assert every(engine, run_id) == []


@docker
def test_a_cluster_that_cannot_come_up_leaves_nothing(engine, image, run_id):
    with pytest.raises(ClusterError, match=r"^cannot bring the containers up: .*no-such-image"):
        ContainerCluster.up(2, run_id=run_id, image="tidemark/no-such-image", client=engine)
    assert every(engine, run_id) == []

    with pytest.raises(ClusterError, match=r"^'much' is not a size; write one such as 256m$"):
        ContainerCluster.up(2, run_id=run_id, image=image, client=engine, needs=MachineNeeds(volatile_size="much"))
    assert every(engine, run_id) == []


@docker
def test_a_name_that_is_taken_is_refused_and_its_owner_left_alone(engine, image, cluster):
    with pytest.raises(ClusterError, match=rf"^there is a cluster {cluster.run_id} already"):
        ContainerCluster.up(1, run_id=cluster.run_id, image=image, client=engine)

    assert cluster.machines[1].shell.run("echo on").out == "on\n"


@docker
def test_a_port_taken_meanwhile_means_another_port(engine, image, run_id, cluster, monkeypatch):
    original, taken, asked = addresses.free_ports, cluster.machines[1].host_port, []

    def free_ports(count):
        asked.append(count)
        return [taken, taken + 1] if len(asked) == 1 else original(count)

    monkeypatch.setattr("tidemark.harness.machines.cluster.free_ports", free_ports)
    with ContainerCluster.up(1, run_id=run_id, image=image, client=engine) as other:
        assert taken not in {machine.shell.port for machine in other.machines.values()}
    assert len(asked) >= 3


@docker
def test_a_subnet_taken_meanwhile_means_another_subnet(engine, image, run_id, cluster, monkeypatch):
    original, taken = addresses.subnets, cluster.machines[1].network.attrs["IPAM"]["Config"][0]["Subnet"]
    monkeypatch.setattr(
        "tidemark.harness.machines.cluster.subnets", lambda: iter([addresses.IPv4Network(taken), *list(original())[:3]])
    )
    with ContainerCluster.up(1, run_id=run_id, image=image, client=engine) as other:
        assert other.machines[1].inner_ip.rpartition(".")[0] != cluster.machines[1].inner_ip.rpartition(".")[0]


@docker
def test_a_container_that_does_not_answer_is_told_by_its_last_words(engine, image, run_id, monkeypatch):
    keys = new_key_pair("nobody")._replace(authorised="")
    monkeypatch.setattr("tidemark.harness.machines.cluster.new_key_pair", lambda comment: keys)
    monkeypatch.setattr(Shell, "connect", lambda self: self._connected(1.0))

    with pytest.raises(
        ClusterError, match=r"no SSH connection .* \(it said: tidemark node: TIDEMARK_AUTHORISED_KEY must"
    ):
        ContainerCluster.up(1, run_id=run_id, image=image, client=engine)

    assert every(engine, run_id) == []


IN_MEMORY = MachineNeeds(memory=100 << 20, volatile_size="16m", data_size="8m")


@docker
def test_a_disk_in_memory_can_be_filled_and_outlives_its_container(engine, image, run_id):
    with ContainerCluster.up(2, run_id=run_id, image=image, client=engine, needs=IN_MEMORY) as cluster:
        controller, machine = cluster.machines[0], cluster.machines[1]
        machine.container.reload()
        limits = machine.container.attrs["HostConfig"]
        assert limits["Memory"] == limits["MemorySwap"] == (100 + 16 + 8) << 20

        assert machine.shell.run("stat -f -c %T /var/lib/tidemark/data").out == "tmpfs\n"
        machine.shell.run("echo kept >/var/lib/tidemark/data/page; echo gone >/var/lib/tidemark/volatile/page")
        full = machine.shell.run("head -c 9000000 /dev/zero >/var/lib/tidemark/data/ballast", check=False)
        assert "No space left on device" in full.err

        machine.kill_container()
        machine.start_container()

        assert machine.shell.run("cat /var/lib/tidemark/data/page; ls /var/lib/tidemark/volatile").out == "kept\n"
        # Node 0 keeps it alive, and cannot harm it.
        assert controller.shell.run("cat /var/lib/tidemark/kept/1/page").out == "kept\n"
        assert controller.shell.run("echo x >/var/lib/tidemark/kept/1/page", check=False).code != 0
        assert controller.shell.run("ls /var/lib/tidemark/kept").out.split() == ["1", "2"]
        assert machine.shell.run("ls /var/lib/tidemark").out.split() == ["data", "volatile"]
    assert every(engine, run_id) == []
