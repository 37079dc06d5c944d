"""A reader's own packages that have our rooms' names: whoever imports one of them by a bare name is told."""

ROOMS = ("nodes", "nemesis", "checkers", "harness", "pipeline")


def readers_own_packages(folder):
    """Made in a folder, which is given back."""
    for room in ROOMS:
        (folder / room).mkdir(parents=True)
        (folder / room / "__init__.py").write_text(
            f"raise ImportError('the reader has a package {room} of their own')\n"
        )
    return folder
