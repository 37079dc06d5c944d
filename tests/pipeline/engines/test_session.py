"""A session of Spark's, as a person sees it who gives up waiting."""

import subprocess
import sys

import pytest


@pytest.mark.spark
@pytest.mark.systems
def test_whoever_stops_a_question_reads_no_traceback() -> None:
    program = (
        "import os, signal, time\n"
        "from threading import Thread\n"
        "from tidemark.pipeline.engines.session import QUICK_START, spark_session\n"
        "spark = spark_session('local[1]', java_options=QUICK_START)\n"
        "def stop():\n"
        "    while not spark.sparkContext.statusTracker().getActiveStageIds():\n"
        "        time.sleep(0.05)\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "Thread(target=stop).start()\n"
        "try:\n"
        "    spark.sql('SELECT max(hash(id)) FROM range(1000000000000)').collect()\n"
        "except KeyboardInterrupt:\n"
        "    print('stopped')\n"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)

    assert (done.returncode, done.stdout) == (0, "stopped\n")
    assert "Traceback" not in done.stderr


@pytest.mark.spark
def test_a_session_that_works_says_nothing() -> None:
    program = (
        "from tidemark.pipeline.engines.session import QUICK_START, spark_session\n"
        "with spark_session('local[1]', java_options=QUICK_START) as spark:\n"
        "    print(spark.sql('SELECT max(id) FROM range(10)').collect()[0][0])\n"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)

    assert (done.returncode, done.stdout, done.stderr) == (0, "9\n", "")
