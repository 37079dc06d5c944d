import struct

from tidemark.nodes.sidecar.controller.zookeeper_log import CloseSession, Create, Delete, SetData, ZooKeeperLog

ZEROS = bytes(1000)


def changes(log):
    return [change for transaction in log.poll() for change in transaction.changes]


def test_every_change_of_a_node_is_read(tmp_path, zookeeper, file_header):
    entries = [
        zookeeper.transaction(-10, struct.pack(">i", 2000)),
        zookeeper.create("/a", "x"),
        zookeeper.create("/b", "y", ephemeral=True, session=9),
        zookeeper.set_data("/a", "z", 1),
        zookeeper.delete("/a"),
        zookeeper.close_session(9),
        zookeeper.transaction(-1, struct.pack(">i", -101)),
    ]
    (tmp_path / "log.1").write_bytes(file_header + b"".join(entries) + ZEROS)
    log = ZooKeeperLog(tmp_path)
    assert changes(log) == [
        Create("/a", b"x", 0),
        Create("/b", b"y", 9),
        SetData("/a", b"z", 1),
        Delete("/a"),
        CloseSession(9),
    ]
    assert log.poll() == []


def test_the_parts_of_a_multi_are_one_transaction_and_a_failed_one_changes_nothing(tmp_path, zookeeper, file_header):
    create = (1, zookeeper.create_body("/a", "x"))
    fine = zookeeper.multi((13, b"\0\0\0\1/\0\0\0\0"), create)
    failed = zookeeper.multi((-1, struct.pack(">i", 0)), (-1, struct.pack(">i", -110)))
    (tmp_path / "log.1").write_bytes(file_header + fine + failed + ZEROS)
    (transaction,) = ZooKeeperLog(tmp_path).poll()
    assert transaction.changes == (Create("/a", b"x", 0),)
    assert (transaction.zxid, transaction.time_ms) == (1, 1000)


def test_a_log_is_read_on_while_it_grows_byte_by_byte(tmp_path, zookeeper, file_header):
    log = ZooKeeperLog(tmp_path / "not there yet")
    assert log.poll() == []
    whole = file_header + zookeeper.create("/a") + zookeeper.create("/b")
    log = ZooKeeperLog(tmp_path)
    seen = []
    for end in range(len(whole) + 1):
        (tmp_path / "log.1").write_bytes(whole[:end] + bytes(len(whole) - end))
        seen += [change.path for change in changes(log)]
        assert len(seen) <= 2
    assert seen == ["/a", "/b"]


def test_an_entry_that_is_not_whole_waits_for_its_rest(tmp_path, zookeeper, file_header):
    entry = zookeeper.create("/a", "x" * 600_000)  # longer than what is read at once
    path = tmp_path / "log.1"
    path.write_bytes(file_header + entry[:-100] + ZEROS)
    log = ZooKeeperLog(tmp_path)
    assert log.poll() == []
    path.write_bytes(file_header + entry + ZEROS)
    assert [change.path for change in changes(log)] == ["/a"]


def test_a_later_file_continues_after_a_torn_end(tmp_path, zookeeper, file_header):
    first, torn = zookeeper.create("/a"), zookeeper.create("/torn")
    (tmp_path / "log.1").write_bytes(file_header + first + torn[:-9] + ZEROS)
    log = ZooKeeperLog(tmp_path)
    assert [change.path for change in changes(log)] == ["/a"]
    zookeeper.zxid = 1
    again = zookeeper.transaction(1, zookeeper.create_body("/b", ""), zxid=2)
    (tmp_path / "log.2").write_bytes(file_header + again + ZEROS)
    assert [change.path for change in changes(log)] == ["/b"]


def test_files_are_in_the_order_of_their_hexadecimal_numbers(tmp_path, zookeeper, file_header):
    for number, name in ((1, "log.1"), (9, "log.9"), (16, "log.10"), (160, "log.a0")):
        entry = zookeeper.transaction(1, zookeeper.create_body(f"/{number}", ""), zxid=number)
        (tmp_path / name).write_bytes(file_header + entry + ZEROS)
    (tmp_path / "snapshot.5").write_bytes(b"ZKSN")
    (tmp_path / "log.x").write_bytes(b"?")
    assert [change.path for change in changes(ZooKeeperLog(tmp_path))] == ["/1", "/9", "/16", "/160"]


def test_a_body_that_makes_no_sense_is_passed_over(tmp_path, zookeeper, file_header):
    bad, good = zookeeper.transaction(1, b"\0"), zookeeper.create("/a")
    (tmp_path / "log.1").write_bytes(file_header + bad + good)
    assert [change.path for change in changes(ZooKeeperLog(tmp_path))] == ["/a"]


def test_a_file_that_is_no_log_gives_nothing(tmp_path):
    (tmp_path / "log.1").write_bytes(b"GARBAGE" * 100)
    assert ZooKeeperLog(tmp_path).poll() == []
