"""A campaign's tables as Spark sees them: the files of its finished chunks, with the types of `tidemark.pipeline.folder.tables`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tidemark.pipeline.folder.finished_chunks import Stock
from tidemark.pipeline.folder.found_campaign import NothingToCompareError, finished_in
from tidemark.pipeline.folder.manifest import RECHECKS, Manifest
from tidemark.pipeline.folder.recheck_tables import RECHECK, RECHECK_SCHEMAS
from tidemark.pipeline.folder.tables import RECORDS, SCHEMAS

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession


QUICK_START_RUNS = 50_000
"""A campaign of so many runs is worth a quick start, and its tables no compiled queries."""


def campaign_tables(spark: SparkSession, folder: Path, names: tuple[str, ...]) -> dict[str, DataFrame]:
    """The tables by name, each with the columns `campaign` and `variant` behind those of its files.

    Raises:
        NothingToCompareError: There is no campaign, or no chunk is finished yet.
        DamagedTableError: A file is not what the campaign wrote.
    """
    manifest, stock = finished_in(folder, names)
    return {name: table_of(spark, folder, manifest, stock, name) for name in names}


def table_of(spark: SparkSession, folder: Path, manifest: Manifest, stock: Stock, name: str) -> DataFrame:
    """One table, as far as the finished chunks of a stock go."""
    return _read(spark, SCHEMAS[name], folder / name, stock.files(folder, manifest.spec.name, name))


def recheck_table(spark: SparkSession, folder: Path, name: str) -> DataFrame:
    """One table of all re-checks of the campaign, with the column `recheck`: the name of the folder of each.

    Raises:
        NothingToCompareError: There is none.
    """
    found: DataFrame | None = None
    for place in sorted(path.parent for path in (folder / RECHECKS).glob(f"*/{RECHECK}")):
        records = sorted((place / RECORDS).rglob("chunk-*.json"))
        files = [place / name / path.relative_to(place / RECORDS).with_suffix(".parquet") for path in records]
        if files:
            columns = _read(spark, RECHECK_SCHEMAS[name], place / name, files).selectExpr(
                "*", f"'{place.name}' AS recheck"
            )
            found = columns if found is None else found.unionByName(columns)
    if found is None:
        raise NothingToCompareError(f"The campaign in {folder} was not judged again yet: tidemark check does.")
    return found


def _read(spark: SparkSession, columns: pa.Schema, base: Path, files: list[Path]) -> DataFrame:
    schema = ", ".join(f"`{field.name}` {_sql_type(str(field.type))}" for field in columns)
    return (
        spark.read.schema(f"{schema}, campaign STRING, variant STRING")
        .option("basePath", str(base))
        .option("__globPaths__", "false")  # a folder's name may have brackets in it
        .parquet(*map(str, files))
    )


def _sql_type(arrow: str) -> str:
    """Spark's word for one of the types that the tables use. (Its own translation would load pandas.)"""
    if arrow.startswith("list<"):
        return f"ARRAY<{_sql_type(arrow.removesuffix('>').rpartition(' ')[2])}>"
    return {"int32": "INT", "int64": "BIGINT", "double": "DOUBLE", "string": "STRING", "bool": "BOOLEAN"}[arrow]
