import asyncio
import struct
from datetime import timedelta

import pytest
from kio.schema.alter_partition_reassignments.v0 import response as altered
from kio.schema.alter_replica_log_dirs.v1 import response as moved
from kio.schema.api_versions.v0.response import ApiVersion, ApiVersionsResponse
from kio.schema.api_versions.v3 import response as with_features
from kio.schema.api_versions.v4 import response as with_all_features
from kio.schema.create_topics.v4 import response as created
from kio.schema.delete_topics.v3 import response as deleted
from kio.schema.elect_leaders.v1 import response as elected
from kio.schema.errors import ErrorCode
from kio.schema.incremental_alter_configs.v0 import response as configs
from kio.schema.list_partition_reassignments.v0 import response as ongoing
from kio.schema.metadata.v7 import response as metadata
from kio.schema.types import BrokerId, TopicName
from kio.schema.update_features.v1 import response as features
from kio.static.primitive import i8, i16, i32, i32Timedelta

from tidemark.nodes.admin.config_file import Address
from tidemark.nodes.formats.wire.codec import API_VERSIONS, codec
from tidemark.nodes.formats.wire.frames import FrameReader, response_frame
from tidemark.nodes.sidecar.operations import ELR_FEATURE, METADATA_FEATURE, Operations
from tidemark.nodes.sidecar.request_connection import (
    ALTER_CONFIGS,
    ALTER_LOG_DIRS,
    ALTER_REASSIGNMENTS,
    CREATE_TOPICS,
    DELETE_TOPICS,
    DESCRIBE_QUORUM,
    ELECT_LEADERS,
    LIST_REASSIGNMENTS,
    METADATA,
    UPDATE_FEATURES,
    VERSIONS,
    OperationError,
)

NOW = i32Timedelta.parse(timedelta(0))
T = TopicName("t")
ALL_FEATURES = {METADATA_FEATURE: (7, 30), "kraft.version": (0, 1), ELR_FEATURE: (0, 1)}
"""Feature → least and greatest level."""
BROKER_APIS = (METADATA, CREATE_TOPICS, DELETE_TOPICS, ELECT_LEADERS, ALTER_REASSIGNMENTS, LIST_REASSIGNMENTS)


class Broker:
    """Answers requests with what a test says: ``answers[key]`` takes the request and gives a response; None: to hang up."""

    def __init__(self, apis=BROKER_APIS):
        self.apis = {key: VERSIONS.get(key, 0) for key in apis}
        self.answers = {}
        self.heard = []
        self.features = {}

    async def __aenter__(self):
        self._tasks = set()
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.address = Address("127.0.0.1", self._server.sockets[0].getsockname()[1])
        return self

    async def __aexit__(self, *_):
        self._server.close()
        await self._server.wait_closed()
        await asyncio.gather(*self._tasks)

    async def _serve(self, reader, writer):
        self._tasks.add(asyncio.current_task())
        frames = FrameReader()
        try:
            while data := await reader.read(1 << 16):
                for frame in frames.feed(data):
                    answer = self._answer(frame)
                    if answer is None:
                        return
                    writer.write(answer)
        except ConnectionResetError:
            """The caller went away with an answer unread."""
        finally:
            writer.close()

    def _answer(self, frame):
        key, version, correlation, length = struct.unpack_from(">hhih", frame)
        how = codec(key, version)
        request = how.read_request(frame, 10 + length + how.flexible_request)
        if key == API_VERSIONS and version:
            response = self._with_features(with_features if version < 4 else with_all_features)
        elif key == API_VERSIONS:
            keys = [ApiVersion(api_key=i16(k), min_version=i16(0), max_version=i16(v)) for k, v in self.apis.items()]
            response = ApiVersionsResponse(error_code=ErrorCode.none, api_keys=tuple(keys))
        else:
            self.heard.append(key)
            response = self.answers[key](request)
        if response is None:
            return None
        if isinstance(response, bytes):
            return struct.pack(">ii", 4 + len(response), correlation) + response
        return response_frame(correlation, how.response_header, how.write_response, response)

    def _with_features(self, told):
        """Version 3 says nothing of features that may be off."""
        supported = tuple(
            told.SupportedFeatureKey(name=name, min_version=i16(least), max_version=i16(newest))
            for name, (least, newest) in self.features.items()
            if least or told is with_all_features
        )
        return told.ApiVersionsResponse(
            error_code=ErrorCode.none, api_keys=(), throttle_time=NOW, supported_features=supported
        )


def run(what):
    return asyncio.run(what())


def asked_of(broker, **options):
    return Operations(broker.address, 1, options.pop("peers", {}), **options)


def cluster(controller, *, error=ErrorCode.none, leader=1):
    """A Metadata response."""
    partition = metadata.MetadataResponsePartition(
        error_code=ErrorCode.none,
        partition_index=i32(0),
        leader_id=BrokerId(leader),
        leader_epoch=i32(4),
        replica_nodes=tuple(map(BrokerId, (1, 2, 3))),
        isr_nodes=tuple(map(BrokerId, (2, 3))),
    )
    topic = metadata.MetadataResponseTopic(
        error_code=error, name=T, partitions=() if error is not ErrorCode.none else (partition,)
    )

    def answer(request):
        return metadata.MetadataResponse(
            throttle_time=NOW,
            brokers=(),
            controller_id=BrokerId(controller),
            topics=(topic,) if request.topics else (),
        )

    return answer


def election(code=ErrorCode.none, message=None, whole=ErrorCode.none):
    result = elected.PartitionResult(partition_id=i32(0), error_code=code, error_message=message)
    results = (elected.ReplicaElectionResult(topic=T, partition_result=(result,)),)
    return lambda _: elected.ElectLeadersResponse(throttle_time=NOW, error_code=whole, replica_election_results=results)


def creation(code=ErrorCode.none, message=None):
    topic = created.CreatableTopicResult(name=T, error_code=code, error_message=message)
    return lambda _: created.CreateTopicsResponse(throttle_time=NOW, topics=(topic,))


def deletion(code=ErrorCode.none):
    result = deleted.DeletableTopicResult(name=T, error_code=code)
    return lambda _: deleted.DeleteTopicsResponse(throttle_time=NOW, responses=(result,))


def alteration(code=ErrorCode.none):
    result = altered.ReassignablePartitionResponse(partition_index=i32(0), error_code=code, error_message=None)
    return altered.AlterPartitionReassignmentsResponse(
        throttle_time=NOW,
        error_code=ErrorCode.none,
        error_message=None,
        responses=(altered.ReassignableTopicResponse(name=T, partitions=(result,)),),
    )


def reassignments(*topics):
    return ongoing.ListPartitionReassignmentsResponse(
        throttle_time=NOW, error_code=ErrorCode.none, error_message=None, topics=topics
    )


UNDER_WAY = ongoing.OngoingTopicReassignment(
    name=T, partitions=(ongoing.OngoingPartitionReassignment(partition_index=i32(0)),)
)


def test_a_topic_is_created_with_its_assignment_and_settings():
    async def main():
        seen = []
        async with Broker() as broker:
            broker.answers = {METADATA: cluster(1), CREATE_TOPICS: lambda r: (seen.append(r), creation()(r))[1]}
            await asked_of(broker).create_topics({"t-0": [1, 2], "t-1": [2, 1]}, {"min.insync.replicas": "2"})
        (topic,) = seen[0].topics
        assert (topic.name, topic.num_partitions, topic.replication_factor) == ("t", -1, -1)
        assert [(a.partition_index, a.broker_ids) for a in topic.assignments] == [(0, (1, 2)), (1, (2, 1))]
        assert [(c.name, c.value) for c in topic.configs] == [("min.insync.replicas", "2")]

    run(main)


def test_a_topic_is_deleted_and_one_that_is_not_there_is_fine():
    async def main():
        seen = []
        async with Broker() as broker:
            broker.answers = {METADATA: cluster(1), DELETE_TOPICS: lambda r: (seen.append(r), deletion()(r))[1]}
            await asked_of(broker).delete_topics(["t"])
            broker.answers[DELETE_TOPICS] = deletion(ErrorCode.unknown_topic_or_partition)
            await asked_of(broker).delete_topics(["t"])
            broker.answers[DELETE_TOPICS] = deletion(ErrorCode.topic_deletion_disabled)
            with pytest.raises(OperationError, match="t cannot be deleted: Kafka answers TOPIC_DELETION_DISABLED"):
                await asked_of(broker).delete_topics(["t"])
        assert seen[0].topic_names == ("t",)

    run(main)


def test_a_topic_that_is_there_is_fine_and_other_errors_are_told_in_kafkas_words():
    async def main():
        async with Broker() as broker:
            broker.answers = {METADATA: cluster(1), CREATE_TOPICS: creation(ErrorCode.topic_already_exists)}
            await asked_of(broker).create_topics({"t-0": [1]}, {})
            broker.answers[CREATE_TOPICS] = creation(ErrorCode.invalid_replica_assignment, "no broker 7.")
            with pytest.raises(OperationError) as caught:
                await asked_of(broker).create_topics({"t-0": [7]}, {})
        assert str(caught.value) == (
            "topic t cannot be created: Kafka answers INVALID_REPLICA_ASSIGNMENT (no broker 7)"
        )
        assert caught.value.kafka == "INVALID_REPLICA_ASSIGNMENT"

    run(main)


def test_with_zookeeper_the_controller_is_asked_whoever_it_is():
    async def main():
        async with Broker() as here, Broker() as there:
            here.answers = {METADATA: cluster(3)}
            there.answers = {ELECT_LEADERS: election()}
            await asked_of(here, peers={3: there.address}).elect_preferred("t-0")
            assert (here.heard, there.heard) == ([METADATA], [ELECT_LEADERS])
            with pytest.raises(OperationError, match="the controller is broker 3, and nobody said where that is"):
                await asked_of(here).elect_preferred("t-0")

    run(main)


def test_a_broker_that_passes_requests_on_is_asked_itself():
    async def main():
        async with Broker((*BROKER_APIS, DESCRIBE_QUORUM)) as broker:
            broker.answers = {ELECT_LEADERS: election()}
            await asked_of(broker).elect_preferred("t-0")
            assert broker.heard == [ELECT_LEADERS]

    run(main)


def test_a_kraft_controller_is_asked_itself_and_knows_no_metadata():
    async def main():
        async with Broker((CREATE_TOPICS, ELECT_LEADERS)) as controller:
            controller.answers = {ELECT_LEADERS: election()}
            await asked_of(controller).elect_unclean("t-0")
            with pytest.raises(OperationError, match="does not take ListPartitionReassignments version 0"):
                await asked_of(controller).is_reassigned("t-0")

    run(main)


def test_who_is_no_controller_any_more_is_not_the_last_to_be_asked():
    async def main():
        async with Broker() as broker:
            answers = [election(whole=ErrorCode.not_controller), election()]
            broker.answers = {METADATA: cluster(1), ELECT_LEADERS: lambda request: answers.pop(0)(request)}  # noqa: PLW0108
            await asked_of(broker).elect_preferred("t-0")
            assert broker.heard == [METADATA, ELECT_LEADERS] * 2

    run(main)


def test_a_cluster_without_controller_is_waited_for_and_given_up():
    async def main():
        async with Broker() as broker:
            broker.answers = {METADATA: cluster(-1)}
            with pytest.raises(OperationError, match=r"the cluster had no controller for 1 s"):
                await asked_of(broker, timeout_s=1.0).elect_preferred("t-0")
            assert len(broker.heard) > 1

    run(main)


def test_an_election_that_kafka_overlooked_is_asked_for_again():
    async def story():
        async with Broker() as broker:
            seen = []
            answers = [election(ErrorCode.request_timed_out), election(ErrorCode.election_not_needed)]
            broker.answers = {
                METADATA: cluster(1),
                ELECT_LEADERS: lambda request: seen.append(request) or answers[len(seen) - 1](request),
            }
            await asked_of(broker).elect_preferred("t-0")

        assert [request.timeout for request in seen] == [timedelta(seconds=4)] * 2

    run(story)


def test_an_election_that_never_ends_is_a_sentence():
    async def story():
        async with Broker() as broker:
            broker.answers = {METADATA: cluster(1), ELECT_LEADERS: election(ErrorCode.request_timed_out)}
            with pytest.raises(OperationError, match=r"there is no preferred election for t-0: .*REQUEST_TIMED_OUT"):
                await asked_of(broker, timeout_s=0.2).elect_preferred("t-0")

    run(story)


@pytest.mark.parametrize(("word", "kind"), [("preferred", 0), ("unclean", 1)])
def test_a_refused_election_is_a_sentence(word, kind):
    async def main():
        seen = []
        async with Broker() as broker:
            answer = election(ErrorCode.election_not_needed, "Leader election not needed")
            broker.answers = {METADATA: cluster(1), ELECT_LEADERS: lambda r: (seen.append(r), answer(r))[1]}
            with pytest.raises(OperationError) as caught:
                await getattr(asked_of(broker), f"elect_{word}")("t-0")
        assert str(caught.value) == (
            f"there is no {word} election for t-0: Kafka answers ELECTION_NOT_NEEDED (Leader election not needed)"
        )
        assert seen[0].election_type == kind

    run(main)


@pytest.mark.parametrize(
    ("ask", "setting", "value"),
    [
        (lambda operations: operations.set_min_isr(["t"], 1), "min.insync.replicas", "1"),
        (lambda operations: operations.allow_unclean(["t"], on=True), "unclean.leader.election.enable", "true"),
        (lambda operations: operations.allow_unclean(["t"], on=False), "unclean.leader.election.enable", "false"),
    ],
)
def test_settings_of_topics_are_set(ask, setting, value):
    async def main():
        seen = []
        async with Broker((*BROKER_APIS, ALTER_CONFIGS)) as broker:
            broker.answers = {METADATA: cluster(1), ALTER_CONFIGS: lambda r: (seen.append(r), configured())[1]}
            await ask(asked_of(broker))
            broker.answers[ALTER_CONFIGS] = lambda _: configured(ErrorCode.invalid_config)
            with pytest.raises(OperationError, match=rf"{setting} of t cannot be set: .*INVALID_CONFIG"):
                await ask(asked_of(broker))
        (resource,) = seen[0].resources
        assert (resource.resource_type, resource.resource_name) == (2, "t")
        assert [(c.name, c.config_operation, c.value) for c in resource.configs] == [(setting, 0, value)]
        assert not seen[0].validate_only

    run(main)


@pytest.mark.parametrize(("on", "level", "kind"), [(True, 1, 1), (False, 0, 2)])
def test_elr_is_switched(on, level, kind):
    async def main():
        seen = []
        async with Broker((*BROKER_APIS, UPDATE_FEATURES)) as broker:
            broker.answers = {METADATA: cluster(1), UPDATE_FEATURES: lambda r: (seen.append(r), updated())[1]}
            await asked_of(broker).switch_elr(on=on)
            broker.answers[UPDATE_FEATURES] = lambda _: updated(ErrorCode.invalid_update_version)
            with pytest.raises(OperationError, match=r"eligible.* cannot be changed: .*INVALID_UPDATE_VERSION"):
                await asked_of(broker).switch_elr(on=on)
        (wanted,) = seen[0].feature_updates
        assert (wanted.feature, wanted.max_version_level, wanted.upgrade_type) == (ELR_FEATURE, level, kind)
        assert not seen[0].validate_only

    run(main)


@pytest.mark.parametrize(
    ("version", "has", "raised"),
    [
        (4, ALL_FEATURES, [(METADATA_FEATURE, 30), (ELR_FEATURE, 1)]),
        (3, ALL_FEATURES, [(METADATA_FEATURE, 30)]),
        (4, {METADATA_FEATURE: (7, 21)}, [(METADATA_FEATURE, 21)]),
    ],
)
def test_what_the_cluster_can_do_is_raised_to_what_the_controller_s_release_has(version, has, raised):
    async def main():
        seen = []
        async with Broker((*BROKER_APIS, UPDATE_FEATURES)) as broker:
            broker.apis[API_VERSIONS] = version
            broker.features = has
            broker.answers = {METADATA: cluster(1), UPDATE_FEATURES: lambda r: (seen.append(r), updated())[1]}
            await asked_of(broker).raise_features()
        wanted = [one for request in seen for one in request.feature_updates]
        assert [(one.feature, one.max_version_level) for one in wanted] == raised
        assert {one.upgrade_type for one in wanted} == {1}

    run(main)


@pytest.mark.parametrize(("rate", "how", "value"), [(1000, 0, "1000"), (0, 1, None)])
def test_moves_of_a_broker_are_throttled_and_not_any_more(rate, how, value):
    async def main():
        seen = []
        async with Broker((*BROKER_APIS, ALTER_CONFIGS)) as broker:
            broker.answers = {ALTER_CONFIGS: lambda r: (seen.append(r), configured())[1]}
            await asked_of(broker).throttle_moves(2, rate)
        (resource,) = seen[0].resources
        assert (resource.resource_type, resource.resource_name) == (4, "2")
        assert [(c.name, c.config_operation, c.value) for c in resource.configs] == [
            ("replica.alter.log.dirs.io.max.bytes.per.second", how, value)
        ]

    run(main)


def test_a_broker_of_an_older_release_keeps_it_from_being_raised():
    async def main():
        async with Broker((*BROKER_APIS, UPDATE_FEATURES)) as broker:
            broker.apis[API_VERSIONS] = 4
            broker.features = ALL_FEATURES
            broker.answers = {
                METADATA: cluster(1),
                UPDATE_FEATURES: lambda _: updated(ErrorCode.invalid_update_version),
            }
            with pytest.raises(OperationError, match=r"metadata.version cannot be changed: .*INVALID_UPDATE_VERSION"):
                await asked_of(broker).raise_features()

    run(main)


def test_a_broker_is_asked_to_move_its_own_replica():
    async def main():
        seen = []
        async with Broker((*BROKER_APIS, ALTER_LOG_DIRS)) as broker:
            broker.answers = {ALTER_LOG_DIRS: lambda r: (seen.append(r), begun())[1]}
            await asked_of(broker).move_log("t-3", "/d/second")
            broker.answers[ALTER_LOG_DIRS] = lambda _: begun(ErrorCode.log_dir_not_found)
            with pytest.raises(OperationError, match=r"t-3 cannot be moved to /d/second: .*LOG_DIR_NOT_FOUND"):
                await asked_of(broker).move_log("t-3", "/d/second")
        (wanted,) = seen[0].dirs
        assert wanted.path == "/d/second"
        assert [(topic.name, topic.partitions) for topic in wanted.topics] == [("t", (3,))]

    run(main)


def begun(error=ErrorCode.none):
    result = moved.AlterReplicaLogDirPartitionResult(partition_index=i32(3), error_code=error)
    return moved.AlterReplicaLogDirsResponse(
        throttle_time=NOW, results=(moved.AlterReplicaLogDirTopicResult(topic_name=T, partitions=(result,)),)
    )


def updated(error=ErrorCode.none):
    result = features.UpdatableFeatureResult(feature=ELR_FEATURE, error_code=error, error_message=None)
    return features.UpdateFeaturesResponse(
        throttle_time=NOW, error_code=ErrorCode.none, error_message=None, results=(result,)
    )


def configured(error=ErrorCode.none):
    result = configs.AlterConfigsResourceResponse(
        error_code=error, error_message=None, resource_type=i8(2), resource_name="t"
    )
    return configs.IncrementalAlterConfigsResponse(throttle_time=NOW, responses=(result,))


def test_a_reassignment_is_waited_for():
    async def main():
        seen = []
        states = [reassignments(UNDER_WAY), reassignments(UNDER_WAY), reassignments()]
        async with Broker() as broker:
            broker.answers = {
                METADATA: cluster(1),
                ALTER_REASSIGNMENTS: lambda r: (seen.append(r), alteration())[1],
                LIST_REASSIGNMENTS: lambda _: states.pop(0),
            }
            await asked_of(broker).reassign("t-0", [2, 3])
        assert [topic.partitions[0].replicas for topic in seen[0].topics] == [(2, 3)]
        assert len(seen) == 1
        assert states == []

    run(main)


def test_a_reassignment_that_does_not_end_is_called_off():
    async def main():
        seen = []
        async with Broker() as broker:
            broker.answers = {
                METADATA: cluster(1),
                ALTER_REASSIGNMENTS: lambda r: (seen.append(r.topics[0].partitions[0].replicas), alteration())[1],
                LIST_REASSIGNMENTS: lambda _: reassignments(UNDER_WAY),
            }
            with pytest.raises(OperationError, match=r"t-0 could not be moved to brokers 2, 3 within 1 s"):
                await asked_of(broker, timeout_s=1.0).reassign("t-0", [2, 3])
        assert seen == [(2, 3), None]

    run(main)


def test_calling_off_nothing_is_fine():
    async def main():
        async with Broker() as broker:
            broker.answers = {
                METADATA: cluster(1),
                ALTER_REASSIGNMENTS: lambda _: alteration(ErrorCode.no_reassignment_in_progress),
            }
            await asked_of(broker).call_off("t-0")
            broker.answers[ALTER_REASSIGNMENTS] = lambda _: alteration(ErrorCode.cluster_authorization_failed)
            with pytest.raises(OperationError, match="CLUSTER_AUTHORIZATION_FAILED"):
                await asked_of(broker).call_off("t-0")

    run(main)


def test_nobody_there_no_answer_and_half_an_answer_are_told_apart():
    async def main():
        async with Broker() as broker:
            broker.answers = {METADATA: lambda _: None}
            with pytest.raises(OperationError, match="hung up before it answered Metadata"):
                await asked_of(broker).is_reassigned("t-0")
            broker.answers = {METADATA: lambda _: b"\0\0\0\0\0\0\0\7"}
            with pytest.raises(OperationError, match=r"answer of 127\.0\.0\.1:[0-9]+ to Metadata cannot be read"):
                await asked_of(broker).is_reassigned("t-0")
        with pytest.raises(OperationError, match="cannot be reached"):
            await asked_of(broker).is_reassigned("t-0")

        async def silent(reader, writer):
            await reader.read()
            writer.close()

        server = await asyncio.start_server(silent, "127.0.0.1", 0)
        async with server:
            address = Address("127.0.0.1", server.sockets[0].getsockname()[1])
            with pytest.raises(OperationError, match=r"did not answer ApiVersions within 0\.1 s"):
                await Operations(address, 1, {}, timeout_s=0.1).is_reassigned("t-0")

    run(main)
