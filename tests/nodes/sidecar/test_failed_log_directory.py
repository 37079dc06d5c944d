"""A log directory fails, and is mended or emptied: by name there is nothing meanwhile, and nothing that it holds is lost."""

import json

import pytest

from tidemark.nodes.sidecar.failed_log_directory import main


@pytest.fixture
def data(tmp_path):
    for name, partition in (("first", "t-0"), ("second", "t-1")):
        (tmp_path / name / partition).mkdir(parents=True)
        (tmp_path / name / partition / "log").write_text(partition)
    (tmp_path / "first/t-1.0123-future").mkdir()
    return tmp_path


@pytest.fixture
def told(data, capsys):
    """What the command prints."""

    def told(*order):
        assert main(["--data", str(data), *order]) == 0
        return json.loads(capsys.readouterr().out)

    return told


@pytest.mark.parametrize(
    ("order", "fails"),
    [(["--partition", "t-1"], "second"), (["--partition", "t-1", "--other"], "first"), ([], "first")],
)
def test_the_directory_with_the_log_fails_or_the_other(data, told, order, fails):
    assert told("fail", *order) == {"directory": fails}
    with pytest.raises(NotADirectoryError):
        (data / fails / "checkpoint").write_text("1")
    assert len([one for one in ("first", "second") if (data / one).is_dir()]) == 1


def test_one_that_has_failed_stays_the_only_one(told):
    told("fail", "--partition", "t-1")

    assert told("fail", "--partition", "t-0") == {"directory": "second"}


def test_mended_it_holds_what_it_held(data, told):
    told("fail", "--partition", "t-0")

    assert told("mend") == {"directory": "first", "lost": []}
    assert (data / "first/t-0/log").read_text() == "t-0"


def test_of_an_empty_one_it_says_whose_logs_are_lost(data, told):
    told("fail", "--partition", "t-0")

    assert told("empty") == {"directory": "first", "lost": ["t-0"]}
    assert (list((data / "first").iterdir()), sorted(one.name for one in data.iterdir())) == ([], ["first", "second"])


def test_where_none_has_failed_there_is_nothing_to_mend(data, capsys):
    assert main(["--data", str(data), "mend"]) == 2
    assert "has failed" in capsys.readouterr().err
