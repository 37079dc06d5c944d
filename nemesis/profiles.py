"""Profiles: which kinds of fault random plans draw from, by name or put together of names and kinds, such as ``crash+pause``."""

from __future__ import annotations

from functools import lru_cache

from tidemark.nemesis.kinds import KINDS, kinds_drawn_with

_SETS: dict[str, tuple[str, ...]] = {
    "intact": ("intact",),
    "destructive": ("intact", "destructive"),
    "machines": ("intact", "destructive", "machines"),
    "controllers": ("intact", "controllers"),
    "controller-links": ("intact", "controller-links"),
    "deletions": ("intact", "deletions"),
    "retention": ("intact", "deletions", "retention"),
    "retention-destructive": ("intact", "destructive", "deletions", "retention"),
    "reassignments": ("intact", "reassignments"),
    "reassignments-destructive": ("intact", "destructive", "reassignments"),
    "metadata": ("intact", "destructive", "metadata"),
    "long": ("intact",),
    "controller-reassignments": ("intact", "controllers", "reassignments", "withdrawals"),
    "files": ("intact", "files"),
    "members": ("intact", "members"),
    "settings": ("intact", "settings"),
    "features": ("intact", "features"),
    "log-dirs": ("intact", "log-dirs"),
    "unclean": ("intact", "unclean"),
    "log-dir-failures": ("intact", "log-dirs", "log-dir-failures"),
    "voters": ("intact", "controllers", "voters"),
}
PROFILES: dict[str, tuple[str, ...]] = {name: kinds_drawn_with(*sets) for name, sets in _SETS.items()}
"""Profile → kinds of fault. *intact*: every log survives and elections are clean; *destructive*: power and disk loss and
unclean elections as well; *machines*: also what only a real machine has, such as a full disk; *controllers*: intact, and what
befalls a controller that lasts; *controller-links*: intact, and each of a broker's talks with the controller disturbed by itself;
*deletions*: intact, and clients delete records; *retention* and *retention-destructive*: intact
or destructive, and records are deleted by clients and by each broker's retention; *reassignments* and
*reassignments-destructive*: intact or destructive, and replicas move; *metadata*: destructive, and power losses that take metadata
back; *long*: intact, and some faults outlast every time-out; *controller-reassignments*: intact, replicas move, controllers fail;
*files*: intact, and the files of one broker are damaged; *members*: intact, and members leave and join; *settings*: intact, and an
operator changes min ISR; *features*: intact, and an operator switches ELR off and on; *log-dirs*: intact, brokers
have two log directories, and replicas move between them; half of the plans fall silent before their faults end; *unclean*: intact,
and an operator allows unclean elections for a while; *log-dir-failures*: log-dirs, and at least one log directory fails;
*voters*: controllers, and an operator takes controllers out of the voters of
their quorum and puts them in again.
"""
_LONG = "long"
"""The profile that differs from another in how long some faults last, and not in their kinds."""


class ProfileError(ValueError):
    """No such profile; the message says what is wrong."""


@lru_cache(maxsize=256)
def kinds_of(profile: str) -> tuple[str, ...]:
    """The kinds of a profile: of one in `PROFILES`, or of several words with ``+`` between, each a profile or a kind.

    >>> kinds_of("crash+pause")
    ('crash', 'pause')
    >>> kinds_of("intact+power") == (*PROFILES["intact"], "power")
    True

    Raises:
        ProfileError: a word is neither, or a kind needs another that is not there.
    """
    kinds: dict[str, None] = {}
    for word in profile.split("+"):
        if word not in PROFILES and word not in KINDS:
            raise ProfileError(
                f"{word!r} is no profile and no kind of fault: it takes one of {', '.join(PROFILES)}, or kinds with + between "
                "(crash+pause; tidemark faults lists them)"
            )
        kinds |= dict.fromkeys(PROFILES.get(word, (word,)))
    for kind in kinds:
        for need in KINDS[kind].needs:
            if need in KINDS and need not in kinds:
                raise ProfileError(f"{kind} needs {need} beside it: {profile}+{need}")
    return tuple(kinds)


def lasts_long(profile: str) -> bool:
    """Whether some faults of its plans outlast every time-out."""
    return _LONG in profile.split("+")
