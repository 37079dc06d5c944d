"""What a partition is said to wait for, from what a world shows of it (each world's own tests show real states)."""

from tidemark.harness.runs.at_rest import PartitionView, ReplicaView, refusal, restored, waiting_for

LEADER = ReplicaView("leader", 3, 10, 10, (1, 2))
AT_REST = PartitionView(1, 3, (1, 2), (), (1, 2), {1: LEADER, 2: ReplicaView("follower", 3, 10, 10)})


def with_follower(**changes):
    return AT_REST._replace(brokers={1: LEADER, 2: AT_REST.brokers[2]._replace(**changes)})


def test_at_rest_nothing_is_waited_for():
    assert waiting_for(AT_REST) == ""
    assert restored(AT_REST)


def test_without_a_leader_the_sets_are_told():
    view = AT_REST._replace(leader=-1, isr=(), elr=(2,))

    assert waiting_for(view) == "no leader: ISR [], ELR [2]"


def test_a_replica_nobody_runs():
    assert waiting_for(AT_REST._replace(brokers={1: LEADER, 2: None})) == "broker 2 is not running"


def test_an_older_epoch_comes_before_a_shorter_log():
    assert waiting_for(with_follower(leader_epoch=2, leo=9)) == "broker 2 is in leader epoch 2, not 3"


def test_a_refusal_explains_a_log_that_does_not_grow():
    view = with_follower(leo=9, refused=refusal(8))

    assert waiting_for(view) == (
        "broker 2 has log end 9, the leader 10: it refuses the leader's batch at offset 8 as out of order"
    )
    assert restored(view)


def test_a_high_watermark_below_the_end():
    assert waiting_for(with_follower(hw=8)) == "broker 2 has high watermark 8, the leader's log ends at 10"


def test_a_leader_that_does_not_know_the_isr_yet():
    view = AT_REST._replace(brokers={1: LEADER._replace(isr=(1,)), 2: AT_REST.brokers[2]})

    assert waiting_for(view) == "ISR is [1, 2] (leader: [1]), replicas are [1, 2]"
    assert not restored(view)


def test_nobody_waits_for_who_does_not_run_on_damaged_files():
    leads = LEADER._replace(isr=(1, 2))
    view = AT_REST._replace(brokers={1: leads, 2: None}, damaged=(2,))

    assert waiting_for(view) == "broker 2 is not running"
    assert waiting_for(view.owing()) == ""
    assert waiting_for(view._replace(damaged=(1,)).owing()) == "broker 2 is not running"


def test_who_runs_on_them_is_waited_for_and_may_stay_behind():
    view = with_follower(leo=9)._replace(damaged=(2,))

    assert view.owing() == view
    assert waiting_for(view) == "broker 2 has log end 9, the leader 10"
    assert waiting_for(view.without(view.damaged)) == ""


def test_a_leader_is_never_left_out():
    assert AT_REST.without((1, 2)).replicas == (1,)
