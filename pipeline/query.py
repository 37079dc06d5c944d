"""Ask a campaign's tables in Spark SQL."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.reason import reason
from pipeline.spark_tables import campaign_tables, recheck_table
from pipeline.tables import SCHEMAS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MARKS = "SELECT campaign, variant, plan, mark FROM runs LATERAL VIEW explode(marks) m AS mark"
"""The view `marks`: a row for each mark that a run came to."""
OF_RECHECKS = {"rejudged_anomalies": "anomalies", "rejudged": "runs", "changes": "changes"}
"""The views of what `tidemark check` found, by the tables of a re-check."""


class QueryError(ValueError):
    """Spark does not understand the question, or could not answer it; the text is one sentence."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The first rows of an answer, as plain values, and whether there are more."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    more: bool


def ask(spark: SparkSession, folder: Path, question: str, limit: int) -> Answer:
    """Answer a question about the views `runs`, `anomalies`, `ops`, `trace` and `marks`, and about `OF_RECHECKS`.

    Args:
        spark: A session.
        folder: The campaign's.
        question: One SELECT in Spark SQL.
        limit: So many rows at most; 0: all.

    Raises:
        NothingToCompareError: There is no campaign, or nothing of it yet, or no re-check that is asked about.
        DamagedTableError: A file is not what the campaign wrote.
        QueryError: See there.
    """
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    wanted = tuple(name for name in SCHEMAS if name == "runs" or name in question.lower())
    for name, table in campaign_tables(spark, folder.resolve(), wanted).items():
        table.createOrReplaceTempView(name)
    spark.sql(MARKS).createOrReplaceTempView("marks")
    for view, name in OF_RECHECKS.items():
        if re.search(rf"(\bfrom|\bjoin|,)\s*`?{view}\b", question, re.IGNORECASE):
            recheck_table(spark, folder.resolve(), name).createOrReplaceTempView(view)
    try:
        found = spark.sql(question.strip().rstrip(";"))
        rows = (found.limit(limit + 1) if limit else found).collect()
    except (PySparkException, Py4JError) as error:
        raise QueryError(f"Spark does not answer: {reason(error).rstrip('.')}.") from None
    shown = rows[:limit] if limit else rows
    plain = tuple(tuple(_plain(value) for value in row) for row in shown)
    return Answer(tuple(found.columns), plain, more=len(rows) > len(shown))


def _plain(value: Any) -> Any:  # noqa: ANN401  whatever a column holds
    if hasattr(value, "asDict"):
        return {name: _plain(part) for name, part in value.asDict().items()}
    if isinstance(value, dict):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_plain(part) for part in value]
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)
