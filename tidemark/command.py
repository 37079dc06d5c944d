"""Where the program begins: a command takes up to half a second to load, and until it is there Ctrl-C simply ends it.

So it does when they are done, while the interpreter waits for threads.
"""

import signal
import sys


def main() -> None:
    """Load the command that was typed, and run it."""
    before = signal.getsignal(signal.SIGINT)
    simply = (
        signal.SIG_DFL if before is signal.default_int_handler else before
    )  # a shell has it ignored in the background
    signal.signal(signal.SIGINT, simply)
    from tidemark.cli import main as run
    from tidemark.cli.commands import load
    from tidemark.cli.exits import INTERRUPTED

    load(sys.argv[1:])
    try:
        signal.signal(signal.SIGINT, before)
        run()
    except KeyboardInterrupt:  # a second Ctrl-C, while the first one's words are written
        sys.exit(INTERRUPTED)
    finally:
        signal.signal(signal.SIGINT, simply)


if __name__ == "__main__":
    main()
