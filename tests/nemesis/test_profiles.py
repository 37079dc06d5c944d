"""Profiles put together of names and kinds: plans have these kinds and no others; what is neither is refused."""

from collections import Counter

import pytest

from tidemark.nemesis import KINDS, PROFILES, ProfileError, cluster_of_plans, generate_plan, kinds_of
from tidemark.nemesis.kinds import kinds_that_need
from tidemark.nodes.core.cluster import ClusterSpec


def drawn(profile, plans=60):
    return Counter(
        fault.kind for index in range(plans) for fault in generate_plan(3, index, profile, ClusterSpec()).faults
    )


@pytest.mark.parametrize(
    "profile", ["crash", "crash+pause", "bridge+majorities-ring", "isolate+fast-failover", "power-all"]
)
def test_plans_have_the_kinds_that_are_named_and_no_others(profile):
    assert set(drawn(profile)) == set(profile.split("+"))


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_can_be_asked_for(kind):
    profile = f"{kind}+reassignment" if kind in kinds_that_need("reassignment") else kind

    assert kind in drawn(profile)


def test_a_name_and_a_kind_are_the_kinds_of_both():
    assert set(drawn("intact+power", 300)) == {*PROFILES["intact"], "power"}


def test_where_replicas_move_a_broker_is_added():
    assert cluster_of_plans("crash+reassignment", ClusterSpec()).brokers == 4
    assert cluster_of_plans("crash", ClusterSpec()).brokers == 3


def test_unclean_elections_are_permitted_now_and_then_only_where_they_are_drawn():
    permitted = {
        profile: sum(
            generate_plan(1, index, profile, ClusterSpec()).cluster.settings.unclean_election for index in range(40)
        )
        for profile in ("crash+unclean-election", "crash+power")
    }

    assert permitted["crash+unclean-election"]
    assert not permitted["crash+power"]


@pytest.mark.parametrize(
    ("profile", "says"),
    [
        ("none", "'none' is no profile and no kind of fault"),
        ("crash+", "'' is no profile"),
        ("", "'' is no profile"),
        ("crash,pause", "'crash,pause' is no profile"),
        ("reassignment-taken-back", "reassignment-taken-back needs reassignment beside it"),
    ],
)
def test_what_is_neither_is_refused_with_what_there_is(profile, says):
    with pytest.raises(ProfileError, match=f"^{says}"):
        kinds_of(profile)
