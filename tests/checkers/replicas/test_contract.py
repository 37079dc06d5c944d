"""Each promise just before and just after it is void, for one committed record that broker 3 then lacks as leader."""

import pytest

from tidemark.checkers import History, check

P = "t-0"

COMMITTED = [
    (0, 0, "elect", P, 1, 1, (1, 2), (), "initial", True, 0),
    (10, 1, "lead", P, 1, 0, 0, (1, 2)),
    (20, 1, "append", P, 0, 1, (7,)),
    (21, 2, "append", P, 0, 1, (7,)),
    (30, 1, "hw", P, 1, 1, True),
]
LOST = [
    (80, 0, "elect", P, 3, 2, (3,), (), "online", True, 1),
    (90, 3, "lead", P, 2, 0, 0, (3,)),
]


def judged(*between, contract="documented", before=(), min_isr=2):
    """How the loss is judged if `between` happens between the commit and the loss."""
    history = History.of(trace=[*before, *COMMITTED, *between, *LOST], min_isr=min_isr, unclean_election=True)
    (anomaly,) = check(history, contract).named("lost-committed-write")
    return anomaly.verdict, anomaly.clause, anomaly.breaks


ALL = ("documented", "kip-966", "durable")


@pytest.mark.parametrize("contract", ALL)
def test_without_any_fault_every_promise_is_broken(contract):
    assert judged(contract=contract) == ("violation", None, ALL)


@pytest.mark.parametrize("how", ["crash", "power", "disk", "damage", "fatal"])
def test_kip_966_outlives_one_unclean_shutdown_with_two_in_sync_required(how):
    verdict = judged((40, 1, "stop", "", how), contract="kip-966")

    assert verdict == ("violation", None, ALL)


@pytest.mark.parametrize("how", ["crash", "power", "disk", "damage", "fatal"])
def test_kip_966_is_void_after_two_unclean_shutdowns(how):
    verdict, clause, _ = judged((40, 1, "stop", "", how), (41, 2, "stop", "", how), contract="kip-966")

    assert (verdict, clause) == ("permitted", "unclean-shutdowns>=min-isr")


def test_kip_966_counts_replicas_and_not_shutdowns():
    verdict, _, _ = judged(
        (40, 1, "stop", "", "crash"), (41, 1, "start", "", 2), (42, 1, "stop", "", "crash"), contract="kip-966"
    )

    assert verdict == "violation"


def test_kip_966_does_not_count_a_replica_that_never_held_the_record():
    verdict, _, _ = judged((40, 1, "stop", "", "crash"), (41, 3, "stop", "", "crash"), contract="kip-966")

    assert verdict == "violation"


def test_kip_966_does_not_count_a_replica_that_had_truncated_the_record_before():
    verdict, _, _ = judged(
        (40, 2, "truncate", P, 0, 1, "epoch", 1),
        (41, 1, "stop", "", "crash"),
        (42, 2, "stop", "", "crash"),
        contract="kip-966",
    )

    assert verdict == "violation"


def test_kip_966_counts_a_replica_that_truncated_the_record_only_afterwards():
    verdict, _, _ = judged(
        (41, 1, "stop", "", "crash"),
        (42, 2, "stop", "", "crash"),
        (43, 2, "start", "", 2),
        (44, 2, "truncate", P, 0, 1, "epoch", 1),
        contract="kip-966",
    )

    assert verdict == "permitted"


def test_kip_966_does_not_count_shutdowns_before_the_commit():
    verdict, _, _ = judged(
        (41, 1, "stop", "", "crash"),
        before=[(0, 2, "start", "", 1), (1, 2, "stop", "", "crash"), (2, 2, "start", "", 2)],
        contract="kip-966",
    )

    assert verdict == "violation"


def test_clean_shutdowns_break_nothing_but_documented():
    verdict = judged((40, 1, "stop", "", "clean"), (41, 2, "stop", "", "clean"))

    assert verdict == ("permitted", "no-live-isr-member", ("kip-966", "durable"))


def test_durable_outlives_crashes_because_the_page_cache_does():
    verdict = judged((40, 1, "stop", "", "crash"), (41, 2, "stop", "", "crash"), contract="durable")

    assert verdict == ("violation", None, ("durable",))


@pytest.mark.parametrize("how", ["power", "disk"])
def test_durable_is_void_after_min_isr_lost_logs(how):
    verdict = judged((40, 1, "stop", "", how), (41, 2, "stop", "", how), contract="durable")

    assert verdict == ("permitted", "lost-logs>=min-isr", ())


def test_a_log_that_was_lost_with_its_log_directory_counts_as_one_lost_with_the_disk():
    stops = (40, 1, "stop", "", "clean"), (42, 2, "stop", "", "clean")

    assert judged(*stops, (41, 1, "log-lost", P, "first"), (43, 2, "log-lost", P, "second"), contract="durable") == (
        "permitted",
        "lost-logs>=min-isr",
        (),
    )
    assert judged(*stops, (41, 1, "log-lost", P, "first"), contract="durable")[0] == "violation"


def test_one_lost_log_is_enough_with_one_in_sync_required():
    verdict, clause, _ = judged((40, 1, "stop", "", "power"), contract="durable", min_isr=1)

    assert (verdict, clause) == ("permitted", "lost-logs>=min-isr")


def test_documented_holds_while_one_isr_member_is_alive():
    assert judged((40, 1, "stop", "", "power"))[0] == "violation"


def test_documented_holds_if_the_members_were_down_one_after_the_other():
    verdict, _, _ = judged((40, 1, "stop", "", "power"), (50, 1, "start", "", 2), (60, 2, "stop", "", "power"))

    assert verdict == "violation"


def test_documented_is_void_once_all_members_were_down_at_the_same_time():
    verdict, clause, breaks = judged(
        (40, 1, "stop", "", "power"), (50, 2, "stop", "", "crash"), (51, 2, "start", "", 2), (60, 1, "start", "", 2)
    )

    assert (verdict, clause, breaks) == ("permitted", "no-live-isr-member", ("durable",))


def test_a_paused_member_is_alive():
    assert judged((40, 1, "stop", "", "crash"), (41, 2, "pause", ""))[0] == "violation"


def test_members_that_left_the_isr_do_not_keep_the_promise_alive():
    verdict, clause, _ = judged((40, 0, "isr-change", P, (1,), (), 1), (50, 1, "stop", "", "clean"))

    assert (verdict, clause) == ("permitted", "no-live-isr-member")


def test_an_empty_isr_has_no_live_member():
    verdict, clause, _ = judged((40, 0, "isr-change", P, (), (1,), 1))

    assert (verdict, clause) == ("permitted", "no-live-isr-member")


def test_an_isr_that_is_empty_for_no_time_is_not_empty():
    verdict, _, _ = judged((40, 0, "isr-change", P, (), (1,), 1), (40, 0, "isr-change", P, (1,), (), 2))

    assert verdict == "violation"


def test_all_members_down_before_the_commit_is_no_excuse():
    verdict, _, _ = judged(
        before=[
            (0, 0, "elect", P, 1, 0, (1, 2), (), "initial", True, 0),
            (1, 1, "stop", "", "crash"),
            (2, 2, "stop", "", "crash"),
            (3, 1, "start", "", 2),
            (4, 2, "start", "", 2),
        ]
    )

    assert verdict == "violation"


REGISTERED = [(0, 1, "start", "", 1), (0, 2, "start", "", 1), (0, 0, "register", "", 1, 1, True)]
REGISTERED += [(0, 0, "register", "", 2, 2, True)]


def test_a_bounced_member_is_not_alive_until_the_controller_accepts_its_new_incarnation():
    verdict, clause, _ = judged(
        (40, 1, "stop", "", "power"),
        (41, 1, "start", "", 2),
        (45, 2, "stop", "", "power"),
        before=REGISTERED,
    )

    assert (verdict, clause) == ("permitted", "no-live-isr-member")


def test_a_bounced_member_that_was_accepted_is_alive():
    verdict, _, _ = judged(
        (40, 1, "stop", "", "power"),
        (41, 1, "start", "", 2),
        (42, 0, "register", "", 1, 3, False),
        (45, 2, "stop", "", "power"),
        before=REGISTERED,
    )

    assert verdict == "violation"


@pytest.mark.parametrize("contract", ALL)
def test_an_unclean_election_after_the_commit_permits_the_loss_under_every_promise(contract):
    verdict = judged((40, 0, "elect", P, 3, 2, (3,), (), "unclean", False, 1), contract=contract)

    assert verdict == ("permitted", "unclean-election", ())


def test_an_unclean_election_before_the_commit_does_not():
    verdict, _, _ = judged(before=[(0, 0, "elect", P, 1, 0, (1,), (), "unclean", False, 0)])

    assert verdict == "violation"


def test_an_unclean_election_of_another_partition_does_not():
    assert judged((40, 0, "elect", "t-1", 3, 2, (3,), (), "unclean", False, 1))[0] == "violation"


def test_the_last_known_leader_is_no_excuse_of_its_own():
    verdict = judged((40, 0, "elect", P, 3, 2, (3,), (), "last-known", False, 1), contract="kip-966")

    assert verdict == ("violation", None, ALL)


def test_what_a_deposed_leader_commits_after_an_unclean_election_may_go():
    """Broker 1, alone in its ISR, has not heard that broker 2 was elected from outside."""
    history = History.of(
        trace=[
            (10, 1, "lead", P, 1, 0, 0, (1,)),
            (15, 0, "elect", P, 2, 2, (2,), (), "unclean", False, 1),
            (20, 1, "append", P, 0, 1, (7,)),
            (30, 1, "hw", P, 1, 1, True),
            (40, 2, "lead", P, 2, 0, 0, (2,)),
        ],
        unclean_election=True,
    )

    (anomaly,) = check(history).named("lost-committed-write")
    assert (anomaly.verdict, anomaly.clause) == ("permitted", "unclean-election")


def test_the_promise_begins_with_an_acks_all_acknowledgement_that_precedes_the_high_watermark():
    from tidemark.checkers import sent

    trace = [
        (0, 0, "elect", P, 1, 1, (1,), (), "initial", True, 0),
        (10, 1, "lead", P, 1, 0, 0, (1,)),
        (20, 1, "append", P, 0, 1, (7,)),
        (24, 2, "append", P, 0, 1, (7,)),
        (25, 2, "stop", "", "power"),
        (26, 2, "start", "", 2),
        (27, 2, "recovered", P, 1, 0, 0),
        (30, 1, "hw", P, 1, 1, True),
        *LOST,
    ]

    before = check(History.of(trace=trace, ops=[sent(22, "p1", P, 7, 0)]), "durable").named("lost-committed-write")
    after = check(History.of(trace=trace, ops=[sent(35, "p1", P, 7, 0)]), "durable").named("lost-committed-write")
    assert [one.verdict for one in (*before, *after)] == ["permitted", "violation"]


def test_the_run_chooses_its_promise_and_the_caller_may_choose_another():
    trace = [*COMMITTED, (40, 1, "stop", "", "crash"), (41, 2, "stop", "", "crash"), *LOST]
    history = History.of(trace=trace, contract="durable", min_isr=2)

    assert check(history).contract == "durable"
    assert check(history).valid == "invalid"
    assert check(history, "kip-966").named("lost-committed-write")[0].verdict == "permitted"


def test_an_unknown_promise_is_refused():
    with pytest.raises(ValueError, match="there is no promise 'eternal'"):
        check(History.of(), "eternal")


EARLY = [(0, 0, "elect", P, 1, 1, (1, 2), (), "initial", True, 0), (10, 1, "lead", P, 1, 0, 0, (1, 2))]
WRITTEN = [(20, 1, "append", P, 0, 1, (7,)), (21, 2, "append", P, 0, 1, (7,))]
COMMIT = [(30, 1, "hw", P, 1, 1, True)]
FIRST_LOSS = [(40, 1, "stop", "", "disk")]


def judged_with_a_loss_before_the_commit(*before_commit):
    trace = [*EARLY, *WRITTEN, *before_commit, *COMMIT, *FIRST_LOSS, *LOST]
    (anomaly,) = check(History.of(trace=trace, min_isr=2), "durable").named("lost-committed-write")
    return anomaly.verdict, anomaly.clause


def test_a_copy_that_died_while_its_acknowledgement_was_under_way_counts_as_lost():
    verdict = judged_with_a_loss_before_the_commit((25, 2, "stop", "", "disk"))

    assert verdict == ("permitted", "lost-logs>=min-isr")


def test_so_does_one_whose_process_came_back_empty_before_the_commit():
    verdict = judged_with_a_loss_before_the_commit(
        (25, 2, "stop", "", "disk"), (26, 2, "start", "", 2), (27, 2, "recovered", P, 0, 0, 1)
    )

    assert verdict == ("permitted", "lost-logs>=min-isr")


def test_a_copy_that_was_fetched_again_before_the_commit_does_not():
    verdict = judged_with_a_loss_before_the_commit(
        (25, 2, "stop", "", "disk"),
        (26, 2, "start", "", 2),
        (27, 2, "recovered", P, 0, 0, 1),
        (28, 2, "append", P, 0, 1, (7,)),
    )

    assert verdict == ("violation", None)


def test_another_record_at_its_offset_is_not_the_copy():
    verdict = judged_with_a_loss_before_the_commit(
        (25, 2, "stop", "", "disk"),
        (26, 2, "start", "", 2),
        (27, 2, "recovered", P, 0, 0, 1),
        (28, 2, "append", P, 0, 2, (8,)),
    )

    assert verdict == ("permitted", "lost-logs>=min-isr")


def test_nor_does_one_that_recovery_found_whole():
    verdict = judged_with_a_loss_before_the_commit(
        (25, 2, "stop", "", "power"), (26, 2, "start", "", 2), (27, 2, "recovered", P, 1, 0, 0)
    )

    assert verdict == ("violation", None)


RETURNED = [(25, 2, "stop", "", "crash"), (26, 2, "start", "", 2), (27, 2, "recovered", P, 1, 0, 0)]
SHRUNK = (28, 0, "isr-change", P, (1,), (), 1)


@pytest.mark.parametrize(
    ("registered", "also", "promise", "verdict"),
    [
        (29, [], "kip-966", "violation"),  # known to have shut down uncleanly before the record was committed
        (35, [], "kip-966", "permitted"),
        (35, [SHRUNK], "kip-966", "violation"),  # nobody counted on it any more
        (35, [], "durable", "violation"),  # its log was never lost
    ],
)
def test_kip_966_counts_a_member_of_the_isr_that_died_before_its_fetch_committed_the_record(
    registered, also, promise, verdict
):
    started = [(1, 0, "register", "", 1, 0, False), (2, 0, "register", "", 2, 0, False)]
    again = (registered, 0, "register", "", 2, 1, False)
    trace = sorted([*EARLY, *started, *WRITTEN, *RETURNED, *also, again, *COMMIT, (40, 1, "stop", "", "crash"), *LOST])
    (anomaly,) = check(History.of(trace=trace, min_isr=2), promise).named("lost-committed-write")

    assert anomaly.verdict == verdict


# A promise begins anew when all replicas have the record again

BOTH = {"t-0": [1, 2]}
UNCLEAN = [
    (40, 0, "elect", P, 2, 2, (2,), (), "unclean", False, 1),
    (41, 2, "lead", P, 2, 1, 1, (2,)),
    (42, 1, "follow", P, 2, 2, 1, 1),
]
WHOLE_AGAIN = [(50, 0, "isr-change", P, (1, 2), (), 2)]
LOST_BY_2 = [
    (60, 2, "truncate", P, 0, 1, "a bug", 2),
]


def later(*between, contract="documented", replicas=BOTH):
    """How it is judged that broker 2, which leads, cuts the record off, after what happened since the commit."""
    trace = [*COMMITTED, *between, *LOST_BY_2]
    history = History.of(trace=trace, min_isr=2, replicas=replicas, unclean_election=True)
    (anomaly,) = check(history, contract).named("lost-committed-write")
    return anomaly.verdict, anomaly.clause, anomaly.evidence["whole_time"]


def test_an_unclean_election_excuses_nothing_once_all_replicas_have_the_record_under_its_leader():
    assert later(*UNCLEAN) == ("permitted", "unclean-election", 30)
    assert later(*UNCLEAN, *WHOLE_AGAIN) == ("violation", None, 50)


STOPS = [
    (43, 1, "stop", "", "power"),
    (44, 1, "start", "", 2),
    (45, 2, "stop", "", "power"),
    (46, 2, "start", "", 2),
    (47, 2, "lead", P, 3, 1, 1, (2,)),
]


@pytest.mark.parametrize(
    ("contract", "clause"),
    [
        ("documented", "no-live-isr-member"),
        ("kip-966", "unclean-shutdowns>=min-isr"),
        ("durable", "lost-logs>=min-isr"),
    ],
)
def test_no_promise_is_void_for_ever(contract, clause):
    stops = [(35, 0, "isr-change", P, (1,), (), 1), *STOPS]
    assert later(*stops, contract=contract)[:2] == ("permitted", clause)
    assert later(*stops, *WHOLE_AGAIN, contract=contract) == ("violation", None, 50)


@pytest.mark.parametrize(
    "not_whole",
    [
        pytest.param([], id="the ISR is not full"),
        pytest.param([(49, 1, "stop", "", "clean"), *WHOLE_AGAIN], id="a member is down"),
        pytest.param([(49, 1, "truncate", P, 0, 1, "why not", 2), *WHOLE_AGAIN], id="a member has not got it"),
        pytest.param(
            [(48, 1, "append", P, 1, 2, (98, 99)), (49, 2, "hw", P, 3, 2, True), *WHOLE_AGAIN],
            id="the leader's high watermark is beyond its log",
        ),
    ],
)
def test_it_does_not_begin_anew_where_something_is_missing(not_whole):
    assert later(*UNCLEAN, *not_whole)[:2] == ("permitted", "unclean-election")


def test_nor_where_a_replica_is_missing_of_which_nothing_was_ever_heard():
    assert later(*UNCLEAN, *WHOLE_AGAIN, replicas={"t-0": [1, 2, 3]})[:2] == ("permitted", "unclean-election")


def test_what_was_lost_with_permission_and_came_back_can_be_lost_again():
    """Broker 3, elected uncleanly, does not have it; broker 1 brings it back; broker 3 is elected cleanly."""
    trace = [
        *COMMITTED,
        (40, 0, "elect", P, 3, 2, (3,), (), "unclean", False, 1),
        (41, 3, "lead", P, 2, 0, 0, (3,)),
        (50, 0, "elect", P, 1, 3, (1,), (), "unclean", False, 2),
        (51, 1, "lead", P, 3, 1, 1, (1,)),
        (52, 3, "append", P, 0, 1, (7,)),
        (53, 0, "isr-change", P, (1, 2, 3), (), 3),
        (54, 1, "hw", P, 1, 3, True),
        (60, 3, "truncate", P, 0, 1, "a bug", 3),
        (70, 0, "elect", P, 3, 4, (1, 2, 3), (), "forced", True, 4),
        (71, 3, "lead", P, 4, 0, 0, (1, 2, 3)),
    ]
    history = History.of(trace=trace, min_isr=2, replicas={P: [1, 2, 3]}, unclean_election=True)
    verdict = check(history)

    assert [(one.time, one.verdict) for one in verdict.named("lost-committed-write")] == [
        (41, "permitted"),
        (71, "violation"),
    ]
    assert verdict.valid == "invalid"


@pytest.mark.parametrize(
    ("between", "expected"),
    [
        pytest.param([], ("violation", None), id="the ISR was alive all the time"),
        pytest.param(
            [(15, 3, "stop", "", "disk"), (18, 3, "start", "", 2)], ("permitted", "no-live-isr-member"), id="it was not"
        ),
    ],
)
def test_what_a_deposed_leader_commits_is_promised_since_it_was_deposed(between, expected):
    """Broker 1 commits record 7 on the word of broker 3, which has lost its log since, and leads."""
    trace = [
        (0, 0, "elect", P, 1, 1, (1, 3), (), "initial", True, 0),
        (1, 1, "lead", P, 1, 0, 0, (1, 3)),
        (2, 1, "append", P, 0, 1, (7,)),
        (10, 0, "elect", P, 3, 2, (3,), (), "online", True, 1),
        *between,
        (20, 3, "lead", P, 2, 0, 0, (3,)),
        (30, 1, "hw", P, 1, 1, True),
    ]
    (anomaly,) = check(History.of(trace=trace, min_isr=1), "documented").named("lost-committed-write")

    assert (anomaly.verdict, anomaly.clause) == expected


def test_what_befell_the_isr_while_it_still_led_does_not_count():
    """The ISR was dead for a moment under the leader that commits later."""
    trace = [
        (0, 0, "elect", P, 1, 1, (1,), (), "initial", True, 0),
        (1, 1, "stop", "", "clean"),
        (5, 1, "start", "", 2),
        (6, 1, "lead", P, 1, 0, 0, (1,)),
        (7, 1, "append", P, 0, 1, (7,)),
        (10, 0, "elect", P, 3, 2, (1, 3), (), "online", True, 1),
        (20, 3, "lead", P, 2, 0, 0, (1, 3)),
        (30, 1, "hw", P, 1, 1, True),
    ]
    (anomaly,) = check(History.of(trace=trace, min_isr=1), "documented").named("lost-committed-write")

    assert anomaly.verdict == "violation"


def judged_by_majority(*stops):
    history = History.of(
        trace=[*COMMITTED, *stops, *LOST], min_isr=2, isr=False, contract="majority", replicas={P: [1, 2, 3]}
    )
    (anomaly,) = check(history).named("lost-committed-write")
    return anomaly.verdict, anomaly.clause


def test_majority_outlives_damage_to_a_minority_and_not_to_a_majority():
    one, two = ((40 + node, node, "stop", "", "damage") for node in (1, 2))

    assert judged_by_majority(one) == ("violation", None)
    assert judged_by_majority(one, two) == ("permitted", "damaged>=majority")
    assert judged_by_majority(one, (45, 3, "stop", "", "disk")) == ("permitted", "lost-disk")


def test_durable_counts_damage_as_a_lost_log():
    one, two = ((40 + node, node, "stop", "", "damage") for node in (1, 2))

    assert judged(one, contract="durable")[:2] == ("violation", None)
    assert judged(one, two, contract="durable")[:2] == ("permitted", "lost-logs>=min-isr")
