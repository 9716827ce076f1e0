"""What an interrupted search for the worst pair has compared, kept in the journal for the next one."""

from __future__ import annotations

import hashlib
import json

from dpaudit.adversary import Pair
from dpaudit.journal import COMPARISONS, Journal, Place
from dpaudit.language import Mechanism
from dpaudit.plans.job import WorstCaseSearch
from dpaudit.subjects.code_key import NoKeyError, code_key, own_code


class KeptComparisons:
    """What the journal holds of one search; with its seed it is the same comparisons in the same order again.

    A score that is wrong could make the search miss a pair. What it finds is compared once more, and that decides.

    Args:
        journal: where they are kept.
        job: the search.
        seed: of the search.
    """

    def __init__(self, journal: Journal, job: WorstCaseSearch, seed: int) -> None:
        self._journal, self._key = journal, ""
        self._pending: list[tuple[str, float]] = []
        self._at = 0
        self._known: dict[int, tuple[str, float]] = {}
        if not journal.is_off:
            try:
                about = [code_key(job), own_code(), seed]
            except NoKeyError:
                return
            self._key = hashlib.sha256(json.dumps(about).encode()).hexdigest()
            self._read()

    def find(self, number: int, mechanism: Mechanism, pair: Pair) -> float | None:
        """The score of a comparison; None where it was not made.

        Args:
            number: of the comparison in the search.
            mechanism, pair: what is compared.
        """
        what, score = self._known.get(number, ("", 0.0))
        return score if what and what == _digest(mechanism, pair) else None

    def keep(self, number: int, mechanism: Mechanism, pair: Pair, score: float) -> None:
        """Keep the score of a comparison."""
        if not self._key:
            return
        if number != self._at + len(self._pending):
            self._write()
            self._at = number
        self._pending.append((_digest(mechanism, pair), score))
        if self._journal.is_due:
            self._write()
            self._journal.write()

    def close(self, *, finished: bool) -> None:
        """Hand over what is pending; of a search that has ended it is of no more use once the result is kept."""
        if finished and self._key:
            self._pending = []
            self._journal.finished(COMPARISONS, [self._key])
        else:
            self._write()

    def _write(self) -> None:
        if self._pending:
            body = json.dumps(self._pending).encode()
            self._journal.keep(COMPARISONS, self._key, Place(self._at, len(self._pending)), body)
            self._at += len(self._pending)
            self._pending = []

    def _read(self) -> None:
        for place in self._journal.places(COMPARISONS, self._key):
            body = self._journal.body(COMPARISONS, self._key, place)
            try:
                rows = json.loads(body or b"[]")
                self._known |= {place.first + at: (str(what), float(score)) for at, (what, score) in enumerate(rows)}
            except (ValueError, TypeError):
                continue


def _digest(mechanism: Mechanism, pair: Pair) -> str:
    text = repr((pair.left, pair.right, getattr(mechanism, "quality", None)))
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:16]
