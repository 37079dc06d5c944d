"""The README's picture of a terminal shows what the command prints today."""

import importlib.util
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_terminal_is_drawn_from_the_command_itself():
    spec = importlib.util.spec_from_file_location("terminal", ROOT / "docs" / "images" / "terminal.py")
    terminal = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(terminal)

    output = terminal.printed()

    assert "acknowledged records is gone" in output
    assert terminal.PICTURE.read_text(encoding="utf-8") == terminal.drawn(output), "make pictures draws it again"
