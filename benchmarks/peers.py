"""dpaudit beside other auditors, on their mechanisms and ours. Writes peers.md and the picture of it.

python benchmarks/peers.py DIR --make      the environments of all tools, with their sources (about 13 GB)
python benchmarks/peers.py DIR             measure what is not yet kept, and write the page
python benchmarks/peers.py                 write the page from what is kept (benchmarks/peers.jsonl)

One script a tool (benchmarks/peers/with_….py), each in an environment of its own with pinned versions. Every tool gets
the same functions, the same numbers of samples and the same α. They run one after another, and progress goes to stderr.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import venv
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "peers"))

from subjects import SUBJECTS, Subject  # noqa: E402

KEPT = HERE / "peers.jsonl"
PAGE = HERE / "peers.md"
PICTURE = HERE.parent / "docs" / "_static" / "peers.svg"
RUNS = 1_000_000
SEEDS = 3
ALPHA = 0.05
NEWLINE = "\n"
LONGEST = 1_800
"""Seconds after which a tool is stopped."""


@dataclass(frozen=True)
class Tool:
    """A tool, and the environment that its script runs in.

    Args:
        name: for the tables.
        script: of benchmarks/peers/.
        packages: pinned; empty for the environment of this process.
        source: repository and commit, where it is no package.
        within: folder of the source that goes on the path.
        version: for the page.
    """

    name: str
    script: str
    packages: tuple[str, ...] = ()
    source: tuple[str, str] | None = None
    within: str = ""
    version: str = ""


TORCH = ("torch==2.5.1", "numpy==1.26.4", "scikit-learn==1.9.1", "pandas==3.0.6")
TOOLS = {
    "dpaudit": Tool("dpaudit", "with_dpaudit", version="83416355"),
    "certify": Tool("dpaudit, certify", "with_dpaudit_certify"),
    "dp-sniper": Tool(
        "DP-Sniper", "with_dp_sniper", (*TORCH, "tensorboard==2.21.0", "mmh3==5.3.1", "matplotlib==3.11.2"),
        ("https://github.com/eth-sri/dp-sniper", "ee087b2584ca97d1064154db5dd2bda0bb5a8ceb"),
        version="ee087b2, logistic regression",
    ),
    "statdp": Tool(
        "StatDP", "with_statdp", ("numpy==1.23.5", "numba==0.57.1", "tqdm==4.70.1"),
        ("https://github.com/cmla-psu/statdp", "d1f1e8fafa1fe15342dc9502654ec241585b9919"), version="d1f1e8f",
    ),
    "delta-siege": Tool(
        "Delta-Siege", "with_delta_siege",
        (*TORCH, "optuna==5.0.0", "dill==0.4.1", "autograd==1.9.1", "statsmodels==0.15.0"),
        ("https://github.com/eth-sri/Delta-Siege", "358377f41932cd94e1050cd9670dd7baf1b7eb89"),
        version="358377f, logistic score of the numbers",
    ),
    "dp-auditorium": Tool(
        "DP-Auditorium", "with_dp_auditorium",
        ("tensorflow-cpu==2.15.1", "numpy==1.26.4", "scipy==1.11.4", "etils==1.5.2", "absl-py==1.4.0",
         "typing-extensions==4.9.0", "jax==0.4.23", "jaxlib==0.4.23"),
        ("https://github.com/google/differential-privacy", "b5b0286e313b64a692abfc8c528d54ef47d960a0"),
        within="python/dp_auditorium", version="b5b0286, hockey-stick tester",
    ),
    "jax-privacy": Tool(
        "jax_privacy.auditing", "with_jax_privacy", ("jax_privacy==2.0.0",), version="2.0.0, scores",
    ),
}

Key = tuple[str, str, int]
Result = dict[str, Any]


# --- environments -----------------------------------------------------------------------------------------------------


def make(folder: Path) -> None:
    """Environments and sources, those that are not there yet."""
    folder.mkdir(parents=True, exist_ok=True)
    for short, tool in TOOLS.items():
        if not tool.packages:
            continue
        place = folder / short
        if not (place / "made").exists():
            print(f"{tool.name}: installing", file=sys.stderr, flush=True)
            venv.create(place / "environment", with_pip=True, clear=True)
            subprocess.run([python(folder, tool, short), "-m", "pip", "install", "-q", *tool.packages], check=True)
            if tool.source is not None:
                repository, commit = tool.source
                subprocess.run(["git", "clone", "-q", repository, str(place / "source")], check=True)
                subprocess.run(["git", "-C", str(place / "source"), "checkout", "-q", commit], check=True)
            (place / "made").touch()


def python(folder: Path, tool: Tool, short: str) -> str:
    """The interpreter of a tool."""
    return str(folder / short / "environment" / "bin" / "python") if tool.packages else sys.executable


# --- measuring --------------------------------------------------------------------------------------------------------


def kept() -> dict[Key, Result]:
    """What has been measured."""
    found: dict[Key, Result] = {}
    if KEPT.exists():
        for line in KEPT.read_text(encoding="utf-8").splitlines():
            value = json.loads(line)
            tool, subject, seed = value.pop("key")
            found[tool, subject, seed] = value
    return found


def measure(folder: Path, given: argparse.Namespace) -> None:
    """Run what is missing, and keep each result when it is there."""
    done = kept()
    keys = [
        (short, subject, seed) for subject in SUBJECTS for seed in range(SEEDS) for short in TOOLS
        if given.only is None or short in given.only
    ]
    left = [key for key in keys if key not in done]
    for at, (short, subject, seed) in enumerate(left, 1):
        # what a tool does not take at all it need not refuse three times
        if seed and "not taken" in kept().get((short, subject, 0), {}):
            continue
        print(f"{at} of {len(left)}: {TOOLS[short].name}, {subject}, seed {seed}", file=sys.stderr, flush=True)
        result = one(folder, short, subject, seed)
        with open(KEPT, "a", encoding="utf-8") as file:
            file.write(json.dumps({"key": [short, subject, seed], **result}) + "\n")


def one(folder: Path, short: str, subject: str, seed: int) -> Result:
    """What a tool says of a subject."""
    tool = TOOLS[short]
    environment = dict(os.environ)
    if tool.source is not None:
        environment["PYTHONPATH"] = str(folder / short / "source" / tool.within)
    elif tool.packages:
        environment.pop("PYTHONPATH", None)
    command = [
        python(folder, tool, short), str(HERE / "peers" / f"{tool.script}.py"), subject, str(seed), str(RUNS),
        str(ALPHA),
    ]
    try:
        ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=LONGEST, check=False)
    except subprocess.TimeoutExpired:
        return {"error": f"stopped after {LONGEST} s"}
    if ended.returncode:
        return {"error": ended.stderr.strip().splitlines()[-1]}
    result: Result = json.loads(ended.stdout.strip().splitlines()[-1])
    return result


# --- the page ---------------------------------------------------------------------------------------------------------


def verdicts(subject: Subject, results: Sequence[Result]) -> str:
    """How often a tool refuted the claim, with a mark where that is wrong."""
    times = sum(result["refuted"] for result in results)
    wrong = times > 0 if subject.holds else times < len(results)
    return f"{times} of {len(results)}{' ✗' if wrong else ''}"


def bound(subject: Subject, results: Sequence[Result]) -> str:
    """The median of its lower bounds, with a mark if one of them is above the exact ε."""
    bounds = [result["bound"] for result in results if result["bound"] is not None]
    if not bounds:
        return "–"
    above = any(one > subject.exact * (1 + 1e-9) for one in bounds)
    return f"{statistics.median(bounds):.3g}{' ✗' if above else ''}"


def spent(_: Subject, results: Sequence[Result]) -> str:
    """CPU seconds, and samples of both datasets where it did not take all of them."""
    samples = statistics.median(result["samples"] for result in results)
    cpu = statistics.median(result["cpu"] for result in results)
    return f"{cpu:.1f}" + (f" ({short_number(samples)})" if samples < 1.9 * RUNS else "")


def short_number(number: float) -> str:
    """With three digits and k or M."""
    for unit, name in ((1e6, "M"), (1e3, "k")):
        if number >= unit:
            return f"{number / unit:.3g}{name}"
    return f"{number:.3g}"


def infinite(number: float) -> str:
    """With ∞."""
    return "∞" if math.isinf(number) else f"{number:.3g}"


Cell = Callable[[Subject, Sequence[Result]], str]


def table(done: dict[Key, Result], cell: Cell) -> Iterable[str]:
    """One row a subject, one column a tool."""
    yield "| mechanism | claim | exact ε | " + " | ".join(tool.name for tool in TOOLS.values()) + " |"
    yield "| --- " * (3 + len(TOOLS)) + "|"
    for name, subject in SUBJECTS.items():
        claim = f"{subject.epsilon:.3g}" + (f", {subject.delta:g}" if subject.delta else "")
        cells = []
        for short in TOOLS:
            results = of(done, short, name)
            given = [result for result in results if "refuted" in result]
            why = "not taken" if any("not taken" in result for result in results) else "error" if results else ""
            cells.append(cell(subject, given) if given else why)
        yield f"| {subject.name} | {claim} | {infinite(subject.exact)} | " + " | ".join(cells) + " |"


def of(done: dict[Key, Result], short: str, subject: str) -> list[Result]:
    """All seeds."""
    return [result for (tool, name, _), result in sorted(done.items()) if (tool, name) == (short, subject)]


def summary(done: dict[Key, Result]) -> Iterable[str]:
    """Misses and false alarms of each tool over all seeds."""
    yield "| | false claims missed | true claims refuted | bounds above the exact ε | not taken | CPU s, geom. mean |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for short, tool in TOOLS.items():
        missed = false = alarms = true = above = bounds = refused = 0
        cpu = []
        for name, subject in SUBJECTS.items():
            results = of(done, short, name)
            refused += any("not taken" in result or "error" in result for result in results)
            for result in results:
                if "refuted" not in result:
                    continue
                cpu.append(max(result["cpu"], 0.01))
                if subject.holds:
                    true, alarms = true + 1, alarms + result["refuted"]
                else:
                    false, missed = false + 1, missed + (not result["refuted"])
                if result["bound"] is not None:
                    bounds, above = bounds + 1, above + (result["bound"] > subject.exact * (1 + 1e-9))
        seconds = f"{math.exp(statistics.fmean(map(math.log, cpu))):.1f}" if cpu else "–"
        yield (
            f"| {tool.name} | {missed} of {false} | {alarms} of {true} | {f'{above} of {bounds}' if bounds else '–'} | "
            f"{refused} of {len(SUBJECTS)} | {seconds} |"
        )


def write() -> None:
    """The page."""
    done = kept()
    settings = NEWLINE.join(f"- {tool.name} {tool.version}" for tool in TOOLS.values() if tool.version)
    PAGE.write_text(
        f"""# dpaudit beside other auditors

Tables of `python benchmarks/peers.py`, on functions that all tools are given (`benchmarks/peers/subjects.py`). At most
{RUNS:,} samples of each dataset on one pair, α = {ALPHA}, {SEEDS} seeds. One script a tool, in its own environment;
each says how the samples are divided, in the proportions of the tool's own defaults where it has some.

{settings}

![For each mechanism and tool whether the claim was refuted, and lower bounds on ε as a part of the exact one]\
(../docs/_static/peers.svg)

## Misses and false alarms

Over all seeds. Medians hide them, so they are counted.

{NEWLINE.join(summary(done))}

## By mechanism

Refuted in so many of the seeds. ✗: a false claim was missed, or a true one refuted, in at least one of them.

{NEWLINE.join(table(done, verdicts))}

Lower bound on ε, the median. ✗: one of them is above the exact ε. dpaudit by default stops where a claim is refuted.

{NEWLINE.join(table(done, bound))}

CPU seconds after all imports, the median; samples of both datasets together where a tool did not take all of them.

{NEWLINE.join(table(done, spent))}

## How far this goes

- The functions, pairs and settings were chosen by the authors of one of these tools. Nine of the functions are of the
  papers of DP-Sniper and StatDP, with pairs on which their authors or we found most.
- DP-Sniper's own defaults are 232 million samples of each dataset, where its bounds are much better
  ([corpus.md](corpus.md) has them). Its events have a probability of 0.01, whatever the number of samples.
- The 30 codes are whole numbers to all, in whose order DP-Sniper, Delta-Siege, DP-Auditorium and jax_privacy look for
  something that is not there.
- StatDP gets a number that its authors use in place of the output of sparse vector techniques and histograms, so it
  is told where to look. It has no bound.
- Delta-Siege's strength is one event against a whole (ε, δ) curve, and bits of floating-point noise; neither plays a
  part here but for the two Gaussians.
- DP-Auditorium has a network of its own default size, and searches for datasets too, which is not used here.
- jax_privacy.auditing is made for scores of canaries: [scores.md](scores.md) compares it there.
- dp-recorder takes instrumented code and not its outputs: [recorder_bugs.md](recorder_bugs.md) has its own examples.
- With {SEEDS} seeds a rate of false alarms says little: at α = 0.05 one in nine is no evidence against StatDP, nor is
  one bound of 45 against dpaudit. [error_rates.md](error_rates.md) has ours over thousands of audits.
- dpaudit imports most of what it needs when it is first used: about 1.7 of its CPU seconds.
- Two tools ran at a time on two cores (DP-Auditorium and jax_privacy beside another measurement).
- Vectors and mixed outputs (NoisyHist2, SVT3, one of ten) cost dpaudit 10 to 20 times the CPU seconds of the others
  when all samples are used: it grows trees on many features of them.
""",
        encoding="utf-8",
    )


MARKS = {
    "refuted": ("o", "#1a5fb4", "false claim refuted in every seed"),
    "some": ("o", "#99c1f1", "refuted in some seeds"),
    "missed": ("x", "#c01c28", "false claim missed in every seed"),
    "alarm": ("X", "#c01c28", "true claim refuted"),
    "right": ("_", "#77767b", "true claim not refuted"),
    "not taken": (".", "#c0bfbc", "not taken"),
}
"""Kind of a cell → its mark, its colour and what it means; no two differ by colour alone but in lightness too."""


def kind(subject: Subject, results: Sequence[Result]) -> str:
    """Which mark a cell has."""
    verdicts = [result["refuted"] for result in results if "refuted" in result]
    if not verdicts:
        return "not taken"
    if subject.holds:
        return "alarm" if any(verdicts) else "right"
    return "refuted" if all(verdicts) else "some" if any(verdicts) else "missed"


def draw() -> None:
    """Write the picture."""
    settings = {"font.size": 9, "svg.hashsalt": "dpaudit", "svg.fonttype": "none", "font.family": "sans-serif"}
    with rc_context(settings):
        picture().savefig(PICTURE, metadata={"Date": None, "Creator": None})


def picture() -> Figure:
    """Verdicts of every tool on every mechanism, and bounds as a share of the exact ε."""
    done = kept()
    names, tools = list(SUBJECTS), list(TOOLS)
    figure = Figure(figsize=(10.2, 4.9), layout="constrained")
    verdicts, bounds = figure.subplots(1, 2, width_ratios=(3, 2), sharey=True)
    for each, (mark, colour, meaning) in MARKS.items():
        places = [
            (tools.index(tool), names.index(name)) for name in names for tool in tools
            if kind(SUBJECTS[name], of(done, tool, name)) == each
        ]
        if places:
            verdicts.scatter(*zip(*places, strict=True), marker=mark, color=colour, s=60, label=meaning)
    verdicts.set_xticks(range(len(tools)), [TOOLS[tool].name for tool in tools], rotation=30, ha="right")
    verdicts.set_yticks(range(len(names)), [SUBJECTS[name].name for name in names])
    verdicts.invert_yaxis()
    verdicts.set_title("Verdicts", loc="left")
    for at, tool in enumerate(tools):
        if tool == "dpaudit":
            # it stops where the claim is refuted, so its bound is just above that
            continue
        places = []
        for row, name in enumerate(names):
            found = [result["bound"] for result in of(done, tool, name) if result.get("bound") is not None]
            if found and math.isfinite(SUBJECTS[name].exact):
                places.append((statistics.median(found) / SUBJECTS[name].exact, row))
        if places:
            bounds.scatter(
                *zip(*places, strict=True), marker="osD^v<>"[at], s=26, alpha=0.8, label=TOOLS[tool].name
            )
    bounds.axvline(1, color="#77767b", linewidth=0.8)
    bounds.set_xlim(-0.03, 1.1)
    bounds.set_title("Lower bound on ε as a part of the exact ε", loc="left")
    for row, name in enumerate(names):
        if math.isinf(SUBJECTS[name].exact):
            bounds.text(0, row, "exact ε = ∞", va="center", color="#77767b")
    for axes in (verdicts, bounds):
        axes.grid(axis="y", color="#deddda", linewidth=0.6)
        axes.set_axisbelow(True)
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.tick_params(length=0)
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.22), ncols=2, frameon=False, fontsize=8)
    return figure


def main() -> None:
    """As the module says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, help="of the environments")
    parser.add_argument("--make", action="store_true")
    parser.add_argument("--only", nargs="+", choices=list(TOOLS), metavar="TOOL")
    given = parser.parse_args()
    if given.make:
        if given.folder is None:
            parser.error("name a folder for the environments")
        make(given.folder)
        return
    if given.folder is not None:
        measure(given.folder, given)
    write()
    draw()


if __name__ == "__main__":
    main()
