"""A Kafka that somebody built: the jars of all of it, or a few classes that are put in front of a release's jars.

What it is goes by a digest of its files, so that two runs of two builds cannot be taken for each other, whatever their folders are
called.
"""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile, ZipFile, ZipInfo

from tidemark.harness.machines.errors import ImageError
from tidemark.harness.machines.image_build import content_name

HOW = "give an unpacked release of Kafka, as ./gradlew releaseTarGz packs it in a checkout of Kafka"
BROKER = re.compile(r"kafka_2\.\d+-.*\.jar")
CLIENTS = re.compile(r"kafka-clients-.*\.jar")
PROPERTIES = "kafka/kafka-version.properties"
IN_FRONT = "in-front.jar"

Files = list[tuple[str, bytes]]


@dataclass(frozen=True, slots=True)
class KafkaBuild:
    """Jars that are on this computer.

    Attributes:
        path: where they are.
        version: what they call themselves, such as ``4.4.0-SNAPSHOT``; if they stand in front of a release, that release.
        digest: twelve hex digits that stand for the names and contents of the jars.
        in_front: whether they are put in front of a release, and are not the whole of a Kafka.
    """

    path: Path
    version: str
    digest: str
    in_front: bool = False

    @property
    def number(self) -> str:
        """The three numbers of its version."""
        return ".".join(_numbers(self.version))

    @property
    def edition(self) -> str:
        """What images of it are called by."""
        return f"{self.number}-{self.digest}"

    def jars(self) -> Files:
        """``(name, content)`` of its jars, sorted by name.

        Raises:
            ImageError: they are not there any more, or are others by now.
        """
        files = _in_front(self.path) if self.in_front else _whole(self.path)
        if content_name(files) != self.digest:
            raise ImageError(f"{self.path} has changed since this command began: give the command again")
        return files


def whole_build(path: Path) -> KafkaBuild:
    """The Kafka that a folder holds, in ``libs`` as a release has it.

    Raises:
        ImageError: it holds none, or nobody can tell which.
    """
    files = _whole(path)
    return KafkaBuild(path, _version(path, files), content_name(files))


def build_in_front(release: str, path: Path) -> KafkaBuild:
    """Classes that are put in front of a release: a folder of them, or a jar.

    Args:
        release: such as ``4.3.1``.
        path: the folder, or the jar.

    Raises:
        ImageError: there are none.
    """
    return KafkaBuild(path, release, content_name(_in_front(path)), in_front=True)


def _whole(path: Path) -> Files:
    if not path.is_dir():
        raise ImageError(f"there is no folder {path}: {HOW}")
    files = _read(path, sorted((path / "libs").glob("*.jar")))
    if not files:
        raise ImageError(f"{path} has no jars in its folder libs: {HOW}")
    if not any(BROKER.fullmatch(name) for name, _ in files):
        raise ImageError(f"{path}/libs has no broker among its {len(files)} jars, such as kafka_2.13-4.3.1.jar: {HOW}")
    return files


def _in_front(path: Path) -> Files:
    if path.is_dir():
        classes = sorted(path.rglob("*.class"))
        if not classes:
            raise ImageError(f"{path} holds no compiled classes, so there is nothing to put in front of a release")
        return [(IN_FRONT, _jar(path, classes))]
    if path.suffix != ".jar" or not path.is_file():
        raise ImageError(f"there is no folder of classes, and no jar, {path} to put in front of a release")
    return [(IN_FRONT, content) for _, content in _read(path, [path])]


def _jar(folder: Path, classes: list[Path]) -> bytes:
    """Always the same bytes for the same classes. A JVM's archive of classes (class data sharing) wants jars, and no folders."""
    buffer = io.BytesIO()
    with ZipFile(buffer, "w") as jar:
        for name, content in _read(folder, classes):
            jar.writestr(ZipInfo(name), content)
    return buffer.getvalue()


def _read(path: Path, files: list[Path]) -> Files:
    below = path if path.is_dir() else path.parent
    try:
        return [(file.relative_to(below).as_posix().removeprefix("libs/"), file.read_bytes()) for file in files]
    except OSError as error:
        raise ImageError(f"{path} cannot be read: {error}") from None


def _version(path: Path, files: Files) -> str:
    for _, content in (file for file in files if CLIENTS.fullmatch(file[0])):
        try:
            with ZipFile(io.BytesIO(content)) as jar:
                lines = jar.read(PROPERTIES).decode(errors="replace").splitlines()
        except (BadZipFile, KeyError):
            continue
        found = next((line.partition("=")[2].strip() for line in lines if line.startswith("version=")), "")
        if _numbers(found):
            return found
    raise ImageError(
        f"nobody can tell which Kafka {path} is: its jar kafka-clients is missing, or says no version in {PROPERTIES}"
    )


def _numbers(version: str) -> tuple[str, ...]:
    found = re.match(r"(\d+)\.(\d+)\.(\d+)", version)
    return found.groups() if found else ()
