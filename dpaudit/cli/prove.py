"""`dpaudit prove`, from the words of the command line to the exit code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NoReturn

import typer

from dpaudit.cli.out_console import show
from dpaudit.cli.terminal import complain, say
from dpaudit.errors import ReportError, UsageError
from dpaudit.language.mechanism import Mechanism
from dpaudit.plans import registry
from dpaudit.proofs.check import check_certificate
from dpaudit.proofs.claimed import scopes_of_claim
from dpaudit.proofs.in_words import EXIT_CODES, as_json, in_words
from dpaudit.proofs.prove import prove
from dpaudit.proofs.results import Outcome, Proof, Unknown
from dpaudit.proofs.scopes import Answers, Domain, Neighbours, Records, Scope, Stream
from dpaudit.report.progress import Watch, display_for
from dpaudit.subjects.target import load_object
from dpaudit.whole_files import write_file


def check_file(path: Path) -> NoReturn:
    """Verify a certificate, and exit with 0 if it is right, with 1 if it is not.

    Raises:
        UsageError: the file cannot be read, or is no JSON.
    """
    try:
        certificate = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}).") from None
    except ValueError:
        raise UsageError(f"{path} is no JSON file.") from None
    if not isinstance(certificate, dict):
        raise UsageError(f"{path} is no certificate.")
    wrong = check_certificate(certificate)
    if wrong is not None:
        say(f"WRONG · {wrong}\n")
        raise typer.Exit(1)
    say(
        f"RIGHT · every shift keeps every decision and output, at a cost of at most ε = {certificate['epsilon']}, for "
        f"{certificate.get('program')}, {certificate.get('scope')}\n"
    )
    raise typer.Exit(0)


def scope_of(
    *, answers: int | None, one: bool, whole: bool, by: float | None, stream: bool, records: int | None,
    between: tuple[float, float] | None, domain: str | None, relation: str | None,
) -> Scope | None:
    """The scope that the options describe; None where there is none.

    Raises:
        UsageError: options that do not go together, or one that is missing.
        ParameterError: values out of range.
    """
    kinds = [answers is not None, stream, between is not None, domain is not None]
    if sum(kinds) > 1:
        raise UsageError("Give one of --answers, --stream, --between and --domain.")
    if (one or whole) and answers is None:
        raise UsageError("--one and --whole need --answers.")
    if by is not None and answers is None and not stream:
        raise UsageError("--by needs --answers or --stream.")
    if relation is not None and between is None and domain is None:
        raise UsageError("--relation needs --records, and --between or --domain.")
    if relation not in (None, "replace-one", "add-remove-one"):
        raise UsageError(f"--relation must be replace-one or add-remove-one, not {relation}.")
    if records is not None and between is None and domain is None:
        raise UsageError("--records needs --between LOW HIGH or --domain A,B,….")
    if records is None and (between is not None or domain is not None):
        raise UsageError("--between and --domain need --records.")
    neighbours: Neighbours = "add-remove-one" if relation == "add-remove-one" else "replace-one"
    if answers is not None:
        return Answers(answers, "one" if one else "each", _exact(by), whole)
    if stream:
        return Stream(_exact(by))
    if records is None:
        return None
    if between is not None:
        return Records(records, _exact(between[0]), _exact(between[1]), neighbours)
    assert domain is not None
    return Domain(records, tuple(_value(part.strip()) for part in domain.split(",")), neighbours)


def _exact(value: float | None) -> float:
    if value is None:
        return 1
    return int(value) if value == int(value) else value


def _value(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def target_of(text: str) -> tuple[Any, tuple[Scope, ...]]:
    """A mechanism or function, and the scopes of its own claim."""
    if not registry.in_catalogue(text):
        target, _ = load_object(text)
        if isinstance(target, type):
            raise UsageError(f"{text} is a class; give an instance of it, or a function f(data, rng).")
        if not callable(target) and not isinstance(target, Mechanism):
            raise UsageError(f"{text} is no function and no mechanism.")
        return target, scopes_of_claim(target) if isinstance(target, Mechanism) else ()
    cases = [case for case in registry.plan(text).cases() if case.mechanism.claim is not None and not case.deliberate]
    if not cases:
        raise UsageError(f"{text} has no audited case with a claim.")
    first = next((case for case in cases if case.scope is not None), cases[0])
    domain, records = (first.scope.domain, first.scope.records) if first.scope is not None else ((), 0)
    return first.mechanism, scopes_of_claim(first.mechanism, domain=domain, records=records)


def finish_prove(
    text: str, scope: Scope | None, *, epsilon: float | None, refute: bool, seed: int, certificate: Path | None,
    json_out: bool, quiet: bool,
) -> NoReturn:
    """Prove, show, write, and exit with the code of the outcome."""
    target, scopes = target_of(text)
    if scope is not None:
        scopes = (scope,)
    if not scopes:
        raise UsageError(f"Say for which datasets {text} is to be proved: --stream, --answers N, --records N with "
                         "--between LOW HIGH or --domain A,B,….")
    with Watch(display_for(False if quiet else None)):
        outcome = _first(target, scopes, epsilon=epsilon, refute=refute, seed=seed)
    if json_out:
        say(json.dumps(as_json(outcome), ensure_ascii=False, indent=2) + "\n")
    elif quiet:
        say(in_words(outcome).splitlines()[0] + "\n")
    else:
        show(in_words(outcome))
    code = EXIT_CODES[type(outcome)]
    if certificate is not None:
        if isinstance(outcome, Proof):
            try:
                write_file(certificate, json.dumps(outcome.certificate, ensure_ascii=False, indent=1) + "\n")
            except (OSError, ReportError) as error:
                complain(f"The certificate could not be written to {certificate} ({error}).")
                code = 2
        else:
            complain("There is no certificate, as nothing was proved.")
    raise typer.Exit(code)


def _first(target: Any, scopes: tuple[Scope, ...], *, epsilon: float | None, refute: bool, seed: int) -> Outcome:
    """The outcome for the widest scope in which the program can be followed."""
    for place, scope in enumerate(scopes):
        outcome = prove(target, scope, epsilon=epsilon, refute=refute, seed=seed)
        if place == len(scopes) - 1 or not isinstance(outcome, Unknown) or outcome.least is not None:
            return outcome
    raise AssertionError(scopes)
