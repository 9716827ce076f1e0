"""The catalogue from its cards: the list of algorithms by family, what one does, and the sample sizes of its source."""

from __future__ import annotations

import difflib
import inspect
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import MISSING, fields, is_dataclass
from typing import TYPE_CHECKING

from dpaudit.errors import UsageError
from dpaudit.extras import install_command
from dpaudit.language import Card, Mechanism, SampleSize
from dpaudit.plans import registry
from dpaudit.report.numbers import count
from dpaudit.report.terminal_text import CardText, CorpusListing, Listing, Rows, render_corpus, render_list
from dpaudit.subjects.adapters import known as known_adapters

if TYPE_CHECKING:
    # a plan knows pairs, and with them the events and what learns them
    from dpaudit.plans.plan import Plan

NOT_PRIVATE = "not private"
PROVED = {
    "alignment": ("all", "proved for every dataset of a scope"),
    "exhaustive": ("finite", "proved on a finite domain"),
}
"""Evidence → what a list says of it, and what a card says."""
LEGEND = (
    "PASS all, PASS finite: proved for every dataset, or on a finite domain. PASS: not refuted, no proof. "
    "FAIL 7: see `dpaudit finding 7`. `dpaudit show NAME` says more."
)


def listing(words: Sequence[str], *, family: str | None, failing: bool) -> Listing:
    """The algorithms by family, with claim and known verdicts; nothing is audited, only cards are read.

    Args:
        words: all of them are in the name or the title, or close to a word of these; none for all algorithms.
        family: of this family alone.
        failing: only those of which a claim as printed is refuted.

    Raises:
        UsageError: there is no such family, or nothing matches.
    """
    if not all(word.strip() for word in words):
        raise UsageError("'' is no word to look for; leave it out to list all algorithms.")
    families = _families()
    if family is not None:
        families = {name: families[name] for name in [_family_named(family, list(families))]}
    cards = [card for several in families.values() for card in several]
    chosen = {card.name for card in matching(cards, words) if not failing or refuted(card)}
    if not chosen:
        raise UsageError(_no_match(words, family=family, failing=failing))
    shown = [
        (name, _about_family(name), [_row(card) for card in several if card.name in chosen])
        for name, several in families.items()
    ]
    total = sum(map(len, _families().values()))
    broken = sum(refuted(card) for card in cards if card.name in chosen)
    tally = f"{len(chosen)} of {total} algorithms, {broken} with a claim that is refuted as printed. {LEGEND}"
    return render_list([part for part in shown if part[2]], tally)


def corpus_listing(words: Sequence[str], *, failing: bool) -> CorpusListing:
    """The corpus, by the same words; with `failing`, the broken mechanisms alone.

    Raises:
        UsageError: nothing matches.
    """
    cards = [card for name in registry.names(registry.CORPUS) if (card := registry.algorithm(name).card) is not None]
    bugs = [(card, card.known_bug) for card in matching(cards, words) if card.known_bug is not None]
    rows = [
        (card.name, bug.bug or "correct", bug.effect, bug.epsilon, card.source)
        for card, bug in bugs if bug.broken or not failing
    ]
    if not rows:
        raise UsageError(_no_match(words, family=None, failing=failing))
    return render_corpus(rows)


def adapters_listing() -> str:
    """The libraries whose objects are recognised: what is installed, and who adapts them.

    Raises:
        UsageError: two packages register adapters under one name.
    """
    rows = []
    for one in known_adapters():
        about = one.objects if one.extra else f"{one.objects}, by {one.wrap} of {one.package}"
        missing = f"; {install_command(one.extra)}" if one.extra and not one.version else ""
        rows.append((one.library, one.version or "–", about + missing))
    widths = [max(len(row[i]) for row in rows) for i in range(2)]
    lines = [f"{name:<{widths[0]}}  {version:<{widths[1]}}  {about}" for name, version, about in rows]
    return "\n".join([*lines, "", "`dpaudit check my.py:object` audits such an object at the claim that it states."])


def matching(cards: Sequence[Card], words: Sequence[str]) -> list[Card]:
    """Cards whose name or title has all words; where there are none, those that have words close to them."""
    asked = " ".join(words).lower().replace("-", " ").replace("_", " ").split()
    exact = [card for card in cards if all(word in f"{card.name} {card.title}".lower() for word in asked)]
    return exact or [card for card in cards if all(_close(word, card) for word in asked)]


def refuted(card: Card) -> bool:
    """Whether a claim of it, as printed, is refuted."""
    return any(one.case for one in card.findings) or _broken(card)


def _close(word: str, card: Card) -> bool:
    known = [card.name.lower(), *re.findall(r"\w+", card.title.lower())]
    return bool(difflib.get_close_matches(word, known, n=1, cutoff=0.75))


def _no_match(words: Sequence[str], *, family: str | None, failing: bool) -> str:
    what = "algorithm of which a claim is refuted" if failing else "algorithm"
    where = f" in the family {family}" if family is not None else ""
    named = f" has {' '.join(words)!r} in its name or title" if words else " is there"
    return f"No {what}{where}{named}; `dpaudit list` shows all."


def _families() -> dict[str, list[Card]]:
    """Family → its cards, in the order of the registry. A family is a package of a catalogue."""
    families: dict[str, list[Card]] = {}
    for name, where in registry.names().items():
        if (card := registry.algorithm(name).card) is not None:
            families.setdefault(_package(where).rpartition(".")[2].replace("_", "-"), []).append(card)
    return families


def _package(where: str) -> str:
    """ "package.family" of "package.family.module:Name"; "package" of "package.module:Name"."""
    parts = where.partition(":")[0].split(".")
    return ".".join(parts[: min(2, max(1, len(parts) - 1))])


def _about_family(family: str) -> str:
    """The first line of its package's docstring."""
    package = next(p for p in map(_package, registry.names().values()) if p.endswith(family.replace("-", "_")))
    return (inspect.getdoc(sys.modules[package]) or "").partition("\n")[0]


def _family_named(text: str, families: Sequence[str]) -> str:
    plain = {"".join(filter(str.isalnum, name.lower())): name for name in families}
    asked = "".join(filter(str.isalnum, text.lower()))
    inside = [name for letters, name in plain.items() if asked and asked in letters]
    if asked in plain or len(inside) == 1:
        return plain.get(asked, inside[0])
    close = difflib.get_close_matches(asked, list(plain), n=1, cutoff=0.6)
    hint = f" Did you mean {plain[close[0]]}?" if close else ""
    raise UsageError(f"There is no family {text!r}; there are {', '.join(families)}.{hint}")


def _row(card: Card) -> tuple[str, str, str, str, str]:
    """Name, privacy, utility, claim, title."""
    verdicts = {
        kind: ",".join(str(one.number) for one in card.findings if one.kind == kind and one.case)
        for kind in ("privacy", "utility")
    }
    passed = f"PASS {PROVED[known][0]}" if (known := registry.evidence().get(card.name)) in PROVED else "PASS"
    privacy = f"FAIL {verdicts['privacy']}" if verdicts["privacy"] else "FAIL" if _broken(card) else passed
    utility = f"FAIL {verdicts['utility']}" if verdicts["utility"] else ""
    return card.name, privacy if card.private else NOT_PRIVATE, utility, card.claim, card.title


def _broken(card: Card) -> bool:
    return card.known_bug is not None and card.known_bug.broken


def described(kind: type[Mechanism], card: Card, plan: Plan, *, verbose: bool) -> CardText:
    """An algorithm: what it does, its claim, what is known against it, its parameters and sample sizes.

    Args:
        kind: its class.
        card: of the class.
        plan: its audits.
        verbose: with the readings and changes of the source's steps, and every audit.
    """
    cases = plan.cases()
    guarantees = plan.utility() if plan.utility is not None else ()
    instance = next((case.mechanism for case in cases if isinstance(case.mechanism, kind)), None)
    sizes = instance.sample_sizes if instance is not None else ()
    title = card.title.removeprefix(f"{card.name}: ")
    rows = [
        (card.name, title),
        ("", f"Input: {card.inputs}.\nOutput: {card.output}."),
        ("Claim", f"{card.claim}\n{card.source}"),
        ("Evidence", PROVED[known][1] if (known := registry.evidence().get(card.name)) in PROVED else ""),
        *_known_bug(card),
        *_findings(card),
        ("Versions", ", ".join(card.variants)),
        ("Parameters", "\n".join(_parameters(kind)) or "none"),
        ("Sample size", "\n".join(f"n ≥ {count(size.records)} for {size.guarantee} ({size.place})" for size in sizes)),
        ("", f"with {instance!r}" if sizes else ""),
    ]
    if verbose:
        rows += [
            ("Program", _first_paragraph(kind)),
            *((f"Deviation {i}", text) for i, text in enumerate(card.deviations, 1)),
            *((f"Audit {i}", f"{c.label}: {c.tested}, expected {c.expected.value}") for i, c in enumerate(cases, 1)),
            *((f"Utility {i}", f"{c.label}: {c.claim}, expected {c.expected.value}")
              for i, c in enumerate(guarantees, 1)),
        ]
    else:
        parts = [
            _counted(len(card.deviations), "deviation") + " from the source" if card.deviations else "",
            _counted(len(cases), "audit"), _counted(len(guarantees), "utility audit") if guarantees else "",
        ]
        rows.append(("More", f"{', '.join(filter(None, parts))}: dpaudit show {card.name} -v"))
    return CardText([row for row in rows if row[1]])


def sizes_block(mechanism: Mechanism, sizes: Sequence[SampleSize]) -> Rows:
    """The printed numbers of records, worked out for one instance."""
    block = Rows(label_width=10)
    block.line(repr(mechanism), indent=0)
    for size in sizes:
        block.line("")
        block.line(f"n ≥ {count(size.records)}", style="bold")
        block.labelled("formula", size.formula)
        block.labelled("guarantee", size.guarantee)
        block.labelled("source", size.place)
    return block


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _known_bug(card: Card) -> Iterable[tuple[str, str]]:
    if card.known_bug is None:
        return []
    return [
        ("Bug", card.known_bug.bug or "none; it is the correct counterpart of broken mechanisms"),
        ("Effect", card.known_bug.effect),
        ("True ε", card.known_bug.epsilon),
    ]


def _findings(card: Card) -> Iterable[tuple[str, str]]:
    """What is refuted, where to read it, and how to see it."""
    if card.known_bug is not None:
        return
    if not card.findings:
        known = "it claims no privacy" if not card.private else "no audit refutes a claim as printed (this is no proof)"
        yield "Findings", f"none: {known}"
        return
    kinds = {one.kind for one in card.findings if one.case}
    lines = [f"{one.number}. {one.title} ({one.kind})" for one in card.findings]
    commands = [f"dpaudit check {card.name}"] * ("privacy" in kinds)
    commands += [f"dpaudit check {card.name} --utility"] * ("utility" in kinds)
    yield "Findings", "\n".join(lines)
    details = [f"dpaudit finding {one.number}" for one in card.findings]
    yield "", f"Details: {'; '.join(details)}"
    if commands:
        yield "", f"Reproduce with: {'; '.join(commands)}"


def _parameters(kind: type[Mechanism]) -> Iterable[str]:
    """A line for each parameter: its name, its default, and what the docstring says of it."""
    about = _arguments(kind)
    if not is_dataclass(kind):
        return
    for parameter in fields(kind):
        if parameter.init:
            default = "" if parameter.default is MISSING else f" = {parameter.default!r}"
            said = about.get(parameter.name, "")
            yield f"{parameter.name}{default}" + (f": {said}" if said else "")


def _arguments(kind: type) -> dict[str, str]:
    """Parameter → its description, from the section "Args" of the docstrings of a class and those it derives from."""
    found: dict[str, str] = {}
    for one in reversed(kind.__mro__):
        section = re.search(r"^Args:\n(.*?)(?=^\S|\Z)", inspect.cleandoc(one.__doc__ or ""), re.MULTILINE | re.DOTALL)
        for names, text in re.findall(
            r"^    (\w[\w, ]*): (.*?)(?=^    \w|\Z)", section[1] if section else "", re.MULTILINE | re.DOTALL
        ):
            found |= dict.fromkeys(names.split(", "), " ".join(text.split()))
    return found


def _first_paragraph(kind: type) -> str:
    return " ".join((inspect.cleandoc(kind.__doc__ or "").partition("\n\n")[0]).split())
