"""``tidemark variants``: what the protocols of all families do, and where two of them differ."""

from __future__ import annotations

import json
from typing import Any

import click
from rich.table import Table

from tidemark.cli.exits import VALID
from tidemark.cli.options import VariantName, json_option
from tidemark.cli.output import output
from tidemark.cli.own_rules import rule_option
from tidemark.nodes.core.describe import describe, differences, modifiers
from tidemark.nodes.families import FAMILIES, AnyVariant, family_of, parse_variant

EPILOG = """\b
Examples:
  tidemark variants                                         the presets, one line each
  tidemark variants kafka-2.1                               all that one does
  tidemark variants kafka-2.0 kafka-2.1                     where two differ
  tidemark variants kafka-2.1 kafka-2.1+truncation=fetch
  tidemark variants kafka-2.7+no-isr-fence+KAFKA-13141 --json
  tidemark variants quorum-hwm quorum-hwm+repaired          what repairs the seed's high-water mark
  tidemark variants raft"""


@click.command("variants", epilog=EPILOG)
@click.argument("names", nargs=-1, type=VariantName(), metavar="[NAME]...")
@json_option
@rule_option
def variants_command(names: tuple[str, ...], as_json: bool) -> int:
    """Say what a protocol does: without names every preset in one line, with one all of it, with two what differs.

    A name is a preset with any modifiers, such as kafka-2.1+no-fetch-fence; docs/protocol.md lists them; docs/families has
    the protocols that are not Kafka's.
    """
    variants = [parse_variant(name) for name in names or [name for family in FAMILIES for name in family.presets]]
    if as_json:
        click.echo(json.dumps(_as_json(variants, compared=len(names) == 2), indent=1))
    elif not names:
        _print_presets(variants)
    elif len(variants) == 2:
        _print_differences(*variants)
    else:
        for variant in variants:
            _print_all(variant)
    return VALID


def _as_json(variants: list[AnyVariant], *, compared: bool) -> dict[str, Any]:
    told: dict[str, Any] = {
        "variants": [
            {
                "name": variant.name,
                "family": family_of(variant).name,
                "modifiers": list(modifiers(variant)),
                "contract": variant.contract,
                "does": [row._asdict() for row in describe(variant)],
            }
            for variant in variants
        ]
    }
    if compared:
        told["differences"] = [difference._asdict() for difference in differences(*variants)]
    return told


def _print_presets(variants: list[AnyVariant]) -> None:
    for family in FAMILIES:
        own = [variant for variant in variants if family_of(variant).name == family.name]
        width = max((len(variant.name) for variant in own), default=0)
        for variant in own:
            click.echo(f"{variant.name:<{width}}  {', '.join(modifiers(variant))}".rstrip())


def _print_all(variant: AnyVariant) -> None:
    table = _table("", variant.name)
    for row in describe(variant):
        table.add_row(*row)
    output().print(table)


def _print_differences(one: AnyVariant, other: AnyVariant) -> None:
    found = differences(one, other)
    if not found:
        click.echo(f"{one.name} and {other.name} do the same.")
        return
    table = _table("", one.name, other.name)
    for topic, first, second in found:
        table.add_row(topic, first or "–", second or "–")
    output().print(table)


def _table(*columns: str) -> Table:
    table = Table(show_lines=True)
    for column in columns:
        table.add_column(column, overflow="fold")
    return table
