"""``tidemark scenario`` exits by what its script expects, and by the verdict where that expects nothing, or where asked to."""

import pytest
from click.testing import CliRunner

from tidemark.cli import tidemark
from tidemark.harness.scenario import find

LOSS = "kip-101-data-loss"


@pytest.fixture
def script(tmp_path):
    """The loss without its outcomes, in a file; `end` is added to it."""

    def write(end=""):
        path = tmp_path / "mine.scenario"
        text, _, _ = find(LOSS).text.partition("\noutcome ")
        path.write_text(f"{text}\n{end}")
        return str(path)

    return write


def scenario(*words):
    return CliRunner().invoke(tidemark, ["scenario", *words], standalone_mode=False)


@pytest.mark.parametrize(("option", "code"), [((), 0), (("--verdict",), 1)])
def test_with_outcomes_it_is_0_if_all_is_as_expected_or_by_verdict_if_asked(option, code):
    assert scenario(LOSS, "--variant", "kafka-0.10", *option).return_value == code


@pytest.mark.parametrize(
    ("variant", "code"), [((), 0), (("--variant", "kafka-0.10"), 1), (("--variant", "kafka-2.7"), 0)]
)
def test_without_outcomes_it_is_by_verdict(script, variant, code):
    assert scenario(script(), *variant).return_value == code


def test_without_outcomes_a_claim_inside_the_steps_still_counts(script):
    told = scenario(script("   > expect A: down\n"), "--variant", "kafka-2.7")

    assert told.return_value == 1
    assert "Not as expected" in told.output


def test_without_outcomes_it_says_so(script):
    assert "states no outcome for kafka-2.7, nor for any other" in scenario(script()).output


def test_without_outcomes_ci_is_told_the_verdict(script, tmp_path):
    scenario(script(), "--variant", "kafka-0.10", "--junit", str(tmp_path / "report.xml"))

    assert 'failures="1"' in (tmp_path / "report.xml").read_text()
