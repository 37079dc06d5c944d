"""The node image is named by what goes into it, and so never stale."""

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest
from docker.errors import APIError, ImageNotFound
from told_of_images import Told

from tidemark.harness.machines import base_image, image_build, images, node_code
from tidemark.harness.machines.errors import ContainerWorldError, ImageError
from tidemark.harness.machines.images import build_images, ensure_image, list_images
from tidemark.harness.machines.node_code import PROBE, PythonPlatform, code_files, site_packages, tar_of

ROOT = Path(__file__).parents[3]


def quiet(sentence):
    """Say nothing."""


@pytest.fixture
def told():
    """A list that fills with what is said."""
    return []


@pytest.fixture
def cache(monkeypatch, tmp_path):
    """An empty cache folder."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "tidemark"


# What goes in


def test_there_is_no_python_in_the_folder_docker():
    assert list((ROOT / "docker").rglob("*.py")) == []


def test_the_code_is_that_of_the_installed_package():
    files = dict(code_files())

    assert files["tidemark/nodes/core/broker.py"] == (ROOT / "nodes" / "core" / "broker.py").read_bytes()
    assert list(files) == sorted(files)
    assert not any("__pycache__" in path for path in files)


def test_equal_files_make_an_equal_tar():
    files = [("a/b", b"x"), ("c", b"")]

    assert tar_of(files) == tar_of(iter(files))


def test_a_platforms_wheels_are_those_of_its_glibc_and_older():
    there = PythonPlatform.parse("3 12 aarch64 glibc 2.19\n")

    assert there == PythonPlatform(3, 12, "aarch64", 19)
    assert there.tags == [
        "manylinux_2_19_aarch64",
        "manylinux_2_18_aarch64",
        "manylinux_2_17_aarch64",
        "manylinux2014_aarch64",
    ]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("3 10 x86_64 glibc 2.36", "nodes need glibc and Python 3.11 or newer; there is Python 3.10 with glibc"),
        ("3 11 x86_64 none", "nodes need a Linux with glibc and Python 3.11 or newer; there is '3 11 x86_64 none'"),
        ("bash: python3", "nodes need a Linux with glibc and Python 3.11 or newer; there is 'bash: python3'"),
    ],
)
def test_a_python_that_cannot_run_nodes_is_refused(text, why):
    with pytest.raises(ContainerWorldError) as error:
        PythonPlatform.parse(text)

    assert str(error.value) == why


@pytest.mark.skipif(not Path("/lib64/ld-linux-x86-64.so.2").exists(), reason="a glibc Linux on x86-64 knows its answer")
def test_the_probe_prints_what_the_parser_reads():
    printed = subprocess.run(["python3", "-c", PROBE], check=True, capture_output=True, text=True).stdout

    assert PythonPlatform.parse(printed).machine == "x86_64"


def test_packages_that_cannot_be_had_are_pips_last_word_and_nothing_is_cached(cache, monkeypatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)

    with pytest.raises(
        ContainerWorldError, match=r"^pip cannot get the nodes' packages: No matching distribution found"
    ):
        site_packages(PythonPlatform(3, 11, "x86_64", 36), quiet)

    assert list((cache / "site-packages").iterdir()) == []


def test_packages_in_the_cache_are_not_fetched_again(cache, told, monkeypatch):
    monkeypatch.setattr(node_code, "_pip_install", lambda there, target: (target / "kio.py").touch())
    there = PythonPlatform(3, 11, "x86_64", 36)

    first = site_packages(there, told.append)
    second = site_packages(there, told.append)

    assert first == second
    assert [path.name for path in first.iterdir()] == ["kio.py"]
    assert told == ["fetching the nodes' packages for Python 3.11 on x86_64"]


def test_without_a_checkout_the_container_world_says_so(monkeypatch, tmp_path):
    monkeypatch.setattr(node_code, "LOCK", tmp_path / "requirements-node.lock")

    with pytest.raises(
        ContainerWorldError, match=r"requirements-node.lock is missing; the container world needs a checkout"
    ):
        node_code.lock_text()


# The base image


@pytest.fixture
def mmdebstrap(monkeypatch, tmp_path, cache):
    """A program of that name which does what a test wants."""

    def mmdebstrap(script):
        program = tmp_path / "bin" / "mmdebstrap"
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")

    return mmdebstrap


def test_a_base_made_of_packages_is_kept_in_the_cache(mmdebstrap, cache):
    mmdebstrap('for word; do case $word in *.tar) echo tar >"$word";; esac; done')

    base_image._make(quiet)

    assert base_image._tar().read_text() == "tar\n"
    assert list(cache.iterdir()) == [base_image._tar()]


def test_a_base_that_cannot_be_made_says_why_and_leaves_nothing(mmdebstrap, cache):
    mmdebstrap("echo 'I: trying' >&2; echo 'E: no such mirror' >&2; echo more >&2; exit 2")

    with pytest.raises(ImageError) as error:
        base_image._make(quiet)

    assert str(error.value) == "mmdebstrap cannot make a base image: no such mirror"
    assert list(cache.iterdir()) == []


class NoRegistry:
    """A client whose engine has no image and reaches no registry."""

    def __init__(self):
        self.api = self
        self.images = self
        self.timeout = 60

    def get(self, name):
        raise ImageNotFound(name)

    def pull(self, name):
        assert self.timeout == base_image.REGISTRY_S
        raise APIError("no such host")


def test_where_no_base_can_be_had_the_way_out_is_named(monkeypatch, cache, told):
    monkeypatch.setattr(base_image, "_can_make", lambda: False)
    client = NoRegistry()

    with pytest.raises(ImageError) as error:
        base_image.base_image(client, None, told.append)

    assert str(error.value) == (
        "no base image: the registry of python:3.11-slim-bookworm cannot be reached, and only a Debian host with "
        "mmdebstrap can make one; give one that this engine has with --base IMAGE"
    )
    assert told == ["asking the registry for python:3.11-slim-bookworm"]
    assert client.timeout == 60


def test_a_base_that_was_asked_for_is_not_replaced_by_another(cache):
    with pytest.raises(ImageError, match=r"^the registry of example/python cannot be reached$"):
        base_image.base_image(NoRegistry(), "example/python", quiet)


# The node image


@pytest.mark.docker
@pytest.mark.systems
def test_a_second_build_finds_the_first_ones_image(engine, image):
    told = Told()
    assert ensure_image(engine, told) == image
    assert told == []
    assert [found.current for found in list_images(engine) if found.id == image] == [True]


@pytest.fixture
def changed(engine, image, monkeypatch):
    """The id of an image whose code has a module more."""
    files = [*code_files(), ("tidemark/nodes/added.py", b"here = True\n")]
    with monkeypatch.context() as patch:
        patch.setattr(images, "code_files", lambda: iter(files))
        built = build_images(engine, tell=quiet)
    yield built
    with suppress(ImageNotFound):
        engine.images.remove(built)


@pytest.mark.systems
@pytest.mark.docker
@pytest.mark.slow
def test_two_builds_at_once_make_one_image(engine, image, monkeypatch):
    files = [*code_files(), ("tidemark/nodes/twice.py", b"")]
    monkeypatch.setattr(images, "code_files", lambda: iter(files))
    with ThreadPoolExecutor(2) as pool:
        built = set(pool.map(lambda _: build_images(engine, tell=quiet), range(2)))
    for one in built:
        engine.images.remove(one, force=True)

    assert len(built) == 1
    assert image not in built


@pytest.mark.docker
def test_other_code_makes_another_image(engine, image, changed):
    code = "import tidemark.nodes.added; print(tidemark.nodes.added.here)"

    assert changed != image
    assert engine.containers.run(changed, ["-c", code], entrypoint="python3", remove=True) == b"True\n"
    assert ensure_image(engine, quiet) == image
    # Too young to be removed: it could be another run's.
    assert [found.current for found in list_images(engine) if found.id == changed] == [False]

    image_build.discard(engine, engine.images.get(changed))
    with pytest.raises(ImageNotFound):
        engine.images.get(changed)


@pytest.mark.systems
@pytest.mark.docker
def test_an_old_image_that_a_container_uses_stays(engine, changed):
    container = engine.containers.create(changed)
    try:
        image_build.discard(engine, engine.images.get(changed))
        assert engine.images.get(changed).id == changed
    finally:
        container.remove()


def test_the_engines_time_stamps_are_read():
    assert image_build.when("2026-11-21T12:13:06.921352412Z") == datetime(2026, 11, 21, 12, 13, 6, tzinfo=UTC)


@pytest.mark.docker
def test_a_container_without_a_key_says_what_it_needs(engine, image):
    container = engine.containers.create(image)
    try:
        container.start()
        assert container.wait()["StatusCode"] == 64
        assert (
            container.logs() == b"tidemark node: TIDEMARK_AUTHORISED_KEY must hold the SSH public key that may enter\n"
        )
    finally:
        container.remove(force=True)


@pytest.mark.docker
def test_the_image_holds_no_host_key(engine, image):
    listed = engine.containers.run(image, ["-c", "ls /etc/ssh"], entrypoint="sh", remove=True).decode()

    assert "ssh_host" not in listed
