"""Files that are no history, and what cannot be read to its end: refused in a sentence that says what is there."""

import gzip
import io
import os

import pytest

from tidemark.checkers import History, HistoryFormatError, read_any, read_stream
from tidemark.checkers.history import history_file, opened
from tidemark.checkers.history.opened import open_history

LINE = b'{"kind":"op","time":1,"process":"p","type":"invoke","f":"send","value":[["send","t-0",1]]}\n'


@pytest.mark.parametrize("packed", [bytes, gzip.compress])
@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "line 1: there is not one line of a history here"),
        (b"\n \r\n\t\n", "line 1: there is not one line of a history here"),
        (b"; nothing but a comment\n", "line 1: there is not one line of a history here"),
        (b"\xef\xbb\xbf\n", "line 1: there is not one line of a history here"),
        (b"hello\n", "line 1: this is no history: neither JSON lines"),
        (b"\n\nhello", "line 3: this is no history: neither JSON lines"),
        (b"\0" * 9000, "line 1: this is no history: neither JSON lines"),
        (b"{\0" + LINE, "line 1: this is no history: neither JSON lines"),
        (LINE.decode().encode("utf-16"), "line 1: this is UTF-16, and a history is UTF-8"),
        (b"# A page\n", "line 1: column 1: # begins nothing"),
    ],
)
def test_what_is_no_history_is_said(content, sentence, packed):
    with pytest.raises(HistoryFormatError) as caught:
        read_stream(io.BytesIO(packed(content)), allow_torn_tail=True)
    assert str(caught.value).startswith(sentence)


@pytest.mark.parametrize("content", [b"[]", b"()\n", b'{"kind":"meta"}\n'])
def test_a_history_without_operations_is_one(content):
    assert read_stream(io.BytesIO(content)).ops == []


def test_a_line_without_end_is_refused(monkeypatch):
    monkeypatch.setattr(history_file, "LONGEST_LINE", 1 << 20)

    class Endless(io.RawIOBase):
        def readable(self):
            return True

        def readinto(self, room):
            room[:] = b'{"kind":'.ljust(len(room))
            return len(room)

    with pytest.raises(HistoryFormatError, match="line 1: it has more than 1 MB"):
        read_stream(Endless())


def test_a_device_is_no_file():
    with pytest.raises(OSError, match="it is a device"):
        read_any("/dev/zero")


def test_a_pipe_without_a_writer_is_not_waited_for(tmp_path, monkeypatch):
    monkeypatch.setattr(opened, "WAIT_MS", 10)
    os.mkfifo(tmp_path / "pipe")

    with pytest.raises(OSError, match="nobody has written into this pipe"):
        open_history(tmp_path / "pipe")


def test_one_with_a_writer_is(tmp_path, monkeypatch):
    monkeypatch.setattr(opened, "WAIT_MS", 10)
    os.mkfifo(tmp_path / "pipe")
    both = os.open(tmp_path / "pipe", os.O_RDWR)

    with open_history(tmp_path / "pipe") as file:
        os.write(both, LINE)
        os.close(both)
        history: History = read_stream(file)

    assert len(history.ops) == 1
