"""The scripts that damage files damage those that they speak of."""

from random import Random

import pytest

from tidemark.harness.systems.etcd import scripts as etcd
from tidemark.harness.systems.nats import scripts as nats
from tidemark.nemesis.damage import Damage
from tidemark.nemesis.kinds import DAMAGES
from tidemark.nodes.core.damage import draw_files

STREAM, RAFT = "jetstream/$G/streams/t-0/msgs/1.blk", "jetstream/$SYS/_js_/S-R3F-x/msgs/2.blk"
META, SNAPSHOT = "jetstream/$SYS/_js_/_meta_/msgs/1.blk", "jetstream/$SYS/_js_/_meta_/snapshots/snap.1.2"
OF_THE_STREAM = "jetstream/$SYS/_js_/S-R3F-x/snapshots/snap.1.1"
STORE, WAL = "etcd/member/snap/db", "etcd/member/wal/0000000000000000-0000000000000000.wal"


def struck(plan, names):
    (fault,) = (one for one in plan.faults if one.kind in DAMAGES)
    damage = Damage(fault.row.doing.damages, fault.amount, fault.pick, fault.at_us)
    return draw_files(Random(damage.seed(plan.noise_seed)).random, sorted(names), damage.which)


@pytest.mark.parametrize("files", [[STREAM, RAFT, META, SNAPSHOT], [STREAM, RAFT, OF_THE_STREAM, META, SNAPSHOT]])
@pytest.mark.parametrize("name", ["one-loses-tails-two-cut", "one-flips-bits-two-cut"])
@pytest.mark.parametrize("always", [False, True])
def test_of_a_nats_server_its_two_logs_are_damaged(always, name, files):
    assert struck(nats.scripts(always=always)[name].plan, files) == [STREAM, RAFT]


def test_of_an_etcd_member_the_log_is_cut_and_not_the_store():
    assert struck(etcd.scripts("3.7.3")["one-loses-tail-two-cut"].plan, [STORE, WAL]) == [WAL]
