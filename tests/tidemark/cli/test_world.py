"""What is done before a command brings containers up."""

import pytest

from tidemark.cli.world import containers


class Session:
    """Containers that are there at once."""

    def __init__(self, brokers, **how):
        self.brokers = brokers

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass


@pytest.mark.parametrize(("tidy", "done"), [(False, ["asked"]), (True, ["removed"])])
def test_what_killed_runs_left_is_asked_about_or_removed(monkeypatch, tidy, done):
    found = []
    monkeypatch.setattr("tidemark.harness.live.session.ContainerSession", Session)
    monkeypatch.setattr("tidemark.harness.machines.leftovers.offer_cleanup", lambda console: found.append("asked"))
    monkeypatch.setattr("tidemark.harness.machines.leftovers.clean_up", lambda console: found.append("removed"))

    with containers(3, tidy=tidy) as session:
        assert session.brokers == 3
    assert found == done
