"""A scenario under several variants is told once, with what differs."""

import io

from rich.console import Console

from tidemark.harness.scenario import find, run_scenario, variants_of
from tidemark.harness.scenario.together import show_together


def told(name):
    scenario = find(name)
    console = Console(file=io.StringIO(), width=100)
    show_together([run_scenario(scenario, variant) for variant in variants_of(scenario)], console)
    return console.file.getvalue()


def test_the_steps_are_told_once_and_then_only_from_where_a_variant_differs():
    words = told("kip-101-data-loss")

    assert words.count("Truncation to the high watermark loses an acknowledged message") == 1
    assert "kip-101-data-loss under kafka-2.7, kafka-3.7" in words  # which ask nobody
    assert "Every step as under kafka-0.11; the end differs." in words  # kafka-4.0 is judged by another promise
    assert words.count("Everything is healed") == 2


def test_a_later_variant_begins_where_it_parts():
    words = told("kafka-6880-zombie-follower")

    assert "and then:" in words or "Every step as under" in words
    for variant in variants_of(find("kafka-6880-zombie-follower")):
        assert variant in words
