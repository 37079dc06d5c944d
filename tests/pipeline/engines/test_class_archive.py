"""What `tidemark.pipeline.engines.class_archive` and the shim promise, with a shell script in Java's place."""

import os
import re
import subprocess
import time
from pathlib import Path

import pytest

from tidemark.pipeline.engines.class_archive import GIVEN_UP_S, archive_options
from tidemark.pipeline.engines.java import ensure_java_home

SPARK = Path("/opt/pyspark")


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The shim of a Java that writes what it is told to archive, echoes its input, and exits with $STATUS."""
    java = tmp_path / "jdk" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(
        "#!/bin/sh\n"
        'if [ "$1" = -XshowSettings:properties ]; then\n'
        f"    printf 'java.home = {tmp_path}/jdk\\njava.specification.version = 17\\njava.vm.version = 17.0.1\\n' >&2\n"
        "    exit\nfi\n"
        'for option; do case $option in -XX:ArchiveClassesAtExit=*) echo classes > "${option#*=}" ;; esac; done\n'
        "cat\n"
        'exit "$STATUS"\n'
    )
    java.chmod(0o755)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache of mine"))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "jdk"))
    return ensure_java_home()


def run(home: Path, options: str, status: int = 0) -> subprocess.CompletedProcess[str]:
    written = re.findall(r'"([^"]*)"', options)
    environment = os.environ | {"STATUS": str(status)}
    return subprocess.run(
        [home / "bin" / "java", *written],
        input="word",
        capture_output=True,
        check=False,
        env=environment,
        text=True,
    )


def options(home: Path, *, make: bool = True, version: str = "4") -> str:
    return archive_options(home, SPARK, version, make=make)


def test_the_first_that_may_writes_it_and_later_ones_use_it(home: Path) -> None:
    assert options(home, make=False) == ""
    first = options(home)
    assert "-XX:ArchiveClassesAtExit=" in first
    assert options(home) == ""  # somebody is at it

    done = run(home, first)

    assert (done.returncode, done.stdout) == (0, "word")
    later = options(home, make=False)
    (archive,) = re.findall(r'"-XX:SharedArchiveFile=([^"]*)"', later)
    assert Path(archive).read_text() == "classes\n"
    assert options(home, version="5", make=False) == ""
    assert [path.name for path in home.glob("*.new")] == []


def test_an_archive_that_is_not_whole_is_no_archive(home: Path) -> None:
    assert run(home, options(home), status=137).returncode == 137

    assert options(home, make=False) == ""
    assert [path.name for path in home.glob("*.new")] == []


def test_who_never_wrote_it_is_not_waited_for_for_ever(home: Path) -> None:
    options(home)
    (marker,) = home.glob(".*.making")
    long_ago = time.time() - GIVEN_UP_S - 1
    os.utime(marker, (long_ago, long_ago))

    assert "-XX:ArchiveClassesAtExit=" in options(home)
    assert options(home) == ""


def test_a_java_without_our_shim_has_none(home: Path) -> None:
    assert archive_options(home.parent.parent, SPARK, "4", make=True) == ""


def test_an_update_of_java_has_an_archive_of_its_own(home: Path, tmp_path: Path) -> None:
    java = tmp_path / "jdk" / "bin" / "java"
    java.write_text(java.read_text().replace("17.0.1", "17.0.2"))
    os.environ["JAVA_HOME"] = str(tmp_path / "jdk")

    assert ensure_java_home() != home
