"""Ask a campaign's tables in Spark SQL."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from tidemark.pipeline.engines.reason import reason
from tidemark.pipeline.engines.spark_tables import campaign_tables, recheck_table
from tidemark.pipeline.folder.campaign_parts import APART, Part, several_parts
from tidemark.pipeline.folder.found_campaign import NothingToCompareError
from tidemark.pipeline.folder.refusal import RefusalError
from tidemark.pipeline.folder.tables import SCHEMAS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

T = TypeVar("T")

MARKS = "SELECT campaign, variant, plan, mark{more} FROM runs LATERAL VIEW explode(marks) m AS mark"
"""The view `marks`: a row for each mark that a run came to."""
OF_RECHECKS = {"rejudged_anomalies": "anomalies", "rejudged": "runs", "changes": "changes"}
"""The views of what `tidemark check` found, by the tables of a re-check."""


class QueryError(RefusalError, ValueError):
    """Spark does not understand the question, or could not answer it; the text is one sentence."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The first rows of an answer, as plain values, and whether there are more."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    more: bool


def ask(spark: SparkSession, folder: Path, question: str, limit: int) -> Answer:
    """Answer a question about the views `runs`, `anomalies`, `ops`, `trace` and `marks`, and about `OF_RECHECKS`; in a campaign of
    several parts each has the rows of all, and the columns `profile`, `world` and `system` behind its own.

    Args:
        spark: A session.
        folder: The campaign's.
        question: One SELECT in Spark SQL.
        limit: So many rows at most; 0: all.

    Raises:
        NothingToCompareError: There is no campaign, or nothing of it yet, or no re-check that is asked about.
        CampaignRefusedError: A part's manifest cannot be read.
        DamagedTableError: A file is not what the campaign wrote.
        QueryError: See there.
    """
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    wanted = tuple(name for name in SCHEMAS if name == "runs" or name in question.lower())
    folder = folder.resolve()
    parts = several_parts(folder)
    for name, table in (_tables(spark, parts, wanted) if parts else campaign_tables(spark, folder, wanted)).items():
        table.createOrReplaceTempView(name)
    spark.sql(MARKS.format(more="".join(f", {name}" for name in APART) if parts else "")).createOrReplaceTempView(
        "marks"
    )
    for view, name in OF_RECHECKS.items():
        if re.search(rf"(\bfrom|\bjoin|,)\s*`?{view}\b", question, re.IGNORECASE):
            found = _rechecks(spark, parts, name) if parts else recheck_table(spark, folder, name)
            found.createOrReplaceTempView(view)
    try:
        answer = spark.sql(question.strip().rstrip(";"))
        rows = (answer.limit(limit + 1) if limit else answer).collect()
    except (PySparkException, Py4JError) as error:
        raise QueryError(f"Spark does not answer: {reason(error).rstrip('.')}.") from None
    shown = rows[:limit] if limit else rows
    plain = tuple(tuple(_plain(value) for value in row) for row in shown)
    return Answer(tuple(answer.columns), plain, more=len(rows) > len(shown))


def _tables(spark: SparkSession, parts: Sequence[Part], names: tuple[str, ...]) -> dict[str, DataFrame]:
    """The tables of all parts of which anything is there."""
    of_each = _of_parts(parts, lambda part: campaign_tables(spark, part.folder, names))
    return {name: _together([(part, tables[name]) for part, tables in of_each]) for name in names}


def _rechecks(spark: SparkSession, parts: Sequence[Part], name: str) -> DataFrame:
    """The same table of the re-checks of all parts that were judged again."""
    return _together(_of_parts(parts, lambda part: recheck_table(spark, part.folder, name)))


def _of_parts(parts: Sequence[Part], read: Callable[[Part], T]) -> list[tuple[Part, T]]:
    """What there is of each part.

    Raises:
        NothingToCompareError: Of none there is anything.
    """
    found = []
    for part in parts:
        try:
            found.append((part, read(part)))
        except NothingToCompareError as error:
            nothing = error
    if not found:
        raise nothing
    return found


def _together(tables: Sequence[tuple[Part, DataFrame]]) -> DataFrame:
    from pyspark.sql.functions import lit

    told = [table.withColumns({name: lit(value) for name, value in part.apart.items()}) for part, table in tables]
    return reduce(lambda all_, one: all_.unionByName(one), told)


def _plain(value: Any) -> Any:  # noqa: ANN401  whatever a column holds
    if hasattr(value, "asDict"):
        return {name: _plain(part) for name, part in value.asDict().items()}
    if isinstance(value, dict):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_plain(part) for part in value]
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)
