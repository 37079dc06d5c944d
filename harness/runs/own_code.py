"""Code that somebody brings: a Python file, or what an installed package offers by an entry point.

Systems, checkers and truncation rules are all found so. Whatever is wrong with such code is a sentence.
"""

from __future__ import annotations

import sys
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType


class OwnCodeError(ValueError):
    """It cannot be used; the message says why in one sentence."""


def file_of(path: Path, what: str) -> ModuleType:
    """The module that a file is; ``what`` is to be loaded from it, such as ``a system``.

    Raises:
        OwnCodeError: there is no such file, or it cannot be loaded.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise OwnCodeError(f"there is no file {path} to load {what} from") from None
    except (OSError, ValueError) as error:
        raise OwnCodeError(f"{path} cannot be read: {error}") from None
    return module_of(text, str(path))


def module_of(text: str, file: str) -> ModuleType:
    """The module of a text, which is called as its file is.

    Raises:
        OwnCodeError: it cannot be loaded.
    """
    module = ModuleType(f"tidemark_own_{Path(file).stem}")
    module.__file__ = file
    sys.modules[module.__name__] = module  # dataclasses look themselves up there
    try:
        exec(compile(text, file, "exec"), module.__dict__)  # noqa: S102 - a person said that this is to be run
    except SyntaxError as error:
        raise OwnCodeError(f"{file} cannot be loaded: SyntaxError: line {error.lineno}: {error.msg}") from error
    except (Exception, SystemExit) as error:
        raise OwnCodeError(f"{file} cannot be loaded: {type(error).__name__}: {error}") from error
    return module


def names_offered(group: str) -> list[str]:
    """What installed packages offer in a group of entry points."""
    return sorted({point.name for point in entry_points(group=group)})


def offered(group: str, name: str) -> tuple[str, object] | None:
    """What a package offers by this name: where it is, such as ``package.module:name``, and the thing; `None` if nobody does.

    Raises:
        OwnCodeError: it cannot be loaded.
    """
    for point in entry_points(group=group):
        if point.name == name:
            try:
                return point.value, point.load()
            except (Exception, SystemExit) as error:
                raise OwnCodeError(f"{point.value} cannot be loaded: {type(error).__name__}: {error}") from error
    return None
