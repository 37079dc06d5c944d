"""The commands that the pages name, with what the pages say of them."""

import re
import shlex
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import NamedTuple

from markdown_it import MarkdownIt

PROGRAMS = ("tidemark", "make", "python", "pip")
HELPERS = ("cp", "echo", "grep", "head", "sed", "zcat")
"""What stands between commands of ours, and is carried out with them."""
PLACEHOLDER = re.compile(r"…|^[A-Z][A-Z0-9_]*$|\[|:[A-Z]+$")
SETTING = re.compile(r"[A-Z_]+=\S* ")
"""What a line may set for one command, before it."""
_NAMES_A_FILE = re.compile(r"`([\w-]+\.(?:jsonl|json|py|scenario))`[^`]*:$")


@dataclass
class Command:
    """A line that a reader may type.

    Attributes:
        page, line: where it stands, of the repository and from 1.
        text: as it stands there, without prompt and remark.
        words: of the first program of ours in it, from its name on; empty if there is none.
        shown: the lines that the page shows as its output; None if it shows none.
        place: ``block``, ``table`` or ``prose``.
        row: of a table, the cells by the words of its head.
    """

    page: Path
    line: int
    text: str
    words: list[str]
    shown: list[str] | None = None
    place: str = "block"
    row: dict[str, str] = field(default_factory=dict)

    @property
    def is_mention(self) -> bool:
        """Whether something is left out, or stands for what the reader has."""
        return any(PLACEHOLDER.search(word) for word in self.words)


class Code(NamedTuple):
    """A block of code; `line` is that of its fence, `language` is empty where the page says none."""

    page: Path
    line: int
    language: str
    text: str


@dataclass
class Page:
    """What a page has for its readers to type.

    Attributes:
        commands: in order.
        files: that it has them write: name → text.
        code: its blocks. foreign: lines for the shell that begin with a program of somebody else's.
    """

    path: Path
    commands: list[Command] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    code: list[Code] = field(default_factory=list)
    foreign: list[Command] = field(default_factory=list)


@cache
def read_page(path: Path) -> Page:
    """Find what a page has its readers type; read once, whoever asks."""
    page = Page(path)
    tokens = MarkdownIt("commonmark").enable("table").parse(path.read_text(encoding="utf-8"))
    head, cells, said, line = [], [], "", 0
    for token in tokens:
        line = token.map[0] + 1 if token.map else line
        match token.type:
            case "fence" | "code_block":
                named = _NAMES_A_FILE.search(said)
                page.code.append(Code(path, line, token.info, token.content))
                if token.info in ("json", "python", "toml", "yaml", "scenario"):
                    if named:
                        page.files[named[1]] = token.content
                else:
                    _read_block(page, token)
            case "thead_open":
                head = []
            case "tr_open":
                cells = []
            case "th_open" | "td_open":
                cells.append("")
            case "thead_close":
                head = cells
            case "tr_close":
                for command in page.commands:
                    if command.place == "table" and command.line == line:
                        command.row = dict(zip(head, cells, strict=False))
            case "table_close":
                cells = []
            case "inline":
                if cells:
                    cells[-1] = token.content
                said = token.content
                codes = [child.content for child in token.children if child.type == "code_inline"]
                place = "table" if cells else "prose"
                page.commands += [
                    Command(path, line, text, words, None, place)
                    for text in codes
                    if text.startswith(("tidemark ", "make ", "python -m ")) and (words := _words(text))
                ]
    return page


def _read_block(page: Page, token) -> None:
    commands: list[Command] = []
    prompted = any(line.startswith("$ ") for line in token.content.splitlines())
    for number, line in enumerate(token.content.splitlines(), token.map[0] + (2 if token.type == "fence" else 1)):
        if prompted and not line.startswith("$ "):
            if commands and line.strip():
                commands[-1].shown = [*(commands[-1].shown or []), line]
            continue
        text = _without_remark(line.removeprefix("$ ").strip())
        while setting := SETTING.match(text):
            text = text[setting.end() :]
        if text.split(" ")[0] in (*PROGRAMS, *(HELPERS if prompted else ())):
            commands.append(Command(page.path, number, text, _words(text)))
        elif prompted or token.info == "sh":
            page.foreign.append(Command(page.path, number, text, []))
    page.commands += commands


def _without_remark(line: str) -> str:
    """Without ``# why``, and without words that stand two spaces behind."""
    quote = ""
    for place, char in enumerate(line):
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif line.startswith(("  ", " # "), place):
            return line[:place]
    return line


def _words(text: str) -> list[str]:
    lexer = shlex.shlex(text, posix=True, punctuation_chars="|>&;")
    lexer.whitespace_split = True
    lexer.commenters = ""
    words: list[str] = []
    for word in lexer:
        if word in PROGRAMS and not words:
            words = [word]
        elif words:
            if word[0] in "|>&;":
                break
            words.append(word)
    return words
