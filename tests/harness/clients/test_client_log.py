"""What the libraries say goes to a file, and nowhere else."""

import logging

from tidemark.harness.clients.client_log import ClientLog


def test_lines_tell_the_time_of_the_run(tmp_path, capfd):
    log = ClientLog(tmp_path / "clients.log", lambda: 1234)
    log.logger("p1").warning("broker %d is gone", 3)
    log.logger("p1").debug("too much")
    log.close()
    assert (tmp_path / "clients.log").read_text() == "1234 p1 warning broker 3 is gone\n"
    assert capfd.readouterr() == ("", "")


def test_without_a_path_they_are_dropped(capfd):
    log = ClientLog(None, lambda: 0)
    log.logger("p1").error("gone")
    log.close()
    assert capfd.readouterr() == ("", "")


def test_no_file_without_a_line(tmp_path):
    ClientLog(tmp_path / "clients.log", lambda: 0).close()
    assert not list(tmp_path.iterdir())


def test_two_logs_may_each_have_a_p1(tmp_path):
    logs = [ClientLog(tmp_path / name, lambda: 0) for name in ("a", "b")]
    for log, word in zip(logs, ("one", "two"), strict=True):
        log.logger("p1").info(word)
        log.close()
    assert (tmp_path / "a").read_text() == "0 p1 info one\n"


def test_a_librarys_own_logger_is_listened_to_for_a_while(tmp_path, caplog):
    log = ClientLog(tmp_path / "clients.log", lambda: 5)
    library = logging.getLogger("a.library")
    with log.listening("a.library"):
        other = ClientLog(None, lambda: 0)
        with other.listening("a.library"):
            logging.getLogger("a.library.part").warning("in")
        assert not library.propagate
    assert library.propagate
    library.warning("after")
    log.close()
    assert (tmp_path / "clients.log").read_text() == "5 a.library.part warning in\n"
    assert caplog.messages == ["after"]


def test_a_raised_error_is_kept_whole(tmp_path):
    log = ClientLog(tmp_path / "clients.log", lambda: 0)
    try:
        int("why")
    except ValueError:
        log.logger("p1").exception("bad")
    log.close()
    assert "ValueError: invalid literal" in (tmp_path / "clients.log").read_text()
