"""Jars that a system's image is to have: a stage of its build fetches them from Maven's repository, as for Kafka's image."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING

from tidemark.harness.machines.image_build import REFUSED, recipe_files
from tidemark.harness.machines.kafka_image import RECIPE, trusted_certificates

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.harness.systems.outside.real_system import Jar

FOLDER = "/opt/jars"
TRUST = "trust-certificates"
MANUALS = "/usr/share/man/man1"
"""A slim Debian has no such folder, and Java's package wants to put a link there."""
_INSTALL = (
    f"RUN mkdir -p {MANUALS} && apt-get update -q "
    "&& apt-get install -qy --no-install-recommends default-jre-headless maven ca-certificates-java && apt-get clean"
)
_COPY = "mvn --batch-mode --quiet --strict-checksums org.apache.maven.plugins:maven-dependency-plugin:2.8:copy"


def stage_of_jars(jars: Mapping[str, Jar]) -> tuple[list[tuple[str, bytes]], list[str]]:
    """Files of a build's context, and the lines of a stage that fetches these jars and compares them; none for none.

    Raises:
        ImageError: there is no checkout.
    """
    if not jars:
        return [], []
    files = [*recipe_files(RECIPE, (TRUST,)), ("certificates.pem", trusted_certificates())]
    lines = ["FROM ${BELOW} AS jars", _INSTALL, f"COPY certificates.pem {TRUST} {FOLDER}/"]
    lines.append(f"RUN sh {FOLDER}/{TRUST} {FOLDER}/certificates.pem")
    lines += [_fetched(jar, number) for number, jar in enumerate(_in_order(jars).values())]
    return files, lines


def taken_from_stage(jars: Mapping[str, Jar]) -> list[str]:
    """The lines that put them where they are wanted."""
    return [
        f'COPY --from=jars ["{FOLDER}/{number}/{_file(jar)}", "{there}"]'
        for number, (there, jar) in enumerate(_in_order(jars).items())
    ]


def _fetched(jar: Jar, number: int) -> str:
    folder = f"{FOLDER}/{number}"
    fetch = f"{_COPY} -Dartifact={quote(jar.name)} -DoutputDirectory={folder}"
    failed = f"{{ echo {quote(f'{REFUSED}Maven cannot get {jar.name}')}; exit 1; }}"
    if not jar.sha256:
        return f"RUN {fetch} || {failed}"
    other = f"{{ echo {quote(f'{REFUSED}{jar.name} is not what it was when it was looked at')}; exit 1; }}"
    compare = f"echo {quote(f'{jar.sha256}  {folder}/{_file(jar)}')} | sha256sum --check --status"
    return f"RUN {{ {fetch} || {failed}; }} && {{ {compare} || {other}; }}"


def _file(jar: Jar) -> str:
    _, artifact, version = jar.name.split(":")
    return f"{artifact}-{version}.jar"


def _in_order(jars: Mapping[str, Jar]) -> dict[str, Jar]:
    return dict(sorted(jars.items()))
