"""How a JVM's life ended."""

import pytest

from tidemark.nodes.sidecar.end_of_jvm import end_of, telling

OUT_OF_MEMORY = "Terminating due to java.lang.OutOfMemoryError: Java heap space"


@pytest.mark.parametrize(
    ("code", "shut_down", "gave_up", "how"),
    [
        (143, True, "", "clean"),
        (0, True, "", "clean"),
        (-9, False, "", ""),
        (-9, True, "", ""),
        (143, False, "", "crash"),
        (-15, False, "", "crash"),
        (143, False, "halting", "fatal"),
        (1, True, "", "fatal"),
        (0, False, "", "fatal"),
        (3, False, "", "fatal"),
        (-11, False, "", "fatal"),
    ],
)
def test_how(code, shut_down, gave_up, how):
    end = end_of(code, shut_down=shut_down, closed=False, gave_up=gave_up, lines=["x"])
    assert end.how == how
    assert bool(end.words) == (how == "fatal")


def test_who_is_killed_behind_its_closed_logs_has_shut_down_cleanly():
    assert end_of(-9, shut_down=False, closed=True, gave_up="", lines=["x"]) == ("clean", "")
    assert end_of(3, shut_down=False, closed=True, gave_up="halting", lines=["x"]).how == "fatal"


def test_words():
    end = end_of(3, shut_down=False, closed=False, gave_up="", lines=["INFO a", OUT_OF_MEMORY, "INFO b"])
    assert end.words == f"the JVM ended by itself with exit code 3: {OUT_OF_MEMORY}"
    assert end_of(-6, shut_down=False, closed=False, gave_up="halt", lines=["x"]).words.endswith("with signal 6: halt")
    assert end_of(1, shut_down=False, closed=False, gave_up="", lines=[]).words.endswith("it printed nothing")


def test_telling_lines():
    assert telling(["INFO a", " b ", ""]) == "INFO a | b"
    many = [f"x ERROR {i}" for i in range(50)]
    assert telling([*many, "INFO z"]).split(" | ") == many[-8:]
    assert len(telling(["x ERROR " + "y" * 5000])) == 1500
