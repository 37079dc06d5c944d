"""A worker of Spark holds our files under one name each, as every other process."""

import sys
from pathlib import Path

import pytest

from tests.installation.test_one_name import misnamed, ours


@pytest.mark.spark
def test_a_worker_knows_each_file_by_one_name(spark):
    def loaded(_):
        import tidemark.harness.simulator.execute  # noqa: F401

        yield from ((name, getattr(module, "__file__", None)) for name, module in list(sys.modules.items()))

    found = spark.sparkContext.parallelize([1], 1).mapPartitions(loaded).collect()
    modules = ours([(name, str(Path(file).resolve())) for name, file in found if file])

    assert "tidemark.harness.simulator.execute" in modules
    assert list(misnamed(modules)) == []
