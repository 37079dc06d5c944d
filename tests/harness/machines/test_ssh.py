"""Commands, files and channels over one SSH connection, and what happens when it is lost."""

import socket
import threading
from concurrent.futures import ThreadPoolExecutor

import paramiko
import pytest

from tidemark.harness.machines.errors import CommandFailed, CommandTimeout, NodeError, NodeUnreachable
from tidemark.harness.machines.host_trust import HostTrust
from tidemark.harness.machines.ssh import Shell
from tidemark.harness.machines.ssh_keys import new_key_pair, read_key


@pytest.fixture
def closed_port():
    """A port nobody listens on, and nobody else gets meanwhile."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]


@pytest.fixture
def mute_port():
    """A port that accepts connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


# Without a node


def test_a_closed_port_is_named_in_one_sentence(closed_port):
    with (
        Shell("127.0.0.1", closed_port, pkey=new_key_pair("t").key, name="b1") as shell,
        pytest.raises(NodeUnreachable) as error,
    ):
        shell.connect(timeout_s=0.3)

    assert str(error.value) == (f"no SSH connection to b1 (127.0.0.1:{closed_port}) within 0.3 s: Connection refused")


def test_a_port_that_says_nothing_does_not_hold_for_ever(mute_port):
    with Shell("127.0.0.1", mute_port, pkey=new_key_pair("t").key) as shell, pytest.raises(NodeUnreachable):
        shell.connect(timeout_s=0.5)


def test_a_key_file_that_is_missing_or_no_key_is_named(tmp_path):
    (tmp_path / "text").write_text("hello")

    with pytest.raises(NodeError, match=r"cannot use the SSH key .*nowhere: No such file"):
        read_key(tmp_path / "nowhere")
    with pytest.raises(NodeError, match=r"cannot use the SSH key .*text: no key without a passphrase in it"):
        read_key(tmp_path / "text")


def test_a_saved_key_is_its_owners_alone_and_reads_back(tmp_path):
    pair = new_key_pair("somebody")
    (tmp_path / "key").write_text("older, and readable by all")

    pair.save(tmp_path / "key")

    assert (tmp_path / "key").stat().st_mode & 0o777 == 0o600
    assert read_key(tmp_path / "key") == pair.key
    assert pair.authorised.startswith("ssh-ed25519 AAAA")
    assert pair.authorised.endswith(" somebody")


# With one

docker = pytest.mark.docker


@pytest.fixture
def shell(cluster):
    return cluster.machines[1].shell


@docker
def test_a_command_gives_its_exit_code_and_both_outputs(shell):
    result = shell.run("echo out; echo err >&2; exit 3", check=False)

    assert result == (3, "out\n", "err\n")


@docker
def test_a_failed_command_is_an_error_that_says_what_it_said(shell):
    with pytest.raises(CommandFailed) as error:
        shell.run("echo first >&2; echo 'no such thing' >&2; exit 7")

    assert str(error.value).startswith("b1: 'echo first >&2; ")
    assert str(error.value).endswith("failed with exit code 7: no such thing")
    assert error.value.code == 7


@docker
def test_a_command_reads_what_it_is_given_and_else_nothing(shell):
    assert shell.run("cat", stdin="ü and 字").out == "ü and 字"
    assert shell.run("cat").out == ""


@docker
def test_floods_on_both_outputs_do_not_block_each_other(shell):
    flood = "head -c 5000000 /dev/zero | tr '\\0' x"

    result = shell.run(f"{flood} >&2; {flood}")

    assert (len(result.out), len(result.err)) == (5_000_000, 5_000_000)


@docker
def test_a_command_that_takes_too_long_is_given_up_and_the_connection_stays(shell):
    with pytest.raises(CommandTimeout, match=r"^b1: 'sleep 20' took longer than 0.2 s$"):
        shell.run("sleep 20", timeout_s=0.2)

    assert shell.run("echo on").out == "on\n"


@docker
def test_a_command_killed_by_a_signal_is_a_failure(shell):
    assert shell.run("kill -9 $$", check=False).code == -1


@docker
def test_files_come_back_as_they_were_put_with_their_mode(shell):
    content = bytes(range(256)) * 4_000

    shell.put("/tmp/it's a file", content, mode=0o640)

    assert shell.get("/tmp/it's a file") == content
    assert shell.run('stat -c %a "/tmp/it\'s a file"').out == "640\n"
    with pytest.raises(CommandFailed, match=r"No such file"):
        shell.get("/tmp/nowhere")


@docker
def test_many_threads_share_one_connection(shell):
    with ThreadPoolExecutor(16) as pool:
        said = list(pool.map(lambda i: shell.run(f"sleep 0.05; echo {i}").out, range(48)))

    assert said == [f"{i}\n" for i in range(48)]


@docker
def test_lines_arrive_while_the_command_runs(shell):
    lines = shell.lines("echo one; sleep 0.1; printf 'two\\nthree'; exec sleep 0.1")

    assert list(lines) == ["one", "two", "three"]


@docker
def test_a_channel_reaches_a_port_of_the_nodes_loopback(shell):
    server = (
        "import socket; s = socket.create_server(('127.0.0.1', 9990)); print(flush=True); s.accept()[0].sendall(b'hi')"
    )
    lines = shell.lines(f'python3 -c "{server}"')
    assert next(lines) == ""

    channel = shell.channel("127.0.0.1", 9990)
    with channel:
        assert channel.recv(10) == b"hi"
    assert list(lines) == []
    with pytest.raises(NodeError, match=r"^b1: no connection to port 9990 of 127.0.0.1 there: "):
        shell.channel("127.0.0.1", 9990)


@docker
def test_a_connection_that_was_cut_is_made_anew(shell):
    shell.run("true")
    shell._transport.sock.shutdown(socket.SHUT_RDWR)

    assert shell.run("echo again").out == "again\n"


@docker
def test_a_connection_that_breaks_under_way_is_not_tried_again(shell):
    shell.run("rm -f /tmp/times")
    cut = threading.Timer(0.3, lambda: shell._transport.sock.shutdown(socket.SHUT_RDWR))
    cut.start()

    with pytest.raises(NodeUnreachable, match=r"^the SSH connection to b1 broke during 'echo x >>/tmp/times; sleep 5'"):
        shell.run("echo x >>/tmp/times; sleep 5")

    cut.join()
    assert shell.run("cat /tmp/times").out == "x\n"


@docker
def test_a_key_that_is_not_the_clusters_is_refused_at_once(cluster):
    port = cluster.machines[1].shell.port

    with (
        Shell("127.0.0.1", port, pkey=new_key_pair("stranger").key, name="b1") as shell,
        pytest.raises(NodeError, match=r"^b1 lets user root in with none of the SSH keys tried$"),
    ):
        shell.connect()


@docker
def test_another_host_key_than_the_known_one_is_refused(cluster):
    port = cluster.machines[1].shell.port
    known = paramiko.HostKeys()
    known.add(f"[127.0.0.1]:{port}", "ssh-ed25519", new_key_pair("impostor").key)

    with (
        Shell("127.0.0.1", port, pkey=cluster.keys.key, name="b1", trust=HostTrust(known)) as shell,
        pytest.raises(NodeError, match=r"^b1 shows another SSH host key than the known one"),
    ):
        shell.connect()


@docker
def test_commands_do_not_wait_for_nagles_algorithm(shell):
    shell.run("true")

    assert shell._transport.sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) == 1
