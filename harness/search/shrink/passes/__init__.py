"""The passes: each knows one way to make a plan smaller, and takes it as far as it goes.

A pass takes a `Search` and proposes candidates. It need not know what others do: a plan only ever gets smaller
(`tidemark.harness.search.shrink.size`), and all passes are repeated until none of them finds anything.
"""

from tidemark.harness.search.shrink.passes.fewer_faults import fewer_faults
from tidemark.harness.search.shrink.passes.fewer_records import fewer_records
from tidemark.harness.search.shrink.passes.fixed_delays import fixed_delays
from tidemark.harness.search.shrink.passes.merged_elections import merged_elections
from tidemark.harness.search.shrink.passes.plainer_faults import plainer_faults
from tidemark.harness.search.shrink.passes.rounder_times import rounder_times
from tidemark.harness.search.shrink.passes.smaller_cluster import smaller_cluster

PASSES = {
    "dropping faults": fewer_faults,
    "dropping records": fewer_records,
    "fixing delays": fixed_delays,
    "moving times": rounder_times,
    "shrinking the cluster": smaller_cluster,
    "plainer faults": plainer_faults,
    "merging elections": merged_elections,
}
"""What each does → the pass, in the order in which they pay most: what is gone need not be made plainer, and costs no time."""

__all__ = ["PASSES"]
