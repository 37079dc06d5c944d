"""A full disk is told with its cause, however deep it lies in what Spark says."""

from pathlib import Path

import pytest

from tidemark.pipeline.campaign.campaign import _why

TEXT = """An error occurred while calling z:org.apache.spark.api.python.PythonRDD.collectAndServe.
: org.apache.spark.SparkException: Job aborted due to stage failure: Task 3 in stage 0.0 failed 3 times
Traceback (most recent call last):
  File "chunk.py", line 1, in run_chunk
OSError: [Errno {number}] {words}

\tat org.apache.spark.api.python.BasePythonRunner
"""


@pytest.mark.parametrize(("number", "words"), [(28, "No space left on device"), (122, "Disk quota exceeded")])
def test_a_full_disk_is_said(number: int, words: str) -> None:
    said = _why(RuntimeError(TEXT.format(number=number, words=words)), Path("here"))

    assert said.startswith(f"The disk is full (OSError: [Errno {number}] {words}); what is finished is kept: make room")


def test_something_else_is_told_as_it_is() -> None:
    said = _why(RuntimeError(TEXT.format(number=13, words="Permission denied")), Path("here"))

    assert said == "Spark gave up: OSError: [Errno 13] Permission denied"
