"""The commands of a script: what each line after ``>`` means. `docs/scenarios.md` lists them for people.

Every entry of `COMMANDS` is a pattern and a function that turns its match into something that can be done to a `ScriptTarget`.
Whatever is wrong with a line raises ``ValueError`` with one sentence; the parser adds file and line.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from operator import methodcaller

from tidemark.harness.scenario.conditions import Condition, parse_condition
from tidemark.harness.scenario.expectations import parse_expectation
from tidemark.harness.scenario.links import Link
from tidemark.harness.scenario.model import MOVES_A_LOG
from tidemark.harness.scenario.records import Names, expand_list
from tidemark.harness.scenario.target import PATIENCE_US, ScriptTarget
from tidemark.harness.scenario.words import BrokerNames, duration_us
from tidemark.nodes.core.messages import KINDS

Perform = Callable[[ScriptTarget], object]
"""Carries a command out; what it returns does not matter."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What a line may refer to: the brokers, and the records written so far."""

    cast: BrokerNames
    records: Names


_Builder = Callable[[Vocabulary, re.Match[str]], Perform]


def parse_command(vocabulary: Vocabulary, text: str) -> Perform:
    """What a command does.

    Raises:
        ValueError: with one sentence.
    """
    for pattern, build in COMMANDS:
        match = pattern.fullmatch(text)
        if match is not None:
            return build(vocabulary, match)
    verb = text.split(maxsplit=1)[0] if text else ""
    raise ValueError(f"cannot read the command {text!r}: {_hint(verb)}")


def _hint(verb: str) -> str:
    forms = [form for form in FORMS if form.split(maxsplit=1)[0] == verb]
    if forms:
        return f"write {' or '.join(forms)}"
    return f"the verbs are {', '.join(dict.fromkeys(form.split(maxsplit=1)[0] for form in FORMS))}"


def _send(v: Vocabulary, m: re.Match[str]) -> Perform:
    names = expand_list(m["records"])
    for name in names:
        if v.records.knows(name):
            raise ValueError(f"record {name} was written before, and records are unique")
        v.records.number(name)
    broker = v.cast.broker(m["to"]) if m["to"] else None
    acks = m["acks"]
    if m[1] == "send":
        return lambda target: target.send(names, broker, acks)
    return lambda target: target.write(names, broker, acks)


def _read(v: Vocabulary, m: re.Match[str]) -> Perform:
    broker = v.cast.broker(m["broker"]) if m["broker"] else None
    return lambda target: target.read(broker)


def _run(v: Vocabulary, m: re.Match[str]) -> Perform:
    time = duration_us(m[1])
    return lambda target: target.run(time)


def _until(v: Vocabulary, m: re.Match[str]) -> Perform:
    condition: Condition = parse_condition(v.cast, v.records, m[1])
    within = duration_us(m[2]) if m[2] else PATIENCE_US
    text = m[1]
    return lambda target: target.wait(text, lambda: condition(target), within)


def _cut(v: Vocabulary, m: re.Match[str]) -> Perform:
    one = v.cast.node(m["one"])
    others = v.cast.others(one) if m["other"] == "all" else (v.cast.node(m["other"]),)
    links = tuple(link for other in others for link in (Link(None, one, other), Link(None, other, one)))
    return methodcaller("block" if m[1] == "cut" else "unblock", links)


def _kind_link(v: Vocabulary, m: re.Match[str]) -> Perform:
    sources = v.cast.nodes(m["source"]) if m["source"] else (None,)
    targets = v.cast.nodes(m["to"]) if m["to"] else (None,)
    links = tuple(Link(m["kind"], source, to) for source in sources for to in targets)
    return methodcaller(m[1], links)


def _end(how: str) -> _Builder:
    def build(v: Vocabulary, m: re.Match[str]) -> Perform:
        broker = v.cast.broker(m[1])
        return lambda target: target.end_process(broker, how)

    return build


def _power(v: Vocabulary, m: re.Match[str]) -> Perform:
    broker, keep = v.cast.broker(m[1]), int(m[2])
    return lambda target: target.end_process(broker, "power", keep)


def _life(v: Vocabulary, m: re.Match[str]) -> Perform:
    return methodcaller(m[1], v.cast.broker(m[2]))


def _controller(_v: Vocabulary, m: re.Match[str]) -> Perform:
    return methodcaller(f"{m[1]}_controller")


def _elect(v: Vocabulary, m: re.Match[str]) -> Perform:
    if m[1] == "the preferred leader":
        return lambda target: target.elect("preferred", 1)
    broker, how = v.cast.broker(m[1]), "unclean" if m[2] else "forced"
    return lambda target: target.elect(how, broker)


def _reassign(v: Vocabulary, m: re.Match[str]) -> Perform:
    replicas = v.cast.brokers(m[1])
    return lambda target: target.reassign(replicas)


def _min_isr(_v: Vocabulary, m: re.Match[str]) -> Perform:
    if (min_isr := int(m[1])) < 1:
        raise ValueError("min ISR is at least 1")
    return methodcaller("set_min_isr", min_isr)


def _unclean(_v: Vocabulary, m: re.Match[str]) -> Perform:
    return methodcaller("allow_unclean", on=m[1] == "allow")


def _elr(_v: Vocabulary, m: re.Match[str]) -> Perform:
    return methodcaller("switch_elr", on=m[1] == "on")


def _move_log(v: Vocabulary, m: re.Match[str]) -> Perform:
    return methodcaller("move_log", v.cast.broker(m[1]))


def _throttle_moves(v: Vocabulary, m: re.Match[str]) -> Perform:
    return methodcaller("throttle_moves", v.cast.broker(m[1]), int(m[2]))


def _delete(v: Vocabulary, m: re.Match[str]) -> Perform:
    offset, broker = int(m[1]), v.cast.broker(m[2]) if m[2] else None
    return lambda target: target.delete_records(offset, broker)


def _retain(v: Vocabulary, m: re.Match[str]) -> Perform:
    broker, batches = v.cast.broker(m[1]), int(m[2])
    return lambda target: target.retain(broker, batches)


def _expect(v: Vocabulary, m: re.Match[str]) -> Perform:
    return parse_expectation(v.cast, v.records, m[1])


_KIND = "|".join(KINDS)
_WITH = r"(?: to (?P<to>\S+))?(?: with acks (?P<acks>all|0|1))?"

COMMANDS: tuple[tuple[re.Pattern[str], _Builder], ...] = (
    (re.compile(rf"(send|write) (?P<records>.+?){_WITH}"), _send),
    (re.compile(r"read(?: from (?P<broker>\S+))?"), _read),
    (re.compile(r"run (.+)"), _run),
    (re.compile(r"until (.+?)(?: within (.+))?"), _until),
    (re.compile(r"(cut) (?P<one>\S+) from (?P<other>\S+)"), _cut),
    (re.compile(r"(join) (?P<one>\S+) and (?P<other>\S+)"), _cut),
    (
        re.compile(rf"(block|unblock|hold|release) (?P<kind>{_KIND})(?: from (?P<source>.+?))?(?: to (?P<to>.+))?"),
        _kind_link,
    ),
    (re.compile(r"crash (\S+)"), _end("crash")),
    (re.compile(r"stop (\S+)"), _end("clean")),
    (re.compile(r"wipe (\S+)"), _end("disk")),
    (re.compile(r"power off (\S+) keeping (\d+) batch(?:es)?"), _power),
    (re.compile(r"(crash|start) the controller"), _controller),
    (re.compile(r"(start|pause|resume) (\S+)"), _life),
    (re.compile(r"elect (the preferred leader|\S+)( uncleanly)?"), _elect),
    (re.compile(r"reassign to (.+)"), _reassign),
    (re.compile(r"set min ISR to (\d+)"), _min_isr),
    (re.compile(r"switch ELR (on|off)"), _elr),
    (re.compile(r"(allow|forbid) unclean elections"), _unclean),
    (re.compile(r"throttle moves on (\S+) to (\d+) bytes/s"), _throttle_moves),
    (MOVES_A_LOG, _move_log),
    (re.compile(r"cancel the reassignment"), lambda _v, _m: methodcaller("reassign", ())),
    (re.compile(r"delete records before (\d+)(?: at (\S+))?"), _delete),
    (re.compile(r"retention on (\S+) drops (\d+) batch(?:es)?"), _retain),
    (re.compile(r"expect (.+)"), _expect),
)

FORMS = (
    "send RECORDS [to BROKER] [with acks all|1|0]",
    "write RECORDS [to BROKER] [with acks all|1|0]",
    "read [from BROKER]",
    "run TIME",
    "until CONDITION [within TIME]",
    "cut NODE from NODE|all",
    "join NODE and NODE|all",
    *(f"{verb} KIND [from NODES] [to NODES], KIND being one of {', '.join(KINDS)}" for verb in ("block", "unblock")),
    *(f"{verb} KIND [from NODES] [to NODES], KIND being one of {', '.join(KINDS)}" for verb in ("hold", "release")),
    "crash BROKER",
    "crash the controller",
    "stop BROKER",
    "wipe BROKER",
    "power off BROKER keeping N batches",
    "start BROKER",
    "start the controller",
    "pause BROKER",
    "resume BROKER",
    "elect BROKER [uncleanly]",
    "elect the preferred leader",
    "reassign to BROKERS",
    "set min ISR to N",
    "switch ELR off",
    "switch ELR on",
    "allow unclean elections",
    "forbid unclean elections",
    "throttle moves on BROKER to N bytes/s",
    "move the log of BROKER",
    "cancel the reassignment",
    "delete records before OFFSET [at BROKER]",
    "retention on BROKER drops N batches",
    "expect …",
)
"""What may be written, for error messages."""
