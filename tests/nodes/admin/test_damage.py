"""Damage to real files: what is struck, what is left alone, and what is told."""

import json

import pytest

from tidemark.nodes.admin.damage import arguments_of, carry_out, damage
from tidemark.nodes.keeper import damage as keepers
from tidemark.nodes.keeper.sync_ledger import SyncLedger

LOGS = ["*/*.log"]


@pytest.fixture
def node(tmp_path):
    """A node's directory with two logs, and a file that is none."""
    for name, text in (("t-0/0.log", b"x" * 100), ("t-1/0.log", b"y" * 200), ("t-0/0.index", b"z" * 50)):
        path = tmp_path / "data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)
    return tmp_path / "data"


def flipped(path, byte):
    """How many bits of a file are not those of the byte that it was full of."""
    return sum((one ^ byte).bit_count() for one in path.read_bytes())


def test_bits_are_flipped_in_the_files_that_are_meant_and_in_no_other(node):
    told = damage([node], LOGS, "flip-bits", 3, "all", "1")

    assert [(one["file"], one["bytes"], one["flipped"]) for one in told] == [
        ("t-0/0.log", 100, 3),
        ("t-1/0.log", 200, 3),
    ]
    assert [flipped(node / name, ord(byte)) for name, byte in (("t-0/0.log", "x"), ("t-1/0.log", "y"))] == [3, 3]
    assert (node / "t-0/0.index").read_bytes() == b"z" * 50


def test_the_bits_that_are_told_are_those(node):
    (told,) = damage([node], ["t-0/*.log"], "flip-bits", 2, "all", "1")

    content = (node / "t-0/0.log").read_bytes()
    assert [bit for bit in range(800) if (content[bit // 8] ^ ord("x")) >> bit % 8 & 1] == told["bits"]


def test_the_same_seed_does_the_same_twice_over_which_is_nothing(node):
    for _ in range(2):
        damage([node], LOGS, "flip-bits", 5, "half", "7")

    assert (node / "t-0/0.log").read_bytes() == b"x" * 100
    assert (node / "t-1/0.log").read_bytes() == b"y" * 200


def test_a_tail_is_cut_off(node):
    told = damage([node], LOGS, "cut-tail", 250, "all", "1")

    assert [(one["file"], one["cut"]) for one in told] == [("t-0/0.log", 25), ("t-1/0.log", 50)]
    assert (node / "t-0/0.log").read_bytes() == b"x" * 75


def test_what_a_program_has_only_reserved_does_not_count(tmp_path):
    (tmp_path / "wal").write_bytes(b"x" * 1000 + bytes(3_000_000))
    (tmp_path / "reserved").write_bytes(bytes(5000))
    (told,) = damage([tmp_path], ["*"], "cut-tail", 500, "all", "1")

    assert told == {"file": "wal", "bytes": 1000, "cut": 500}
    assert (tmp_path / "wal").read_bytes() == b"x" * 500
    assert (tmp_path / "reserved").stat().st_size == 5000


def test_of_a_page_cache_and_a_disk_one_stays_the_beginning_of_the_other(tmp_path):
    for name, size in (("volatile", 100), ("data", 60)):
        (tmp_path / name / "t-0").mkdir(parents=True)
        (tmp_path / name / "t-0/0.log").write_bytes(b"x" * size)
    places = [tmp_path / "volatile", tmp_path / "data"]
    contents = []
    for how, amount in (("flip-bits", 200), ("cut-tail", 300), ("cut-tail", 500)):
        damage(places, LOGS, how, amount, "all", "1")
        contents.append([(place / "t-0/0.log").read_bytes() for place in places])

    assert [[len(one) for one in both] for both in contents] == [[100, 60], [70, 60], [35, 35]]
    assert all(volatile.startswith(data) for volatile, data in contents)
    assert contents[0][1] != b"x" * 60


def test_the_command_tells_in_a_line_what_it_did(node, capsys):
    words = ["--data", str(node), "--files", "*/*.log", "--how", "cut-tail", "--amount", "1000", "--which", "all"]

    assert carry_out(arguments_of("damage"), [*words, "--seed", "1/damage"]) == 0
    assert json.loads(capsys.readouterr().out) == [
        {"file": "t-0/0.log", "bytes": 100, "cut": 100},
        {"file": "t-1/0.log", "bytes": 200, "cut": 200},
    ]


def test_a_power_loss_does_not_take_damage_back(node, tmp_path, capsys):
    SyncLedger(node, tmp_path / "ledger")
    words = ["--data", str(node), "--files", "t-0/*.log", "--how", "cut-tail", "--amount", "100", "--which", "all"]

    assert keepers.main([*words, "--seed", "1", "--ledger", str(tmp_path / "ledger")]) == 0
    assert SyncLedger(node, tmp_path / "ledger").lose_power() == 0
    assert (node / "t-0/0.log").read_bytes() == b"x" * 90
    assert capsys.readouterr().out
