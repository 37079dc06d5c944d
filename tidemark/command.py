"""Where the program begins: its commands take half a second to load, and until they are there Ctrl-C simply ends it."""

import signal
import sys


def main() -> None:
    """Load the commands, and run the one that was typed."""
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    from tidemark.cli import main as run
    from tidemark.cli.exits import INTERRUPTED

    try:
        signal.signal(signal.SIGINT, before)
        run()
    except KeyboardInterrupt:  # a second Ctrl-C, while the first one's words are written
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
