"""`tidemark anomalies` and `tidemark faults` list what there is, names whole, in a pipe too."""

import json

import click
import pytest
from click.testing import CliRunner

from tidemark.checkers.known_anomalies import NEAR_MISSES, OF_RUNS
from tidemark.cli.vocabulary import anomalies_command, faults_command
from tidemark.nemesis import PROFILES
from tidemark.nemesis.kinds import KINDS


def told(command, *arguments):
    result = CliRunner().invoke(command, arguments, standalone_mode=False)
    if result.exception is not None:
        raise result.exception
    return result.output


def test_every_anomaly_is_listed_by_its_whole_name():
    words = told(anomalies_command).split()

    assert {*OF_RUNS, *NEAR_MISSES} <= set(words)
    assert list(json.loads(told(anomalies_command, "--json"))["near_misses"]) == list(NEAR_MISSES)


def test_faults_are_listed_with_the_profiles_that_draw_them():
    assert {*KINDS} <= set(told(faults_command).split())
    listed = json.loads(told(faults_command, "--profile", "intact", "--json"))

    assert set(listed) == set(PROFILES["intact"])
    assert listed["isolate"]["does"] == KINDS["isolate"].sentence.in_plans
    assert "destructive" in listed["isolate"]["profiles"]
    with pytest.raises(click.UsageError, match="'none' is no profile and no kind of fault"):
        told(faults_command, "--profile", "none")
