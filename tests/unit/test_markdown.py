"""Markdown for pull requests: read by eye in the snapshots, short enough for GitHub, and nothing but text."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import example_results
import pytest
from markdown_it import MarkdownIt

from dpaudit.report.markdown import MOST, to_markdown
from dpaudit.results.plain import one_line

EXAMPLES = {**example_results.every(), "hostile": example_results.hostile()}
CELL = re.compile(r"(?<!\\)\|")


@pytest.mark.parametrize("name", ["several", "utility", "crashed", "floats", "none", "hostile"])
def test_whole_text(name: str, snapshot: Callable[[str, str], None]) -> None:
    snapshot(f"markdown_{name}.txt", to_markdown(EXAMPLES[name]))


def test_expected_verdicts(snapshot: Callable[[str, str], None]) -> None:
    snapshot("markdown_expect.txt", to_markdown(EXAMPLES["several"], expect=True))


@pytest.mark.parametrize("expect", [False, True])
@pytest.mark.parametrize("name", EXAMPLES)
def test_is_whole(name: str, expect: bool) -> None:
    result = EXAMPLES[name]
    text = to_markdown(result, expect=expect)
    assert text.endswith("\n")
    assert text.count("<details>") == text.count("</details>") == text.count("<summary>") == text.count("</summary>")
    assert text.count("<pre>") == text.count("</pre>") == text.count("<details>") + 1
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len(rows) == len(result.every) + 2 * bool(result.audits) + 2 * bool(result.utility)
    assert {len(CELL.split(row)) for row in rows} <= {7}
    if not expect:
        assert text.count("<details>") == sum(a.verdict.value != "pass" or a.crashed for a in result.every)


@pytest.mark.slow(only=["2000-*", "60-65536"])
@pytest.mark.parametrize("most", [4_000, 10_000, MOST])
@pytest.mark.parametrize("number", [0, 3, 60, 2_000])
def test_keeps_to_its_length_and_says_what_is_left_out(number: int, most: int) -> None:
    result = replace(
        example_results.result(*example_results.many(number)),
        command="dpaudit check --all",
        utility=[example_results.broken_guarantee()] * (number // 3),
    )
    text = to_markdown(result, most=most)
    assert len(text.encode()) <= most
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    named = sum("<code>" in row for row in rows)
    left = sum(int(found.replace(",", "")) for found in re.findall(r"^\| … \| … and ([\d,]+) more", text, re.MULTILINE))
    assert named + left == len(result.every)
    wrong = sum(a.verdict.value != "pass" for a in result.every)
    more = re.search(r"^… and ([\d,]+) more with an unexpected verdict", text, re.MULTILINE)
    assert text.count("<details>") + (int(more[1].replace(",", "")) if more else 0) == wrong
    assert text.endswith("</pre>\n\n")
    if number == 2_000:
        # what is wrong is what stays
        assert "✅" not in text or most == MOST
        assert named >= 5


def test_one_long_block_is_cut() -> None:
    audit = replace(example_results.fail(), reason="very long " * 10_000)
    text = to_markdown(example_results.result(audit))
    assert len(text.encode()) < 12_000
    assert "…\n</pre>" in text


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_parser_finds_our_own_markup_and_no_other(name: str) -> None:
    tokens = MarkdownIt("commonmark").enable("table").parse(to_markdown(EXAMPLES[name]))
    inner = [child for token in tokens for child in token.children or ()]
    assert {token.type for token in inner} <= {"text", "html_inline", "strong_open", "strong_close", "text_special"}
    html = {token.content for token in inner if token.type == "html_inline"}
    assert html <= {"<code>", "</code>", "<!-- -->"}
    blocks = [token.content for token in tokens if token.type == "html_block"]
    assert all(re.match(r"<details><summary>|<pre>|</details>", block) for block in blocks)
    if name == "hostile":
        shown = "".join(token.content for token in inner if token.type.startswith("text"))
        assert one_line(example_results.NASTY) in shown


def test_nothing_is_read_as_markup() -> None:
    text = to_markdown(EXAMPLES["hostile"])
    assert "<script" not in text
    assert "</failure>" not in text
    assert not re.search("[\x00-\x08\x0b-\x1f\ud800-\udfff\u2028\u202e]", text)
    table = "\n".join(line for line in text.splitlines() if line.startswith("|"))
    assert "a\\|b \\`c\\` \\*\\*d\\*\\*" in table
    # nobody is mentioned, and no issue linked, outside what GitHub does not look into
    outside = re.sub(r"<pre>.*?</pre>", "", text, flags=re.DOTALL)
    assert not re.search(r"@\w|(?<!#)#\w", outside)
    # a block cannot be left from within
    assert all("<" not in block for block in re.findall(r"<pre>(.*?)</pre>", text, re.DOTALL))
