"""A program that is got once and kept."""

import pytest

from tidemark.harness.machines.image_build import one_at_a_time
from tidemark.harness.systems.outside import wheel


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def test_it_is_got_once():
    got = []

    def get():
        got.append(1)
        return b"program"

    first = wheel.program("etcd", "3.5.1", "etcd", get)

    assert wheel.program("etcd", "3.5.1", "etcd", get) == first
    assert (first.read_bytes(), first.stat().st_mode & 0o777, got) == (b"program", 0o755, [1])


def test_while_it_is_made_others_build_images_and_other_programs():
    def get():
        with one_at_a_time():
            return wheel.program("nats", "2.15.1", "nats", lambda: b"other").read_bytes()

    assert wheel.program("etcd", "3.5.1", "etcd", get).read_bytes() == b"other"
