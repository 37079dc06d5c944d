"""What a report is made from: plain values, filled by whoever compared the runs. Times are µs of the run, shares 0..1."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from tidemark.checkers.history.history import History
from tidemark.checkers.marks import MARKS
from tidemark.checkers.verdict.verdict import Verdict

ANY = "any of these"
"""The name of the row that counts a run once, whatever it violated."""
LOST = "lost-acked-record"
"""The name of the row that counts runs in which a record was lost whose producer had been told that it is written."""
DERIVED = {
    LOST: "A record was lost whose producer had been told that it is written: a lost-committed-write that somebody relied on."
}
"""Rows that no checker names: what they say, as it stands beside an anomaly's name."""


@dataclass(frozen=True, slots=True)
class Rate:
    """`hits` of `runs`, with the 95 % interval of the share.

    The interval says what chance could have done, and nothing about `unknown` runs, which are no part of `runs`: nobody could
    judge them. The share of all runs lies between `least`, if none of them was hit, and `most`, if all were.
    """

    hits: int
    runs: int
    low: float
    high: float
    unknown: int = 0
    least: float = field(init=False)
    most: float = field(init=False)

    def __post_init__(self) -> None:
        """Work out the bounds; if there was no run at all, everything is possible."""
        everything = self.runs + self.unknown
        object.__setattr__(self, "least", self.hits / everything if everything else 0.0)
        object.__setattr__(self, "most", (self.hits + self.unknown) / everything if everything else 1.0)

    @property
    def share(self) -> float:
        """The share of runs hit; 0 if there were none."""
        return self.hits / self.runs if self.runs else 0.0


@dataclass(frozen=True, slots=True)
class Paired:
    """A variant against the baseline over the plans that both were judged on.

    One comparison of a campaign is the primary one, settled by its spec before anything ran; the p-values of all others are
    corrected together, by Holm's method.
    """

    baseline: str
    pairs: int
    only_here: int  # plans that hit this variant and not the baseline
    only_baseline: int
    p_value: float  # exact McNemar, by itself
    p_adjusted: float  # the same if this is the primary comparison, else corrected
    low: float  # 95 % interval of the difference, by itself (Tango)
    high: float
    primary: bool

    @property
    def difference(self) -> float:
        """Share hit here minus share hit in the baseline."""
        return (self.only_here - self.only_baseline) / self.pairs if self.pairs else 0.0


@dataclass(frozen=True, slots=True)
class AnomalyCount:
    """One kind of anomaly under one variant: violations and permitted ones are never added up."""

    name: str
    violation: Rate
    permitted: Rate
    paired: Paired | None  # of the violations; None for the baseline itself
    plans: tuple[int, ...] = ()  # the first plans that showed the violation


@dataclass(frozen=True, slots=True)
class Between:
    """Two variants on the plans that both were judged on; `other` stands behind `one` in the comparison."""

    one: str
    other: str
    name: str  # LOST or ANY
    pairs: int
    only_one: int  # plans that hit this one alone
    only_other: int
    p_value: float  # exact McNemar, by itself
    p_adjusted: float | None = None  # of two next to each other: corrected for all of these together (Holm)


@dataclass(frozen=True, slots=True)
class OtherCause:
    """A known bug outside the rules that a comparison is about, and the violating runs of a variant that come of it.

    Attributes:
        key: of the bug, as the zoo has it. title: in one line.
        repaired: the variant with this bug alone repaired.
        runs: so many violating runs show nothing but what the bug is known to show, and are valid with it repaired.
        fixed: the releases of Apache Kafka that repaired it, as the zoo has them.
    """

    key: str
    title: str
    repaired: str
    runs: int
    fixed: str = ""


@dataclass(frozen=True, slots=True)
class KnownLoss:
    """A known bug that loses records, that a variant has, and that no release of Apache Kafka has repaired.

    Attributes:
        key: of the bug, as the zoo has it. title: in one line.
        release: of Apache Kafka, which has it still.
    """

    key: str
    title: str
    release: str


@dataclass(frozen=True, slots=True)
class Spread:
    """How a quantity spreads over `runs` runs; all None if there were none."""

    runs: int
    mean: float | None
    p5: float | None
    p25: float | None
    p50: float | None
    p75: float | None
    p95: float | None


@dataclass(frozen=True, slots=True)
class Recovery:
    """How long runs took from healing to rest, µs. A run that never came to rest counts as slower than all others: a percentile
    that falls on such a run is None. There is no mean.
    """

    never: Rate  # of the runs that did not raise
    p5: int | None
    p25: int | None
    p50: int | None
    p75: int | None
    p95: int | None


@dataclass(frozen=True, slots=True)
class VariantResult:
    """What the campaign found about one variant."""

    variant: str
    runs: int
    judged: int  # valid or invalid: the denominator of every rate
    unknown: int  # errors included; every rate has bounds for them
    errors: int  # runs that raised
    contracts: tuple[str, ...]  # the promises its runs were judged by
    acked: int
    acked_lost_violation: int  # records
    acked_lost_permitted: int  # records
    loss: Rate  # runs that lost an acked record against the promise
    permitted_loss: Rate  # runs that lost one as it permits; some may have lost another against it
    any_loss: Rate  # runs that lost one, either way
    promises: Mapping[str, Rate]  # promise that means something here -> runs in which a loss broke it, own or not
    anomalies: tuple[AnomalyCount, ...]  # ANY first
    near_misses: Mapping[str, Rate]  # kind -> runs with one; the same kinds for all variants
    first_violation: Spread  # µs, of the runs that violated something
    hit_curve: tuple[tuple[int, float], ...]  # steps: (µs, share of runs violated by then)
    elections: int
    unclean_elections: int
    truncations: int
    records_truncated: int
    epoch_round_trips: int
    one_round: int  # times a follower needed one answer of its leader to bring its log in line; two; three or more
    two_rounds: int
    more_rounds: int
    hw_checkpoints: int  # 0: nobody counted
    availability: Spread  # share
    recovery: Recovery
    exercised: Mapping[str, int] = field(
        default_factory=dict
    )  # mark -> runs that came to it; empty where nobody looked
    replay: str = ""  # the command that has a run again, with PLAN for its number
    permitted_by: Mapping[str, int] = field(default_factory=dict)  # clause -> runs that lost an acked record by it

    @property
    def violating(self) -> Rate:
        """Runs that violated anything."""
        return next(row.violation for row in self.anomalies if row.name == ANY)

    @property
    def permitted_only(self) -> int:
        """Runs that lost an acked record, and none against the promise."""
        return self.any_loss.hits - self.loss.hits

    def count(self, name: str) -> AnomalyCount | None:
        """The row of one kind of anomaly, None if the variant never showed it."""
        return next((row for row in self.anomalies if row.name == name), None)


@dataclass(frozen=True, slots=True)
class RunLine:
    """One run in the list of a comparison's page.

    Attributes:
        valid: ``invalid``, ``unknown`` or ``valid``.
        found: (name, verdict, how often) of its anomalies, the gravest first.
        first_violation_us: None without violation.
        because: why it is unknown, or what it raised.
    """

    variant: str
    plan: int
    valid: str
    found: tuple[tuple[str, str, int], ...]
    first_violation_us: int | None
    because: str | None = None


@dataclass(frozen=True, slots=True)
class PartLine:
    """One variant of one part, in the list of a campaign's parts.

    Attributes:
        part: what tells the part from the others, in words.
        here: whether it is the part of the page.
        page: the part's page, as a link from there; None where there is none.
        runs: how many are done, of those `expected`.
    """

    part: str
    here: bool
    page: str | None
    variant: str
    runs: int
    expected: int
    violating: Rate


@dataclass(frozen=True, slots=True)
class PresentIn:
    """How many of some plans have a fault of each kind: a plan counts once for a kind, however many of it it has.

    Attributes:
        plans: how many there are.
        mean: of the number of faults in one.
        kinds: kind of fault → plans with one, of all of them; without kinds that are left out there.
    """

    plans: int
    mean: float
    kinds: Mapping[str, Rate]


@dataclass(frozen=True, slots=True)
class FaultsPresent:
    """Kinds of faults in the plans of violating runs, beside those in all plans.

    Attributes:
        everywhere: in all plans, whatever came of them.
        violating: variant → in the plans of its violating runs; without variants that violated nothing.
        whole: all plans were looked at, and not only the first.
    """

    everywhere: PresentIn
    violating: Mapping[str, PresentIn]
    whole: bool

    @property
    def kinds(self) -> list[str]:
        """The kinds that some plan has, most frequent in all plans first."""
        return sorted(self.everywhere.kinds, key=lambda kind: (-self.everywhere.kinds[kind].hits, kind))

    def stands_out(self, variant: str, kind: str) -> bool:
        """Whether a kind's share of a variant's violating runs is above its share of all plans, with all of its 95 % interval."""
        rate = self.violating[variant].kinds.get(kind)
        return rate is not None and rate.low > self.everywhere.kinds[kind].share

    def standing_out(self, variant: str) -> list[str]:
        """The kinds that do so, the widest difference first."""
        here, all_plans = self.violating[variant].kinds, self.everywhere.kinds
        found = [kind for kind in self.kinds if self.stands_out(variant, kind)]
        return sorted(found, key=lambda kind: all_plans[kind].share - here[kind].share)


@dataclass(frozen=True, slots=True)
class Comparison:
    """A paired campaign: the same plans under every variant."""

    campaign: str
    profile: str
    seed: int
    plans: int  # per variant, as asked for
    cluster: Mapping[str, Any]  # all of it, as `ClusterSpec.to_json` has it
    baseline: str
    variants: tuple[VariantResult, ...]
    watched_us: int  # the longest run
    world: str = "sim"
    system: str = "tidemark"
    primary: str | None = None  # the variant whose row ANY is the primary comparison
    contract: str | None = None  # the promise that was asked for, in place of the variants' own
    code: str = ""  # digest of the source that ran it
    begun: str = ""  # the day, UTC
    workload: Mapping[str, float] = field(default_factory=dict)  # what was asked for, as `AskedWorkload.to_json` has it
    intensity: float = 1  # a factor on how many faults plans have
    between: tuple[Between, ...] = ()  # each two variants
    faults: FaultsPresent | None = None  # in the plans of violating runs; None where nobody looked
    other_causes: Mapping[str, tuple[OtherCause, ...]] | None = None  # by variant; None where nobody looked
    not_reached: Mapping[str, tuple[KnownLoss, ...]] | None = None  # by variant that lost nothing; None: nobody looked

    def two(self, one: str, other: str, name: str) -> Between | None:
        """How two variants compare, whichever stands first here; None where nobody compared them."""
        for pair in self.between:
            if pair.name == name and (pair.one, pair.other) == (one, other):
                return pair
            if pair.name == name and (pair.other, pair.one) == (one, other):
                return replace(pair, one=one, other=other, only_one=pair.only_other, only_other=pair.only_one)
        return None

    @property
    def pairs(self) -> tuple[Paired, ...]:
        """All comparisons with the baseline."""
        return tuple(row.paired for variant in self.variants for row in variant.anomalies if row.paired is not None)

    @property
    def own_promises(self) -> list[str]:
        """The promises by which its runs were judged, the first variant's first."""
        return list(dict.fromkeys(name for variant in self.variants for name in variant.contracts))

    @property
    def anomaly_names(self) -> tuple[str, ...]:
        """Every kind of anomaly that some variant showed, ANY first, then LOST, then by name."""
        names = {row.name for variant in self.variants for row in variant.anomalies}
        return (ANY, *(name for name in (LOST,) if name in names), *sorted(names - {ANY, LOST}))

    @property
    def promises(self) -> tuple[str, ...]:
        """Every promise that means something for some variant."""
        return tuple(dict.fromkeys(promise for variant in self.variants for promise in variant.promises))

    @property
    def never_exercised(self) -> list[str]:
        """Those of them that no run of any variant came to."""
        return [name for name in self.marks if not any(variant.exercised.get(name) for variant in self.variants)]

    @property
    def marks(self) -> list[str]:
        """The marks that some variant's runs can come to, in the order of all, where somebody looked."""
        known = {name for variant in self.variants for name in variant.exercised}
        return [name for name in MARKS if name in known]

    def to_json(self) -> dict[str, Any]:
        """The comparison as JSON values."""
        data = asdict(self)
        for name in ("faults", "other_causes", "not_reached"):
            if data[name] is None:
                del data[name]
        for variant in data["variants"]:
            variant["hit_curve"] = [list(step) for step in variant["hit_curve"]]
        return data


@dataclass(frozen=True, slots=True)
class Example:
    """One run to explain: by the anomaly called `name`, or by the clearest."""

    variant: str
    plan_index: int
    plan: Mapping[str, Any]  # JSON, as `tidemark run --plan` reads it
    history: History
    verdict: Verdict
    name: str | None = None
    command: str = ""  # has the run again
