"""Compare two JSON results audit by audit and field by field, for a change that must not change any result.

    dpaudit check --all --expect --json before.json     (in a checkout of the commit before the change)
    dpaudit check --all --expect --json after.json
    python tools/compare_results.py before.json after.json

Every field that differs is listed once, with the number of audits and one example. The command, the versions and the
timings of a result are not compared. The exit code is 1 if anything differs.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

KINDS = ("audits", "utility")
SHOWN = 100
"""Characters of a value that are shown."""


def fields(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every number, word and length in a JSON value, with its path."""
    if isinstance(value, dict):
        for name, part in value.items():
            yield from fields(part, f"{path}.{name}")
    elif isinstance(value, list):
        yield f"{path}.length", len(value)
        for place, part in enumerate(value):
            yield from fields(part, f"{path}[{place}]")
    else:
        yield path, value


def audits(result: dict[str, Any], kind: str) -> dict[tuple[str, str, int], dict[str, Any]]:
    """The audits of a result by algorithm, case and number among the audits of the same case."""
    numbers: Counter[tuple[str, str]] = Counter()
    by_key: dict[tuple[str, str, int], dict[str, Any]] = {}
    for audit in result.get(kind, []):
        key = audit["name"], audit["case"]
        by_key[*key, numbers[key]] = audit
        numbers[key] += 1
    return by_key


def differences(before: dict[str, Any], after: dict[str, Any]) -> Iterator[str]:
    """One line for each field that differs, and for each audit that only one of the results has."""
    for kind in KINDS:
        old, new = audits(before, kind), audits(after, kind)
        for where, only in (("before", old.keys() - new.keys()), ("after", new.keys() - old.keys())):
            for name, case, _ in sorted(only):
                yield f"{kind}: only {where}: {name}, {case}"
        changed: dict[str, dict[tuple[str, str, int], tuple[Any, Any]]] = defaultdict(dict)
        for key in old.keys() & new.keys():
            one, other = dict(fields(old[key])), dict(fields(new[key]))
            for path in sorted(one.keys() | other.keys()):
                pair = one.get(path, "(absent)"), other.get(path, "(absent)")
                # by their texts: 1, 1.0 and true are different, and so are 0.0 and -0.0; NaN equals itself
                if repr(pair[0]) != repr(pair[1]):
                    changed[re.sub(r"\[\d+\]", "[]", path)].setdefault(key, pair)
        for path, pairs in sorted(changed.items(), key=lambda item: (-len(item[1]), item[0])):
            (name, case, _), (one, other) = min(pairs.items(), key=lambda item: item[0])
            values = f"{str(one)[:SHOWN]!r} → {str(other)[:SHOWN]!r}"
            yield f"{kind}{path}: differs in {len(pairs)} of {len(old)} audits, e.g. {name}, {case}: {values}"


def main(arguments: list[str]) -> int:
    """Print the differences between two files."""
    if len(arguments) != 2:
        print("usage: python tools/compare_results.py BEFORE.json AFTER.json", file=sys.stderr)
        return 2
    try:
        before, after = (json.loads(Path(name).read_text(encoding="utf-8")) for name in arguments)
        lines = list(differences(before, after))
    except (OSError, ValueError) as error:
        print(f"compare_results: {error}", file=sys.stderr)
        return 2
    except (AttributeError, KeyError, TypeError):
        print("compare_results: one of the files is not a JSON result of dpaudit.", file=sys.stderr)
        return 2
    print("\n".join(lines) or "No differences.")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
