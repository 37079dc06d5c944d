"""A member leaves as the others agree, and comes back with an empty disk; whoever is still a member and ends has died."""

import pytest
from played_nodes import T, quiet_cluster, settle, told

from tidemark.harness.systems.tidemark import TidemarkSystem


class PlayedMembers(TidemarkSystem):
    """Whose members the played nodes are; `agree` and `late` say whether the others take one out when they are asked, or later."""

    def __init__(self):
        self.members, self.agree, self.late = {1, 2, 3}, True, False

    def leave(self, node, deployment):
        if self.agree:
            self.members.discard(node)
        return "" if self.agree else "no majority"

    def join(self, node, deployment):
        if self.late:
            self.members.discard(node)
        had_left = node not in self.members
        self.members.add(node)
        return had_left


@pytest.fixture
def members():
    with quiet_cluster(PlayedMembers()) as made:
        yield made


def test_who_leaves_is_dead_before_and_comes_back_with_an_empty_disk(members):
    members.stop(1, "leave")
    settle(members)
    assert members.system.members == {2, 3}
    assert members.nodes[1].done == ["kill"]

    members.start(1)
    settle(members)

    assert members.system.members == {1, 2, 3}
    assert members.nodes[1].done == ["kill", f"lose disk ('{T}',)", "start"]
    assert told(members)[:1] == [(1, "stop", "", "crash")]
    assert [one["node"] for one in members.processes.joined] == [1]
    assert members.refused == []


def test_who_is_down_can_leave_too(members):
    members.stop(1, "crash")
    members.stop(1, "leave")
    settle(members)

    assert members.system.members == {2, 3}


def test_where_the_others_do_not_agree_nothing_is_deleted(members):
    members.system.agree = False
    members.stop(1, "leave")
    members.start(1)
    settle(members)

    assert members.nodes[1].done == ["kill", "start"]
    assert [(one["how"], one["target"], one["why"]) for one in members.refused] == [("leave", 1, "no majority")]
    assert members.processes.joined == []


def test_who_hears_later_that_it_has_left_begins_anew(members):
    members.system.agree = False
    members.stop(1, "leave")
    members.start(1)
    settle(members)
    members.system.late = True
    members.nodes[1].end_itself("fatal")
    settle(members)

    assert members.nodes[1].done == ["kill", "start", f"lose disk ('{T}',)", "start"]
    assert members.processes.died == []
    assert members.running(1)


def test_who_is_still_a_member_and_ends_by_itself_has_died(members):
    members.system.agree = False
    members.stop(1, "leave")
    members.start(1)
    settle(members)
    members.nodes[1].end_itself("fatal")
    settle(members)

    assert [one["node"] for one in members.processes.died] == [1]
    assert not members.running(1)
