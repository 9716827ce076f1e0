"""Privacy loss by part, as the reports say it: the sentence, the table, the picture."""

from __future__ import annotations

import re
from dataclasses import replace

import example_results
import pytest

from dpaudit.report import loss_breakdown, wording
from dpaudit.report.html import to_html
from dpaudit.results.model import Audit, LedgerRow, Proof


def _followed(*rows: LedgerRow) -> Audit:
    audit = example_results.fail()
    return replace(audit, ledger=list(rows))


def _row(depth: int, name: str, **fields: object) -> LedgerRow:
    row = LedgerRow(depth, name, 0.5, 0.0, name, True, exact_epsilon=0.25, exact_delta=0.0, value="1", loss=0.25)
    return replace(row, **fields)  # type: ignore[arg-type]


def test_the_sentence_names_the_parts_that_lose_most() -> None:
    rows = [
        _row(0, "Whole", epsilon=2.0, composed_epsilon=1.5, composed_delta=0.0, loss=1.0),
        *(_row(1, name, loss=loss) for name, loss in [("A", 0.5), ("B", 0.1), ("A", 0.25), ("C", -0.05)]),
        _row(1, "Softmax over 9 outcomes with coefficient 0.5", loss=0.2),
        _row(1, "D", loss=0.0, claimed=False),
    ]
    assert loss_breakdown.sentence(_followed(*rows)) == (
        "claimed (1, 1e-06), the parts compose to (1.5, 0), and the worst pair has ε = 1.3912; on the most likely "
        "execution path to 1 the loss is 1: A 0.75 (2 times, 1 claimed), Softmax 0.2 (0.5 claimed), B 0.1 (0.5 "
        "claimed), D 0 (not accounted for), the rest −0.05"
    )


def test_an_infinite_loss_is_said() -> None:
    rows = [
        _row(0, "Whole", composed_epsilon=1.0, composed_delta=0.0, exact_epsilon=None, loss=None, impossible=True),
        _row(1, "A"),
        _row(1, "B", exact_epsilon=None, exact_delta=0.1, loss=None, impossible=True),
    ]
    audit = _followed(*rows)
    text = loss_breakdown.sentence(audit)
    assert text is not None
    assert text.endswith("the loss is ∞: B ∞ (0.5 claimed), A 0.25 (0.5 claimed)")
    whole, a, b = loss_breakdown.lines(audit)
    assert (whole.exact, whole.loss, whole.bar, whole.beyond, whole.exceeds, whole.tick) == (
        "∞", "∞", 100.0, True, True, None,
    )  # fmt: skip
    assert (a.exact, a.beyond, a.exceeds) == ("0.25", False, False)
    assert b.beyond


def test_without_a_path_there_are_claims_alone() -> None:
    audit = replace(example_results.fail(), loss_breakdown=None)
    assert loss_breakdown.sentence(audit) is None
    assert loss_breakdown.path_sentence(audit) is None
    assert loss_breakdown.terminal_table(audit) == []
    page = to_html(example_results.result(replace(audit, ledger=[LedgerRow(0, "Old: its parts …", 1.0, 1e-6)])))
    assert "Old: its parts …" in page
    assert "Exact ε</th><th" not in page[page.index("Privacy loss by part") : page.index("Method and assumptions")]


@pytest.mark.parametrize(
    ("epsilon", "shown", "exceeds"),
    [(0.5, "0.5", False), (0.5 * (1 + 1e-12), "0.5", False), (0.5001, "0.5001", True), (1e-12, "0", False)],
)
def test_rounding_is_on_neither_side_of_a_claim(epsilon: float, shown: str, exceeds: bool) -> None:
    audit = _followed(_row(0, "Whole", exact_epsilon=epsilon), _row(1, "A"))
    line = loss_breakdown.lines(audit)[0]
    assert (line.exact, line.exceeds) == (shown, exceeds)
    assert any("!" in text for text in loss_breakdown.terminal_table(audit)) == exceeds


def test_the_picture_is_to_scale() -> None:
    rows = [_row(0, "Whole", epsilon=2.0, exact_epsilon=1.0, loss=0.5), _row(1, "A", claimed=False, loss=-0.5)]
    whole, a = loss_breakdown.lines(_followed(*rows))
    assert whole.outline is not None
    assert whole.bar is not None
    assert whole.tick is not None
    assert whole.outline < 100
    assert whole.bar == pytest.approx(whole.outline / 2, abs=0.01)
    assert whole.tick == pytest.approx(whole.outline / 4, abs=0.01)
    # no claim, no outline; what is gained has no place on an axis of losses
    assert (a.outline, a.tick) == (None, None)
    assert a.loss == "−0.5"


def test_long_trees_are_cut_on_paper_but_not_in_the_data() -> None:
    rows = [_row(0, "Whole"), *(_row(depth, "Again") for depth in range(1, 100))]
    audit = _followed(*rows)
    shown = loss_breakdown.lines(audit)
    assert len(shown) + loss_breakdown.left_out(audit) == 100
    assert max(line.level for line in shown) < 10
    assert any(f"{loss_breakdown.left_out(audit)} more" in line for line in [to_html(example_results.result(audit))])
    table = loss_breakdown.terminal_table(audit)
    assert "more in the HTML report and the JSON" in table[-1]
    assert max(map(len, table)) <= 68


def test_the_page_has_the_four_bars_and_the_tree() -> None:
    page = to_html(example_results.result(example_results.fail()))
    scale = page[page.index('<table class="scale">') :]
    scale = scale[: scale.index("</table>")]
    assert re.findall(r'<tr class="(\w+)">', scale) == ["claim", "composed", "certified", "exact", "detectable"]
    ledger = page[page.index('<table class="ledger">') :]
    ledger = ledger[: ledger.index("</table>")]
    # charts that are alike are drawn once
    charts = re.findall(r"<td><svg>(.*?)</svg></td>", ledger)
    drawn = [
        re.sub(r'<use href="#(t\d+)"/>', lambda m: page.split(f'<g id="{m[1]}">')[1].split("</g>")[0], chart)
        for chart in charts
    ]
    assert len(drawn) == 4
    assert all(re.findall(r'class="(\w+)"|href="#(\w+)"', one)[:2] == [("bar", ""), ("outline", "")] for one in drawn)
    assert all('href="#tick"' in one for one in drawn)
    # the table says what the picture shows
    assert ledger.count("exceeds the claim") == 3


def test_a_proof_shows_its_interval() -> None:
    audit = example_results.proved()
    assert wording.enclosed(replace(audit, proof=None)) == "= 0.812345"
    proof = Proof(0.8123449999999, 0.8123450000001, 0.8123450000001, 27, 36)
    assert wording.enclosed(replace(audit, proof=proof)) == "∈ [0.81234499, 0.81234501]"
    # neither end may cross the claim
    near = Proof(1 - 1e-13, 1 - 1e-14, 1 - 1e-14, 27, 36)
    low, high = re.findall(r"[\d.]+", wording.enclosed(replace(audit, proof=near)))
    assert float(low) <= near.epsilon_low <= near.epsilon_high <= float(high) < 1  # type: ignore[operator]
