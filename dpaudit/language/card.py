"""The card of an algorithm: where it comes from and how the text here reads the printed one."""

from __future__ import annotations

from dataclasses import dataclass

from dpaudit.errors import ParameterError

THESIS = "Stemmer, Individuals and Privacy in the Eye of Data Analysis (PhD thesis, 2016)"
INTERIOR_POINT_NOTES = "Lecture notes on interior points and learning thresholds (16 April 2026)"
PAC_OVERVIEW = "Sivakumar, A Basic Overview of Private PAC Learning (2023)"
HALFSPACES = "Half-spaces paper: private learning of half-spaces"
DWORK_ROTH = "Dwork and Roth, The Algorithmic Foundations of Differential Privacy (2014)"


@dataclass(frozen=True)
class Card:
    """What a person must know about a registered algorithm before they trust its audit.

    Args:
        name: the paper's name without decoration; also the name on the command line.
        system: the catalogue's id ("F3").
        title: a line.
        paper: author, title, year.
        place: section and theorem of the claim.
        claim: the claim as printed.
        inputs: the dataset and parameters, with shapes.
        output: what comes out.
        differs: "differs from the paper in": every reading and departure, one sentence each.
        variants: names of other versions of the same algorithm.
        private: False for a baseline for which no privacy is claimed.

    Raises:
        ParameterError: a card without a citation.
    """

    name: str
    system: str
    title: str
    paper: str
    place: str
    claim: str
    inputs: str
    output: str
    differs: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()
    private: bool = True

    def __post_init__(self) -> None:
        for part in ("name", "system", "title", "paper", "place", "claim", "inputs", "output"):
            if not getattr(self, part).strip():
                raise ParameterError(f"The card of {self.name or 'an algorithm'} lacks its {part}.")

    @property
    def source(self) -> str:
        """Paper and place in one line."""
        return f"{self.paper}, {self.place}"
