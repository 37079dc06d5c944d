"""One mutant, tried in a process of its own.

python -m bench.mutants.worker FILE NUMBER FOLDER          prints what was found, as JSON
python -m bench.mutants.worker by-hand NAME SECONDS        the same for a defect that somebody thought of, and a hunt alone
python -m bench.mutants.worker control                     reads plans, and says of each whether it passes without the mutant
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from hashlib import sha256
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import TYPE_CHECKING, Any

from bench.mutants.by_hand import Defect, defects
from bench.mutants.mutation import ROOT, mutated

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable, Iterator, Sequence

    from tidemark.nemesis import Plan

RUNS = 500
"""So many runs are compared, before a mutant is said to change nothing."""
RUNS_MORE = 100
"""So many more are looked at for a second variant in which it changes something."""
SECONDS = 20.0
"""Of the CPU, for each that changes something: half in a hunt, half in random plans."""
ALL_OF = 4
"""On one in so many all searchers are let loose, whether or not another has found it."""
MOST_SECONDS = 60
MOST_BYTES = 3 << 30
KAFKA = (
    "kafka-4.0+forget-log-ends+rebuild-epochs+begin-anew+obey-last-order",
    "kafka-3.7",
    "kafka-2.7",
    "kafka-2.1+bounce-detection",
    "kafka-0.11",
)
VOTING = ("raft", "quorum-hwm+repaired", "reconciliation+own-generation")
VARIANTS = {
    "nodes/families/raft": ("raft", "raft+lease-reads", "raft+pre-vote+membership-change"),
    "nodes/families/quorum": ("quorum-hwm+repaired",),
    "nodes/families/reconciliation": ("reconciliation+own-generation",),
    "nodes/families/voting": ("raft+pre-vote+membership-change", *VOTING[1:]),
    "nodes/families/bookkeeper": ("bookkeeper",),
    "nodes/families": (*VOTING, "bookkeeper"),
    "nodes/core": (*KAFKA, "raft"),
}
"""What uses a file: by the longest beginning of its path."""


class _Loader(SourceFileLoader):
    """Compiles a module with one change; nothing is written."""

    changed: Callable[[str], ast.Module]

    def get_code(self, fullname: str) -> CodeType:
        source = Path(self.path).read_text(encoding="utf-8")
        code: CodeType = compile(self.changed(source), self.path, "exec")
        return code


class _Finder(MetaPathFinder):
    def __init__(self, file: Path, changed: Callable[[str], ast.Module]) -> None:
        self._file, self._changed = file.resolve(), changed

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if not fullname.startswith("tidemark."):
            return None
        for finder in sys.meta_path:
            if finder is self:
                continue
            spec = finder.find_spec(fullname, path, target)
            if spec is not None:
                if spec.origin and Path(spec.origin).resolve() == self._file:
                    loader = _Loader(fullname, spec.origin)
                    loader.changed = self._changed
                    spec.loader = loader
                return spec
        return None


def variants_of(file: str) -> tuple[str, ...]:
    """Those whose runs a change to a file may change."""
    return VARIANTS[max((start for start in VARIANTS if file.startswith(start)), key=len)]


def plans_of(file: str) -> Iterator[tuple[str, Plan]]:
    """The runs that are compared: variant and plan."""
    from tidemark.harness.search.hunt.arms import profiles_for
    from tidemark.nemesis import generate_plan
    from tidemark.nodes.core.cluster import ClusterSpec
    from tidemark.nodes.families import family_of, parse_variant

    variants = variants_of(file)
    profiles = {name: profiles_for(family_of(parse_variant(name))) for name in variants}
    for index in range(RUNS):
        name = variants[index % len(variants)]
        turn = profiles[name][index // len(variants) % len(profiles[name])]
        yield name, generate_plan(29, index, turn, ClusterSpec())


def base(file: str, folder: Path) -> list[str]:
    """The digests of these runs without any mutant; kept in a file."""
    from tidemark.harness.simulator import simulate
    from tidemark.nodes.families import parse_variant

    key = sha256(" ".join(variants_of(file)).encode()).hexdigest()[:8]
    kept = folder / f"base-{key}.json"
    if kept.exists():
        found: list[str] = json.loads(kept.read_text())
        return found
    digests = [simulate(plan, parse_variant(name)).digest for name, plan in plans_of(file)]
    kept.with_suffix(f".{os.getpid()}").write_text(json.dumps(digests))
    kept.with_suffix(f".{os.getpid()}").rename(kept)
    return digests


def by_scripts() -> set[str]:
    """Scripts that do not end as they say, the families' among them."""
    from tidemark.harness.scenario import all_scenarios, parse_scenario, run_scenario, variants_of

    wrong = set()
    of_families = sorted((ROOT / "harness" / "scenario" / "scripts" / "families").glob("*.scenario"))
    for scenario in [*all_scenarios(), *(parse_scenario(path.read_text(), path.name) for path in of_families)]:
        for variant in variants_of(scenario):
            try:
                fine = run_scenario(scenario, variant).mismatches == []
            except Exception:  # noqa: BLE001  whatever a mutant does
                fine = False
            if not fine:
                wrong.add(f"{scenario.name} under {variant}")
    return wrong


def by_corpus() -> set[str]:
    """Kept plans that do not show what they showed."""
    from tidemark.harness.search.corpus import Corpus, replay
    from tidemark.harness.search.corpus.kept_plan import read_kept

    wrong = set()
    for path in Corpus(ROOT / "results" / "published" / "corpus").paths():
        try:
            fine = replay(read_kept(path)).is_as_kept
        except Exception:  # noqa: BLE001
            fine = False
        if not fine:
            wrong.add(path.stem)
    return wrong


class _Control:
    """Whether plans pass without the mutant, told by a process that has none."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def passes(self, plan: Plan, variant: str) -> bool:
        if self._process is None:
            words = [sys.executable, "-m", "bench.mutants.worker", "control"]
            self._process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT)
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        print(json.dumps([variant, plan.to_json()]), file=process.stdin, flush=True)
        return process.stdout.readline().strip() == "passes"


def control() -> None:
    """Answer until there are no more questions."""
    from tidemark.harness.simulator.execute import execute
    from tidemark.nemesis import Plan

    for line in sys.stdin:
        variant, plan = json.loads(line)
        valid = execute(Plan.from_json(plan), variant).verdict.valid
        print("fails" if valid == "invalid" else "passes", flush=True)


def has_all_searchers(file: str, number: int) -> bool:
    """Whether all searchers are let loose on a mutant; on the others only until the first finds it."""
    return sha256(f"{file}#{number}".encode()).digest()[0] % ALL_OF == 0


def tried(file: str, number: int, folder: Path) -> dict[str, Any]:
    """What came of a mutant: `outcome` is `same`, `found` or `survived`; `by` says who found it, and how."""
    found: dict[str, str] = {}
    try:
        changed = _changed(file, folder)
    except Exception as error:  # noqa: BLE001  a process that breaks is what is told
        return {"outcome": "found", "by": {"crash": f"{type(error).__name__}: {error}"}}
    if not changed:
        return {"outcome": "same", "by": {}}
    control = _Control()
    searches = (
        ("hunt", lambda: _hunt(changed, control, SECONDS / 2)),
        ("random", lambda: _random(changed, control)),
        ("script", lambda: _told(by_scripts(), folder)),
        ("corpus", lambda: _told(by_corpus(), folder)),
    )
    everyone = has_all_searchers(file, number)
    for how, search in searches:
        if found and not everyone:
            break
        try:
            if told := search():
                found[how] = told
        except Exception as error:  # noqa: BLE001
            found[how] = f"{type(error).__name__}: {error}"
    outcome = "found" if found else "survived"
    return {"outcome": outcome, "by": found, "changed": changed, "everyone": everyone or not found}


def _changed(file: str, folder: Path) -> list[str]:
    """Up to two variants in which some run is another."""
    from tidemark.harness.simulator import simulate
    from tidemark.nodes.families import parse_variant

    changed: list[str] = []
    last = RUNS
    for index, ((name, plan), digest) in enumerate(zip(plans_of(file), base(file, folder), strict=True)):
        if index > last:
            break
        if name not in changed and simulate(plan, parse_variant(name)).digest != digest:
            changed.append(name)
            if len(changed) == 2:
                break
            last = index + RUNS_MORE
    return changed


def _told(wrong: set[str], folder: Path) -> str:
    """What ends otherwise than it does without the mutant."""
    told = sorted(wrong - set(json.loads((folder / "scripts.json").read_text())))
    return f"{told[0]}, and {len(told) - 1} more" if len(told) > 1 else "".join(told)


def _random(variants: list[str], control: _Control) -> str:
    from tidemark.harness.search.hunt.arms import profiles_for
    from tidemark.harness.simulator.execute import execute
    from tidemark.nemesis import generate_plan
    from tidemark.nodes.core.cluster import ClusterSpec
    from tidemark.nodes.families import family_of, parse_variant

    until, index = time.process_time() + SECONDS / 2, 0
    while time.process_time() < until:
        variant = variants[index % len(variants)]
        profiles = profiles_for(family_of(parse_variant(variant)))
        plan = generate_plan(1, index, profiles[index % len(profiles)], ClusterSpec())
        index += 1
        verdict = execute(plan, variant).verdict
        if verdict.valid == "invalid" and control.passes(plan, variant):
            name = next(one.name for one in verdict.anomalies if one.verdict == "violation")
            return f"{name} after {index} plans"
    return ""


def _hunt(variants: Sequence[str], control: _Control, seconds: float) -> str:
    from tidemark.harness.search.hunt import Hunt, Quarry
    from tidemark.harness.search.hunt.hunt import Attempt
    from tidemark.harness.zoo.known import known_of
    from tidemark.nodes.core.cluster import ClusterSpec

    until = time.process_time() + seconds
    hunts = [
        (variant, Hunt(Attempt(variant, Quarry(), known=known_of(variant)), None, ClusterSpec(), 1, free=True).rounds())
        for variant in variants
    ]
    while True:
        for variant, rounds in hunts:
            for one in next(rounds).found:
                if one.trial.caught is not None and control.passes(one.plan, variant):
                    made = f", made of {one.made_of}" if one.made_of else ""
                    return f"{one.trial.caught.name} after {one.number} tries{made}"
            if time.process_time() > until:
                return ""


def hunted(defect: Defect, seconds: float) -> dict[str, Any]:
    """How a hunt with its defaults finds a defect, in so many seconds of the CPU; `found` is empty if it does not."""
    began = time.process_time()
    try:
        found = _hunt([defect.variant], _Control(), seconds)
    except Exception as error:  # noqa: BLE001  a process that breaks is found
        found = f"{type(error).__name__}: {error}"
    return {"found": found, "seconds": round(time.process_time() - began, 1)}


def main() -> None:
    """See the top of this file."""
    if sys.argv[1] == "control":
        control()
        return
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    if sys.argv[1] == "by-hand":
        defect = defects()[sys.argv[2]]
        sys.meta_path.insert(0, _Finder(ROOT / defect.file, defect.put))
        print(json.dumps(hunted(defect, float(sys.argv[3]))))
        return
    file, number, folder = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])
    if number >= 0:
        resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))
        sys.meta_path.insert(0, _Finder(ROOT / file, lambda source: mutated(source, number)))
        print(json.dumps(tried(file, number, folder)))
        return
    for one in (*VARIANTS, ""):  # without a mutant: what all of them are compared with
        if one:
            base(f"{one}/", folder)
        else:
            (folder / "scripts.json").write_text(json.dumps(sorted(by_scripts() | by_corpus())))


if __name__ == "__main__":
    main()
