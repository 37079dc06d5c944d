"""Where the program begins: its commands take half a second to load, and until they are there Ctrl-C simply ends it.

So it does when they are done, while the interpreter waits for threads.
"""

import signal
import sys


def main() -> None:
    """Load the commands, and run the one that was typed."""
    before = signal.getsignal(signal.SIGINT)
    simply = (
        signal.SIG_DFL if before is signal.default_int_handler else before
    )  # a shell has it ignored in the background
    signal.signal(signal.SIGINT, simply)
    from tidemark.cli import main as run
    from tidemark.cli.exits import INTERRUPTED

    try:
        signal.signal(signal.SIGINT, before)
        run()
    except KeyboardInterrupt:  # a second Ctrl-C, while the first one's words are written
        sys.exit(INTERRUPTED)
    finally:
        signal.signal(signal.SIGINT, simply)


if __name__ == "__main__":
    main()
