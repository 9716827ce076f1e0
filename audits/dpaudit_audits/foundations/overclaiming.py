"""Wrong inner mechanisms for reductions, whose claims are computed from those of their inner mechanisms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dpaudit.language import Applied, Claim, Mechanism


@dataclass(frozen=True)
class Overclaiming(Mechanism):
    """A mechanism under a claim that is not its own: what a reduction must not hide."""

    inner: Mechanism
    claimed: Claim

    @property
    def claim(self) -> Claim:
        return self.claimed

    def run(self, S: Any) -> Applied:
        return self.inner.on(S)
