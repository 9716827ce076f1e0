"""Write what `docs/report/report.tex` is made from: its numbers, its tables and its figures.

    python tools/paper.py [FOLDER]   write them into FOLDER, build/paper without it, and the PDF where pdflatex is

Every number of the report's text is `\\datum{key}`, and its key stands here. They come from reports/*.csv, the table of
findings, the output of their scripts, and the tables in benchmarks/.
"""

from __future__ import annotations

import re
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path

from matplotlib import rc_context
from matplotlib.figure import Figure

import findings
import systems
import verdict_rows
from dpaudit.language import Severity
from dpaudit.options import DEFAULT_ALPHA
from dpaudit.plans import registry
from dpaudit.report.wording import PROOFS
from dpaudit.results.model import Verdict
from dpaudit_algorithms.findings import FINDINGS

ROOT = Path(__file__).resolve().parent.parent
BENCHMARKS = ROOT / "benchmarks"
SOURCE = ROOT / "docs" / "report" / "report.tex"
BUILT = ROOT / "build" / "paper"
_SIGNS = {
    "ε": r"\ensuremath{\varepsilon}", "δ": r"\ensuremath{\delta}", "α": r"\ensuremath{\alpha}",
    "β": r"\ensuremath{\beta}",
    "γ": r"\ensuremath{\gamma}", "τ": r"\ensuremath{\tau}", "φ": r"\ensuremath{\varphi}", "−": r"\ensuremath{-}",
    "×": r"\ensuremath{\times}", "∅": r"\ensuremath{\emptyset}", "≥": r"\ensuremath{\ge}", "≤": r"\ensuremath{\le}",
    "′": r"\ensuremath{'}", "₀": r"\ensuremath{_0}", "₁": r"\ensuremath{_1}", "₂": r"\ensuremath{_2}",
    "½": r"\ensuremath{\frac12}", "¼": r"\ensuremath{\frac14}", "→": r"\ensuremath{\to}", "·": r"\ensuremath{\cdot}",
    "…": r"\ldots{}", "§": r"\S{}", "⁴": r"\ensuremath{^4}", "²": r"\ensuremath{^2}", "⊥": r"\ensuremath{\bot}",
    "∞": r"\ensuremath{\infty}", "ℋ": r"\ensuremath{\mathcal H}", "~": r"\textasciitilde{}", "|": r"\ensuremath{|}",
}
_PLAIN = {"\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "_": r"\_", "&": r"\&", "%": r"\%", "#": r"\#", "$": r"\$"}


def tex(text: str) -> str:
    """Text as LaTeX: signs, and powers such as e^{−n/8} or 10^4."""
    powers: list[str] = []

    def power(match: re.Match[str]) -> str:
        inside = "".join(_SIGNS.get(sign, sign) for sign in match[1] or match[2])
        powers.append(rf"\ensuremath{{^{{{inside}}}}}")
        return f"\0{len(powers) - 1}\0"

    text = re.sub(r"\^\{([^{}]*)\}|\^(−?[\w.]+)", power, text)
    text = "".join(_PLAIN.get(sign) or _SIGNS.get(sign, sign) for sign in text)
    return re.sub("\0(\\d+)\0", lambda match: powers[int(match[1])], text)


# --- numbers ---------------------------------------------------------------------------------------------------------


@cache
def _verdicts() -> verdict_rows.Verdicts:
    return verdict_rows.load()


def numbers() -> dict[str, str]:
    """Key → what the report's text says there."""
    return {**_catalogue(), **_findings(), **_benchmarks()}


def _catalogue() -> dict[str, str]:
    rows, guarantees = _verdicts().privacy, _verdicts().utility
    both = _sampled_and_exact()
    proofs = (verdict_rows.REPORTS / "proofs.csv").read_text(encoding="utf-8").splitlines()[1:]
    found: dict[str, object] = {
        "systems": sum(not system.only for system in systems.systems()),
        "algorithms": len(registry.names()),
        "corpus": len(registry.names(registry.CORPUS)),
        "audits": len(rows),
        "audits.fail": sum(row.verdict == Verdict.FAIL for row in rows),
        "audits.proved": sum(row.phrase in PROOFS.values() for row in rows),
        "audits.kept": sum(row.verdict == Verdict.PASS and not row.proved for row in rows),
        "audits.open": sum(row.verdict == Verdict.INCONCLUSIVE for row in rows),
        "audits.unexpected": sum(not row.as_expected for row in rows) + sum(not row.as_expected for row in guarantees),
        "utility": len(guarantees),
        "utility.fail": sum(row.verdict == Verdict.FAIL for row in guarantees),
        "exact.both": len(both),
        "exact.above": sum((row.epsilon_lower or 0) > (row.epsilon_exact or 0) for row in both),
        "proofs": len(proofs),
        "proofs.proved": sum(",proved," in line for line in proofs),
    }
    return {key: f"{value:,}" for key, value in found.items()}


def _sampled_and_exact() -> list[verdict_rows.PrivacyRow]:
    """The audits that have an exact ε and a bound from samples."""
    return [
        row for row in _verdicts().privacy
        if row.epsilon_exact is not None and row.epsilon_lower is not None and row.samples_per_dataset
    ]


def _findings() -> dict[str, str]:
    found = {"findings": str(len(FINDINGS))}
    for severity in Severity:
        found[f"findings.{severity.name.lower()}"] = str(sum(one.severity is severity for one in FINDINGS.values()))
    for key, number, pattern in (
        ("1.epsilon", 1, r"least ε for this pair: ([\d.]+)"),
        ("1.fewest", 1, r"(\d+) records, the fewest"),
        ("5.fails", 5, r"not an interior point\] = ([\d.]+)"),
        ("5.bound", 5, r"the bound \|X\|.*= ([\d.]+)"),
        ("33.bound", 33, r"= ([\d.]+) < 3/4"),
    ):
        match = re.search(pattern, findings.output(number))
        if match is None:
            raise SystemExit(f"The script of finding {number} no longer prints {pattern!r}.")
        found[f"finding.{key}"] = match[1]
    return found


def table_of(page: str, heading: str, number: int = 0) -> list[dict[str, str]]:
    """The rows of a table of a page in benchmarks/, each by the names of its columns.

    Args:
        page: the file's name without ".md".
        heading: of the section that it is in.
        number: of the table in the section, from 0.
    """
    text = (BENCHMARKS / f"{page}.md").read_text(encoding="utf-8")
    text = text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    blocks = re.findall(r"(?:^\|.*\n)+", text, flags=re.MULTILINE)
    lines = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in blocks[number].splitlines()]
    return [dict(zip(lines[0], line, strict=True)) for line in lines[2:]]


def _benchmarks() -> dict[str, str]:
    shapes = table_of("error_rates", "The boundary, α = 0.05")
    total = next(row for row in shapes if row["shape of the output"] == "**all**")
    bounds = table_of("corpus", "Bounds from equal numbers of samples")
    # the second column of this name, to the reference
    ratios = [float(row["ratio"]) for row in bounds]
    stops = table_of("corpus", "Samples until a claim is refuted")
    ours = next(row for row in table_of("peers", "Misses and false alarms") if row[""] == "dpaudit")
    peers = [row for row in table_of("peers", "Misses and false alarms") if not row[""].startswith("dpaudit")]
    # of those that half of the seeds refute
    medians = sorted((float(row["median"].replace(",", "")), row["median"]) for row in stops if row["median"] != "∞")
    beyond = [float(row["median / n*"]) for row in stops if row["median"] != "∞"]
    missed = [int(row["false claims missed"].split()[0]) for row in peers]
    return {
        "errors.audits": total["audits"], "errors.fail": total["FAIL"], "errors.share": total["share"],
        "corpus.bounds": str(len(bounds)), "corpus.close": str(sum(ratio >= 0.95 for ratio in ratios)),
        "errors.ways": str(len(table_of("error_rates", "The boundary, α = 0.05", 1))),
        "errors.shapes": str(len(shapes) - 1),
        "stops.least": medians[0][1], "stops.most": medians[-1][1], "stops.ratio": f"{statistics.median(beyond):.2f}",
        "peers.functions": str(len(table_of("peers", "By mechanism"))),
        "alpha": f"{DEFAULT_ALPHA:g}",
        "peers.missed": ours["false claims missed"], "peers.alarms": ours["true claims refuted"],
        "peers.tools": str(len(peers)), "peers.least": str(min(missed)), "peers.most": str(max(missed)),
    }


# --- tables and figures ----------------------------------------------------------------------------------------------


def findings_table() -> str:
    """All findings: number, what is found, severity, place, witness."""
    lines = []
    for number, one in FINDINGS.items():
        found = rf"{tex(one.title)}. {{\footnotesize {tex(one.witness)}.}}"
        where = f"{tex(one.place)}; {tex(one.epsilon)}"
        lines.append(rf"{number} & {found} & \textit{{{one.severity}}} & {where} \\" + "\n")
    return "".join(lines)


def systems_table() -> str:
    """For each document: systems, algorithms, audits of privacy and of utility, findings."""
    lines = []
    for document, name in systems.DOCUMENTS.items():
        here = [system for system in systems.systems() if system.document == document]
        names = {algorithm for system in here for algorithm in system.algorithms}
        privacy = [row for row in _verdicts().privacy if row.algorithm in names]
        guarantees = [row for row in _verdicts().utility if row.algorithm in names]
        numbered = {n for system in here for several in system.findings.values() for n in several}
        lines.append(
            f"{tex(name)} & {len(here)} & {len(names)} & {len(privacy)} & {_failed(privacy)} & {len(guarantees)} & "
            f"{_failed(guarantees)} & {len(numbered)} \\\\\n"
        )
    return "".join(lines)


def _failed(rows: Sequence[verdict_rows.PrivacyRow] | Sequence[verdict_rows.UtilityRow]) -> int:
    return sum(row.verdict == Verdict.FAIL for row in rows)


def peers_table() -> str:
    """What every tool missed, and what it refuted wrongly."""
    lines = []
    for row in table_of("peers", "Misses and false alarms"):
        columns = ("", "false claims missed", "true claims refuted", "bounds above the exact ε", "not taken")
        cells = [row[name] for name in (*columns, "CPU s, geom. mean")]
        lines.append(" & ".join(tex(cell.replace("–", "--")) for cell in cells) + " \\\\\n")
    return "".join(lines)


def exact_figure() -> Figure:
    """Lower confidence bounds by samples against exact ε, of every audit of the catalogue that has both."""
    rows = [row for row in _sampled_and_exact() if 0 < (row.epsilon_exact or 0) < float("inf")]
    figure = Figure(figsize=(5.4, 3.9), layout="constrained")
    axes = figure.subplots()
    for verdict, mark, colour, label in (
        (Verdict.FAIL, "x", "#c01c28", "claim refuted (sampling may stop there)"),
        (Verdict.PASS, "o", "#1a5fb4", "claim kept"),
        (Verdict.INCONCLUSIVE, "+", "#77767b", "inconclusive"),
    ):
        chosen = [(row.epsilon_exact or 0, row.epsilon_lower or 0) for row in rows if row.verdict == verdict]
        if chosen:
            exact, certified = zip(*chosen, strict=True)
            axes.scatter(exact, certified, s=16, c=colour, marker=mark, linewidths=0.8, alpha=0.7, label=label)
    ends = [end(row.epsilon_exact or 0 for row in rows) for end in (min, max)]
    axes.plot(ends, ends, color="#77767b", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_yscale("symlog", linthresh=0.01)
    axes.set_ylim(bottom=-0.002)
    axes.set_xlabel("exact ε of the audited pair, at the claimed δ")
    axes.set_ylabel("lower confidence bound on ε")
    axes.legend(frameon=False, fontsize=8)
    axes.grid(color="#deddda", linewidth=0.5)
    return figure


def peers_figure() -> Figure:
    """The picture of benchmarks/peers.md."""
    sys.path.insert(0, str(BENCHMARKS))
    figure: Figure = import_module("peers").picture()
    return figure


def used(source: str) -> Iterator[str]:
    """The keys that the report's text names."""
    yield from re.findall(r"\\datum\{([^}]*)\}", source)


def write(folder: Path) -> None:
    """All files that the report takes in.

    Raises:
        SystemExit: its text names a number that there is none of.
    """
    folder.mkdir(parents=True, exist_ok=True)
    known = numbers()
    if unknown := sorted(set(used(SOURCE.read_text(encoding="utf-8"))) - set(known)):
        raise SystemExit(f"{SOURCE.relative_to(ROOT)} names {', '.join(unknown)}, which tools/paper.py does not have.")
    defined = "".join(
        rf"\expandafter\def\csname datum@{key}\endcsname{{{value}}}" + "\n" for key, value in known.items()
    )
    texts: Mapping[str, Callable[[], str]] = {
        "findings.tex": findings_table, "systems.tex": systems_table, "peers.tex": peers_table,
    }
    (folder / "numbers.tex").write_text(defined, encoding="utf-8")
    for name, make in texts.items():
        (folder / name).write_text(make(), encoding="utf-8")
    with rc_context({"font.size": 9, "pdf.fonttype": 42}):
        for name, drawn in (("exact.pdf", exact_figure()), ("peers.pdf", peers_figure())):
            drawn.savefig(folder / name, metadata={"CreationDate": None})


def pdf(folder: Path) -> Path | None:
    """The report as PDF, beside what it is made from; None where there is no pdflatex.

    Raises:
        SystemExit: the text is no LaTeX, names a label that there is none of, or does not fit the page.
    """
    if shutil.which("pdflatex") is None:
        return None
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", str(SOURCE)]
    for _ in range(3):  # references, and the widths of the long table, need two more
        ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, encoding="latin-1", check=False)
    wrong = re.findall(r"^(?:! .*|.*undefined.*|Overfull .*)$", ran.stdout, flags=re.MULTILINE)
    if ran.returncode or wrong:
        raise SystemExit("pdflatex: " + ("; ".join(wrong) or f"exit code {ran.returncode}"))
    return folder / f"{SOURCE.stem}.pdf"


def main(arguments: list[str]) -> int:
    """Write the parts, and the PDF where there is a TeX."""
    folder = Path(arguments[0]).resolve() if arguments else BUILT
    write(folder)
    made = pdf(folder)
    print(made if made is not None else f"{folder}: no pdflatex here, so that there is no PDF")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
