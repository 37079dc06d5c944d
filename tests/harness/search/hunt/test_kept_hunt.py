"""A hunt that is ended goes on as if it had not been."""

from itertools import islice

import pytest

from tidemark.harness.search.hunt import Hunt, Quarry
from tidemark.harness.search.hunt.hunt import Attempt, Found
from tidemark.harness.search.hunt.kept_hunt import KEPT_OF_EACH, HuntDiffersError, KeptHunt
from tidemark.harness.search.hunt.trial import Caught, Trial
from tidemark.nemesis import read_plan
from tidemark.nodes.core.cluster import ClusterSpec

SETTINGS = {"variant": "kafka-0.11", "seed": 1}


def hunt():
    return Hunt(Attempt("kafka-0.11", Quarry()), "intact", ClusterSpec(), 1)


@pytest.mark.systems
def test_it_goes_on_where_it_was(tmp_path):
    whole = list(islice(hunt().rounds(), 4))
    begun, kept = hunt(), KeptHunt(tmp_path, SETTINGS)
    list(islice(begun.rounds(), 2))
    kept.save(begun)

    again = hunt()
    assert KeptHunt(tmp_path, SETTINGS).restore(again)

    assert list(islice(again.rounds(), 2)) == whole[2:]


def test_nothing_is_restored_from_an_empty_folder(tmp_path):
    assert not KeptHunt(tmp_path, SETTINGS).restore(hunt())


def test_another_hunt_is_refused(tmp_path):
    KeptHunt(tmp_path, SETTINGS).save(hunt())

    with pytest.raises(HuntDiffersError, match="seed differ"):
        KeptHunt(tmp_path, {**SETTINGS, "seed": 2}).restore(hunt())


@pytest.mark.parametrize("text", ["", "{", '{"settings": {"variant": "kafka-0.11", "seed": 1}}', "[]"])
def test_a_damaged_one_is_refused(tmp_path, text):
    (tmp_path / "hunt.json").write_text(text)

    with pytest.raises(HuntDiffersError):
        KeptHunt(tmp_path, SETTINGS).restore(hunt())


def test_the_smallest_plans_are_kept(tmp_path):
    kept = KeptHunt(tmp_path, SETTINGS)
    plan = hunt()._draw()[0].plan
    for number in range(1, 9):
        caught = Caught("divergence", "they differ", "it kept a record" if number % 2 else "it lost one")
        kept.take(Found(number, plan, Trial({}, caught, "invalid", "d")))

    assert kept.caught == {("divergence", "it kept a record"): 4, ("divergence", "it lost one"): 4}
    assert len(kept.catches) == 2 * KEPT_OF_EACH
    assert {read_plan(kept.results.path(one.file)) for one in kept.catches} == {plan}


def test_a_catch_of_no_use_takes_no_place_from_others(tmp_path):
    kept = KeptHunt(tmp_path, SETTINGS)
    plan = hunt()._draw()[0].plan

    def take(number):
        caught = Caught("divergence", "they differ", "it kept a record")
        return kept.take(Found(number, plan, Trial({}, caught, "invalid", "d")))

    for number in range(KEPT_OF_EACH):
        kept.of_no_use[take(number).file] = "nobody can carry it out"

    assert take(KEPT_OF_EACH)


def test_what_else_lies_in_the_folder_stays(tmp_path):
    kept = KeptHunt(tmp_path, SETTINGS)
    kept.save(hunt())
    (tmp_path / "notes.txt").write_text("mine")

    kept.forget()

    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]
