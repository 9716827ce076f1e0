"""The card of an algorithm: where it comes from, and how this implementation deviates from the paper."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from dpaudit.errors import ParameterError

THESIS = "Stemmer, Individuals and Privacy in the Eye of Data Analysis (PhD thesis, 2016)"
INTERIOR_POINT_NOTES = "Lecture notes on interior points and learning thresholds (16 April 2026)"
PAC_OVERVIEW = "Sivakumar, A Basic Overview of Private PAC Learning (2023)"
HALFSPACES = "Huang, Chen and Tsai, On the Sample Complexity of Privately Learning Half-spaces (2024)"
MIXTURES = "Bassily, Moran and Nandi, Learning from Mixtures of Private and Public Populations (2020)"
UNDERSTANDING_SVT = "Lyu, Su and Li, Understanding the Sparse Vector Technique for Differential Privacy (VLDB 2017)"
STATDP = "Ding, Wang, Wang, Zhang and Kifer, Detecting Violations of Differential Privacy (CCS 2018)"
DP_SNIPER = "Bichsel, Steffen, Bogunovic and Vechev, DP-Sniper (IEEE S&P 2021)"
DWORK_ROTH = "Dwork and Roth, The Algorithmic Foundations of Differential Privacy (2014)"


@dataclass(frozen=True)
class KnownBug:
    """The bug of a mechanism in the corpus; or, for a correct mechanism that looks broken, why there is none.

    Args:
        bug: its class in a few words ("wrong noise scale", "leaks through the low bits of doubles"); "" if correct.
        effect: what the bug does to privacy, or why there is none; one sentence.
        epsilon: the true ε at the claimed δ where it can be derived, with its derivation ("10: a count moves by one,
            noise of scale 0.1"); "unknown" otherwise.

    Raises:
        ParameterError: effect or epsilon is missing.
    """

    bug: str
    effect: str
    epsilon: str

    def __post_init__(self) -> None:
        if not self.effect.strip() or not self.epsilon.strip():
            raise ParameterError("A known bug states its effect and its true epsilon.")

    @property
    def broken(self) -> bool:
        """Whether the claim is false."""
        return bool(self.bug)


class Severity(StrEnum):
    """What a finding means for the printed statement."""

    REFUTED = "refuted"
    CONSTRUCTION = "false construction"
    STEP = "proof step"
    RANGE = "degenerate range"
    TYPO = "typo"

    @property
    def meaning(self) -> str:
        """In half a sentence."""
        return _MEANINGS[self]


_MEANINGS = {
    Severity.REFUTED: "the statement is false as it is used",
    Severity.CONSTRUCTION: "the construction of the proof fails; the statement may hold",
    Severity.STEP: "a step of the proof fails; the statement holds, or is open",
    Severity.RANGE: "the statement is false at the edge of its parameters alone",
    Severity.TYPO: "a misprint; what was meant holds",
}


@dataclass(frozen=True)
class Finding:
    """A printed claim that audits refute, or a wrong step of its proof.

    Args:
        number: which never changes; `dpaudit finding 17` shows the finding.
        kind: "privacy", or "utility" for a guarantee or a step of its proof.
        title: one line that states the fact.
        severity: what it means for the printed statement.
        place: document, section and theorem.
        epsilon: for which ε.
        witness: one line: the dataset or pair that shows it, with its numbers.
        case: the label of the audit that shows the witness, in the plan of the first algorithm whose card has it; empty
            where no audit does, as it is about a proof or a citation alone.

    Raises:
        ParameterError: it is of another kind, or a text is empty.
    """

    number: int
    kind: str
    title: str
    severity: Severity
    place: str
    epsilon: str
    witness: str
    case: str = ""

    def __post_init__(self) -> None:
        if self.kind not in ("privacy", "utility"):
            raise ParameterError(f'Finding {self.number} is of kind "privacy" or "utility", not {self.kind!r}.')
        for part in ("title", "place", "epsilon", "witness"):
            if not getattr(self, part).strip():
                raise ParameterError(f"Finding {self.number} lacks its {part}.")


@dataclass(frozen=True)
class Card:
    """What you need to know about a registered algorithm before you trust its audit.

    Args:
        name: the paper's name without decoration; also the name on the command line.
        title: one line.
        paper: author, title, year.
        place: section and theorem of the claim.
        claim: the claim as printed.
        inputs: the dataset and parameters, with shapes.
        output: what the algorithm returns.
        system: the id ("F3") of its system in `algorithms/systems.toml`, which lists what the documents contain; empty
            for an algorithm from anywhere else.
        deviations: deviations from the paper: each interpretation of an unclear step and each change, one sentence
            each.
        variants: names of other versions of the same algorithm.
        private: False for a baseline that claims no privacy.
        findings: what audits refute of the claims as printed.
        known_bug: for the corpus of known-broken mechanisms (and their correct look-alikes), the bug.

    Raises:
        ParameterError: a part of the card is empty.
    """

    name: str
    title: str
    paper: str
    place: str
    claim: str
    inputs: str
    output: str
    system: str = ""
    deviations: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()
    private: bool = True
    findings: tuple[Finding, ...] = ()
    known_bug: KnownBug | None = None

    def __post_init__(self) -> None:
        for part in ("name", "title", "paper", "place", "claim", "inputs", "output"):
            if not getattr(self, part).strip():
                raise ParameterError(f"The card of {self.name or 'an algorithm'} lacks its {part}.")

    @property
    def source(self) -> str:
        """Paper and place in one line."""
        return f"{self.paper}, {self.place}"
