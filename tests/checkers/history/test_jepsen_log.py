"""Histories as Porcupine's test data has them: Jepsen's log lines, and maps with a `:key`. The cases are our own, in its form."""

import pytest
from click.testing import CliRunner

from tidemark.checkers import HistoryFormatError, Op, read_any
from tidemark.cli.check import check_command

LOG = """\
INFO  jepsen.util - 0\t:invoke\t:write\t1
INFO  jepsen.util - :nemesis\t:info\t:start\tnil
INFO  jepsen.util - 0\t:ok\t:write\t1
INFO  jepsen.util - 1\t:invoke\t:cas\t[{old} 3]
INFO  jepsen.util - 1\t:fail\t:cas\t[{old} 3]
INFO  jepsen.util - 2   :invoke   :read   nil
INFO  jepsen.util - 2   :fail   :read   :timed-out
INFO  jepsen.util - 2\t:invoke\t:write\t4
INFO  jepsen.util - 2\t:info\t:write\t:timed-out
"""
MAPS = """\
{:process 0, :type :invoke, :f :append, :key "k", :value "x"}
{:process 1, :type :invoke, :f :get, :key "k", :value nil}
{:process 1, :type :ok, :f :get, :key "k", :value ""}
{:process 0, :type :ok, :f :append, :key "k", :value "x"}
{:process 1, :type :invoke, :f :get, :key "k", :value nil}
{:process 1, :type :ok, :f :get, :key "k", :value "READ"}
"""


def run(*arguments):
    return CliRunner().invoke(check_command, [str(one) for one in arguments], standalone_mode=False)


def test_log_lines_are_operations_and_their_order_is_that_of_the_events(tmp_path):
    file = tmp_path / "etcd.log"
    file.write_text(LOG.format(old=2))

    history = read_any(file, rows=True)

    assert history.meta == {"ties": "listed"}
    assert history.ops == [
        Op(0, "0", "invoke", "write", 1),
        Op(0, "0", "ok", "write", 1),
        Op(0, "1", "invoke", "cas", [2, 3]),
        Op(0, "1", "ok", "cas", [2, 3, False]),
        Op(0, "2", "invoke", "read", None),
        Op(0, "2", "info", "read", None, "timed-out"),
        Op(0, "2", "invoke", "write", 4),
        Op(0, "2", "info", "write", None, "timed-out"),
    ]


@pytest.mark.parametrize(("old", "code"), [(2, 0), (1, 1)])
def test_a_cas_that_failed_was_compared_with_another_value(tmp_path, old, code):
    file = tmp_path / "etcd.log"
    file.write_text(LOG.format(old=old).replace("2   :fail   :read   :timed-out", "2\t:ok\t:read\t1"))

    assert run(file, "--model", "cas-register").return_value == code


def test_a_line_whose_value_cannot_be_read_is_named(tmp_path):
    file = tmp_path / "etcd.log"
    file.write_text(LOG.format(old=2) + "INFO  jepsen.util - 3\t:invoke\t:cas\t[1\n")

    with pytest.raises(HistoryFormatError, match="line 10: the file ends before"):
        read_any(file, rows=True)


@pytest.mark.parametrize(("read", "code"), [("x", 0), ("", 1), ("xx", 1)])
def test_maps_with_a_key_are_of_a_store_whose_keys_hold_what_is_told(tmp_path, read, code):
    file = tmp_path / "kv.txt"
    file.write_text(MAPS.replace("READ", read))

    assert run(file, "--model", "key-value", "--initial", '""').return_value == code
