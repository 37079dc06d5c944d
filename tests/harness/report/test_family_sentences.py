"""Reports say what of a plan is something else to families that are not Kafka's."""

from tidemark.harness.report.family_sentences import elsewise_in, elsewise_under
from tidemark.harness.report.pages import render_run
from tidemark.harness.simulator.execute import execute
from tidemark.nemesis import generate_plan
from tidemark.nodes.core.cluster import ClusterSpec


def test_a_comparison_of_kafkas_variants_has_nothing_to_say():
    assert elsewise_under(["kafka-0.10", "kafka-2.7+no-isr-fence", "no variant of ours"]) == []


def test_a_comparison_tells_once_for_each_family():
    told = elsewise_under(["kafka-2.7", "quorum-hwm", "quorum-hwm+repaired", "raft"])

    assert "quorum-hwm, quorum-hwm+repaired: reassignment is left out: the members of a group never change" in told
    assert "raft: a fault that waits for isr is left out: that never happens" in told
    assert sum("unclean-election is left out" in sentence for sentence in told) == 2


def test_a_run_tells_what_concerned_its_own_plan(tmp_path):
    plan = generate_plan(1, 2, "destructive", ClusterSpec())
    run = execute(plan, "raft")

    assert elsewise_in({}) == ()
    assert elsewise_in(run.history.meta)[0].startswith("left out: fault 4, unclean-election")
    page = render_run(plan.to_json(), run.history, run.verdict, tmp_path).read_text(encoding="utf-8")
    assert "left out: fault 4, unclean-election: nobody can make a server lead" in page
