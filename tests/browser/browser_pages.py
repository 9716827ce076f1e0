"""Results whose pages are opened in a browser; `PAGES` is the list that every page test runs over."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from numpy.random import default_rng

import dpaudit
from dpaudit.report.html import to_html
from dpaudit.report.proof_page import proof_page
from dpaudit.report.report_dir import write_report
from dpaudit.results.json_form import from_json
from dpaudit.results.model import Audit, Result, UtilityAudit

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "unit"))

import example_results  # noqa: E402  # the examples that all writers are tested on
from sample_audits import sample_audits, sample_comparison  # noqa: E402

HOSTILE = [
    "<script>window.pwned=1</script>",
    '"><img src=x onerror=window.pwned=2>',
    "'><svg onload=window.pwned=3>",
    "</pre></details></style></title></svg></script><script>window.pwned=4</script>",
    "<![CDATA[ ]]><b id=injected>bold</b> --> <!-- ",
    "{{7*7}}{% raw %}${7*7}",
    "javascript:window.pwned=5",
    "line\u2028separator\u2029paragraph\u202eright to left\u0000 and \\ \\u003c",
    "&lt;script&gt; &amp;amp; &#x3c;",
]
"""Each of them tries to be something else than text."""


def of_sample(number: int, *, drawn: bool = False, guarantees: int = 0) -> Result:
    """The first audits of the sample, again from its beginning where there are fewer, and its first guarantees.

    Args:
        number: audits of privacy.
        drawn: take those alone that have a drawing.
        guarantees: audits of utility.
    """
    result = sample_audits()
    audits = [audit for audit in result.audits if audit.drawing is not None or not drawn]
    return replace(result, audits=list(islice(cycle(audits), number)), utility=result.utility[:guarantees])


def _hostile_text(value: Any, place: list[int]) -> Any:
    """The same JSON value with every string that a user has a say in made hostile."""
    fixed = {
        "verdict", "reason_code", "code", "evidence", "direction", "kind", "format_version", "expected", "style",
        "mark", "started",
        # fractions of a proof, as text
        "epsilon", "mu_squared", "rho", "cost", "shifts",
    }
    if isinstance(value, str):
        place[0] += 1
        return f"{HOSTILE[place[0] % len(HOSTILE)]} {value}"
    if isinstance(value, list):
        return [_hostile_text(item, place) for item in value]
    if isinstance(value, dict):
        return {
            key if not _free(key) else f"{key} {HOSTILE[1]}": item if key in fixed else _hostile_text(item, place)
            for key, item in value.items()
        }
    return value


def _free(key: str) -> bool:
    """Whether a key is the user's, or the platform's."""
    return key in {"platform", "private", "public"}


def hostile() -> Result:
    """Everything that is text tries to become markup: names, cases, pairs, data, outputs, events, notes, errors."""
    from dpaudit.results.json_form import to_object

    kinds = [example_results.fail(), example_results.infinite(), example_results.crashed(), example_results.leaks()]
    plain = replace(example_results.result(*kinds), utility=[example_results.broken_guarantee()])
    drawn = of_sample(1, drawn=True).audits
    value = to_object(replace(plain, audits=[*plain.audits, *drawn]))
    # audits first: which string is where decides how wide tables are
    value = _hostile_text({key: value[key] for key in ("audits", "utility", *value)}, [0])
    return from_json(json.dumps(value), where="hostile.json")


def _of(*audits: Audit, utility: tuple[UtilityAudit, ...] = ()) -> Callable[[], Result]:
    return lambda: replace(example_results.result(*audits), utility=list(utility))


PAGES: dict[str, Callable[[], Result]] = {
    **{f"example {name}": (lambda result=result: result) for name, result in example_results.every().items()},
    "of 60 audits": lambda: of_sample(60),
    "of 8 audits and guarantees": lambda: of_sample(8, guarantees=4),
    "with drawings": lambda: of_sample(4, drawn=True),
    "with one drawing": lambda: of_sample(1, drawn=True),
    "of a comparison": sample_comparison,
    "of untrusted strings": hostile,
}
"""Name → result."""


def _scores(**claim: Any) -> str:
    rng = default_rng(0)
    return dpaudit.audit_scores(
        rng.normal(1, 1, 500), rng.normal(0, 1, 500), alpha=0.05, progress=False, **claim
    ).to_html()


def _proof(epsilon: float, **options: Any) -> str:
    def clipped_sum(data: Any, rng: Any) -> Any:
        return data.sum() + rng.laplace(0, 1)

    return proof_page(
        dpaudit.prove(clipped_sum, dpaudit.Records(5, 0, 1), epsilon=epsilon, **options), call="dpaudit prove"
    )


def _gaussian_proof() -> str:
    def noisy(data: Any, rng: Any) -> Any:
        return data.sum() + rng.normal(0, 2), (data > 0.5).sum() + rng.laplace(0, 3)

    return proof_page(
        dpaudit.prove(noisy, dpaudit.Records(5, 0, 1), epsilon=2, delta=0.1), call="dpaudit prove"
    )


OTHERS: dict[str, Callable[[], str]] = {
    "of scores": lambda: _scores(claim=dpaudit.GaussianDP(0.5)),
    "of scores without a claim": _scores,
    "of guesses": lambda: dpaudit.audit_guesses(1000, 200, 150, epsilon=1, delta=1e-5, alpha=0.05).to_html(),
    "of a proof": lambda: _proof(1.0, lower=True),
    "of a refutation": lambda: _proof(0.5),
    "of nothing proved": lambda: _proof(0.5, refute=False),
    "of a proof with a delta": _gaussian_proof,
}
"""Name → page that is not of an audit by pairs."""
FOLDER = ("folder index", "folder page", "largest folder page")
"""Pages of a folder report that are opened: the index, one of untrusted strings, and the largest."""
ALL = [*PAGES, *OTHERS, *FOLDER]


@cache
def folder_result() -> Result:
    """What the folder report is of: all kinds of audits, some with hostile names, and those of the sample."""
    sample = of_sample(24, guarantees=4)
    return replace(sample, audits=[*hostile().audits, *sample.audits])


def write_folder(folder: Path) -> dict[str, Path]:
    """Write the folder report; the files of `FOLDER`, by name."""
    index = write_report(folder, folder_result())
    pages = sorted((folder / "algorithms").glob("*.html"), key=lambda path: path.stat().st_size)
    hostile_page = next(path for path in pages if "window.pwned" in path.read_text(encoding="utf-8"))
    return dict(zip(FOLDER, (index, hostile_page, pages[-1]), strict=True))


@cache
def result_of(name: str) -> Result:
    """The result of a page."""
    return PAGES[name]()


@cache
def html_of(name: str) -> str:
    """The page as it is written to a file."""
    return OTHERS[name]() if name in OTHERS else to_html(result_of(name))
