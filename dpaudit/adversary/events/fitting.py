"""Choose and fit scales for the given outputs: numbers, vectors, other values, and bits."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from dpaudit.adversary.events.bits import Bits, most_floats
from dpaudit.adversary.events.blocks import FOLDS, Block, Sample
from dpaudit.adversary.events.classifiers import linear, mean_linear, table, trees
from dpaudit.adversary.events.keyed import Keyed, varies
from dpaudit.adversary.events.mixed import Mixed
from dpaudit.adversary.events.scales import Scale, cut
from dpaudit.outputs.columns import Boosted, Column, Density, Encoder, Floats, Numbers, Vectors, as_number, has_parts
from dpaudit.outputs.parts import has_names

BOOSTED_FROM = 1_000
"""With fewer samples per dataset, trees fit only noise."""
FEATURED_ATOMS = 12
"""From this many atoms on, classifiers use the parts of the outputs."""
NUMBERS = 8
"""From this many distinct whole numbers on, threshold events are tried."""
LEARNED = 1.5
"""Nats for a learned score, twice this for trees: more flexible scores find more differences by chance."""
PLACES = 8
"""Number of floats in an output whose bits are tested."""
EXAMINED = 20_000
"""Number of outputs used to construct an encoder of mixed outputs."""


def fitted(
    atoms: Block, rows: Sequence[Block], *, log_ratio: Callable[[Floats], Floats] | None, bits: bool
) -> list[Scale]:
    """Scales for some samples, with their hits.

    Args:
        atoms: all outputs that are counted individually.
        rows: outputs that contain reals, each block from one dataset; at least one output in total.
        log_ratio: the mechanism's own ln(density under D / density under D′).
        bits: only scales of the bits of doubles.
    """
    blocks = [atoms, *rows] if len(atoms.values) else rows
    if bits:
        return _bits(blocks)
    scales: list[Scale] = []
    if log_ratio is not None:
        density = Density(log_ratio)
        scales += cut(Sample.of(density, blocks), "density", Column(density))
    shapes = {block.shape for block in rows}
    numbers = sum(not isinstance(value, bool) and not math.isnan(as_number(value)) for value in atoms.values)
    if shapes & {(), (1,), None} or numbers >= NUMBERS:
        plain = Numbers()
        scales += cut(Sample.of(plain, blocks), "half-line", Column(plain), both=True, binned=True, unscored=True)
    encoder = _encoder(atoms, rows, shapes)
    if encoder is not None and encoder.names:
        scales += _features(Sample.of(encoder, blocks))
    return scales


def _encoder(atoms: Block, rows: Sequence[Block], shapes: set[tuple[int, ...] | None]) -> Encoder | None:
    """The encoder of the parts of the outputs; None if they have no parts."""
    parted = shapes - {(), (1,)}
    if len(shapes) == 1 and parted and None not in shapes and not len(atoms.values):
        left, right = (np.concatenate([block.reals(which) for block in rows]) for which in (0, 1))
        return Vectors.of(left.reshape(len(left), -1), right.reshape(len(right), -1))
    blocks = [atoms, *rows] if len(atoms.values) else rows
    most = EXAMINED // len(blocks) + 1
    named = any(map(has_names, atoms.values[:most])) or any(any(map(has_names, one.listed(most))) for one in rows)
    if not named and not parted and sum(map(has_parts, atoms.values)) < FEATURED_ATOMS:
        return None
    values = [value for block in blocks for value in block.listed(most)]
    if not named:
        return Mixed.of(values)
    return Keyed.of(values, np.concatenate([block.times[:, :, :most].sum(axis=1) for block in blocks], axis=1))


def _features(sample: Sample) -> list[Scale]:
    """Single columns, a logistic regression on each group of columns, trees on the totals and on all columns."""
    encoder = sample.encoder
    totals = set(encoder.totals)
    varied = [j for j in encoder.single if varies(sample.columns[:, j])]
    varied_totals = sum(j in totals for j in varied)
    scales: list[Scale] = []
    for j in varied:
        # a column is one choice among all columns of its kind
        kind = varied_totals if j in totals else len(varied) - varied_totals
        scales += cut(sample, "half-line", Column(encoder, j), cost=math.log(kind), both=True)
    if sample.fewest == 0:
        return scales
    groups = [js for js in encoder.groups.values() if len(js) > 1]
    learned = LEARNED + math.log(len(groups)) if groups else LEARNED
    if encoder.readable:
        # of equal evidence, nobody would read a learned score instead of one column
        learned = max(learned, math.log(max(1, len(varied))) + LEARNED)
    for js in groups:
        members = tuple(linear(encoder, js, sample.columns, sample.without(fold)) for fold in range(FOLDS))
        scales += cut(sample, "logistic", mean_linear(members), members, cost=learned)
    if 1 < len(encoder.totals) < len(encoder.names):
        # few but informative columns: cheap enough to leave out one fold at a time
        scales += _boosted(sample, "boosting", encoder.totals, FOLDS)
    cost = learned + LEARNED if encoder.readable else 2 * LEARNED
    return scales + _boosted(sample, "boosting", encoder.distinct, 2, cost=cost)


def _bits(blocks: Sequence[Block]) -> list[Scale]:
    """Scales of the lowest set bits, tables of the exponents, and, of several floats, trees on all bits."""
    places = max(_places(block) for block in blocks)
    if not places:
        return []
    encoder = Bits(min(places, PLACES))
    sample = Sample.of(encoder, blocks)
    scales: list[Scale] = []
    for j in encoder.ordered:
        scales += cut(
            sample, "bits", Column(encoder, j), cost=math.log(len(encoder.ordered)), both=True, stepped=True
        )
    for j in encoder.tables:
        members = tuple(table(encoder, j, sample.columns, sample.without(fold)) for fold in range(FOLDS))
        whole = table(encoder, j, sample.columns, sample.whole)
        scales += cut(sample, "bits", whole, members, cost=math.log(len(encoder.tables)))
    if encoder.places == 1:
        # on one float, trees found nothing that the tables miss, at eight times the cost (tests/unit/test_bits.py)
        return scales
    return scales + _boosted(sample, "bits", tuple(range(len(encoder.names))), 2)


def _places(block: Block) -> int:
    """The largest number of floats in one output."""
    if isinstance(block.values, np.ndarray):
        return math.prod(block.values.shape[1:])
    return most_floats(block.values[:1_000])


def _boosted(
    sample: Sample, family: str, js: tuple[int, ...], parts: int, *, cost: float = 2 * LEARNED
) -> list[Scale]:
    """Trees on some columns: the folds form `parts` parts; each part is counted with trees learned on the others."""
    if sample.fewest < BOOSTED_FROM:
        return []
    columns = sample.columns[:, js]
    each = FOLDS // parts
    left_out = [tuple(range(i * each, (i + 1) * each)) for i in range(parts)]
    learned = [trees(columns, sample.without(*folds)) for folds in left_out]
    models = [model for model in learned if model is not None]
    if len(models) < len(learned):
        return []
    members = tuple(
        member for model in models for member in (Boosted(sample.encoder, js, (model,)),) * each
    )
    axis = Boosted.on(sample.encoder, js, models, sample.columns[:1_000])
    return cut(sample, family, axis, members, cost=cost)
