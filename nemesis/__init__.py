"""The nemesis: faults as plain values, plans of them, and the injector that makes them happen in a world.

A :class:`~tidemark.nemesis.plan.Plan` is drawn first and holds everything about a run but the variant; it can be read, edited,
stored and shrunk. The injector resolves roles (*leader*, *follower* …) when a fault strikes and records what it hit.
"""

from tidemark.nemesis.asked_workload import AskedWorkload
from tidemark.nemesis.fault import Fault, FaultError, Trigger
from tidemark.nemesis.generate import cluster_of_plans, generate_plan
from tidemark.nemesis.injector import FaultTarget, Injector
from tidemark.nemesis.kinds import KINDS, LASTING_CONTROLLER_ONLY, REAL_ONLY, REASSIGNMENT, SIMULATED_ONLY
from tidemark.nemesis.object_workload import ObjectWorkload, ObjectWorkloadError
from tidemark.nemesis.plan import Plan, PlanError, WorkloadSpec, read_plan
from tidemark.nemesis.profiles import PROFILES, ProfileError, kinds_of
from tidemark.nemesis.send import Send

__all__ = [
    "KINDS",
    "LASTING_CONTROLLER_ONLY",
    "PROFILES",
    "REAL_ONLY",
    "REASSIGNMENT",
    "SIMULATED_ONLY",
    "AskedWorkload",
    "Fault",
    "FaultError",
    "FaultTarget",
    "Injector",
    "ObjectWorkload",
    "ObjectWorkloadError",
    "Plan",
    "PlanError",
    "ProfileError",
    "Send",
    "Trigger",
    "WorkloadSpec",
    "cluster_of_plans",
    "generate_plan",
    "kinds_of",
    "read_plan",
]
