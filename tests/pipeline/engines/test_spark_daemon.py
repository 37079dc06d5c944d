"""What Spark's Python workers say when nothing is wrong, and when something is."""

import subprocess
import sys

import pytest

from tidemark.pipeline.engines.spark_daemon import print_error


@pytest.mark.parametrize(("error", "said"), [(BrokenPipeError(32, "Broken pipe"), False), (ValueError("no"), True)])
def test_a_closed_connection_is_no_error_and_all_else_is_told(error, said, capsys):
    try:
        raise error
    except type(error):
        print_error()

    assert ("Traceback" in capsys.readouterr().err) == said


def test_as_a_module_it_is_sparks_daemon():
    """Which begins by telling the port that it listens on; its end is that of its standard input."""
    ended = subprocess.run(
        [sys.executable, "-m", "tidemark.pipeline.engines.spark_daemon", "pyspark.worker"],
        input=b"",
        capture_output=True,
        check=False,
        timeout=60,
    )

    assert len(ended.stdout) >= 4, ended.stderr
    assert b"Traceback" not in ended.stderr


def test_sessions_on_this_machine_start_it(spark):
    assert spark.sparkContext.getConf().get("spark.python.daemon.module") == "tidemark.pipeline.engines.spark_daemon"
    assert spark.sparkContext.parallelize(range(4), 2).map(lambda number: number + 1).sum() == 10
