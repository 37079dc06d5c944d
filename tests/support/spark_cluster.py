"""A standalone Spark cluster of processes on loopback: a master, and workers that can be killed."""

import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pyspark

from tidemark.pipeline.engines.java import ensure_java_home

PATIENCE_S = 90
SPARK_HOME = Path(pyspark.__file__).parent
SMALL = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


class SparkCluster:
    """Ends what it started. Each worker has a folder and a group of processes of its own, and one core.

    Args:
        root: their folders go here.
        workers: how many.
        environment: of the workers and what they start.
    """

    def __init__(self, root, workers=2, environment=None):
        self.root = Path(root)
        self.count = workers
        self.workers = []
        self._processes = []
        ensure_java_home()
        self._environment = {
            name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYSPARK", "SPARK"))
        } | {
            "SPARK_HOME": str(SPARK_HOME),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_DAEMON_JAVA_OPTS": SMALL,
            "SPARK_DAEMON_MEMORY": "256m",
            **(environment or {}),
        }

    def __enter__(self):
        self.root.mkdir(parents=True, exist_ok=True)
        log, process = self._start("master", "master.Master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
        self.master = self._wait_for(process, log, r"Starting Spark master at (spark://\S+)")
        for _ in range(self.count):
            self.add_worker()
        return self

    def __exit__(self, *_):
        for process in self._processes:
            kill_group(process)
            process.wait()

    def add_worker(self):
        """One more; returns when the master has it."""
        name = f"worker-{len(self.workers)}"
        words = ("--host", "127.0.0.1", "--webui-port", "0", "--cores", "1", "--memory", "1g")
        log, process = self._start(
            name, "worker.Worker", *words, "--work-dir", str(self.root / name / "work"), self.master
        )
        self.workers.append(process)
        self._wait_for(process, log, r"(Successfully registered with master)")

    def kill_worker(self, which):
        """SIGKILL for the worker and everything it started."""
        for pid in below(self.workers[which].pid):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue

    def _start(self, name, what, *words):
        folder = self.root / name
        folder.mkdir()
        log = folder / "log"
        with log.open("w") as out:
            process = subprocess.Popen(
                [SPARK_HOME / "bin" / "spark-class", f"org.apache.spark.deploy.{what}", *words],
                cwd=folder,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._processes.append(process)
        return log, process

    def _wait_for(self, process, log, pattern):
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until and process.poll() is None:
            found = re.search(pattern, log.read_text())
            if found:
                return found[1]
            time.sleep(0.1)
        self.__exit__()
        raise AssertionError(log.read_text())


def kill_group(process):
    """SIGKILL for a process and everything it started."""
    for pid in below(process.pid):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


def below(pid):
    """A process and its children, theirs and so on. (Python workers of Spark leave their parent's group.)"""
    found = [pid]
    for one in found:
        for thread in Path(f"/proc/{one}/task").glob("*/children"):
            try:
                found += map(int, thread.read_text().split())
            except OSError:
                continue
    return found
