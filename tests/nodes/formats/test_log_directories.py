"""A broker with two log directories: in which of them a replica's log lies."""

from tidemark.nodes.formats.log_directories import LogDirectories, above, aside, log_directories


def two(tmp_path):
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
    return tmp_path / "first", tmp_path / "second"


def test_a_broker_has_one_log_directory_unless_there_are_two_below(tmp_path):
    assert log_directories(tmp_path) == (tmp_path,)
    (tmp_path / "first").mkdir()
    assert log_directories(tmp_path) == (tmp_path,)
    (tmp_path / "second").mkdir()
    assert log_directories(tmp_path) == (tmp_path / "first", tmp_path / "second")
    assert above(log_directories(tmp_path)) == above((tmp_path,)) == tmp_path


def test_a_log_is_where_a_directory_has_its_name(tmp_path):
    first, second = two(tmp_path)
    logs = LogDirectories((first, second))
    assert logs.of("t-0") == first / "t-0"
    (second / "t-0").mkdir()
    (first / "t-0.0123-future").mkdir()
    (first / "t-0.4567-delete").mkdir()

    assert logs.of("t-0") == second / "t-0"
    assert logs.other("t-0") == first


def test_what_a_failed_directory_holds_lies_beside_it_and_counts_where_no_other_has_the_log(tmp_path):
    first, second = two(tmp_path)
    (first / "t-0").mkdir()
    first.rename(aside(first))
    first.touch()
    logs = LogDirectories((first, second))

    assert log_directories(tmp_path) == (tmp_path / "first.failed", second)
    assert logs.of("t-0") == tmp_path / "first.failed/t-0"
    assert (logs.home("t-0"), logs.aside("t-0"), logs.aside("t-1")) == (first, "first", "")
    (second / "t-0").mkdir()
    assert logs.of("t-0") == second / "t-0"


def test_between_the_two_renamings_of_a_move_it_is_where_it_was_not(tmp_path):
    first, second = two(tmp_path)
    logs = LogDirectories((first, second))
    (first / "t-0").mkdir()
    assert logs.home("t-0") == first
    (second / "t-0").mkdir()
    assert logs.home("t-0") == second
    (first / "t-0").rename(first / "t-0.4567-delete")

    assert logs.home("t-0") == second


def test_with_one_directory_there_is_no_other(tmp_path):
    assert LogDirectories((tmp_path,)).of("t-0") == tmp_path / "t-0"
    assert LogDirectories((tmp_path,)).other("t-0") is None
