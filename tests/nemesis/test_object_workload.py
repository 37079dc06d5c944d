"""The operations of clients that work on an object: the same for the same plan, and on each key only for a while."""

from collections import Counter
from itertools import islice

import pytest

from tidemark.nemesis import ObjectWorkload, ObjectWorkloadError, Plan, PlanError, WorkloadSpec
from tidemark.nemesis.object_workload import OBJECTS, Operations
from tidemark.nodes.core.cluster import ClusterSpec


def some(work, count, seed=7):
    return list(islice(Operations(work, seed), count))


@pytest.mark.parametrize("kind", OBJECTS)
def test_the_same_seed_gives_the_same_operations(kind):
    assert some(ObjectWorkload(kind), 500) == some(ObjectWorkload(kind), 500)


@pytest.mark.parametrize("kind", sorted({*OBJECTS} - {"unique-ids"}))
def test_another_seed_gives_others(kind):
    assert some(ObjectWorkload(kind), 500) != some(ObjectWorkload(kind), 500, seed=8)


def test_each_key_of_a_register_is_used_so_often_and_then_no_more():
    operations = Operations(ObjectWorkload("cas-register", keys=2, operations=10), 1)
    used = Counter(one.key for one in islice(operations, 100))
    assert all(used[key] <= 10 for key in operations.used)
    assert sum(used[key] == 10 for key in operations.used) >= len(operations.used) - 2


def test_the_final_reads_have_every_key_that_was_used():
    operations = Operations(ObjectWorkload("list-append", keys=1, operations=3, longest=1), 1)
    list(islice(operations, 7))
    assert [one.value for one in operations.final_reads()] == [
        (("r", "k1", None),), (("r", "k2", None),), (("r", "k3", None),),
    ]  # fmt: skip


def test_the_final_reads_of_lists_are_as_large_as_transactions_are():
    operations = Operations(ObjectWorkload("list-append", keys=9, operations=50, longest=4), 1)
    list(islice(operations, 3))
    read = [[key for _, key, _ in one.value] for one in operations.final_reads()]
    assert [len(keys) for keys in read] == [4, 4, 1]
    assert [key for keys in read for key in keys] == operations.used


def test_every_element_is_appended_once():
    found = some(ObjectWorkload("list-append"), 300)
    elements = [(key, value) for one in found for what, key, value in one.value if what == "append"]
    assert len(elements) == len(set(elements)) > 100


def test_a_queue_grows_unless_its_mix_is_told():
    assert ObjectWorkload.from_json({"kind": "queue"}).writes > ObjectWorkload.from_json({"kind": "queue"}).reads
    assert ObjectWorkload.from_json({"kind": "queue", "writes": 1}).writes == 1


def test_a_register_is_never_compared():
    assert {one.f for one in some(ObjectWorkload("register"), 300)} == {"read", "write"}


def test_some_plans_have_large_transactions():
    drawn = [ObjectWorkload.drawn("list-append", seed) for seed in range(200)]
    large = [one for one in drawn if one != ObjectWorkload.usual("list-append")]

    assert 40 < len(large) < 80
    assert {one.longest for one in large} == {100}
    assert ObjectWorkload.drawn("list-append", 7) == ObjectWorkload.drawn("list-append", 7)
    assert {ObjectWorkload.drawn("queue", seed) for seed in range(50)} == {ObjectWorkload.usual("queue")}


def test_a_plan_keeps_its_object():
    work = ObjectWorkload("cas-register", keys=3, compares=0)
    plan = Plan(0, 0, 1, "by hand", ClusterSpec(), WorkloadSpec(object=work), (), 1)
    assert Plan.from_json(plan.to_json()) == plan


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({}, 'an object with a "kind"'),
        ({"kind": "tree"}, "there is no workload 'tree'"),
        ({"kind": "set", "speed": 1}, "unknown entry 'speed'"),
        ({"kind": "set", "reads": "1"}, "reads must be an integer"),
        ({"kind": "set", "reads": 0}, "it needs keys"),
        ({"kind": "set", "keys": -1}, "keys must be between 0"),
    ],
)
def test_what_there_is_not_is_refused(told, said):
    with pytest.raises(ObjectWorkloadError, match=said):
        ObjectWorkload.from_json(told)
    with pytest.raises(PlanError, match="workload: object: "):
        Plan.from_json({"faults": [], "workload": {"object": told}})


def test_offsets_of_groups_only_go_up_and_are_read_in_the_end():
    operations = Operations(ObjectWorkload("group-offsets", keys=3, operations=10), 7)
    drawn = [next(operations) for _ in range(200)]
    assert {one.f for one in drawn} == {"write"}
    for group in operations.used:
        offsets = [one.value for one in drawn if one.key == group]
        assert offsets == [*range(1, len(offsets) + 1)]
    assert [(one.f, one.key) for one in operations.final_reads()] == [("read", group) for group in operations.used]
