"""A cycle as a sentence: who came before whom, and how that is known."""

from __future__ import annotations

MOST_TOLD = 6
"""So many steps of a cycle are in the sentence."""

MOST_EVIDENCE = 64
"""So many are in the evidence."""


def sentence(who: list[str], steps: list[str]) -> str:
    """One sentence on a cycle.

    Args:
        who: of each operation what it is called and was.
        steps: how each came before the next, and the last before the first.
    """
    length = len(who)
    if length > MOST_TOLD:
        rest = f"and {length - MOST_TOLD} more steps lead back to T1"
        return f"Each of {length} operations came before the next, and the last before the first: " + "; ".join(
            [f"{', '.join(who[:MOST_TOLD])} and so on", *steps[:MOST_TOLD], f"{rest}."]
        )
    how = "each came before the other" if length == 2 else "each came before the next, the last before the first"
    return f"{', '.join(who[:-1])} and {who[-1]}: {how}, for {'; '.join(steps[:-1])}; but {steps[-1]}."
