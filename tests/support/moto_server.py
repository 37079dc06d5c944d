"""A real S3 server in a process of its own, on a free port of loopback: moto, which `make tools` installs."""

import json
import os
import re
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(sys.prefix, "moto")
ROOT = ("root", "rootsecret")


@dataclass(frozen=True)
class MotoServer:
    """Where it listens, and its process."""

    url: str
    process: subprocess.Popen[str]

    def reset(self) -> None:
        """Forget everything, and let everybody in again."""
        self._post("reset")
        self.let_in("inf")

    def let_in(self, requests: str) -> None:
        """After so many requests more, everybody needs credentials and permission."""
        self._post("reset-auth", requests)

    def ask(self, code: str, **names: str) -> dict[str, str]:
        """Run Python with `s3` and `iam`, root's clients of boto3, and what it puts into `answer`."""
        program = (
            "import boto3, json, sys\nnames = json.loads(sys.argv[1])\nanswer = {}\n"
            "options = dict(endpoint_url=names['url'], region_name='us-east-1', aws_access_key_id=names['key'],"
            " aws_secret_access_key=names['secret'])\ns3, iam = boto3.client('s3', **options), boto3.client('iam', **options)\n"
            f"{code}\nprint(json.dumps(answer))"
        )
        given = json.dumps({"url": self.url, "key": ROOT[0], "secret": ROOT[1], **names})
        done = subprocess.run(
            [sys.executable, "-c", program, given], env=_environment(), capture_output=True, text=True, check=True
        )
        return json.loads(done.stdout)

    def _post(self, what: str, body: str = "") -> None:
        headers = {"Content-Type": "text/plain"}
        asked = urllib.request.Request(f"{self.url}/moto-api/{what}", body.encode(), headers, method="POST")
        with urllib.request.urlopen(asked, timeout=60) as answer:
            answer.read()


@contextmanager
def moto_server() -> Iterator[MotoServer]:
    """Start one, and end it."""
    command = [sys.executable, "-u", "-m", "moto.server", "-H", "127.0.0.1", "-p", "0"]
    with subprocess.Popen(
        command, env=_environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            lines = iter(process.stdout.readline, "")
            url = next(found[0] for line in lines if (found := re.search(r"http://127\.0\.0\.1:\d+", line)))
            threading.Thread(target=lambda: [None for _ in lines], daemon=True).start()
            yield MotoServer(url, process)
        finally:
            process.kill()


def _environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(FOLDER)}
