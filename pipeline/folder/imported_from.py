"""Where imported runs came from: the paths that the table `runs` keeps."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq

from tidemark.pipeline.folder.stored_history import IMPORTED_FROM


def imported_from(runs: Path) -> dict[int, str]:
    """The paths by plan, of a chunk's file of that table: of the history's file, or of the folder of a run of ours.

    Raises:
        OSError, pa.ArrowException, ValueError: The file is not what an import wrote.
    """
    table = pq.read_table(runs, columns=["plan", "meta"], partitioning=None)
    return {row["plan"]: json.loads(row["meta"])[IMPORTED_FROM] for row in table.to_pylist()}
