"""The command line that a request corresponds to."""

from __future__ import annotations

import shlex

from dpaudit.plans.request import DEFAULT_ALPHA, DEFAULT_MIN_POWER, Request, Versus
from dpaudit.results.datasets import dataset_to_json, json_text


def command_line(request: Request) -> str:
    """What to type to get the same result again (number of workers and report files left out).

    Of several pairs, which only Python can give, it names the first: the worst of those that were found.
    """
    if request.call is not None:
        return request.call
    if request.versus is not None:
        return _comparison(request, request.versus)
    words = ["dpaudit", "worst" if request.seek is not None else "check" if request.every is None else "verify"]
    words += [t if isinstance(t, str) else getattr(t, "__name__", type(t).__name__) for t in request.targets]
    if request.epsilon is not None:
        words += ["--epsilon", repr(float(request.epsilon))]
    if request.delta is not None:
        words += ["--delta", repr(float(request.delta))]
    if request.relation is not None:
        words += ["--relation", request.relation]
    if request.given_pairs:
        words += ["--pair", *(json_text(dataset_to_json(s)) for s in request.given_pairs[0])]
    if request.game is not None:
        words += ["--game", request.game]
    if request.data is not None:
        words += ["--data", request.data]
    if request.size is not None:
        words += ["--size", str(request.size)]
    if request.groups is not None:
        words += ["--groups", str(request.groups)]
    if request.every is not None:
        words += ["--domain", str(request.every.domain)] if request.every.domain is not None else []
        words += ["--size", str(request.every.records), "--groups", str(request.every.groups)]
        words += ["--ordered"] if request.every.ordered else []
        words += [] if request.every.symmetries else ["--no-symmetries"]
    if request.seek is not None:
        seek = request.seek
        words += ["--domain", str(seek.domain)] if seek.domain is not None else []
        words += ["--case", seek.case] if seek.case is not None else []
        words += ["--size", str(seek.records), "--pairs", str(seek.compared)]
        flags = (("--scores", seek.scores), ("--realised", seek.realised), ("--ordered", seek.ordered))
        words += [flag for flag, wanted in flags if wanted]
    for key, value in request.parameters.items():
        # a string is quoted, so that "1" does not come back as 1
        words += ["--param", f"{key}={value!r}"]
    if request.runs is not None:
        words += ["--runs", str(request.runs)]
    if request.seconds is not None:
        words += ["--time", repr(float(request.seconds))]
    if request.call_seconds is not None:
        words += ["--call-time", repr(float(request.call_seconds))]
    spelled = request.spelled if request.every is None and request.seek is None else frozenset()
    if request.alpha != DEFAULT_ALPHA or "alpha" in spelled:
        words += ["--alpha", repr(float(request.alpha))]
    if request.min_power != DEFAULT_MIN_POWER or "min_power" in spelled:
        words += ["--min-power", repr(float(request.min_power))]
    words += [
        flag
        for flag, wanted in (
            ("--certify", request.certify), ("--bits", request.bits), ("--black-box", request.black_box)
        )
        if wanted
    ]
    if "bits" in spelled and not request.bits:
        words.append("--no-bits")
    if request.only is not None:
        words.append(f"--{request.only}")
    if request.carried_from is not None:
        words += ["--evidence", request.carried_from]
    if request.every is None:
        words += ["--seed", str(request.seed)]
    return shlex.join(words)


def _comparison(request: Request, versus: Versus) -> str:
    """The command line of a comparison."""
    words = ["dpaudit", "compare", versus.name]
    words += ["--n", ",".join(map(str, versus.sizes))] if versus.sizes else []
    for key, value in versus.parameters:
        words += ["--param", f"{key}={value!r}"]
    words += ["--runs", str(request.runs)] if request.runs is not None else []
    words += ["--time", repr(float(request.seconds))] if request.seconds is not None else []
    if request.alpha != DEFAULT_ALPHA or "alpha" in request.spelled:
        words += ["--alpha", repr(float(request.alpha))]
    return shlex.join([*words, "--seed", str(request.seed)])
