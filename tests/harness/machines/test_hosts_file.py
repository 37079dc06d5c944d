"""Machines that exist: a file that names them, and what is done to them. Containers stand in for foreign hosts."""

import json
import secrets
import time

import pytest
from local_cluster import eventually

from tidemark.checkers import check
from tidemark.harness.live.by_hand import start_nodes
from tidemark.harness.live.contained_run import run_plan
from tidemark.harness.machines.errors import HostsFileError, NodeError
from tidemark.harness.machines.hosts_file import HOME, HostsCluster
from tidemark.harness.machines.hosts_format import Host, read_hosts
from tidemark.harness.machines.owner import Owner
from tidemark.harness.machines.ssh import Shell
from tidemark.harness.machines.ssh_keys import new_key_pair
from tidemark.harness.systems.deployment import Deployment
from tidemark.harness.systems.tidemark import TidemarkSystem
from tidemark.nemesis import Fault, Plan, WorkloadSpec
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.settings import Settings
from tidemark.nodes.core.variant import parse_variant


@pytest.fixture
def read(tmp_path):
    """Read a hosts file of this text."""

    def read(text):
        (tmp_path / "hosts").write_text(text)
        return read_hosts(tmp_path / "hosts")

    return read


@pytest.fixture
def refusal(read, tmp_path):
    """Why a hosts file of this text is refused, without the path."""

    def refusal(text):
        with pytest.raises(HostsFileError) as error:
            read(text)
        return str(error.value).removeprefix(f"{tmp_path}/")

    return refusal


# The file


def test_a_name_or_address_is_enough(read):
    assert read("ctl.lab\n10.1.0.11\n") == [
        Host(1, "ctl.lab", inner="", advertised_host="ctl.lab"),
        Host(2, "10.1.0.11", inner="10.1.0.11", advertised_host="10.1.0.11"),
    ]


def test_entries_come_in_any_order_and_comments_are_skipped(read, tmp_path):
    key = tmp_path / "key"
    key.touch()

    hosts = read(f"# a lab\n\nctl user=me\nbox port=2222 advertise=127.0.0.1:40002 key={key} inner=10.9.0.2  # slow\n")

    assert hosts == [
        Host(3, "ctl", user="me", advertised_host="ctl"),
        Host(4, "box", "root", 2222, str(key), "10.9.0.2", "127.0.0.1", 40002),
    ]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("-x", "'-x' is no name or address (a line begins with one)"),
        ("user=root", "'user=root' is no name or address (a line begins with one)"),
        ("b fast", "'fast' is not understood; possible are user=, port=, key=, inner=, advertise=, hostkey="),
        ("b speed=9", "'speed=9' is not understood; possible are user=, port=, key=, inner=, advertise=, hostkey="),
        ("b user=", "user= must have one value"),
        ("b port=1 port=2", "port= must have one value"),
        ("b port=0", "0 is no port"),
        ("b port=65536", "65536 is no port"),
        ("b port=ssh", "ssh is no port"),
        ("b user=a;b", "user=a;b is no user's name"),
        ("b key=/nowhere/key", "the key file /nowhere/key is not there"),
        ("b inner=box", "inner=box is no IPv4 address"),
        ("b advertise=box", "advertise=box must be ADDRESS:PORT"),
        ("b advertise=box:", " is no port"),
        ("ctl", "the machine of line 1 again; each node needs one of its own"),
        ("b inner=10.0.0.1", "the inner address of line 1 again"),
        ("b advertise=ctl:9", "the advertised address of line 1 again"),
    ],
)
def test_a_line_that_cannot_be_used_is_named_with_its_number(refusal, line, why):
    assert refusal(f"ctl inner=10.0.0.1 advertise=ctl:9\n{line}\n") == f"hosts, line 2: {why}"


def test_a_controller_alone_is_no_cluster(refusal):
    assert refusal("ctl\n") == "hosts names 1 machines; a controller (first) and at least one broker are needed"


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    (tmp_path / "binary").write_bytes(b"\xff\xfe")

    with pytest.raises(HostsFileError, match=r"^cannot read the hosts file .*nowhere: No such file or directory$"):
        HostsCluster.from_file(tmp_path / "nowhere")
    with pytest.raises(HostsFileError, match=r"^cannot read the hosts file .*binary: it is not text$"):
        HostsCluster.from_file(tmp_path / "binary")


# The machines

docker = pytest.mark.docker
FOREIGN = f"""
rm -rf {HOME} /etc/tidemark "$(python3 -c 'import site; print(site.getsitepackages()[0])')/tidemark.pth"
mkdir -p /run/sshd /root/.ssh
echo "$KEY" >/root/.ssh/authorized_keys
ssh-keygen -A
exec /usr/sbin/sshd -D -e
"""


def port_of(container, inside=22):
    return container.attrs["NetworkSettings"]["Ports"][f"{inside}/tcp"][0]["HostPort"]


@pytest.fixture(scope="module")
def foreign(engine, image):
    """Two machines with Debian's own sshd and nothing of ours; container → what a hosts file says of it."""
    keys = new_key_pair("somebody")
    labels = Owner.this_process().labels(f"test-{secrets.token_hex(4)}")
    made = []
    try:
        while len(made) < 2:
            container = engine.containers.run(
                image,
                ["-c", FOREIGN],
                entrypoint="sh",
                detach=True,
                init=True,
                cap_add=["NET_ADMIN"],
                environment={"KEY": keys.authorised},
                ports={f"{port}/tcp": ("127.0.0.1", None) for port in (22, 19092)},
                labels=labels,
            )
            made.append(container)
        for container in made:
            container.reload()
            patience = time.monotonic() + 120
            while b"Server listening on" not in container.logs():
                assert time.monotonic() < patience, container.logs()
                time.sleep(0.05)
            with Shell("127.0.0.1", int(port_of(container)), pkey=keys.key) as shell:
                shell.connect()
        yield keys, made
    finally:
        for container in made:
            container.remove(force=True)


@pytest.fixture
def hosts_file(foreign, tmp_path):
    """Written for these machines; words may be added to every line."""
    keys, containers = foreign
    keys.save(tmp_path / "key")

    def write(words=""):
        lines = [
            f"127.0.0.1 key={tmp_path / 'key'} advertise=127.0.0.1:{port_of(container, 19092)} hostkey=unchecked {words} "
            f"port={port_of(container)} "
            f"inner={container.attrs['NetworkSettings']['Networks']['bridge']['IPAddress']}"
            for container in containers
        ]
        (tmp_path / "hosts").write_text("\n".join(lines))
        return tmp_path / "hosts"

    return write


@pytest.fixture
def listing(foreign):
    """What is on the first machine, where we might leave something."""
    places = f"{HOME} /etc/tidemark /run/tidemark /var/lib/tidemark /var/log/tidemark /usr/local/lib/python3*/*/*.pth"

    def look():
        """On a machine under load Docker may lose what a short command prints."""
        command = f"ls -d {places} 2>/dev/null; iptables -S; pgrep -xl python3; echo all"
        words, all_told, _ = foreign[1][0].exec_run(["sh", "-c", command]).output.decode().partition("all\n")
        return (words,) if all_told else None

    def listing():
        return eventually(look)[0]

    return listing


@docker
def test_a_machine_can_run_nodes_after_it_was_prepared_and_is_as_before_afterwards(hosts_file, foreign, listing):
    before = listing()
    cluster = HostsCluster.from_file(hosts_file())
    with cluster:
        cluster.prepare()
        assert list(cluster.machines) == [0, 1]
        for machine in cluster.machines.values():
            machine.shell.run(
                "cd / && python3 -c 'import tidemark.nodes, kio, crc32c, uvloop' && test -d /var/lib/tidemark"
            )
        assert cluster.machines[1].advertised == f"127.0.0.1:{port_of(foreign[1][1], 19092)}"
        assert cluster.machines[1].name == "b1 (127.0.0.1)"
        assert listing() != before

    assert listing() == before


@docker
@pytest.mark.systems
def test_nodes_run_there_and_are_ended_and_rules_taken_out(hosts_file, listing):
    before = listing()
    with HostsCluster.from_file(hosts_file()) as cluster:
        cluster.prepare()
        spec = ClusterSpec(1, 1, settings=Settings(min_isr=1))
        start_nodes(TidemarkSystem(), Deployment(cluster.machines, spec, parse_variant("kafka-2.7")))
        cluster.machines[0].shell.run(
            "iptables -N TM1 && iptables -A TM1 -s 10.9.9.9 -j DROP && iptables -I INPUT -j TM1"
        )
        assert "/var/log/tidemark\n" in listing()
        assert listing().endswith(" python3\n")

    assert listing() == before


@docker
@pytest.mark.slow
@pytest.mark.systems
def test_a_whole_run_happens_there(hosts_file, listing, tmp_path):
    before = listing()
    cluster = ClusterSpec(1, 1, settings=Settings(min_isr=1))
    faults = (Fault("crash", 3_000_000, 500_000), Fault("power", 6_000_000, 500_000))
    plan = Plan(0, 0, 1, "by hand", cluster, WorkloadSpec(), faults, 7_000_000)
    with HostsCluster.from_file(hosts_file()) as machines:
        machines.prepare()
        run = run_plan(plan, parse_variant("kafka-2.7"), cluster=machines, folder=tmp_path / "run")

    assert [event[4] for event in run.history.trace if event[2] == "stop"] == ["crash", "power"]
    assert check(run.history, "documented").stats["acked"] > 0
    assert not [a for a in check(run.history).anomalies if a.verdict == "violation"]
    assert listing() == before


@docker
def test_leftovers_of_a_dead_process_are_removed_and_those_of_others_are_not(hosts_file, foreign, listing):
    before = listing()
    dead = Owner.this_process()._replace(start="1")
    other = Owner("elsewhere", "7", "b", "1")

    def leave(owner):
        mark = json.dumps(owner.labels("x"))
        foreign[1][0].exec_run(["sh", "-c", f"mkdir -p {HOME}/nodes && echo '{mark}' >{HOME}/owner.json"])

    leave(dead)
    with HostsCluster.from_file(hosts_file()) as cluster:
        cluster.prepare()
    assert listing() == before

    leave(other)
    with pytest.raises(NodeError) as error:
        HostsCluster.from_file(hosts_file()).prepare()
    assert str(error.value) == (
        "controller (127.0.0.1) is used by process 7 on elsewhere; if that is over, run: "
        "tidemark cluster down --hosts FILE --force"
    )
    assert HOME in listing()

    HostsCluster.from_file(hosts_file()).down(force=True)
    assert listing() == before


@docker
@pytest.mark.parametrize(
    ("spoil", "repair", "why"),
    [
        ("mv /usr/sbin/iptables /iptables", "mv /iptables /usr/sbin/iptables", "iptables is missing there (Debian: "),
        (f"mkdir {HOME}", f"rmdir {HOME}", f"{HOME} is there already, and not of our making"),
        (
            (
                "python3 -m http.server 9092 </dev/null >/dev/null 2>&1 & echo $! >/tmp/pid; "
                "until bash -c 'exec 3<>/dev/tcp/127.0.0.1/9092'; do sleep 0.05; done"
            ),
            "kill $(cat /tmp/pid); while kill -0 $(cat /tmp/pid); do sleep 0.05; done",
            "port 9092 is in use there",
        ),
    ],
)
def test_a_machine_that_lacks_something_is_named_and_left_alone(hosts_file, foreign, listing, spoil, repair, why):
    before = listing()
    container = foreign[1][0]
    container.exec_run(["sh", "-c", spoil])
    try:
        with pytest.raises(NodeError) as error:
            HostsCluster.from_file(hosts_file()).prepare()
    finally:
        container.exec_run(["sh", "-c", repair])

    assert str(error.value).startswith(f"controller (127.0.0.1): {why}")
    assert listing() == before


@docker
def test_a_user_who_may_not_enter_is_told(hosts_file):
    with pytest.raises(NodeError) as error:
        HostsCluster.from_file(hosts_file("user=nobody")).prepare()

    assert str(error.value) == "controller (127.0.0.1) lets user nobody in with none of the SSH keys tried"


@docker
def test_a_name_that_the_controllers_machine_does_not_know_needs_an_inner_address(hosts_file):
    file = hosts_file()
    text = file.read_text()
    file.write_text(
        "\n".join(line.replace("127.0.0.1 ", "localhost ").split(" inner=")[0] for line in text.split("\n"))
    )

    with pytest.raises(HostsFileError) as error:
        HostsCluster.from_file(file).prepare()

    assert str(error.value) == (
        "line 1 of the hosts file: the controller's machine knows no address of localhost that others could use; "
        "add inner=ADDRESS"
    )
