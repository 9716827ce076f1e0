"""Samples that an interrupted audit has drawn, found by what they depend on: the code, the dataset and the seed."""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_left
from collections.abc import Sequence

from dpaudit.interpret import Drawn
from dpaudit.interpret.stored import from_bytes, size_in_bytes, to_bytes
from dpaudit.journal import SAMPLES, Journal, Place
from dpaudit.outputs.plain_values import NotPlainError
from dpaudit.subjects.code_key import NoKeyError, code_key, own_code
from dpaudit.subjects.target import FunctionTarget, MechanismTarget, Unit

STREAMS = 2
"""Version of how outputs follow from seeds (`target.blocks`), and of how they are counted."""
WORTH_KEEPING = 1_000_000
"""Bytes for a second of work; what takes more is drawn again as quickly as it is read."""
_BROKEN = (ValueError, TypeError, KeyError, IndexError, OverflowError)


class KeptSamples:
    """What the journal holds of one target's samples.

    Only of a target whose outputs follow from the generator that it is given: of another one an interruption would
    select among its outputs, as what was begun is done anew, and quick outputs were done more often.

    Args:
        journal: where they are kept.
        target: the function or mechanism.
        code: `code_key` of it, from before it ran.
    """

    def __init__(self, journal: Journal, target: MechanismTarget | FunctionTarget, code: str) -> None:
        self.target = target
        self.read = 0
        """Samples that were drawn by an earlier run."""
        self._journal = journal
        self._about = [STREAMS, code, type(target).__name__]
        if isinstance(target, FunctionTarget):
            container = None if target.container is None else target.container.to_json()
            self._about += [target.vectorised, json.dumps(container)]
        self._keys: dict[int, tuple[object, str | None]] = {}
        self._places: dict[str, list[Place]] = {}
        self._used: set[str] = set()
        self._pending: list[tuple[Unit, Drawn, float]] = []

    def next(self, unit: Unit) -> tuple[Place, Drawn | None]:
        """The next part of a unit: one that is kept, or the runs that are missing before the next one that is."""
        missing = Place(unit.first, unit.runs)
        stream = self._stream(unit) if self._journal.is_there else None
        if stream is None:
            return missing, None
        if stream not in self._places:
            self._places[stream] = self._journal.places(SAMPLES, stream)
        end, block = unit.first + unit.runs, self.target.block
        places = self._places[stream]

        def usable(place: Place) -> bool:
            # the last block of a unit may be shorter; another unit's is no part of this one
            after = place.first + place.size
            return place.first % block == 0 and (after == end or (after < end and place.size % block == 0))

        # a long unit has many parts, and each is asked for by itself
        at = bisect_left(places, Place(unit.first, 0))
        while (at := next((i for i in range(at, len(places)) if usable(places[i])), len(places))) < len(places):
            first = places[at].first
            if first > unit.first:
                return Place(unit.first, first - unit.first), None
            longest = max(filter(usable, places[at : bisect_left(places, Place(first + 1, 0))]))
            if (outputs := self._read(stream, longest)) is not None:
                self._used.add(stream)
                self.read += longest.size
                return longest, outputs
            places.remove(longest)
        return missing, None

    def keep(self, unit: Unit, outputs: Drawn, seconds: float) -> None:
        """Keep the outputs of a part of a unit, if that is worth it.

        Args:
            unit: the part.
            outputs: of its runs.
            seconds: that they took.
        """
        if self._journal.is_off:
            return
        self._pending.append((unit, outputs, seconds))
        # most audits end before anything is written
        if self._journal.is_due:
            self.write()

    def write(self) -> None:
        """Hand what is pending over to the journal."""
        pending, self._pending = self._pending, []
        for unit, outputs, seconds in pending:
            most = WORTH_KEEPING * max(seconds, 0.001)
            # estimated first, as writing many outcomes one by one may take longer than drawing them did
            if size_in_bytes(outputs) > most or (stream := self._stream(unit)) is None:
                continue
            try:
                body = to_bytes(outputs)
            except (NotPlainError, *_BROKEN):
                continue
            if len(body) <= most:
                self._used.add(stream)
                self._journal.keep(SAMPLES, stream, Place(unit.first, unit.runs), body)

    def finish(self) -> None:
        """The audit is finished: they are of no more use once its result is kept."""
        self._pending = []
        self._journal.finished(SAMPLES, self._used)

    def _read(self, stream: str, place: Place) -> Drawn | None:
        body = self._journal.body(SAMPLES, stream, place)
        if body is None:
            return None
        try:
            outputs = from_bytes(body)
        except _BROKEN:
            return None
        return outputs if outputs.runs == place.size else None

    def _stream(self, unit: Unit) -> str | None:
        """What a seed's outputs on a dataset depend on, and what is counted in them; None where they have no key."""
        keys = [self._key(unit.dataset)]
        if unit.count is not None:
            # an event is another one where a library fits it otherwise, and where dpaudit counts it otherwise
            keys += [self._key(unit.count), own_code()]
        if None in keys:
            return None
        entropy = unit.seed.entropy
        words = list(map(int, entropy)) if isinstance(entropy, Sequence) else [entropy or 0]
        about = json.dumps([*self._about, *keys, words, list(unit.seed.spawn_key)])
        return hashlib.sha256(about.encode()).hexdigest()

    def _key(self, value: object) -> str | None:
        known = self._keys.get(id(value))
        if known is None:
            try:
                key = code_key(value)
            except NoKeyError:
                key = None
            # the value with it, so that no other one has its id
            known = self._keys[id(value)] = value, key
        return known[1]
