"""Some hundreds of random command lines; benchmarks/command_lines.py runs 20,000."""

from __future__ import annotations

from pathlib import Path

import fuzzed_lines
import pytest


@pytest.mark.parametrize("part", range(4))
def test_no_line_breaks_a_rule(tmp_path: Path, part: int) -> None:
    broken = []
    with fuzzed_lines.folder(tmp_path):
        for seed in range(75 * part, 75 * (part + 1)):
            fuzzed_lines.write_files(Path())
            made = fuzzed_lines.line(seed)
            ended = fuzzed_lines.run(made)
            if ended.broken:
                broken.append((seed, ended.broken, made.words, ended.said))
    assert broken == []
