"""What holds for the whole session: options over `[tool.dpaudit]` over defaults."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpaudit import config
from dpaudit.errors import UsageError
from dpaudit.options import DEFAULT_ALPHA, DEFAULT_MIN_POWER

DEFAULT_RUNS = 10_000
"""A tenth of the command line's: a test is waited for. Cheap functions take about a second, whatever they return."""
LEAST_ALPHA = 1e-100


@dataclass(frozen=True)
class Settings:
    """The session's settings.

    Args:
        alpha: family-wise error of the session, in (0, 0.5).
        seed: whole number ≥ 0, from which every audit's own is derived.
        runs: most samples per dataset of each pair, where a test does not say.
        time: time limit of one audit, in seconds; None for none.
        call_time: how long one call of a function may take, where a test does not say; None for any time.
        jobs: worker processes of one audit.
        cluster: the address of a cluster whose workers to use instead.
        bits: whether the low bits of doubles count in the verdict, where a test does not say.
        min_power: PASS needs runs that would have refuted so many times the claimed ε, where a test does not say.
        report: folder that reports are written to; None for none.
        evidence: file of e-values; None for none.
        items: over how many tests α is shared at least; None for as many as are collected.
        session: session of the evidence file to repeat; None for the next.
    """

    alpha: float = DEFAULT_ALPHA
    seed: int = 0
    runs: int = DEFAULT_RUNS
    time: float | None = None
    call_time: float | None = None
    jobs: int = 1
    cluster: str | None = None
    bits: bool = False
    min_power: float = DEFAULT_MIN_POWER
    report: Path | None = None
    evidence: Path | None = None
    items: int | None = None
    session: int | None = None

    def __post_init__(self) -> None:
        if not LEAST_ALPHA <= self.alpha < 0.5:
            raise UsageError(f"--dp-alpha must be at least {LEAST_ALPHA:g} and below 0.5, not {self.alpha!r}.")
        for name, value, least in (
            ("seed", self.seed, 0), ("runs", self.runs, 1), ("items", self.items, 1), ("session", self.session, 1)
        ):
            if value is not None and value < least:
                raise UsageError(f"--dp-{name} must be a whole number of at least {least}, not {value}.")
        if self.time is not None and not (self.time > 0 and math.isfinite(self.time)):
            raise UsageError(f"--dp-time must be a positive number of seconds, not {self.time!r}.")
        if self.session is not None and self.evidence is None:
            raise UsageError("--dp-session repeats a session of an evidence file; name the file with --dp-evidence.")
        if self.report is not None and self.report.exists() and not self.report.is_dir():
            # before the tests rather than after them
            raise UsageError(f"Cannot write a report into {self.report}: it is a file; name a folder.")

    @classmethod
    def read(cls, option: Callable[[str], Any], *, root: Path, here: Path) -> Settings:
        """From the options of a pytest run, and the nearest `[tool.dpaudit]` from `root` upwards.

        Args:
            option: from "dp_seed" to its value, None where it was not given.
            root: pytest's root folder.
            here: the folder that paths of options are relative to.

        Raises:
            UsageError: a value is none that it may have, or pyproject.toml cannot be used.
        """
        project = config.read(root)
        values = project.values
        base = project.path.parent if project.path is not None else root

        def chosen(key: str, default: object) -> Any:
            given = option(f"dp_{key}")
            return values.get(key, default) if given is None else given

        report = option("dp_report")
        folder = here / report if report else base / values["report"] if "report" in values else None
        evidence = option("dp_evidence")
        return cls(
            alpha=chosen("alpha", DEFAULT_ALPHA),
            seed=chosen("seed", 0),
            runs=chosen("runs", DEFAULT_RUNS),
            time=chosen("time", None),
            call_time=values.get("call_time"),
            jobs=values.get("jobs", 1),
            cluster=values.get("cluster"),
            bits=values.get("bits", False),
            min_power=values.get("min_power", DEFAULT_MIN_POWER),
            report=folder,
            evidence=here / evidence if evidence else None,
            items=option("dp_items"),
            session=option("dp_session"),
        )


def item_share(alpha: float, items: int) -> float:
    """A test's share of the session's α."""
    return alpha / items


def call_share(share: float, call: int) -> float:
    """What the call-th audit of a test (from 1) may err with: 6/(π²k²) of the test's share, which add up to all of it.

    So nobody has to know beforehand how many audits a test makes.
    """
    return share * 6 / (math.pi * call) ** 2


def audit_seed(seed: int, nodeid: str, call: int, session: int) -> int:
    """The seed of one audit, the same on every machine and in every order; two tests share no runs.

    Args:
        seed: the session's.
        nodeid: of the test.
        call: which of its audits, from 1.
        session: of an evidence file; 0 where there is none.
    """
    text = "\0".join((str(seed), nodeid, str(call), str(session)))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4])
