"""What is kept, and what takes its place."""

import json
from dataclasses import replace

import pytest

from tidemark.harness.search.corpus import Corpus, CorpusError, KeptPlan
from tidemark.harness.search.corpus.kept_plan import read_kept
from tidemark.harness.search.shrink.cause import Cause
from tidemark.nemesis import generate_plan
from tidemark.nodes.core.cluster import ClusterSpec

LOST = Cause("lost-committed-write", "violation", None, ("it was cut", "which was elected from the ISR"))


def drawn(index):
    return generate_plan(1, index, "intact", ClusterSpec())


def kept(plan=None, variant="kafka-0.10", cause=LOST, origin="a hunt", **more):
    plan = plan or drawn(2)
    return KeptPlan(plan, variant, None, cause, "Record 1 is gone.", origin, "0123456789ab", **more)


def smaller(plan):
    return replace(plan, faults=plan.faults[:1])


def test_a_kept_plan_reads_as_it_was_written(tmp_path):
    one, corpus = kept(repaired="kafka-2.1"), Corpus(tmp_path / "corpus")

    assert corpus.take(one)
    assert [read_kept(path) for path in corpus.paths()] == [one]
    assert corpus.paths() == [corpus.path(one)]


def test_one_anomaly_of_one_cause_in_one_variant_is_kept_once(tmp_path):
    corpus, plan = Corpus(tmp_path), drawn(2)
    corpus.take(kept(plan))

    assert not corpus.take(kept(plan, origin="another hunt"))
    assert not corpus.take(kept(replace(drawn(2), faults=plan.faults * 2)))
    assert len(corpus.paths()) == 1
    assert corpus.take(kept(plan, variant="kafka-0.11"))
    assert corpus.take(kept(plan, cause=replace(LOST, facts=("it was never there",))))
    assert corpus.take(kept(plan, cause=replace(LOST, name="divergence")))
    assert len(corpus.paths()) == 4


def test_a_smaller_plan_takes_the_place_and_keeps_the_word_of_where_it_was_found(tmp_path):
    corpus, plan = Corpus(tmp_path), drawn(2)
    corpus.take(kept(plan, repaired="kafka-2.1"))

    assert corpus.take(kept(smaller(plan), origin="shrunk"))

    (path,) = corpus.paths()
    now = read_kept(path)
    assert (now.plan, now.origin, now.repaired) == (smaller(plan), "a hunt; shrunk", "kafka-2.1")


def test_what_is_shrunk_from_elsewhere_has_its_own_origin(tmp_path):
    corpus = Corpus(tmp_path)
    corpus.take(kept(drawn(2)))

    corpus.take(kept(smaller(drawn(3)), origin="another"))

    assert read_kept(corpus.paths()[0]).origin == "another"


def test_a_repair_is_named_later(tmp_path):
    corpus = Corpus(tmp_path)
    corpus.take(kept())

    assert corpus.take(kept(repaired="kafka-2.1"))
    assert not corpus.take(kept())
    assert read_kept(corpus.paths()[0]).repaired == "kafka-2.1"


def test_plans_that_must_stay_valid_are_each_kept(tmp_path):
    corpus, plan = Corpus(tmp_path), drawn(2)

    assert corpus.take(kept(plan, cause=None))
    assert corpus.take(kept(smaller(plan), cause=None))
    assert not corpus.take(kept(plan, cause=None))
    assert len(corpus.paths()) == 2


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"variant": "kafka-9"}, "kafka-9"),
        ({"repaired": "kafka-9"}, "kafka-9"),
        ({"anomaly": {"name": "divergence"}}, "verdict"),
        ({"anomaly": 3}, "is no kept plan"),
        ({"plan": {"faults": [{"kind": "flood", "at_us": 1}]}}, "flood"),
        ({"plan": 3}, "a plan is a JSON object"),
    ],
)
def test_what_is_no_kept_plan_is_a_sentence_with_its_file(tmp_path, change, words):
    file = tmp_path / "one.json"
    file.write_text(json.dumps({**kept().to_json(), **change}))

    with pytest.raises(CorpusError) as error:
        read_kept(file)

    assert str(file) in str(error.value)
    assert words in str(error.value)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"variant": "kafka-2.1"}', "\N{SNOWMAN}"])
def test_damaged_files_are_refused(tmp_path, text):
    file = tmp_path / "one.json"
    file.write_text(text)

    with pytest.raises(CorpusError, match=r"one\.json"):
        read_kept(file)
