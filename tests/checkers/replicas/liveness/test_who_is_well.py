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
