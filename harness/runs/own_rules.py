"""Truncation rules that somebody brings: subclasses of :class:`~tidemark.nodes.core.truncation.TruncationRule` in a file.

A rule that was learned is one like ours: ``kafka-2.7+truncation=NAME`` is a variant with it, and ``truncation@2=NAME`` gives it to
one broker. It is known in this process only, and so travels as its file's text to wherever runs are made.

A rule is a function of what it is shown. What it says is looked at before anything is done: a cut beyond the log is refused, and
whatever is wrong names the rule and the line.
"""

from __future__ import annotations

import inspect
import re
import shlex
import traceback
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import wraps
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from tidemark.harness.runs.own_code import OwnCodeError, file_of, module_of, names_offered, offered
from tidemark.nodes.core.epoch_cache import EpochEnd
from tidemark.nodes.core.truncation import RULES, Question, Step, TruncationRule

if TYPE_CHECKING:
    from tidemark.nodes.core.truncation import LogView

GROUP = "tidemark.rules"
"""The entry points by which a package offers rules."""
OURS = tuple(RULES)
DIGITS = 16
_WORD = re.compile(r"[a-z][\w-]*")
_GIVES: dict[str, type] = {"on_new_leader": Step, "on_answer": Step, "question": Question, "leaders_answer": EpochEnd}


class RuleError(OwnCodeError):
    """A rule of one's own did what no rule may; the message names the rule and the line."""


@dataclass(frozen=True, slots=True)
class RuleFile:
    """A rule as it travels.

    Attributes:
        name: its word in a variant.
        asked: as ``--rule`` had it.
        file: what its text is called in messages.
        text: the whole file.
    """

    name: str
    asked: str
    file: str
    text: str

    @property
    def digest(self) -> str:
        """Of the text: the same name may mean another rule tomorrow."""
        return sha256(self.text.encode()).hexdigest()[:DIGITS]


_known: dict[str, RuleFile] = {}


def rules_of(asked: str) -> list[RuleFile]:
    """The rules that ``FILE.py``, ``FILE.py:NAME`` or the name of an entry point means; none is known yet.

    Raises:
        OwnCodeError: there are none, or they cannot be loaded.
    """
    name, _, only = asked.partition(":")
    if name.endswith(".py"):
        module = file_of(Path(name), "a truncation rule")
        found, file, text = _rules_in(vars(module), module.__name__), name, Path(name).read_text(encoding="utf-8")
    else:
        found, file, text = _offered(name)
    if only:
        found = [rule for rule in found if only in {rule.name, rule.__name__}]
    if not found:
        raise OwnCodeError(
            f"{file} has no truncation rule{f' {only}' if only else ''}: a subclass of TruncationRule (docs/api.md)"
        )
    return [RuleFile(_word(rule, file), asked, file, text) for rule in found]


def learn(files: Iterable[RuleFile]) -> None:
    """Know these rules in this process; of one name the last counts.

    Raises:
        OwnCodeError: one cannot be loaded.
    """
    for file in files:
        if _known.get(file.name) == file:
            continue
        module = module_of(file.text, file.file)
        (rule,) = (rule for rule in _rules_in(vars(module), module.__name__) if rule.name == file.name)
        RULES[file.name] = _guarded(rule, file.file)
        _known[file.name] = file


def known() -> tuple[RuleFile, ...]:
    """What has been learned."""
    return tuple(_known.values())


def used_by(variants: Iterable[str], rules: Iterable[RuleFile]) -> tuple[RuleFile, ...]:
    """Those of the rules that variants name."""
    words = [word.partition("=") for variant in variants for word in variant.split("+")]
    named = {name for word, _, name in words if word.startswith("truncation")}
    return tuple(rule for rule in rules if rule.name in named)


def variant_options(variant: str) -> str:
    """What to type for a variant, its rules included."""
    words = ["--variant", variant, *(word for rule in used_by([variant], known()) for word in ("--rule", rule.asked))]
    return shlex.join(words)


def digests(variant: str) -> dict[str, str]:
    """Own rule of a variant → the digest of its text."""
    return {rule.name: rule.digest for rule in used_by([variant], known())} if _known else {}


def forget() -> None:
    """Know ours only."""
    for name in _known:
        del RULES[name]
    _known.clear()


@dataclass(frozen=True, slots=True)
class Knowing:
    """Work that knows the rules, in whatever process it is done."""

    work: Callable[[Any], Any]
    rules: tuple[RuleFile, ...]

    def __call__(self, item: Any) -> Any:  # noqa: ANN401 - whatever the work takes and gives
        """Do it."""
        learn(self.rules)
        return self.work(item)


def _offered(name: str) -> tuple[list[type[TruncationRule]], str, str]:
    found = offered(GROUP, name)
    if found is None:
        names = names_offered(GROUP)
        there = f"; there are {', '.join(names)}" if names else ""
        raise OwnCodeError(f"no installed package offers a truncation rule {name}{there}; a file's name ends in .py")
    where, rule = found
    if not (inspect.isclass(rule) and issubclass(rule, TruncationRule)):
        raise OwnCodeError(f"{where} is no subclass of TruncationRule (docs/api.md)")
    module = inspect.getmodule(rule)
    if module is None or module.__file__ is None:
        raise OwnCodeError(f"{where} lies in no file, and so cannot travel to where runs are made")
    return [rule], module.__file__, Path(module.__file__).read_text(encoding="utf-8")


def _rules_in(names: Mapping[str, object], module: str) -> list[type[TruncationRule]]:
    """The rules that a module defines, and does not only import."""
    found = [one for one in names.values() if inspect.isclass(one) and issubclass(one, TruncationRule)]
    return [rule for rule in found if rule.__module__ == module and not inspect.isabstract(rule)]


def _word(rule: type[TruncationRule], file: str) -> str:
    name = getattr(rule, "name", None)
    if not isinstance(name, str) or not _WORD.fullmatch(name):
        raise OwnCodeError(
            f"the rule {rule.__name__} of {file} needs a name of small letters, digits and dashes, not {name!r}"
        )
    if name in OURS:
        raise OwnCodeError(
            f"the rule {rule.__name__} of {file} is called {name}, as one of Tidemark's own is: {', '.join(OURS)}"
        )
    if not isinstance(getattr(rule, "title", None), str):
        raise OwnCodeError(f"the rule {name} of {file} needs a title: what people call it")
    return name


def _guarded(rule: type[TruncationRule], file: str) -> TruncationRule:
    """The rule, with what it says looked at. It says of itself what the rule does (:mod:`tidemark.nodes.core.describe`)."""
    methods = {name: _checked(getattr(rule, name), gives, rule.name, file) for name, gives in _GIVES.items()}
    guarded = type(rule.__name__, (rule,), methods)

    def keeps_nothing(self: object, attribute: str, value: object) -> NoReturn:
        raise RuleError(
            f"the rule {rule.name} keeps {attribute}{_line(traceback.extract_stack(), file)}: one rule serves all "
            "replicas, and is to know no more than it is shown"
        )

    try:
        made: TruncationRule = guarded()
    except Exception as error:
        raise OwnCodeError(f"the rule {rule.name} of {file} cannot be made: {type(error).__name__}: {error}") from error
    guarded.__setattr__ = keeps_nothing  # type: ignore[method-assign, assignment]
    return made


def _checked(method: Callable[..., Any], gives: type, rule: str, file: str) -> Callable[..., Any]:
    name = method.__name__
    code = method.__code__
    where = f" ({Path(file).name}, line {code.co_firstlineno})" if code.co_filename == file else ""

    @wraps(method)
    def asked(self: TruncationRule, view: LogView, *more: Any) -> Any:  # noqa: ANN401 - as the method's
        try:
            said = method(self, view, *more)
        except RuleError:
            raise
        except Exception as error:
            at = _line(traceback.extract_tb(error.__traceback__), file)
            raise RuleError(f"the rule {rule} failed in {name}{at}: {type(error).__name__}: {error}") from error
        if not isinstance(said, gives):
            raise RuleError(f"the rule {rule} gives {said!r:.60} in {name}{where}, and should give a {gives.__name__}")
        if (
            isinstance(said, Step)
            and said.cut is not None
            and not (type(said.cut) is int and 0 <= said.cut <= view.leo)
        ):
            raise RuleError(
                f"the rule {rule} cuts to offset {said.cut!r} in {name}{where}, and the log ends at {view.leo}"
            )
        return said

    return asked


def _line(stack: traceback.StackSummary, file: str) -> str:
    """Where in the rule's file it happened, or we are."""
    lines = [frame.lineno for frame in stack if frame.filename == file]
    return f" ({Path(file).name}, line {lines[-1]})" if lines else ""
