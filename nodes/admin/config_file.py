"""A configuration file: JSON, written by whoever starts a process, and checked before anything is touched."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

C = TypeVar("C")
_MAX_NUMBER = 2**31 - 1
_MAX_PORT = 65_535


class ConfigError(ValueError):
    """The configuration cannot be used; the message says what to change, in one sentence."""


class Address(NamedTuple):
    """Where to listen or to connect."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


def address(value: object, what: str, *, any_port: bool = False) -> Address:
    """An address such as ``127.0.0.1:9092``.

    Args:
        value: of the entry.
        what: where it stands, for the error.
        any_port: whether port 0, which lets the system choose, will do.

    Raises:
        ConfigError: it is none.
    """
    if isinstance(value, str):
        host, _, port = value.rpartition(":")
        if host and port.isdecimal() and (0 if any_port else 1) <= int(port) <= _MAX_PORT:
            return Address(host, int(port))
    raise ConfigError(f"{what} must be an address such as 127.0.0.1:9092, not {value!r}")


def load(path: Path, check: Callable[[object], C]) -> C:
    """Read and check a configuration's file.

    Args:
        path: of the JSON file.
        check: makes the configuration of plain values.

    Raises:
        ConfigError: it cannot be read, or says something impossible; it names the file.
    """
    try:
        data = json.loads(path.read_text())
    except OSError as e:
        raise ConfigError(f"cannot read {path}: {e.strerror}") from e
    except ValueError as e:
        raise ConfigError(f"{path} is not JSON: {e}") from e
    try:
        return check(data)
    except ConfigError as e:
        raise ConfigError(f"{path}: {e}") from e


class Entries:
    """The entries of the file's object, each taken once. Every method may raise :class:`ConfigError`."""

    def __init__(self, data: object) -> None:
        """Nothing is taken yet."""
        if not isinstance(data, dict):
            raise ConfigError("the configuration must be a JSON object")
        self._left = dict(data)

    def _take(self, name: str) -> object:
        if name not in self._left:
            raise ConfigError(f"the entry {name!r} is missing")
        return self._left.pop(name)

    def number(self, name: str, least: int, default: int | None = None) -> int:
        """A whole number."""
        if default is not None and name not in self._left:
            return default
        value = self._take(name)
        if type(value) is not int or not least <= value <= _MAX_NUMBER:
            raise ConfigError(f"{name} must be a whole number from {least} to {_MAX_NUMBER}, not {value!r}")
        return value

    def text(self, name: str, *, optional: bool = False) -> str:
        """A text that is not empty, unless it is optional and not there."""
        if optional and name not in self._left:
            return ""
        value = self._take(name)
        if not isinstance(value, str) or not value:
            raise ConfigError(f"{name} must be a text that is not empty, not {value!r}")
        return value

    def flag(self, name: str) -> bool:
        """True or false; false if it is not there."""
        value = self._left.pop(name, False)
        if not isinstance(value, bool):
            raise ConfigError(f"{name} must be true or false, not {value!r}")
        return value

    def mapping(self, name: str, *, optional: bool = False) -> dict[str, Any]:
        """An object; empty if it is optional and not there."""
        value = {} if optional and name not in self._left else self._take(name)
        if not isinstance(value, dict):
            raise ConfigError(f"{name} must be a JSON object, not {value!r}")
        return value

    def listed(self, name: str) -> list[Any]:
        """A list; empty if it is not there."""
        value = self._left.pop(name, [])
        if not isinstance(value, list):
            raise ConfigError(f"{name} must be a list, not {value!r}")
        return value

    def texts(self, name: str, *, empty: bool = False) -> list[str]:
        """A list of texts, which may be empty ones if that is permitted; empty if it is not there."""
        value = self.listed(name)
        if not all(isinstance(entry, str) and (entry or empty) for entry in value):
            raise ConfigError(f"{name} must be a list of texts, not {value!r}")
        return value

    def path(self, name: str) -> Path:
        """An absolute path."""
        path = Path(self.text(name))
        if not path.is_absolute():
            raise ConfigError(f"{name} must be an absolute path, not {str(path)!r}")
        return path

    def optional_path(self, name: str) -> Path | None:
        """An absolute path, if there is one."""
        if self._left.get(name) is None:
            self._left.pop(name, None)
            return None
        return self.path(name)

    def nothing_left(self) -> None:
        """See that every entry was taken."""
        if self._left:
            raise ConfigError(f"unknown entry {next(iter(self._left))!r}")
