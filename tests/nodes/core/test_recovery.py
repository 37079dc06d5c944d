"""What a broker starts with, from what lies on its disk (docs/protocol.md, "Storage and crashes")."""

import pytest

from tidemark.nodes.core.recovery import DiskImage, PartitionImage, RecoveryRules, StoredBatch, recover

T = "t-0"


def stored(*batches):
    """Batches as they lie in the file, unharmed."""
    return [StoredBatch(b) for b in batches]


@pytest.fixture(scope="session")
def recovered(batch):
    """Offsets 0-1 of epoch 0, 2 of epoch 1, 3-4 of epoch 3; ``tail`` follows as it lies in the file."""

    def make(*tail, batches=3, epochs=((0, 0), (1, 2), (3, 3)), hws=None, mark=None):
        written = stored(batch(0, 0, 70, 71), batch(2, 1, 72), batch(3, 3, 73, 74))[:batches]
        image = DiskImage({T: PartitionImage([*written, *tail], epochs)}, {T: 2} if hws is None else hws, mark)
        return recover(image)

    return make


def test_everything_written_is_found_again(recovered):
    found = recovered().partitions[T]

    assert [b.base for b in found.batches] == [0, 2, 3]
    assert found.epochs == ((0, 0), (1, 2), (3, 3))
    assert found.hw == 2


def test_a_missing_checkpoint_reads_as_zero(recovered):
    assert recovered(hws={}).partitions[T].hw == 0
    assert recovered(hws={"t-1": 4}).partitions[T].hw == 0


def test_the_high_watermark_never_lies_beyond_the_log(recovered):
    assert recovered(hws={T: 9}).partitions[T].hw == 5
    assert recovered(hws={T: 9}, batches=0).partitions[T].hw == 0


def test_a_batch_written_by_half_ends_the_log(recovered, batch):
    half = StoredBatch(batch(5, 3, 75), sound=False)
    found = recovered(half, *stored(batch(6, 3, 77))).partitions[T]

    assert [b.base for b in found.batches] == [0, 2, 3]


def test_a_batch_of_which_nothing_was_written_ends_it_too(recovered, batch):
    found = recovered(StoredBatch(batch(5, 4), sound=False)).partitions[T]

    assert [b.base for b in found.batches] == [0, 2, 3]
    assert found.epochs == ((0, 0), (1, 2), (3, 3))


def test_a_batch_that_begins_before_the_one_before_ends_ends_it(recovered, batch):
    """KAFKA-3919."""
    found = recovered(*stored(batch(4, 3, 75), batch(8, 3, 76))).partitions[T]

    assert [b.base for b in found.batches] == [0, 2, 3]


def test_the_epoch_of_a_batch_that_was_dropped_goes_with_it(recovered, batch):
    half = StoredBatch(batch(5, 4, 75), sound=False)
    found = recovered(half, epochs=((0, 0), (1, 2), (3, 3), (4, 5))).partitions[T]

    assert found.epochs == ((0, 0), (1, 2), (3, 3))


@pytest.mark.parametrize("mark", [None, 7])
def test_epochs_that_begin_at_or_after_the_logs_end_go(recovered, mark):
    assert recovered(batches=2, mark=mark).partitions[T].epochs == ((0, 0), (1, 2))
    assert recovered(batches=0, mark=mark).partitions[T].epochs == ()


def test_the_epoch_of_a_leader_that_wrote_nothing_goes(recovered):
    assert recovered(epochs=((0, 0), (1, 2), (3, 3), (4, 5))).partitions[T].epochs == ((0, 0), (1, 2), (3, 3))


@pytest.mark.parametrize("epochs", [(), ((0, 0),), ((0, 0), (1, 2))])
def test_epochs_that_only_the_batches_know_are_added(recovered, epochs):
    """KAFKA-10432: epoch 0 as well."""
    assert recovered(epochs=epochs).partitions[T].epochs == ((0, 0), (1, 2), (3, 3))


def test_after_a_clean_shutdown_the_batches_are_not_read(recovered):
    assert recovered(epochs=(), mark=7).partitions[T].epochs == ()


def test_the_mark_is_the_proof_of_a_clean_shutdown(recovered):
    assert recovered(mark=7).clean_broker_epoch == 7
    assert recovered().clean_broker_epoch == -1


def test_a_mark_of_a_broker_that_never_registered_proves_nothing(recovered):
    assert recovered(mark=-1).clean_broker_epoch == -1


def test_an_empty_disk_gives_an_empty_broker():
    found = recover(DiskImage())

    assert (found.partitions, found.clean_broker_epoch) == ({}, -1)


def test_the_image_is_not_changed(batch):
    written = stored(batch(0, 0, 70))
    found = recover(DiskImage({T: PartitionImage(written)}))
    found.partitions[T].batches.clear()

    assert len(written) == 1


def test_a_recovered_broker_has_it(broker, batch):
    one = broker(batches=[batch(0, 0, 70, 71)], hw=1)

    assert (one.replica.leo, one.replica.hw, one.replica.cache.entries()) == (2, 1, ((0, 0),))
    assert one.replica.leader_epoch == -1


def test_0_10_ignores_an_epoch_file(broker, batch):
    one = broker("kafka-0.10", batches=[batch(0, 0, 70)], epochs=((0, 0),))

    assert one.replica.cache.entries() == ()


# The log start


@pytest.fixture(scope="session")
def started(batch):
    """Offsets 5-6 of epoch 2 and 7 of epoch 3 lie in a file that begins at 5; the log start is checkpointed."""

    def make(checkpoint=None, *, batches=2, epochs=((2, 5), (3, 7)), hw=8, base=5, rules=None, mark=None):
        written = stored(batch(5, 2, 75, 76), batch(7, 3, 77))[:batches]
        starts = {} if checkpoint is None else {T: checkpoint}
        image = DiskImage({T: PartitionImage(written, epochs, base)}, {T: hw}, mark, starts)
        return recover(image, rules or RecoveryRules()).partitions[T]

    return make


def test_a_log_starts_where_its_file_begins(started):
    found = started()

    assert (found.start, found.leo, found.epochs, found.hw) == (5, 8, ((2, 5), (3, 7)), 8)


def test_or_where_its_checkpoint_says(started):
    found = started(6)

    assert (found.start, found.leo, found.epochs) == (6, 8, ((2, 6), (3, 7)))
    assert [b.base for b in found.batches] == [5, 7]


def test_a_checkpoint_from_before_retention_is_no_help(started):
    assert started(2).start == 5


def test_an_empty_log_ends_where_its_file_begins(started):
    found = started(batches=0)

    assert (found.start, found.leo, found.epochs, found.hw) == (5, 5, (), 5)


def test_the_high_watermark_is_not_below_the_log_start(started):
    assert started(6, hw=2).hw == 6


def test_a_log_that_ends_below_its_start_is_dropped_and_begins_there(started):
    """KAFKA-8306: the checkpoint was flushed, the batches were not."""
    found = started(9)

    assert (found.batches, found.start, found.leo, found.hw, found.epochs) == ([], 9, 9, 9, ())


def test_before_kafka_8306_it_was_kept(started):
    found = started(9, rules=RecoveryRules(keep_short_logs=True))

    assert ([b.base for b in found.batches], found.start, found.leo, found.hw) == ([5, 7], 9, 8, 8)
    assert found.epochs == ((3, 9),)


def test_a_log_that_ends_at_its_start_is_in_order(started):
    found = started(8)

    assert (found.start, found.leo, [b.base for b in found.batches]) == (8, 8, [5, 7])
    assert found.epochs == ((3, 8),)


def test_what_the_checkpoint_says_is_handed_on():
    assert recover(DiskImage(log_starts={T: 4})).log_starts == {T: 4}


def test_epochs_that_a_crash_has_brought_back_stay_forgotten(started):
    """The log start was not checkpointed yet, the epochs were: Kafka looks for later epochs only."""
    assert started(epochs=((3, 7),)).epochs == ((3, 7),)
    assert started(epochs=((2, 6), (3, 7))).epochs == ((2, 6), (3, 7))


@pytest.mark.parametrize("epochs", [((3, 7),), ((2, 6), (3, 7)), (), ((2, 5), (3, 7), (4, 8))])
def test_unless_all_epochs_are_taken_from_the_batches(started, epochs):
    """The repair of what comes of that (docs/findings/forgotten-log-start.md)."""
    assert started(epochs=epochs, rules=RecoveryRules(rebuild_epochs=True)).epochs == ((2, 5), (3, 7))
    assert started(6, epochs=epochs, rules=RecoveryRules(rebuild_epochs=True)).epochs == ((2, 6), (3, 7))


def test_after_a_clean_stop_the_file_is_believed(started):
    assert started(epochs=((3, 7),), rules=RecoveryRules(rebuild_epochs=True), mark=7).epochs == ((3, 7),)


@pytest.mark.parametrize("mark", [7, None], ids=["clean", "crash"])
@pytest.mark.parametrize("rebuild", [False, True])
def test_the_epoch_of_a_log_whose_records_were_all_deleted_goes_unless_it_is_to_be_kept(started, mark, rebuild):
    """docs/findings/back-below-its-log-start.md."""
    keep = RecoveryRules(rebuild_epochs=rebuild, keep_last_epoch=True)
    for kafka, repaired in ((RecoveryRules(), keep), (RecoveryRules(rebuild_epochs=rebuild), keep)):
        assert started(8, batches=0, base=8, epochs=((3, 8),), rules=kafka, mark=mark).epochs == ()
        assert started(8, batches=0, base=8, epochs=((3, 8),), rules=repaired, mark=mark).epochs == ((3, 8),)


def test_also_of_a_log_that_ends_below_its_start_and_begins_there(started):
    assert started(9, rules=RecoveryRules(keep_last_epoch=True)).epochs == ((3, 9),)


def test_but_no_epoch_that_has_no_record_in_a_log_that_has_some(started):
    found = started(6, epochs=((2, 6), (3, 7), (4, 8)), rules=RecoveryRules(keep_last_epoch=True))

    assert found.epochs == ((2, 6), (3, 7))
