"""``python3 -m tidemark.nodes.sidecar --config FILE``: one real Kafka node, until its JVM ends
(:mod:`tidemark.nodes.sidecar.start`).
"""

import sys

sys.modules.setdefault("hypothesis", None)  # type: ignore[arg-type] # where it is installed, kio would load it: half a second

from tidemark.nodes.sidecar.start import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main())
