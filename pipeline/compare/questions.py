"""What is asked of the views `runs` and `anomalies` to compare variants, in Spark's SQL."""

from __future__ import annotations

from tidemark.harness.report.comparison import ANY, LOST

TOTALS = """
    SELECT variant,
        count(*) AS runs, count_if(valid != 'unknown') AS judged, count_if(valid = 'unknown') AS unknown,
        count_if(error IS NOT NULL) AS errors, collect_set(contract) AS contracts,
        count_if(valid != 'unknown' AND acked_lost_violation > 0) AS loss,
        count_if(valid != 'unknown' AND acked_lost_permitted > 0) AS permitted_loss,
        count_if(valid != 'unknown' AND acked_lost_violation + acked_lost_permitted > 0) AS any_loss,
        max(virtual_us) AS watched_us, count(marks) AS looked_at,
        count_if(valid != 'unknown' AND violations > 0 AND first_violation_us IS NOT NULL) AS timed,
        max(first_violation_us) AS last_us,
        {sums}
    FROM runs GROUP BY variant"""

SUMMED = (
    "acked",
    "acked_lost_violation",
    "acked_lost_permitted",
    "elections",
    "unclean_elections",
    "truncations",
    "records_truncated",
    "epoch_round_trips",
    "one_round",
    "two_rounds",
    "more_rounds",
    "hw_checkpoints",
)
MOST_STEPS = 1000
"""A curve of more hits is drawn in so many steps; each is where all hits up to it are counted."""

HITS = """
    SELECT DISTINCT a.variant, a.name, a.verdict, a.plan FROM anomalies a
    LEFT ANTI JOIN (SELECT variant, plan FROM runs WHERE valid = 'unknown') u ON a.variant = u.variant AND a.plan = u.plan
    UNION ALL
    SELECT variant, :any, 'violation', plan FROM runs WHERE valid != 'unknown' AND violations > 0
    UNION ALL
    SELECT variant, :any, 'permitted', plan FROM runs WHERE valid != 'unknown' AND permitted > 0
    UNION ALL
    SELECT variant, :lost, 'violation', plan FROM runs WHERE valid != 'unknown' AND acked_lost_violation > 0
    UNION ALL
    SELECT variant, :lost, 'permitted', plan FROM runs WHERE valid != 'unknown' AND acked_lost_permitted > 0"""

DERIVED = {"any": ANY, "lost": LOST}
"""The parameters of `HITS`: the names of what is counted beside anomalies."""

COUNTS = "SELECT variant, name, verdict, count(*) AS hits FROM hits GROUP BY variant, name, verdict"

BROKEN = """
    SELECT a.variant, promise, count(DISTINCT a.plan) AS hits
    FROM (SELECT variant, plan, explode(breaks) AS promise FROM anomalies
        WHERE name = 'lost-committed-write' AND get_json_object(evidence, '$.ack_time') IS NOT NULL OR name = 'lost-write') a
    LEFT ANTI JOIN (SELECT variant, plan FROM runs WHERE valid = 'unknown') u ON a.variant = u.variant AND a.plan = u.plan
    GROUP BY a.variant, promise"""
"""Where there is no trace, nothing but what clients saw (``lost-write``) tells of losses."""

PAIRS = """
    SELECT here.variant, here.plan FROM runs here
    JOIN runs base ON here.plan = base.plan AND here.plan_digest <=> base.plan_digest
    WHERE base.variant = :baseline AND here.variant != :baseline AND here.valid != 'unknown' AND base.valid != 'unknown'"""

COUNT_PAIRS = "SELECT variant, count(*) AS pairs FROM pairs GROUP BY variant"

DISCORDANT = """
    WITH v AS (SELECT * FROM hits WHERE verdict = 'violation'),
    here AS (SELECT p.variant, p.plan, v.name FROM pairs p JOIN v ON p.variant = v.variant AND p.plan = v.plan),
    base AS (SELECT p.variant, p.plan, v.name FROM pairs p JOIN v ON v.variant = :baseline AND p.plan = v.plan)
    SELECT coalesce(here.variant, base.variant) AS variant, coalesce(here.name, base.name) AS name,
        count_if(base.plan IS NULL) AS only_here, count_if(here.plan IS NULL) AS only_baseline
    FROM here FULL OUTER JOIN base
        ON here.variant = base.variant AND here.plan = base.plan AND here.name = base.name
    GROUP BY 1, 2"""

PERMITTED_BY = """
    SELECT a.variant, a.clause, count(DISTINCT a.plan) AS hits FROM anomalies a
    LEFT ANTI JOIN (SELECT variant, plan FROM runs WHERE valid = 'unknown') u ON a.variant = u.variant AND a.plan = u.plan
    WHERE a.name = 'lost-committed-write' AND a.verdict = 'permitted'
        AND get_json_object(a.evidence, '$.ack_time') IS NOT NULL
    GROUP BY a.variant, a.clause"""

FIRST_PLANS = """
    SELECT variant, name, collect_list(plan) AS plans FROM (
        SELECT variant, name, plan, row_number() OVER (PARTITION BY variant, name ORDER BY plan) AS place
        FROM hits WHERE verdict = 'violation')
    WHERE place <= :most GROUP BY variant, name"""

BETWEEN = """
    WITH judged AS (SELECT variant, plan, plan_digest, acked_lost_violation > 0 AS lost, violations > 0 AS hit
        FROM runs WHERE valid != 'unknown')
    SELECT one.variant AS one, other.variant AS other, count(*) AS pairs,
        count_if(one.lost AND NOT other.lost) AS lost_by_one, count_if(other.lost AND NOT one.lost) AS lost_by_other,
        count_if(one.hit AND NOT other.hit) AS hit_one, count_if(other.hit AND NOT one.hit) AS hit_other
    FROM judged one JOIN judged other ON one.plan = other.plan AND one.plan_digest <=> other.plan_digest
    WHERE one.variant < other.variant GROUP BY 1, 2"""
"""Each two variants once, in whichever order."""

MARKED = """
    SELECT variant, mark, count(*) AS runs FROM (SELECT variant, explode(marks) AS mark FROM runs) GROUP BY variant, mark"""

FIRST = """
    SELECT variant, CAST(ceil(first_violation_us / {width}) * {width} AS BIGINT) AS time, count(*) AS runs FROM runs
    WHERE valid != 'unknown' AND violations > 0 AND first_violation_us IS NOT NULL GROUP BY 1, 2"""
