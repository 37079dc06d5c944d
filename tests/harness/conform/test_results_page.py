"""The published page about all pairs: a table, totals, what is known and what is not."""

import pytest

from tidemark.harness.conform.ending import Ending
from tidemark.harness.conform.kept_pair import KeptPair, KeptTry
from tidemark.harness.conform.known_difference import KnownDifference
from tidemark.harness.conform.results_page import results_page

SHY = KnownDifference("B is shy", "KAFKA-0", "one", "kafka:2.8.2@*", "HW of *")
DEAF = KnownDifference("B hears | nothing", "KAFKA-1", "*", "kafka:4.*", "reads", model="m1", seen="nothing")
LATE = KnownDifference("B is late", "KAFKA-2", "*", "kafka:*", "role of B")
FINDINGS = (LATE, DEAF, SHY)

MODEL = {"played": "to the end", "HW of A": "2", "HW of B": "2", "reads": "m1"}


def kept(scenario, system, *tries, day="2026-11-22", commit="0123456789ab", doubts=(), cannot="", failure=""):
    """A pair; of each try what is otherwise than in the model."""
    told = [
        KeptTry(Ending({**MODEL, **other}, "0:A"), f"{day}T07:40:00Z", 30.5, commit, doubts if other else ())
        for other in tries
    ]
    reference = None if cannot else Ending(dict(MODEL), "0:A")
    return KeptPair(scenario, scenario.title(), "kafka-x", "kafka-x", system, {}, cannot, reference, told, failure)


PAIRS = (
    kept("two", "kafka:4.1.1@4.1", {"reads": "nothing"}, day="2026-11-23", commit="ba9876543210"),
    kept("one", "kafka:4.1.1@4.1", cannot="kafka:4.1.1 cannot begin with given logs: there is no topic"),
    kept("two", "kafka:2.8.2@0.10.2", {}, {"HW of B": "1"}, doubts=("a line of b1 makes no sense",)),
    kept("one", "kafka:2.8.2@0.10.2", {"HW of B": "1", "HW of A": "0"}),
    kept("one", "kafka:2.8.2@2.8", {}),
    kept("two", "kafka:2.8.2@2.8", failure="nobody | votes"),
    kept("one", "kafka:3.9.2@3.9"),
)

PAGE = """\
| pairs of a script and a system | |
|---|---|
| that can be played | 6 |
| played | 4 |
| equal | 1 |
| explained | 2 |
| unexplained | 1 |
| not carried out | 1 |
| not played yet | 1 |

5 tries, 2026-11-22 to 2026-11-23, by Tidemark `0123456789ab`, `ba9876543210`.

| script | kafka:2.8.2@0.10.2 | kafka:2.8.2@2.8 | kafka:3.9.2@3.9 | kafka:4.1.1@4.1 |
|---|---|---|---|---|
| `one` | explained: 2 | equal | not played | – |
| `two` | **unexplained** (2 tries) | failed |  | explained: 1 |

## Unexplained

| script | system | what | model | Kafka | tries |
|---|---|---|---|---|---|
| `two` | kafka:2.8.2@0.10.2 | HW of B | 2 | 1 | 1 of 2 |

Of `two` on kafka:2.8.2@0.10.2 not all evidence was understood: a line of b1 makes no sense

## Known differences that showed

1. B hears \\| nothing (KAFKA-1)

   - `two` on kafka:4.1.1@4.1: reads

2. B is shy (KAFKA-0)

   - `one` on kafka:2.8.2@0.10.2: HW of A, HW of B

## Known differences that did not show

- `role of B` of `*` on `kafka:*`: B is late (KAFKA-2)

## Not carried out

Tried again at the next run.

| script | systems | why |
|---|---|---|
| `two` | kafka:2.8.2@2.8 | nobody \\| votes |

## Cannot be played

Not counted above.

| script | systems | why |
|---|---|---|
| `one` | kafka:4.1.1@4.1 | cannot begin with given logs: there is no topic |
"""


def test_the_page():
    page = results_page(PAIRS, FINDINGS, "tidemark conform --all --page page.md")
    head, _, body = page.partition("| pairs of")

    assert "    tidemark conform --all --page page.md\n" in head
    assert f"| pairs of{body}" == PAGE


def test_the_order_of_the_results_does_not_matter():
    assert results_page(reversed(PAIRS), FINDINGS) == results_page(PAIRS, FINDINGS)


def test_what_is_kept_in_a_file_gives_the_same_page():
    again = [KeptPair.from_json(one.to_json()) for one in PAIRS]

    assert results_page(again, FINDINGS) == results_page(PAIRS, FINDINGS)


def test_where_all_is_equal_there_is_only_a_table():
    page = results_page(PAIRS[4:5], ())

    assert [line for line in page.splitlines() if line.startswith("#")] == ["# Model against real Kafka: every script"]
    assert page.endswith("| `one` | equal |\n")


@pytest.mark.parametrize("wrong", [{"format": 0}, {"tries": 7}, {"reference": {}}, {"inputs": None}])
def test_a_file_that_is_no_result_is_refused(wrong):
    data = {**PAIRS[0].to_json(), **wrong}

    with pytest.raises(ValueError, match=r"format|no result of a pair"):
        KeptPair.from_json(data)
