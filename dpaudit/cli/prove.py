"""`dpaudit prove`, from the words of the command line to the exit code."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import typer

from dpaudit.cli.out_console import show
from dpaudit.cli.requests import parameter
from dpaudit.cli.run import code_of
from dpaudit.cli.terminal import complain, say
from dpaudit.errors import ReportError, UsageError
from dpaudit.language.curve_text import parse_curve
from dpaudit.language.mechanism import Mechanism
from dpaudit.plans import registry
from dpaudit.proofs.check import check_certificate
from dpaudit.proofs.claimed import answers_of, scopes_of_claim
from dpaudit.proofs.prove import claimed, prove_widest
from dpaudit.proofs.results import Proof
from dpaudit.proofs.scopes import Answers, Domain, Neighbours, Records, Scope, ScopeOfClaim, Stream
from dpaudit.report.files import STDOUT, FileOutputs, refuse_unwritable
from dpaudit.report.progress import Watch, display_for
from dpaudit.report.proof import EXIT_CODES, proof_block, proof_json, proof_line
from dpaudit.results.plain import flat
from dpaudit.subjects.target import instantiate, load_object, with_parameters
from dpaudit.whole_files import read_file, write_file


@dataclass(frozen=True)
class ProofFiles(FileOutputs):
    """Files that a proof is written to; of `FileOutputs`, the HTML and the JSON alone.

    Args:
        certificate: of a proof, as JSON.
    """

    certificate: str | None = None


def check_file(path: str) -> NoReturn:
    """Verify a certificate, and exit with 0 if it is right, with 1 if it is not.

    Args:
        path: what `--certificate` wrote, or what `--json` wrote.

    Raises:
        UsageError: the file cannot be read, or holds no certificate.
    """
    try:
        value = json.loads(read_file(path))
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}).") from None
    except (ValueError, RecursionError):
        raise UsageError(f"{path} is no JSON file.") from None
    certificate = value.get("certificate", value) if isinstance(value, dict) else None
    if not isinstance(certificate, dict) or "kind" not in certificate:
        raise UsageError(f"{path} is no certificate.")
    wrong = check_certificate(certificate)
    if wrong is not None:
        say(f"WRONG · {flat(wrong)}\n")
        raise typer.Exit(1)
    gaussian = f" and μ² = {certificate['mu_squared']}" if certificate["kind"] == "translation" else ""
    say(
        f"RIGHT · every shift keeps every decision and output, at a cost of at most ε = {certificate['epsilon']}"
        f"{gaussian}, for "
        f"{flat(str(certificate.get('program')))}, {flat(str(certificate.get('scope')))}\n"
    )
    raise typer.Exit(0)


def scope_of(
    *, answers: int | None, one: bool, total: bool, whole: bool, by: float | None, stream: bool, records: int | None,
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
    if (one or total or whole) and answers is None:
        raise UsageError("--one, --total and --whole need --answers.")
    if one and total:
        raise UsageError("Give --one or --total, not both.")
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
        return Answers(answers, "one" if one else "total" if total else "each", _exact(by), whole)
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
    return int(value) if value.is_integer() else value


def _value(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def target_of(text: str, parameters: dict[str, object]) -> tuple[Any, tuple[ScopeOfClaim, ...]]:
    """A mechanism or function, and the scopes of its own claim.

    Args:
        text: a name of the catalogue, module:object or file.py:object.
        parameters: of the mechanism, by name.

    Raises:
        UsageError and its kinds: there is no such thing, it has no claim that is audited, or it refuses its parameters.
    """
    if registry.in_catalogue(text):
        every = registry.plan(text).cases()
        cases = [case for case in every if case.mechanism.claim is not None and not case.deliberate]
        if not cases:
            raise UsageError(f"{text} has no audited case with a claim.")
        first = next((case for case in cases if case.scope is not None), cases[0])
        domain, records = (first.scope.domain, first.scope.records) if first.scope is not None else ((), 0)
        mechanism = with_parameters(first.mechanism, parameters) if parameters else first.mechanism
        return mechanism, scopes_of_claim(mechanism, domain=domain, records=records, answers=answers_of(first.pairs))
    target, _ = load_object(text)
    if isinstance(target, type) and issubclass(target, Mechanism):
        target = instantiate(target, parameters)
    elif isinstance(target, Mechanism):
        target = with_parameters(target, parameters) if parameters else target
    elif parameters:
        raise UsageError(f"--param changes a parameter of a mechanism, and {text} is none.")
    if isinstance(target, type):
        raise UsageError(f"{text} is a class; give an instance of it, or a function f(data, rng).")
    if not callable(target) and not isinstance(target, Mechanism):
        raise UsageError(f"{text} is no function and no mechanism.")
    return target, scopes_of_claim(target) if isinstance(target, Mechanism) else ()


def finish_prove(
    text: str, scope: Scope | None, *, parameters: Sequence[str], epsilon: float | None, delta: float | None,
    claim: str | None, refute: bool, lower: bool, seed: int, outputs: ProofFiles, quiet: bool,
) -> NoReturn:
    """Prove, show, write, and exit with the code of the outcome."""
    refuse_unwritable(outputs, [text.rpartition(":")[0]] if ".py:" in text else [])
    target, scopes = target_of(text, dict(parameter(each) for each in parameters))
    if scope is not None:
        scopes = (scope,)
    if not scopes:
        raise UsageError(f"Say for which datasets {text} is to be proved: --stream, --answers N, --records N with "
                         "--between LOW HIGH or --domain A,B,….")
    if epsilon is None and claim is None and not isinstance(target, Mechanism):
        raise UsageError("Give the ε to prove, with --epsilon.")
    if delta is not None and epsilon is None:
        raise UsageError("--delta needs --epsilon.")
    curve = parse_curve(claim) if claim is not None else None
    what = claimed(target, epsilon=epsilon, delta=delta or 0.0, claim=curve)
    with Watch(display_for(False if quiet else None)):
        outcome = prove_widest(target, scopes, what, refute=refute, lower=lower, seed=seed)
    failures = []
    values = json.dumps(proof_json(outcome), ensure_ascii=False, indent=2) + "\n"
    if outputs.json == STDOUT:
        say(values)
    elif quiet:
        say(proof_line(outcome) + "\n")
    else:
        show(proof_block(outcome))
    if outputs.json not in (None, STDOUT):
        failures += _written(outputs.json, values)
    if outputs.certificate is not None:
        if isinstance(outcome, Proof):
            content = json.dumps(outcome.certificate, ensure_ascii=False, indent=1) + "\n"
            failures += _written(outputs.certificate, content)
        else:
            complain("There is no certificate, as nothing was proved.")
    if outputs.html is not None:
        from dpaudit.report.proof_page import proof_page

        call = _call(
            text, scope, parameters=parameters, epsilon=epsilon, delta=delta, claim=claim, refute=refute, lower=lower,
            seed=seed,
        )
        failures += _written(outputs.html, proof_page(outcome, call=call))
    for failure in failures:
        complain(str(failure))
    raise typer.Exit(code_of(failures, EXIT_CODES[type(outcome)]))


def _written(path: str, content: str) -> list[ReportError]:
    try:
        write_file(path, content)
    except OSError as error:
        return [ReportError(f"Cannot write {path}: {error.strerror or error}.")]
    return []


def _call(
    text: str, scope: Scope | None, *, parameters: Sequence[str], epsilon: float | None, delta: float | None,
    claim: str | None, refute: bool, lower: bool, seed: int,
) -> str:
    """The command line that gives the same outcome."""
    words = ["dpaudit", "prove", text, *(word for each in parameters for word in ("--param", each))]
    if epsilon is not None:
        words += ["--epsilon", _shortest(epsilon)]
    if delta is not None:
        words += ["--delta", _shortest(delta)]
    if claim is not None:
        words += ["--claim", claim]
    match scope:
        case Answers():
            words += ["--answers", str(scope.k), *[f"--{scope.moves}"] * (scope.moves != "each")]
            words += ["--whole"] * scope.whole
        case Stream():
            words.append("--stream")
        case Records():
            words += ["--records", str(scope.n), "--between", str(scope.low), str(scope.high)]
        case Domain():
            words += ["--records", str(scope.n), "--domain", ",".join(map(str, scope.values))]
    if isinstance(scope, Answers | Stream) and scope.by != 1:
        words += ["--by", str(scope.by)]
    if isinstance(scope, Records | Domain) and scope.relation != "replace-one":
        words += ["--relation", scope.relation]
    words += [*["--no-refute"] * (not refute), *["--lower"] * lower, *["--seed", str(seed)] * (seed != 0)]
    return shlex.join(words)


def _shortest(value: float) -> str:
    return f"{value:g}" if float(f"{value:g}") == value else repr(value)
