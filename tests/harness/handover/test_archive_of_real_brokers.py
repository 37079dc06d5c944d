"""From a script on real brokers to the archive: nothing is missing, and Kafka's tool reads what is read here."""

import tarfile

import pytest
from click.testing import CliRunner

from tidemark.cli import tidemark

pytestmark = [pytest.mark.docker, pytest.mark.kafka, pytest.mark.systems]


def test_a_script_on_brokers_leaves_all_that_the_archive_needs(kafka_image, tmp_path):
    kafka_image("4.3.1")
    out = tmp_path / "kept"
    played = CliRunner().invoke(
        tidemark, ["scenario", "missed-reign", "--system", "kafka:4.3.1", "--out", str(out)], standalone_mode=False
    )
    folder = out / "missed-reign-kafka-4.0-kafka-4.3.1" / "1"
    made = CliRunner().invoke(tidemark, ["evidence", str(folder)], standalone_mode=False)

    assert played.exception is None, played.output
    assert made.exception is None, made.output
    with tarfile.open(folder / "missed-reign-kafka-4.3.1.tar.gz") as archive:
        files = {member.name.partition("/")[2]: archive.extractfile(member).read() for member in archive}
    page = files["README.md"].decode()
    assert "violation `lost-committed-write`: Record m1" in page
    assert "- `missed-reign` t-0" in page
    assert "Both say the same of every record." in page
    assert "| `broker.session.timeout.ms` | `18000` | `9000` |" in page
    assert b'"type":"PARTITION_CHANGE_RECORD"' in files["controller/dump/__cluster_metadata-0.txt"]
