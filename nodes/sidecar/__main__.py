"""``python3 -m nodes.sidecar --config FILE``: one real Kafka node, until its JVM ends (:mod:`nodes.sidecar.start`)."""

import sys

sys.modules.setdefault("hypothesis", None)  # type: ignore[arg-type] # where it is installed, kio would load it: half a second

from nodes.sidecar.start import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main())
