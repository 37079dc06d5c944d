"""What must not leave this machine: its paths, and the secrets among settings."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

HIDDEN: Final = "[hidden]"
_SECRET: Final = re.compile(r"password|secret|jaas|token|credential|ssl\..*(key|certificate)", re.IGNORECASE)
_LEAST: Final = 4
"""A shorter value is hidden where it is set, and not wherever else its letters stand."""


class Redaction:
    """Takes them out of text.

    Args:
        settings: of all nodes.
        texts: in which somebody may have named a path, such as that of a Kafka of one's own.
    """

    def __init__(self, settings: Iterable[Mapping[str, str]], texts: Iterable[str] = ()) -> None:
        secrets = {value for one in settings for name, value in one.items() if _SECRET.search(name)}
        found = {value: HIDDEN for value in secrets if len(value) >= _LEAST}
        for text in texts:
            for path in re.findall(r"(?:(?<=[+:@\s])|^)~?/[^\s+,;]+", text):
                found[path] = Path(path).name
        for place, word in ((Path.cwd(), "."), (Path(__file__).resolve().parents[2], "."), (Path.home(), "~")):
            if len(place.parts) > 1:
                found.setdefault(str(place), word)
        self._words = dict(sorted(found.items(), key=lambda one: -len(one[0])))
        self._pattern = re.compile(
            "|".join(
                rf"{re.escape(one)}(?![\w.-]*\w)" if one.startswith("/") else re.escape(one) for one in self._words
            )
        )

    def text(self, text: str) -> str:
        """Without them."""
        return self._pattern.sub(lambda found: self._words[found[0]], text)

    def settings(self, settings: Mapping[str, str]) -> dict[str, str]:
        """Values of secrets are hidden, others as in any text."""
        return {name: HIDDEN if _SECRET.search(name) else self.text(value) for name, value in settings.items()}
