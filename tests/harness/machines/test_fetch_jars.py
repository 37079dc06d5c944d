"""What the recipe says when Maven does not give a Kafka: in Maven's own words, as it printed them."""

import os
import subprocess
from pathlib import Path

import pytest

FETCH = Path(__file__).parents[3] / "docker" / "kafka" / "fetch-jars"


def printed(artifact):
    """What Maven 3.8.7 prints about an artifact that its repository does not have, but for the progress of downloads."""
    group, name, version = artifact.split(":")
    return f"""\
[INFO] Scanning for projects...
[INFO]
[INFO] --------------------------< tidemark:broker >---------------------------
[INFO] Building broker 1
[INFO] --------------------------------[ pom ]---------------------------------
[WARNING] The POM for {group}:{name}:jar:{version} is missing, no dependency information available
[INFO] ------------------------------------------------------------------------
[INFO] BUILD FAILURE
[INFO] ------------------------------------------------------------------------
[INFO] Total time:  15.924 s
[INFO] Finished at: 2026-11-22T07:53:15Z
[INFO] ------------------------------------------------------------------------
[ERROR] Failed to execute goal on project broker: Could not resolve dependencies for project tidemark:broker:pom:1: Could not \
find artifact {group}:{name}:jar:{version} in central (https://repo.maven.apache.org/maven2) -> [Help 1]
[ERROR]
[ERROR] To see the full stack trace of the errors, re-run Maven with the -e switch.
"""


NO_NETWORK = """\
[INFO] Scanning for projects...
[ERROR] Failed to execute goal on project broker: Could not resolve dependencies for project tidemark:broker:pom:1: Failed to \
collect dependencies: Could not transfer artifact org.apache.kafka:kafka_2.13:pom:4.1.1 from/to central \
(https://repo.maven.apache.org/maven2): repo.maven.apache.org: Temporary failure in name resolution -> [Help 1]
"""


@pytest.fixture
def fetch(tmp_path):
    """Runs the recipe with a Maven that says what it is told to say, and fails."""

    def fetch(version, said):
        programs = tmp_path / "bin"
        programs.mkdir()
        (programs / "mvn").write_text(f"#!/bin/sh\ncat <<'END'\n{said}END\nexit 1\n")
        (programs / "mvn").chmod(0o755)
        path = f"{programs}:{os.environ['PATH']}"
        command = ["sh", str(FETCH), version, str(tmp_path / "libs")]
        return subprocess.run(
            command, env={"PATH": path, "HOME": str(tmp_path)}, capture_output=True, text=True, check=False
        )

    return fetch


@pytest.mark.parametrize(
    ("version", "said", "why"),
    [
        (
            "9.9.9",
            printed("org.apache.kafka:kafka_2.13:9.9.9"),
            "there is no Kafka 9.9.9: Maven's repository has no org.apache.kafka:kafka_2.13:9.9.9",
        ),
        (
            "4.4.0",
            printed("org.apache.kafka:kafka-tools-api:4.4.0"),
            (
                "Kafka 4.4.0 cannot be had from Maven, whose repository lacks one of its own jars, "
                "org.apache.kafka:kafka-tools-api:jar:4.4.0: use another version, or take a ready image (--ready)"
            ),
        ),
        (
            "4.1.1",
            printed("org.slf4j:slf4j-simple:1.7.36"),
            (
                "Maven cannot get Kafka 4.1.1, so connect builds to the network or take a ready image (--ready): "
                "Could not find artifact org.slf4j:slf4j-simple:jar:1.7.36 in central (https://repo.maven.apache.org/maven2)"
            ),
        ),
        (
            "4.1.1",
            NO_NETWORK,
            (
                "Maven cannot get Kafka 4.1.1, so connect builds to the network or take a ready image (--ready): "
                "Could not transfer artifact org.apache.kafka:kafka_2.13:pom:4.1.1 from/to central "
                "(https://repo.maven.apache.org/maven2): repo.maven.apache.org: Temporary failure in name resolution"
            ),
        ),
    ],
)
def test_why_there_are_no_jars_is_one_sentence(fetch, version, said, why):
    done = fetch(version, said)

    assert (done.returncode, done.stdout, done.stderr) == (1, f"tidemark: {why}\n", "")
