import pytest

from nodes.core.epoch_cache import NO_EPOCH_END, EpochEnd
from nodes.core.messages import UNKNOWN_LEADER_EPOCH, EpochRequest, EpochResponse
from nodes.formats.wire.codec import codec
from nodes.formats.wire.names import MeaninglessError
from nodes.process.wire import translate_epoch

ASKED = EpochRequest(2, "t-1", 4, 5, 1 << 40)


def test_a_question_arrives(body_bytes):
    body = body_bytes(23, 3, translate_epoch.request(ASKED))
    assert translate_epoch.message(codec(23, 3).read_request(body, 0), 7) == EpochRequest(2, "t-1", 4, 5, 7)


@pytest.mark.parametrize(
    ("end", "error"),
    [(EpochEnd(3, 11), None), (EpochEnd(-1, 11), None), (NO_EPOCH_END, None), (NO_EPOCH_END, UNKNOWN_LEADER_EPOCH)],
)
def test_an_answer_arrives(body_bytes, end, error):
    body = body_bytes(23, 3, translate_epoch.response(EpochResponse(1, "t-1", 7, end, error)), "response")
    answer = translate_epoch.answer(codec(23, 3).read_response(body, 0), ASKED, 1)
    assert answer == EpochResponse(1, "t-1", ASKED.correlation, end, error)


def test_an_answer_about_another_partition_is_none():
    with pytest.raises(MeaninglessError, match="another partition"):
        translate_epoch.answer(translate_epoch.response(EpochResponse(1, "t-0", 7, NO_EPOCH_END)), ASKED, 1)
