"""The catalogue's pages, from cards, plans, algorithms/systems.toml, and the verdicts in reports/*.csv."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass

import systems
import verdict_rows
from docs_text import code, plain, table, toctree
from dpaudit.language import Card, Mechanism
from dpaudit.plans import registry
from dpaudit.plans.jobs import instance_of
from dpaudit.plans.plan import Case, Plan, UtilityCase
from dpaudit.report.numbers import count, small
from dpaudit.report.report_dir import INDEX, PAGES, page_names
from verdict_rows import REPORTS, PrivacyRow, UtilityRow, Verdicts

BUILT = REPORTS.parent / "build" / "report"
"""Where `make report` leaves a page for every algorithm; the site has links to them where they are there."""
IN_SITE = "reports"
"""Where the site has the files of `reports/`, and those of `BUILT` in the folder `catalogue` there."""
TITLES = {
    "thesis": "Stemmer's thesis",
    "notes": "Lecture notes on interior points",
    "overview": "Sivakumar's overview of private PAC learning",
    "half-spaces": "The half-spaces paper",
    "mixtures": "The mixtures paper",
}
_INTRO = """# Catalogue

Algorithms of five documents, written as they are printed, with what is claimed of them, what was tried against the
claim, and what came out. Every page is made from the algorithm's *card* (what its source says, and where the text here
reads or departs from it), the plan of its audits, and the verdicts in `reports/` (`make report` audits them anew).

"""
_READING = """
Audits are counted as **FAIL**, proved, not refuted or inconclusive
({doc}`what these words mean <../explanation/verdicts>`). The ε is what the worst of an algorithm's audits needs (exact,
or "≥" a lower confidence bound) of the claimed one.

All verdicts as tables: <a href="../reports/verdicts.csv">privacy</a> and <a href="../reports/utility.csv">utility</a>
(CSV). Reports: <a href="../reports/RecPrefix.html">RecPrefix</a>, <a href="../reports/ASimpleH.html">ASimpleH</a>, and
<a href="../reports/interior-points.html">the comparison of algorithms for interior points</a>.
"""
_WHOLE = """The report of <a href="../reports/catalogue/index.html">all audits</a> has a page for each algorithm.
"""


def pages() -> dict[str, str]:
    """Path under docs/ → text."""
    verdicts = verdict_rows.load()
    reports = report_pages(verdicts)
    listed = systems.systems()
    made = {}
    for document, title in _titles(listed).items():
        made[f"catalogue/{document}.md"] = _document(title, [s for s in listed if s.document == document], verdicts)
    for system in listed:
        for name in system.algorithms:
            made[f"catalogue/algorithms/{name}.md"] = _algorithm(name, system, verdicts, reports.get(name))
    members = list(registry.names(registry.CORPUS))
    for name in members:
        made[f"catalogue/corpus/{name}.md"] = _member(name)
    made["catalogue/corpus.md"] = _corpus(members)
    made["catalogue/index.md"] = _index(listed)
    return made


def report_pages(verdicts: Verdicts) -> dict[str, str]:
    """Algorithm → its HTML report, as a path below the site's root; without those that are not there.

    Args:
        verdicts: of the whole catalogue, from which the names of the pages follow.
    """
    pages = {path.stem: f"{IN_SITE}/{path.name}" for path in REPORTS.glob("*.html")}
    for name, page in page_names(row.algorithm for row in verdicts.every).items():
        if (BUILT / PAGES / page).exists():
            pages[name] = f"{IN_SITE}/catalogue/{PAGES}/{page}"
    return pages


def _titles(listed: Sequence[systems.System]) -> dict[str, str]:
    """Page → title, of the documents, and of the other algorithms if there are any."""
    others = any(system.document == systems.OTHERS for system in listed)
    return TITLES | ({systems.OTHERS: "Other algorithms"} if others else {})


def _index(listed: Sequence[systems.System]) -> str:
    rows = []
    for document, title in _titles(listed).items():
        here = [system for system in listed if system.document == document]
        built = [name for system in here for name in system.algorithms]
        findings = {n for system in here for numbers in system.findings.values() for n in numbers}
        rows.append([f"{{doc}}`{title} <{document}>`", str(len(here)), str(len(built)), str(len(findings))])
    entries = [*_titles(listed), "corpus"]
    return (
        _INTRO
        + table(["document", "systems", "algorithms here", "findings"], rows)
        + _READING
        + (_WHOLE if (BUILT / INDEX).exists() else "")
        + "\nBeside these stands {doc}`the corpus <corpus>`: mechanisms that are known to be broken, and correct "
        "look-alikes, on which\nthe auditor is measured ({doc}`how it does <../project/benchmarks/corpus>`). Claims in "
        "print that turned out to be wrong\nare listed in the {doc}`findings <../findings/index>`.\n\n"
        + toctree(entries)
    )


def _document(title: str, here: Sequence[systems.System], verdicts: Verdicts) -> str:
    rows, names = [], []
    for system in here:
        head = [system.id, plain(system.name), plain(system.place), plain(system.claim)]
        for name in system.algorithms or [""]:
            if name:
                privacy, worst, utility = systems.cells(name, verdicts)
                link = f"{{doc}}`{name} <algorithms/{name}>`"
                cells = [link, privacy, plain(worst), utility, _findings(system, name)]
                names.append(f"algorithms/{name}")
            else:
                cells = ["*not built yet*", "", "", "", ""]
            rows.append([*head, *cells])
            head = [""] * len(head)
    columns = ["id", "system", "where", "claim as printed", "algorithm", "privacy", "ε, worst audit", "utility"]
    columns.append("finding")
    return f"# {title}\n\n{table(columns, rows)}\n{toctree(names)}"


def _algorithm(name: str, system: systems.System, verdicts: Verdicts, report: str | None) -> str:
    kind, plan = registry.algorithm(name), registry.plan(name)
    card = kind.card
    assert card is not None, f"{name} has no card"
    privacy = {row.case: row for row in verdicts.privacy if row.algorithm == name}
    utility = {row.case: row for row in verdicts.utility if row.algorithm == name}
    parts = [
        f"# {name}\n\n{plain(card.title)}.\n",
        _findings_sentence(system, name),
        table(["", ""], _facts(card, system, kind, plan)),
        _differs(card),
        _text(kind),
        _sizes(kind, plan),
        "## What is tried, and what came out\n",
        _privacy(plan.cases(), privacy) if plan.cases() else "No claim of privacy is tested.\n",
        _utility(plan.utility() if plan.utility is not None else (), utility),
        f'Every figure and number: <a href="../../{report}">the report of {name}</a>.\n' if report else "",
        _commands(name, plan, bool(_instance(kind, plan).sample_sizes)),
    ]
    return "\n".join(part for part in parts if part)


def _member(name: str) -> str:
    kind, plan = registry.algorithm(name), registry.plan(name)
    card = kind.card
    assert card is not None, f"{name} has no card"
    assert card.known_bug is not None, f"{name} is no known bug"
    rows = [
        ["Bug", plain(card.known_bug.bug) or "none: it is here because broken ones look like it"],
        ["Effect", plain(card.known_bug.effect)],
        ["True ε, at the claimed δ", plain(card.known_bug.epsilon)],
        *_facts(card, None, kind, plan),
    ]
    cases = [
        [plain(c.label), plain(str(c.tested)), plain(", ".join(pair.label for pair in c.pairs)), _expected(c)]
        for c in plan.cases()
    ]
    parts = [
        f"# {name}\n\n{plain(card.title)}.\n",
        table(["", ""], rows),
        _differs(card),
        _text(kind),
        "## What is tried\n",
        table(["case", "claim", "pairs", "expected"], cases),
        f"```sh\ndpaudit check {name}\n```\n",
    ]
    return "\n".join(part for part in parts if part)


def _corpus(members: Sequence[str]) -> str:
    rows = []
    for name in members:
        card = registry.algorithm(name).card
        assert card is not None, f"{name} has no card"
        assert card.known_bug is not None, f"{name} is no known bug"
        known_bug = card.known_bug
        texts = [known_bug.bug or "correct", known_bug.effect, known_bug.epsilon, card.claim, card.source]
        rows.append([f"{{doc}}`{name} <corpus/{name}>`", *map(plain, texts)])
    intro = (
        "# The corpus\n\nMechanisms that are known to be broken, and correct ones that look like them, to measure an "
        "auditor.\n`dpaudit list --corpus` lists them, `dpaudit check --corpus` runs them all. The true ε is at "
        "the claimed δ, on the pair.\n{doc}`../project/benchmarks/corpus` has the number of samples until each "
        "is refuted, and the lower bounds on ε from 10⁶ samples.\n\n"
    )
    columns = ["mechanism", "bug", "effect", "true ε", "claim", "source"]
    return intro + table(columns, rows) + "\n" + toctree(f"corpus/{name}" for name in members)


def _facts(card: Card, system: systems.System | None, kind: type[Mechanism], plan: Plan) -> Iterable[list[str]]:
    claim = _instance(kind, plan).claim
    names: list[str] = [f.name for f in fields(kind) if f.init] if is_dataclass(kind) else []
    yield ["Source", plain(card.source)]
    if system is not None:
        yield ["System", plain(f"{system.id}, {system.name}")]
    yield ["Claim as printed", plain(card.claim) if card.private else f"{plain(card.claim)} (no privacy is claimed)"]
    if claim is not None:
        yield ["Neighbouring relation", plain(claim.relation.name)]
    yield ["Inputs", plain(card.inputs)]
    yield ["Output", plain(card.output)]
    yield ["Parameters", ", ".join(map(code, names)) or "none"]
    yield ["Variants", ", ".join(map(_variant, card.variants)) or "none"]
    yield ["Python", f"`{kind.__module__}.{kind.__qualname__}`"]


def _variant(name: str) -> str:
    """A link where the variant has a page."""
    if name in registry.names():
        return f"{{doc}}`{name} </catalogue/algorithms/{name}>`"
    return f"{{doc}}`{name} </catalogue/corpus/{name}>`" if name in registry.names(registry.CORPUS) else plain(name)


def _differs(card: Card) -> str:
    if not card.deviations:
        return ""
    items = "".join(f"{i}. {plain(text)}\n" for i, text in enumerate(card.deviations, 1))
    return f"## Differs from the source in\n\n{items}"


def _text(kind: type[Mechanism]) -> str:
    """The algorithm's own text: `run`, where it is this class's or one of the catalogue's."""
    owner = next(cls for cls in kind.__mro__ if "run" in vars(cls))
    if owner.__module__.startswith("dpaudit."):
        return ""
    lines, _ = inspect.getsourcelines(owner.run)  # type: ignore[attr-defined]
    indent = len(lines[0]) - len(lines[0].lstrip())
    text = "".join(line[indent:] if line.strip() else line for line in lines).rstrip()
    inherited = "" if owner is kind else f" It is that of `{owner.__name__}`."
    about = f"Every use of randomness is a `yield`, or the distribution returned.{inherited}"
    return f"## The algorithm\n\n{about}\n\n```python\n{text}\n```\n"


def _sizes(kind: type[Mechanism], plan: Plan) -> str:
    mechanism = _instance(kind, plan)
    if not mechanism.sample_sizes:
        return ""
    rows = [
        [f"n ≥ {count(size.records)}", plain(size.formula), plain(size.guarantee), plain(size.place)]
        for size in mechanism.sample_sizes
    ]
    head = table(["records", "formula", "guarantee", "where"], rows)
    return f"## Sample sizes as printed\n\nFor `{_shown(mechanism)}`:\n\n{head}"


def _privacy(cases: Sequence[Case], by_label: Mapping[str, PrivacyRow]) -> str:
    rows = []
    for case in cases:
        what = f"every pair of {case.scope}" if case.scope is not None else ", ".join(p.label for p in case.pairs)
        label = plain(case.label) + (" (wrong on purpose)" if case.deliberate else "")
        outcome = _outcome(by_label.get(case.label))
        rows.append([label, plain(str(case.tested)), plain(what), *outcome, _expected(case)])
    return table(["case", "claim tested", "on", "verdict", "ε", "expected"], rows)


def _outcome(row: PrivacyRow | None) -> list[str]:
    return ["not in the report", ""] if row is None else [_marked(row.phrase), row.epsilon_text]


def _utility(cases: Sequence[UtilityCase], by_label: Mapping[str, UtilityRow]) -> str:
    if not cases:
        return ""
    rows = []
    for case in cases:
        guarantee = plain(f"{case.claim} ({case.claim.place})")
        rows.append([plain(case.label), guarantee, *_kept(by_label.get(case.label)), _expected(case)])
    head = "\nIts guarantees on the inputs tried:\n\n"
    return head + table(["case", "guarantee", "verdict", "worst probability of success", "expected"], rows)


def _kept(row: UtilityRow | None) -> list[str]:
    if row is None:
        return ["not in the report", ""]
    success = ""
    if row.exact is not None:
        success = f"{small(row.exact)} (exact)"
    elif row.samples:
        success = f"{count(row.hits)} of {count(row.samples)} runs"
    return [_marked(row.verdict.upper()), success]


def _marked(verdict: str) -> str:
    return f"**{verdict}**" if verdict == "FAIL" else verdict


def _expected(case: Case | UtilityCase) -> str:
    return case.expected.value.upper()


def _commands(name: str, plan: Plan, sizes: bool) -> str:
    lines = [f"dpaudit check {name} --expect", f"dpaudit show {name}"]
    lines += [f"dpaudit show {name} --n"] if sizes else []
    lines += [f"dpaudit verify {name} --domain 2 --size 3"] if plan.small is not None else []
    text = "\n".join(lines)
    return f"```sh\n{text}\n```\n"


def _findings(system: systems.System, name: str) -> str:
    return ", ".join(f"{{ref}}`{number} <finding-{number}>`" for number in system.findings.get(name, ()))


def _findings_sentence(system: systems.System, name: str) -> str:
    findings = _findings(system, name)
    return f"Not all that is printed of it holds: finding {findings}.\n" if findings else ""


def _instance(kind: type[Mechanism], plan: Plan) -> Mechanism:
    return instance_of(plan, kind)


def _shown(mechanism: Mechanism) -> str:
    text = " ".join(repr(mechanism).split()).replace("`", "'")
    return text if len(text) <= 200 else f"{text[:200]}…"
