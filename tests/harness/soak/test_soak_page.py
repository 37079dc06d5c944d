"""The published page about random plans."""

from tidemark.harness.soak.kept_run import KeptRun
from tidemark.harness.soak.results_page import results_page

OLD, NEW = "kafka:2.8.2@0.10.2", "kafka:4.1.1"


def run(system, profile, plan, valid, *, day="2026-11-22", commit="0123456789ab", **more):
    if valid in {"missing", "refused"}:
        day, commit = "", ""
    played = f"{day}T07:40:00Z" if day else ""
    return KeptRun(system, "kafka-x", profile, 1, plan, "d", valid, played=played, commit=commit, **more)


RUNS = (
    run(NEW, "machines", 0, "valid", day="2026-11-23", commit="ba9876543210+", acked=2_000, seconds=3600.0),
    run(
        OLD, "machines", 2, "valid", permitted={"duplicate": 1}, near_misses={"strong-isr": 2}, acked=5, seconds=1800.0
    ),
    run(OLD, "machines", 0, "invalid", violations={"divergence": 1, "lost-write": 3}, permitted={"duplicate": 2}),
    run(OLD, "machines", 1, "unknown", why="node 1 died\non its own | killed"),
    run(OLD, "machines", 3, "unknown", why="node 1 died\non its own | killed"),
    run(OLD, "controllers", 0, "refused", why="there is no such fault"),
    run(OLD, "controllers", 1, "missing"),
)

PAGE = """\
5 runs in 1.5 hours, 2,005 records acknowledged; 2026-11-22 to 2026-11-23, by Tidemark `0123456789ab`, `ba9876543210+`.
1 runs are still to come.

| system | profile | runs | valid | violated | unknown | violated, by kind | near misses | permitted, by kind |
|---|---|---|---|---|---|---|---|---|
| kafka:2.8.2@0.10.2 | `controllers` | 0 | 0 | 0 | 0 | none | none | none |
| kafka:2.8.2@0.10.2 | `machines` | 4 | 1 | 1 | 2 | divergence 1, lost-write 1 | strong-isr 1 | duplicate 2 |
| kafka:4.1.1 | `machines` | 1 | 1 | 0 | 0 | none | none | none |

## Runs with a violation

The same plan again, which need not come out the same:
`tidemark run --system SYSTEM --profile PROFILE --seed SEED --index PLAN`.

| system | profile | seed | plan | violations |
|---|---|---|---|---|
| kafka:2.8.2@0.10.2 | `machines` | 1 | 0 | divergence 1, lost-write 3 |

## Unknown

| system | profile | runs | why |
|---|---|---|---|
| kafka:2.8.2@0.10.2 | `machines` | 2 | node 1 died on its own \\| killed |

## Cannot be run

| system | profile | plans | why |
|---|---|---|---|
| kafka:2.8.2@0.10.2 | `controllers` | 1 | there is no such fault |
"""


def test_the_page():
    head, _, body = results_page(RUNS, "tidemark soak --page page.md").partition("5 runs in")

    assert "    tidemark soak --page page.md\n" in head
    assert f"5 runs in{body}" == PAGE


def test_what_is_kept_in_files_gives_the_same_page_in_any_order():
    again = [KeptRun.from_json(one.to_json()) for one in reversed(RUNS)]

    assert results_page(again, "x") == results_page(RUNS, "x")


def test_where_nothing_was_run_there_is_a_table_without_numbers():
    page = results_page(RUNS[6:], "x")

    assert "1 runs are still to come." in page
    assert [line for line in page.splitlines() if line.startswith("#")] == ["# Random plans on real Kafka"]
