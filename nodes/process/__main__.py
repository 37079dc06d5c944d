"""``python3 -m tidemark.nodes.process --config FILE``: one node, until it halts (:mod:`tidemark.nodes.process.start`)."""

import sys

sys.modules.setdefault("hypothesis", None)  # type: ignore[arg-type] # where it is installed, kio would load it: half a second

from tidemark.nodes.process.start import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main())
