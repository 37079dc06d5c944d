"""How much of what goes wrong in the protocols would be seen: small changes made to them by machine, and who finds each.

    python -m bench mutants                              60 mutants
    python -m bench.mutants --mutants 600 --jobs 2       all that the page tells of; the same again goes on where it was
    python -m bench.mutants --only NAME                  one of them again, with what was found
    python -m bench.mutants --table                      what is known so far, as Markdown

A mutant is one change to one decision of `nodes/core` or `nodes/families` (:mod:`bench.mutants.mutation`), made when a process of
its own imports the module (:mod:`bench.mutants.worker`). One under which no run of 500 has another digest changes nothing, and is
set aside. Each of the others is given 20 s of the CPU in random plans and a hunt, and all scripts and kept plans beside it.
"""


def main(*arguments: str) -> None:
    """See above; nothing of Tidemark is imported before a process knows which mutant it is."""
    from bench.mutants.campaign import run

    run(arguments)
