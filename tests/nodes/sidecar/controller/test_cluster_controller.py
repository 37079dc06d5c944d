import asyncio
import json
import time
from dataclasses import replace

import pytest

from tidemark.nodes.admin.port import CommandError
from tidemark.nodes.sidecar.config import SidecarConfig
from tidemark.nodes.sidecar.controller import cluster_controller
from tidemark.nodes.sidecar.controller.cluster_controller import ClusterController
from tidemark.nodes.sidecar.request_connection import OperationError


class Kafka:
    """Stands for the cluster behind the requests: carries them out in the metadata log, as a KRaft controller would. Of what it is
    asked of coordinators' partitions it keeps no more than a list.
    """

    def __init__(self, folder, metadata):
        folder.mkdir(parents=True)
        self._path = folder / f"{0:020}.log"
        self._metadata = metadata
        self._written = 0
        self.asked, self.of_coordinators = [], []
        self.replicas, self.leader = (1, 2, 3), 1
        self.refuse, self.refuse_with = "", "REFUSED"
        self.refused_raises, self.raised = 3, asyncio.Event()

    def log(self, *records, time_ms=5000):
        with self._path.open("ab") as file:
            file.write(self._metadata.batch(self._written, *records, time_ms=time_ms))
        self._written += len(records)

    def _ask(self, *what):
        self.asked.append(what)
        if self.refuse in what:
            raise OperationError(f"there is no election: Kafka answers {self.refuse_with}", self.refuse_with)

    async def create_topics(self, assignment, configs):
        self._ask("create", dict(assignment), dict(configs))
        self.log(self._metadata.topic(), self._metadata.partition())

    async def delete_topics(self, topics):
        self._ask("delete", *topics)
        self.log(self._metadata.remove_topic())

    async def reassign(self, partition, replicas, *, wait=True):
        if partition.startswith("__"):
            self.of_coordinators.append((partition, *replicas))
            return
        self._ask("reassign", *replicas)
        if not wait:
            self.begin(replicas)
            await asyncio.sleep(0.05)  # meanwhile the log is looked at
            return
        self.replicas = tuple(replicas)
        self.log(self._metadata.change(replicas=replicas))

    async def set_min_isr(self, topics, min_isr):
        self._ask("min ISR", *topics, min_isr)
        self.log(self._metadata.config("min.insync.replicas", str(min_isr)))

    async def allow_unclean(self, topics, *, on):
        self._ask("unclean", *topics, on)
        self.log(self._metadata.config("unclean.leader.election.enable", str(on).lower()))

    async def switch_elr(self, *, on):
        self._ask("ELR", on)
        self.log(self._metadata.feature("eligible.leader.replicas.version", int(on)))

    async def raise_features(self):
        self.asked.append("raise")
        if self.asked.count("raise") < self.refused_raises:
            raise OperationError("brokers of an older release are there", "INVALID_UPDATE_VERSION")
        self.log(self._metadata.feature("eligible.leader.replicas.version", 1))
        self.raised.set()

    def begin(self, replicas):
        """What comes and what goes is under way, and stays so."""
        adding, removing = set(replicas) - set(self.replicas), set(self.replicas) - set(replicas)
        self.log(self._metadata.change(replicas=(*replicas, *removing), adding=adding, removing=removing))

    async def elect_preferred(self, partition):
        if partition.startswith("__"):
            self.of_coordinators.append((partition, "preferred"))
            if self.refuse == partition:
                raise OperationError("Kafka does not elect it", self.refuse_with)
            return
        self._ask("preferred")
        self.log(self._metadata.change(leader=self.replicas[0]))

    async def elect_unclean(self, partition):
        self._ask("unclean")
        self.log(self._metadata.change(leader=self.replicas[0], isr=self.replicas[:1]))


@pytest.fixture
def config(tmp_path):
    return SidecarConfig.from_json(
        {
            "node": 0, "incarnation": 1, "version": "3.9.1", "role": "kraft-controller", "properties": {}, "heap": "1m",
            "libs": "/libs", "partitions": {"t-0": [1, 2, 3]}, "kafka": "127.0.0.1:1", "admin": "127.0.0.1:2",
            "data": str(tmp_path / "data"), "trace": str(tmp_path / "trace"), "process": str(tmp_path / "pid"),
        }
    )  # fmt: skip


@pytest.fixture
def kafka(tmp_path, metadata):
    kafka = Kafka(tmp_path / "data" / "__cluster_metadata-0", metadata)
    kafka.log(*(metadata.register(broker, broker, fenced=False) for broker in (1, 2, 3)))
    return kafka


@pytest.fixture
def trace():
    return []


@pytest.fixture
def run(config, kafka, trace):
    """Runs ``what(controller)`` on a cluster whose t-0 is led by 1."""

    def run(what, coordinators=None):
        async def main():
            here = replace(config, coordinators=coordinators or {})
            controller = ClusterController(here, trace.extend, pytest.fail, kafka)
            await controller.start()
            try:
                await controller.create_topics({"t-0": [1, 2, 3]}, {"min.insync.replicas": 2})
                return await what(controller)
            finally:
                await controller.close()

        return asyncio.run(main())

    return run


async def nothing(controller):
    return controller.status()


def elections(trace):
    return [(entry[4], entry[5], entry[8]) for entry in trace if entry[2] == "elect"]


def test_what_is_decided_is_traced_and_shown(run, kafka, trace):
    status = run(nothing)
    assert [(entry[1], entry[2]) for entry in trace] == [(0, "register"), (0, "unfence")] * 3 + [(0, "elect")]
    assert status["partitions"]["t-0"]["leader"] == 1
    assert status["sessions"]["3"]["live"]
    assert kafka.asked == [("create", {"t-0": [1, 2, 3]}, {"min.insync.replicas": "2"})]


def test_decisions_have_the_times_of_the_log_but_never_go_back_or_ahead(run, kafka, metadata, trace):
    now_ms = time.time_ns() // 1_000_000
    kafka.log(metadata.fence(3), time_ms=now_ms - 1000)
    kafka.log(metadata.fence(2), time_ms=now_ms - 5000)
    kafka.log(metadata.fence(1), time_ms=now_ms + 3_600_000)
    began_us = time.monotonic_ns() // 1000
    run(nothing)
    ended_us = time.monotonic_ns() // 1000
    third, second, first = (entry[0] for entry in trace if entry[2] == "fence")
    assert second == third
    assert first <= ended_us
    assert third < began_us - 900_000


def test_a_forced_election_puts_the_target_first_and_the_order_back(run, kafka, trace):
    assert run(lambda c: c.elect("t-0", "forced", 3)) == {"leader": 3, "leader_epoch": 1}
    assert kafka.asked[1:] == [("reassign", 3, 1, 2), ("preferred",), ("reassign", 1, 2, 3)]
    assert elections(trace)[1:] == [(3, 1, "forced")]


def test_a_preferred_election_is_of_the_first_replica(run, kafka, trace):
    async def twice(controller):
        await controller.elect("t-0", "forced", 2)
        return await controller.elect("t-0", "preferred", -1)

    assert run(twice) == {"leader": 1, "leader_epoch": 2}
    assert elections(trace)[-1] == (1, 2, "preferred")
    assert kafka.asked[-1] == ("preferred",)


COORDINATORS = {"__of-0": (1, 2, 3), "__of-1": (3, 1, 2)}


def test_coordinators_go_where_an_operator_sends_the_leader(run, kafka, trace):
    assert run(lambda c: c.elect("t-0", "forced", 3), COORDINATORS) == {"leader": 3, "leader_epoch": 1}
    assert kafka.of_coordinators == [
        ("__of-0", 3, 1, 2), ("__of-0", "preferred"), ("__of-0", 1, 2, 3), ("__of-1", "preferred"),
    ]  # fmt: skip
    assert elections(trace)[1:] == [(3, 1, "forced")]


def test_coordinators_go_there_also_if_the_leader_is_there_already(run, kafka):
    kafka.refuse = "__of-1"
    with pytest.raises(CommandError, match="leads t-0 already"):
        run(lambda c: c.elect("t-0", "preferred", -1), COORDINATORS)
    assert kafka.of_coordinators == [("__of-0", "preferred"), ("__of-1", "preferred")]


def test_a_coordinator_whom_kafka_does_not_elect_keeps_the_order_of_its_replicas(run, kafka):
    kafka.refuse = "__of-0"
    run(lambda c: c.elect("t-0", "forced", 3), {"__of-0": (1, 2, 3)})
    assert kafka.of_coordinators == [("__of-0", 3, 1, 2), ("__of-0", "preferred"), ("__of-0", 1, 2, 3)]


def test_where_nobody_answers_for_one_coordinator_none_is_asked_for_the_next(run, kafka):
    kafka.refuse, kafka.refuse_with = "__of-0", ""
    assert run(lambda c: c.elect("t-0", "forced", 3), COORDINATORS) == {"leader": 3, "leader_epoch": 1}
    assert {partition for partition, *_ in kafka.of_coordinators} == {"__of-0"}


def test_an_unclean_election_is_of_no_coordinators(run, kafka, metadata):
    async def unclean(controller):
        kafka.log(metadata.change(leader=-1))
        return await controller.elect("t-0", "unclean", 1)

    run(unclean, COORDINATORS)
    assert kafka.of_coordinators == []


def test_topics_of_which_nothing_is_traced_are_not_waited_for(run, kafka, monkeypatch):
    monkeypatch.setattr(cluster_controller, "SEEN_S", 3600.0)

    async def create(controller):
        await asyncio.wait_for(controller.create_topics({"__of-0": [1, 2, 3]}, {}), 60)

    run(create)
    assert kafka.asked[-1] == ("create", {"__of-0": [1, 2, 3]}, {})


def test_an_unclean_election_needs_no_other_order_for_the_first_live_replica(run, kafka, metadata, trace):
    async def unclean(controller):
        kafka.log(metadata.change(isr=(1,), leader=-1), metadata.fence(1))
        kafka.replicas = (2, 1, 3)  # the first live one is what Kafka would elect
        return await controller.elect("t-0", "unclean", 2)

    assert run(unclean)["leader"] == 2
    assert kafka.asked[1:] == [("unclean",)]
    assert elections(trace)[-1] == (2, 2, "unclean")


@pytest.mark.parametrize(
    ("how", "target", "words"),
    [
        ("forced", 1, "broker 1 leads t-0 already"),
        ("preferred", -1, "broker 1 leads t-0 already"),
        ("unclean", 2, "Kafka holds an unclean election only where nobody leads, and broker 1 leads t-0"),
    ],
)
def test_what_kafka_would_refuse_is_not_asked(run, kafka, how, target, words):
    with pytest.raises(CommandError, match=words):
        run(lambda c: c.elect("t-0", how, target))
    assert len(kafka.asked) == 1


def test_a_target_that_is_not_in_sync_or_not_live_is_refused(run, kafka, metadata):
    async def lagging(controller):
        kafka.log(metadata.change(isr=(1, 2)))
        await controller.elect("t-0", "forced", 3)

    async def fenced(controller):
        kafka.log(metadata.fence(2))
        await controller.elect("t-0", "forced", 2)

    with pytest.raises(CommandError, match="broker 3 is not in sync"):
        run(lagging)
    with pytest.raises(CommandError, match="broker 2 is not live"):
        run(fenced)


def test_a_refused_election_leaves_the_order_as_it_was_and_the_next_one_is_not_told_as_asked_for(
    run, kafka, metadata, trace
):
    async def refused(controller):
        kafka.refuse = "preferred"
        with pytest.raises(CommandError, match="Kafka answers REFUSED"):
            await controller.elect("t-0", "forced", 2)
        kafka.log(metadata.change(leader=2))
        return controller.status()

    assert run(refused)["partitions"]["t-0"]["replicas"] == (1, 2, 3)
    assert elections(trace)[-1] == (2, 1, "online")


def test_reassignment(run, kafka):
    run(lambda c: c.reassign("t-0", [2, 3]))
    assert kafka.asked[1:] == [("reassign", 2, 3)]


def test_a_reassignment_may_go_on_when_it_was_asked_for(run, kafka, trace):
    async def begun(controller):
        await controller.reassign("t-0", [2, 3, 4], wait=False)
        return controller.status()["partitions"]["t-0"]

    state = run(begun)
    assert (state["replicas"], state["adding"], state["removing"]) == ((2, 3, 4, 1), (4,), (1,))
    assert [entry[3:] for entry in trace if entry[2] == "reassign"] == [("t-0", (2, 3, 4, 1), (4,), (1,))]


def orders(trace):
    return [entry[2:] for entry in trace if entry[2] in ("ordered", "reassign")]


def test_an_order_is_traced_before_what_it_brings_about(run, trace):
    run(lambda c: c.reassign("t-0", [2, 3, 4], wait=False))

    assert orders(trace) == [
        ("ordered", "t-0", (2, 3, 4), True),
        ("reassign", "t-0", (2, 3, 4, 1), (4,), (1,)),
    ]
    assert [entry[0] for entry in trace] == sorted(entry[0] for entry in trace)


def test_an_order_that_brings_nothing_about_is_traced_as_well(run, kafka, trace, monkeypatch):
    """KRaft writes nothing where nothing changes."""
    monkeypatch.setattr(kafka, "begin", lambda replicas: None)
    monkeypatch.setattr(cluster_controller, "SEEN_S", 0)
    run(lambda c: c.reassign("t-0", [2, 3], wait=False))

    assert orders(trace) == [("ordered", "t-0", (2, 3), True)]


def test_to_take_back_what_is_under_way_is_an_order_of_no_replicas(run, kafka, metadata, trace):
    async def taken_back(controller):
        await controller.reassign("t-0", [2, 3, 4], wait=False)
        kafka.begin = lambda replicas: kafka.log(metadata.change(replicas=(1, 2, 3), adding=(), removing=()))
        await controller.reassign("t-0", [], wait=False)

    run(taken_back)
    assert orders(trace)[2:] == [("ordered", "t-0", (), True), ("reassign", "t-0", (1, 2, 3), (), ())]


def test_a_refused_order_is_not_traced(run, kafka, trace):
    async def refused(controller):
        kafka.refuse, kafka.refuse_with = 7, "INVALID_REPLICA_ASSIGNMENT"
        with pytest.raises(CommandError, match="Kafka answers INVALID_REPLICA_ASSIGNMENT"):
            await controller.reassign("t-0", [2, 7], wait=False)

    run(refused)
    assert orders(trace) == []


@pytest.mark.parametrize("error", ["", "NOT_CONTROLLER", "REQUEST_TIMED_OUT", "UNKNOWN_SERVER_ERROR"])
def test_an_order_that_nobody_answered_may_have_been_taken(run, kafka, trace, error):
    async def unanswered(controller):
        kafka.refuse, kafka.refuse_with = 4, error
        with pytest.raises(CommandError):
            await controller.reassign("t-0", [2, 3, 4], wait=False)

    run(unanswered)
    assert orders(trace) == [("ordered", "t-0", (2, 3, 4), False)]


def test_another_order_of_the_replicas_for_an_election_is_no_operators(run, trace):
    run(lambda c: c.elect("t-0", "forced", 3))

    assert orders(trace) == []


def test_while_it_goes_on_nobody_is_elected_who_would_need_another_order_of_replicas(run, kafka):
    """For another order is another reassignment, which would take the place of the one that is under way."""

    async def elect(controller):
        await controller.reassign("t-0", [2, 3, 4], wait=False)
        with pytest.raises(CommandError, match="t-0 is being reassigned"):
            await controller.elect("t-0", "forced", 3)
        kafka.replicas = (2, 3, 4, 1)
        return await controller.elect("t-0", "preferred", -1)

    assert run(elect)["leader"] == 2
    assert kafka.asked[1:] == [("reassign", 2, 3, 4), ("preferred",)]


def test_only_a_replica_can_be_elected(run, kafka):
    async def refused(controller):
        with pytest.raises(CommandError, match="target must be a replica of t-0, not 4"):
            await controller.elect("t-0", "forced", 4)

    run(refused)
    assert kafka.asked[1:] == []


def test_a_second_reader_tells_nothing_again(run, config, kafka, trace, tmp_path):
    run(nothing)
    (tmp_path / "trace").write_text("".join(f'[0,0,"{entry[2]}",""]\n' for entry in trace))
    trace.clear()

    async def again():
        controller = ClusterController(config, trace.extend, pytest.fail, kafka)
        await controller.start()
        status = controller.status()
        await controller.close()
        return status

    assert asyncio.run(again())["partitions"]["t-0"]["leader"] == 1
    assert trace == []


def test_min_isr_is_set_and_what_comes_of_it_is_traced(run, kafka, trace):
    async def set_min_isr(controller):
        return await controller.set_min_isr(["t"], 1)

    assert run(set_min_isr) == {}
    assert kafka.asked[-1] == ("min ISR", "t", 1)
    assert [entry[1:] for entry in trace if entry[2] == "min-isr"] == [(0, "min-isr", "", 1)]


def test_unclean_elections_are_allowed_and_that_is_traced(run, kafka, trace):
    async def allow_unclean(controller):
        return await controller.allow_unclean(["t"], on=True)

    assert run(allow_unclean) == {}
    assert kafka.asked[-1] == ("unclean", "t", True)
    assert [entry[1:] for entry in trace if entry[2] == "unclean-switch"] == [(0, "unclean-switch", "", True)]


def test_elr_is_switched_and_that_is_traced(run, kafka, trace):
    async def switch_elr(controller):
        return await controller.switch_elr(on=False)

    assert run(switch_elr) == {}
    assert kafka.asked[-1] == ("ELR", False)
    assert [entry[1:] for entry in trace if entry[2] == "elr-switch"] == [(0, "elr-switch", "", False)]


def test_in_an_upgrade_features_are_raised_as_soon_as_kafka_permits_it(config, kafka, trace, monkeypatch):
    monkeypatch.setattr(cluster_controller, "RAISE_S", 0.001)

    async def main(config):
        controller = ClusterController(config, trace.extend, pytest.fail, kafka)
        await controller.start()
        await controller.create_topics({"t-0": [1, 2, 3]}, {"min.insync.replicas": 2})
        if config.raises_features:
            await asyncio.wait_for(kafka.raised.wait(), 10)
        await asyncio.sleep(0.05)
        await controller.close()

    asyncio.run(main(config))
    assert "raise" not in kafka.asked

    asyncio.run(main(replace(config, raises_features=True)))
    assert kafka.asked.count("raise") == 3
    assert [entry[1:] for entry in trace if entry[2] == "elr-switch"] == [(0, "elr-switch", "", True)]


def test_a_refusal_of_a_min_isr_is_told(run, kafka):
    kafka.refuse = "min ISR"

    async def set_min_isr(controller):
        with pytest.raises(CommandError, match="REFUSED"):
            await controller.set_min_isr(["t"], 1)

    run(set_min_isr)


def test_a_new_run_is_told_who_is_there_and_a_later_sidecar_tells_it_no_more(config, run, kafka, trace):
    """The trace begins again: it must not tell the last run's elections, also not when the controller's machine comes back."""

    async def two_runs(controller):
        await controller.elect("t-0", "forced", 3)
        await controller.delete_topics(["t"])
        assert controller.status()["partitions"] == {}
        controller.begin_again(trace.clear)
        assert [entry[2:] for entry in trace] == [
            event
            for broker in (1, 2, 3)
            for event in (("register", "", broker, broker, False), ("unfence", "", broker))
        ]
        await controller.create_topics({"t-0": [1, 2, 3]}, {"min.insync.replicas": 2})

    run(two_runs)
    assert kafka.asked[-2:] == [("delete", "t"), ("create", {"t-0": [1, 2, 3]}, {"min.insync.replicas": "2"})]
    assert elections(trace) == [(1, 0, "initial")]

    config.trace.write_text("".join(json.dumps(entry) + "\n" for entry in trace))
    again = ClusterController(config, trace.extend, pytest.fail, kafka)
    told = len(trace)
    again.status()
    assert len(trace) == told
    assert again.status()["partitions"]["t-0"]["leader_epoch"] == 0
