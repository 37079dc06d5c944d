"""``tidemark variants``: what the protocols do, in Kafka's words, and where two of them differ."""

from __future__ import annotations

import json
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from harness.cli.exits import VALID
from harness.cli.options import VariantName, json_option
from nodes.core.describe import describe, differences, modifiers
from nodes.core.variant import PRESETS, Variant, parse_variant

EPILOG = """\b
Examples:
  tidemark variants                                         the presets, one line each
  tidemark variants kafka-2.1                               all that one does
  tidemark variants kafka-2.0 kafka-2.1                     where two differ
  tidemark variants kafka-2.1 kafka-2.1+truncation=fetch
  tidemark variants kafka-2.7+no-isr-fence+KAFKA-13141 --json"""


@click.command("variants", epilog=EPILOG)
@click.argument("names", nargs=-1, type=VariantName(), metavar="[NAME]...")
@json_option
def variants_command(names: tuple[str, ...], as_json: bool) -> int:
    """Say what a protocol does: without names every preset in one line, with one all of it, with two what differs.

    A name is a preset with any modifiers, such as kafka-2.1+no-fetch-fence; docs/protocol.md lists them.
    """
    variants = [parse_variant(name) for name in names or PRESETS]
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


def _as_json(variants: list[Variant], *, compared: bool) -> dict[str, Any]:
    told: dict[str, Any] = {
        "variants": [
            {
                "name": variant.name,
                "modifiers": modifiers(variant),
                "contract": variant.contract,
                "does": [row._asdict() for row in describe(variant)],
            }
            for variant in variants
        ]
    }
    if compared:
        told["differences"] = [difference._asdict() for difference in differences(*variants)]
    return told


def _print_presets(variants: list[Variant]) -> None:
    width = max(len(variant.name) for variant in variants)
    for variant in variants:
        click.echo(f"{variant.name:<{width}}  {', '.join(modifiers(variant))}")


def _print_all(variant: Variant) -> None:
    table = _table("", variant.name)
    for row in describe(variant):
        table.add_row(*row)
    Console().print(table)


def _print_differences(one: Variant, other: Variant) -> None:
    found = differences(one, other)
    if not found:
        click.echo(f"{one.name} and {other.name} do the same.")
        return
    table = _table("", one.name, other.name)
    for topic, first, second in found:
        table.add_row(topic, first or "–", second or "–")
    Console().print(table)


def _table(*columns: str) -> Table:
    table = Table(show_lines=True)
    for column in columns:
        table.add_column(column, overflow="fold")
    return table
