"""Of whom it is known that they are well: also of brokers that no assignment names."""

from tidemark.checkers.replicas.liveness.who_is_well import WhoIsWell


def test_who_leads_or_comes_into_the_isr_is_looked_at_though_no_assignment_names_it():
    trace = [
        (0, 0, "elect", "t-0", 4, 0, (1,), (), "unclean", False, 0),
        (9, 0, "isr-change", "t-0", (1, 3), (), 1),
    ]
    state = WhoIsWell(trace, [], brokers=[1])

    assert [{*state.well} for _ in state.moments()] == [{1, 4}, {1, 3, 4}]


def test_nobody_who_leads_is_no_broker():
    state = WhoIsWell([(0, 0, "elect", "t-0", -1, 0, (1,), (), "none", True, 0)], [], brokers=[1])

    assert [{*state.well} for _ in state.moments()] == [{1}]


def test_who_shuts_down_is_not_well_until_its_next_life_however_soon_the_fault_is_over():
    trace = [
        (0, 0, "elect", "t-0", 1, 0, (1, 2), (), "initial", True, 0),
        (30, 2, "stop", "", "clean"),
        (40, 2, "start", "", 2),
        (41, 0, "register", "", 2, 2, True),
    ]
    nemesis = [(10, "strike", 0, "restart", {"node": 2, "nodes": [2]}), (20, "heal", 0, "restart", {})]
    state = WhoIsWell(trace, nemesis, brokers=[1, 2])

    well = {time: {*state.well} for time in state.moments()}
    assert well == {0: {1, 2}, 10: {1}, 20: {1}, 30: {1}, 40: {1}, 41: {1, 2}}


def test_whose_session_has_ended_is_not_well_until_it_is_registered_again_or_unfenced():
    """With ZooKeeper nobody is unfenced."""
    trace = [
        (0, 0, "elect", "t-0", 1, 0, (1, 2), (), "initial", True, 0),
        (10, 0, "fence", "", 2),
        (20, 0, "register", "", 2, 3, False),
    ]
    with_zookeeper, with_kraft = (
        WhoIsWell([*trace, *more], [], brokers=[1, 2]) for more in ([], [(30, 0, "unfence", "", 2)])
    )

    assert {time: {*with_zookeeper.well} for time in with_zookeeper.moments()} == {0: {1, 2}, 10: {1}, 20: {1, 2}}
    assert {time: {*with_kraft.well} for time in with_kraft.moments()} == {0: {1, 2}, 10: {1}, 20: {1}, 30: {1, 2}}


def test_who_was_back_before_the_controller_saw_that_it_was_gone_is_well():
    """A bounce (KIP-380); after a clean stop there is none to be seen."""
    elected, registered = (
        (0, 0, "elect", "t-0", 1, 0, (1, 2), (), "initial", True, 0),
        (1, 0, "register", "", 2, 2, True),
    )
    bounced = [(10, 2, "stop", "", "crash"), (11, 2, "start", "", 2), (12, 0, "register", "", 2, 3, False)]
    again = [(10, 2, "stop", "", "clean"), *bounced[1:]]
    well = []
    for life in (bounced, again):
        state = WhoIsWell([elected, registered, *life, (20, 0, "fence", "", 2)], [], brokers=[1, 2])
        well.append({time: {*state.well} for time in state.moments()})

    assert [one[12] for one in well] == [{1, 2}, {1, 2}]
    assert [one[20] for one in well] == [{1, 2}, {1}]


def test_who_is_restarted_to_mend_its_log_directory_is_not_well_until_its_next_life():
    trace = [
        (0, 0, "elect", "t-0", 1, 0, (1, 2), (), "initial", True, 0),
        (30, 2, "stop", "", "clean"),
        (40, 2, "start", "", 2),
        (41, 0, "register", "", 2, 2, True),
    ]
    detail = {"node": 2, "other": False}
    nemesis = [(10, "strike", 0, "fail-log-dir", detail), (20, "heal", 0, "fail-log-dir", {"restarts": [2]})]
    state = WhoIsWell(trace, nemesis, brokers=[1, 2], holds_back={"fail-log-dir": "node"})

    well = {time: {*state.well} for time in state.moments()}
    assert well == {0: {1, 2}, 10: {1}, 20: {1}, 30: {1}, 40: {1}, 41: {1, 2}}


def test_a_log_that_was_lost_with_its_directory_is_that_of_one_partition():
    trace = [
        (0, 0, "elect", "t-0", 1, 0, (1, 2), (), "initial", True, 0),
        (30, 2, "stop", "", "clean"),
        (31, 2, "log-lost", "t-0", "first"),
        (35, 1, "stop", "", "disk"),
    ]
    state = WhoIsWell(trace, [], brokers=[1, 2])
    for _ in state.moments():
        pass

    lost = {(broker, name) for broker in (1, 2) for name in ("t-0", "t-1") if state.lost_its_log(broker, name)}
    assert lost == {(1, "t-0"), (1, "t-1"), (2, "t-0")}


def test_who_has_no_process_as_it_is_to_shut_down_is_well_once_it_is_back():
    trace = [
        (0, 0, "elect", "t-0", 1, 0, (1, 2), (), "initial", True, 0),
        (5, 2, "stop", "", "crash"),
        (40, 2, "start", "", 2),
        (41, 0, "register", "", 2, 2, True),
    ]
    nemesis = [(10, "strike", 0, "restart", {"node": 2, "nodes": [2]}), (20, "heal", 0, "restart", {})]
    state = WhoIsWell(trace, nemesis, brokers=[1, 2])

    assert [{*state.well} for _ in state.moments()][-1] == {1, 2}


def test_whose_messages_are_late_is_not_well_until_the_last_may_have_arrived():
    trace = [
        (time, 0, "elect", "t-0", 1, epoch, (1, 2), (), "initial", True, epoch) for epoch, time in enumerate((0, 90))
    ]
    nemesis = [(10, "strike", 0, "slow", {"node": 2, "amount": 30}), (20, "heal", -1, "all", {})]
    state = WhoIsWell(trace, nemesis, brokers=[1, 2], holds_back={"slow": "late"})

    assert {time: {*state.well} for time in state.moments()} == {0: {1, 2}, 10: {1}, 50: {1, 2}, 90: {1, 2}}
