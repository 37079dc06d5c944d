"""Which SSH host keys are believed: commands of root follow."""

import socket

import paramiko
import pytest

from tidemark.harness.machines.errors import HostsFileError, NodeError
from tidemark.harness.machines.host_trust import HostTrust
from tidemark.harness.machines.hosts_format import read_hosts
from tidemark.harness.machines.ssh_keys import new_key_pair

KEY, OTHER = new_key_pair("one").key, new_key_pair("other").key
RSA = paramiko.RSAKey.generate(1024)
PLACE = "[10.1.0.11]:2222"


def known(*keys):
    found = paramiko.HostKeys()
    for key in keys:
        found.add(PLACE, key.get_name(), key)
    return found


@pytest.mark.parametrize(
    ("trust", "shown"),
    [
        (HostTrust(known(KEY)), KEY),
        (HostTrust(known(RSA, KEY)), KEY),
        (HostTrust(known(), KEY.fingerprint), KEY),
        (HostTrust(known(OTHER), KEY.fingerprint), KEY),
        (HostTrust(known(), "unchecked"), KEY),
    ],
)
def test_who_shows_a_key_that_somebody_vouched_for_is_believed(trust, shown):
    trust.check(shown, "b1", PLACE)


@pytest.mark.parametrize(
    ("trust", "shown", "said"),
    [
        (HostTrust(known()), KEY, f"b1 is not in ~/.ssh/known_hosts, and shows the key {KEY.fingerprint}: "),
        (HostTrust(known(KEY)), OTHER, "b1 shows another SSH host key than the known one; "),
        (
            HostTrust(known(RSA)),
            KEY,
            "b1 shows an SSH host key of the kind ssh-ed25519, and is known by ssh-rsa only: ",
        ),
        (HostTrust(known(KEY), OTHER.fingerprint), KEY, "b1 shows an SSH host key with the fingerprint "),
    ],
)
def test_who_does_not_is_refused_and_the_message_says_what_to_do(trust, shown, said):
    with pytest.raises(NodeError) as error:
        trust.check(shown, "b1", PLACE)

    assert str(error.value).startswith(said)


@pytest.mark.parametrize(("key", "kind"), [(KEY, "ssh-ed25519"), (RSA, "rsa-sha2-512")])
def test_a_machine_is_asked_for_a_key_of_a_kind_that_it_is_known_by(key, kind):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        transport = paramiko.Transport(ours)
        before = set(transport.get_security_options().key_types)
        HostTrust(known(key)).ask_for_known_kinds(transport, PLACE)

        assert transport.get_security_options().key_types[0] == kind
        assert set(transport.get_security_options().key_types) == before
        transport.close()


def test_the_hosts_file_may_name_a_fingerprint_or_give_the_check_up(tmp_path):
    file = tmp_path / "hosts"
    file.write_text(f"ctl hostkey={KEY.fingerprint}\nb1 hostkey=unchecked\nb2\n")
    assert [host.host_key for host in read_hosts(file)] == [KEY.fingerprint, "unchecked", ""]

    file.write_text("ctl\nb1 hostkey=any\n")
    with pytest.raises(HostsFileError, match=r"line 2: hostkey=any must be SHA256:… .* or unchecked, which believes"):
        read_hosts(file)
