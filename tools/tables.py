"""Write the tables of the catalogue: `algorithms/README.md`, `algorithms/CORPUS.md`, `audits/README.md`, and in README.

    python tools/tables.py           write all, from cards, plans, algorithms/systems.toml and the committed report
    python tools/tables.py --check   exit 1 when a table is not what these say
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import systems
from dpaudit.auditing.plan import Case, Plan, UtilityCase
from dpaudit.language import Card

ROOT = Path(__file__).resolve().parent.parent
NOTE = "<!-- Written by tools/tables.py from the cards and plans: change those, then run `make tables`. -->"


@dataclass(frozen=True)
class Row:
    """An algorithm: its card, its cases, and the files that hold them (relative to their folder)."""

    card: Card
    cases: tuple[Case, ...]
    promises: tuple[UtilityCase, ...]
    algorithm_file: str
    audit_file: str


def rows() -> list[Row]:
    """Every registered algorithm, in the order of the catalogue's ids and of registration."""
    found = _rows("dpaudit_algorithms", "dpaudit_audits")
    return sorted(found, key=lambda row: (row.card.system[:1], int("".join(filter(str.isdigit, row.card.system)) or 0)))


def corpus() -> list[Row]:
    """Every member of the corpus, in the order of registration."""
    return _rows("dpaudit_algorithms.corpus", "dpaudit_audits.corpus")


def _rows(algorithms_package: str, audits_package: str) -> list[Row]:
    algorithms: dict[str, str] = import_module(algorithms_package).CATALOGUE
    audits: dict[str, str] = import_module(audits_package).CATALOGUE
    found = []
    for name, where in algorithms.items():
        card: Card = _loaded(where).card  # type: ignore[attr-defined]
        plan = _loaded(audits[name]) if name in audits else None
        cases = plan.cases() if isinstance(plan, Plan) else ()
        promises = plan.utility() if isinstance(plan, Plan) and plan.utility is not None else ()
        found.append(Row(card, cases, promises, _file(where), _file(audits.get(name, ""))))
    return found


def algorithms_table(table: list[Row]) -> str:
    """`algorithms/README.md`."""
    lines = [
        "# Algorithms: what is claimed",
        "",
        NOTE,
        "",
        "One file each, written as the source prints it; `dpaudit show NAME` prints the card. Where the print was",
        'read, mended or departed from, the card says so ("notes").',
        "",
        "| id | algorithm | title | source | claim as printed | expected verdict | notes |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in table:
        card = row.card
        name = f"[{card.name}]({row.algorithm_file})"
        cells = [card.system, name, card.title, card.source, card.claim, _expected(row), str(len(card.differs))]
        lines.append(_line(cells))
    lines += [
        "",
        "## Every system of the five documents",
        "",
        "Verdicts and numbers are those of the [committed report](../reports): how many of an algorithm's audits fail,",
        "are proved on their scope, or are not refuted; the ε that the worst of them needs (exact, or ≥ by runs) of",
        "the claimed one.",
        "",
        systems.table("../").rstrip(),
    ]
    return "\n".join(lines) + "\n"


def corpus_table(table: list[Row]) -> str:
    """`algorithms/CORPUS.md`."""
    lines = [
        "# The corpus: mechanisms known to be broken, and their correct look-alikes",
        "",
        NOTE,
        "",
        "What an auditor is measured on (`dpaudit list --corpus`, `dpaudit check --corpus`); how this one does",
        "stands in [benchmarks/corpus.md](../benchmarks/corpus.md). The true ε is at the claimed δ, on the pair.",
        "",
        "| mechanism | bug | effect | true ε | claim | source |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for row in table:
        card, specimen = row.card, row.card.specimen
        assert specimen is not None
        name = f"[{card.name}]({row.algorithm_file})"
        lines.append(
            _line([name, specimen.bug or "correct", specimen.effect, specimen.epsilon, card.claim, card.source])
        )
    return "\n".join(lines) + "\n"


def audits_table(table: list[Row]) -> str:
    """`audits/README.md`."""
    lines = [
        "# Audits: what is tried against it",
        "",
        NOTE,
        "",
        "`dpaudit check NAME` runs an algorithm's cases: hand-made pairs, sampled and by exact law where there is one,",
        "and finite scopes of which every pair is enumerated. A relation that ends in :k is that of groups of k.",
        "",
        "| id | audit of | case | claim tested | pairs | scope | expected verdict |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in table:
        name = f"[{row.card.name}]({row.audit_file})"
        for i, case in enumerate(row.cases):
            cells = [
                row.card.system if i == 0 else "",
                name if i == 0 else "",
                case.label,
                "" if case.tested is None else str(case.tested),
                str(len(case.pairs)) if case.pairs else "",
                "" if case.scope is None else str(case.scope),
                case.expected.value.upper(),
            ]
            lines.append(_line(cells))
        for promise in row.promises:
            what, sources = f"{promise.claim} ({promise.claim.place})", f"{len(promise.instances)} kinds of inputs"
            expected = promise.expected.value.upper()
            lines.append(_line(["", "", f"utility: {promise.label}", what, sources, "", expected]))
    return "\n".join(lines) + "\n"


def with_systems(readme: str) -> str:
    """README with the table of systems between its marks."""
    before, begin, rest = readme.partition(systems.BEGIN)
    _, end, after = rest.partition(systems.END)
    if not begin or not end:
        raise SystemExit(f"README.md lacks the marks {systems.BEGIN} and {systems.END}.")
    return f"{before}{begin}\n\n{systems.table('')}\n{end}{after}"


def main(arguments: list[str]) -> int:
    """Write or check the tables; the exit code."""
    if arguments not in ([], ["--check"]):
        print("usage: python tools/tables.py [--check]", file=sys.stderr)
        return 2
    table = rows()
    texts = {
        "algorithms/README.md": algorithms_table(table),
        "algorithms/CORPUS.md": corpus_table(corpus()),
        "audits/README.md": audits_table(table),
        "README.md": with_systems(_read(ROOT / "README.md") or ""),
    }
    stale = [path for path, text in texts.items() if _read(ROOT / path) != text]
    if arguments:
        if stale:
            print(f"{' and '.join(stale)} out of date: run `make tables` and commit what it writes.", file=sys.stderr)
        return 1 if stale else 0
    for path in stale:
        (ROOT / path).write_text(texts[path], encoding="utf-8")
        print(f"wrote {path}")
    return 0


def _loaded(where: str) -> object:
    module, _, attribute = where.partition(":")
    return getattr(import_module(module), attribute)


def _file(where: str) -> str:
    return where.partition(":")[0].replace(".", "/") + ".py"


def _expected(row: Row) -> str:
    verdicts = {case.expected.value.upper(): None for case in row.cases}
    return ", ".join(sorted(verdicts)) or "no audit"


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in cells) + " |"


def _read(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.exists() else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
