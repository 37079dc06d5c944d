"""``python3 -m tidemark.nodes.keeper --config FILE``: one program, until it ends (:mod:`tidemark.nodes.keeper.start`)."""

import sys

from tidemark.nodes.keeper.start import main

if __name__ == "__main__":
    sys.exit(main())
