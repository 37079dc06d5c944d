"""The names that one may ask for are those of the docs, and those that checkers give."""

import re
from pathlib import Path

from tidemark.checkers.known_anomalies import MEANINGS, NEAR_MISS_MEANINGS, NEAR_MISSES, OF_RUNS, meaning

DOCS = Path(__file__).parents[2] / "docs" / "anomalies.md"
EDGES = {"ww", "wr", "process", "realtime"}


def test_they_are_those_of_the_docs():
    text = DOCS.read_text()
    tables = text[: text.index("`no-live-isr-member`")]
    rows = [line.split("|")[1] for line in tables.splitlines() if line.startswith("| `")]
    named = [name for row in rows for name in re.findall(r"`([^`]+)`", row)]
    of_docs = set(named) - EDGES - {"documented", "kip-966", "durable", "majority", "ack-quorum"}

    assert of_docs == {*OF_RUNS, *NEAR_MISSES}


def test_each_is_named_once():
    assert len({*OF_RUNS, *NEAR_MISSES}) == len(OF_RUNS) + len(NEAR_MISSES)


def test_each_has_one_sentence_of_its_own():
    sentences = [meaning(name) for name in (*OF_RUNS, *NEAR_MISSES)]

    assert all(sentence.endswith(".") for sentence in sentences)
    assert not MEANINGS.keys() & NEAR_MISS_MEANINGS.keys()
    assert meaning("what a checker of one's own calls it") == ""
