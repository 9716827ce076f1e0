"""The command line: `dpaudit check`, `verify`, `worst`, `compare` and the commands around them.

stdout carries the result, stderr the progress and what went wrong. Exit codes: 0 no FAIL, 1 some FAIL, 2 usage,
configuration or a report that could not be written, 3 some INCONCLUSIVE, 4 a mechanism or dpaudit itself crashed,
130 interrupted.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dpaudit import config
from dpaudit.cli.first import (
    CHECK_EXAMPLES,
    GUESSES_EXAMPLES,
    PLAN_EXAMPLES,
    SAMPLES_EXAMPLES,
    SCORES_EXAMPLES,
    SETTLED,
    WELCOME,
    defaults,
    shown_config,
    write_example,
)
from dpaudit.cli.options import OUTPUT, WHAT, Given, Jobs, Quiet, Verbose, about, algorithms, comparisons, with_options
from dpaudit.cli.panels import EXIT_CODES_OF_PLANS, EXIT_CODES_OF_PROOFS, PanelCommand, epilog
from dpaudit.cli.targets import named_targets, refuse_unknown
from dpaudit.cli.terminal import complain, say, settle_terminal, unwritable
from dpaudit.errors import DpauditError, InternalError, MechanismError, UsageError
from dpaudit.extras import installed_version
from dpaudit.options import (
    ALPHA,
    BLOCKS,
    CLAIM,
    COLUMN,
    COMMAND,
    DEFAULT_ALPHA,
    DEFAULT_MIN_POWER,
    DELTA,
    EPSILON,
    MIN_POWER,
    PAIRED,
    PARAMETERS,
    PERSISTENT,
    PRIVACY,
    SEED,
    UTILITY,
)
from dpaudit.plans import registry
from dpaudit.report import files
from dpaudit.report.files import FileOutputs, Outputs
from dpaudit.results.plain import flat

# Each command imports what it needs when it runs: the engine takes a second, which --help and a typo should not take.
if TYPE_CHECKING:
    from dpaudit.plans.request import Request

app = typer.Typer(
    name="dpaudit",
    help="Audit claims of differential privacy.",
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

SCOPE = "Datasets"

CanaryEpsilon = Annotated[
    float | None,
    typer.Option(
        "--epsilon", metavar="NUMBER", help="Test this ε; without it there are bounds and no verdict.",
        rich_help_panel=EPSILON.panel,
    ),
]
CanaryDelta = Annotated[
    float | None, typer.Option("--delta", metavar="NUMBER", help="Test this δ.  [default: 0]",
                               rich_help_panel=DELTA.panel)
]
CanaryAlpha = Annotated[
    float, typer.Option("--alpha", metavar="NUMBER", help="Error rate of the verdict, and of every further figure.",
                        rich_help_panel=ALPHA.panel)
]
CanaryPower = Annotated[
    float, typer.Option("--min-power", metavar="NUMBER", help=MIN_POWER.about, rich_help_panel=MIN_POWER.panel)
]
CanaryJson = Annotated[
    str | None, typer.Option("--json", metavar="FILE", help="Write the result as JSON; - for stdout.",
                             rich_help_panel=OUTPUT)
]
CanaryHtml = Annotated[
    str | None, typer.Option("--html", metavar="FILE", help="Write an HTML report as a single file.",
                             rich_help_panel=OUTPUT)
]
CanaryCurve = Annotated[
    str | None, typer.Option("--claim", metavar="CURVE", help=CLAIM.about, rich_help_panel=CLAIM.panel)
]
NOWHERE = Outputs()
TARGETS = "A NAME of `dpaudit list`, your own file.py:function, or module:object; one or more"

Targets = Annotated[
    list[str] | None,
    typer.Argument(metavar="TARGET", help=f"{TARGETS}.", autocompletion=algorithms, rich_help_panel=WHAT),
]
Every = Annotated[bool, typer.Option("--all", help="Audit the whole catalogue.", rich_help_panel=WHAT)]
Corpus = Annotated[
    bool, typer.Option("--corpus", help="Audit the corpus of known-broken mechanisms.", rich_help_panel=WHAT)
]
Command = Annotated[
    str | None,
    typer.Option(COMMAND.flag, metavar=COMMAND.metavar, help=COMMAND.about, rich_help_panel=COMMAND.panel),
]
Persistent = Annotated[
    str | None,
    typer.Option(
        PERSISTENT.flag, metavar=PERSISTENT.metavar, help=about(PERSISTENT), rich_help_panel=PERSISTENT.panel,
    ),
]
Privacy = Annotated[bool, typer.Option("--privacy", help=PRIVACY.about, rich_help_panel=PRIVACY.panel)]
Utility = Annotated[bool, typer.Option(UTILITY.flag, help=UTILITY.about, rich_help_panel=UTILITY.panel)]

# typer carries click inside itself from 0.20 or so on; its base error is the ancestor of BadParameter in either form
ClickError: type[Exception] = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException")


def _say_version(wanted: bool) -> None:
    if wanted:
        say(f"dpaudit {installed_version('dpaudit')}\n")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_say_version, help="Show the version and exit.")
    ] = False,
    show_config: Annotated[
        bool, typer.Option("--show-config", help="Show the settings of [tool.dpaudit] in effect, and exit.")
    ] = False,
) -> None:
    """Audit claims of differential privacy."""
    if show_config:
        say(f"{shown_config(config.read())}\n")
        raise typer.Exit
    if context.invoked_subcommand is None:
        say(WELCOME)
        raise typer.Exit(2)
    # skip config validation for --help
    if context.invoked_subcommand in SETTLED and not {"-h", "--help"} & set(sys.argv):
        context.default_map = defaults(config.read(), typer.main.get_command(app), context.invoked_subcommand)


@app.command("example")
def example_command(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Where to write it.")] = "noisy_count.py",
) -> None:
    """Write a noisy count with a bug, to try dpaudit on."""
    say(f"{write_example(Path(file))}\n")


@app.command("doctor")
def doctor_command() -> None:
    """Check the installation, and run a self-test."""
    from dpaudit.cli.doctor import findings

    ill = 0
    for finding in findings():
        say(f"{finding}\n")
        ill += finding.good is False
    say(f"{ill} to fix.\n" if ill else "The installation is complete and works.\n")
    raise typer.Exit(2 if ill else 0)


@app.command("journal")
def journal_command(
    prune: Annotated[bool, typer.Option("--prune", help="Delete what is kept, or what is older than --days.")] = False,
    days: Annotated[
        float | None, typer.Option("--days", metavar="NUMBER", min=0.0, help="With --prune: age in days.")
    ] = None,
    export: Annotated[
        str | None, typer.Option("--export", metavar="FILE", help="Copy the journal to a file, for another machine.")
    ] = None,
    add: Annotated[
        str | None,
        typer.Option("--add", metavar="FILE", help="Take over what an exported journal has; its samples are believed."),
    ] = None,
) -> None:
    """List what is kept of commands that were interrupted, which go on from there when they are given again."""
    from dpaudit.cli import journal

    if prune + (export is not None) + (add is not None) > 1:
        raise UsageError("Give one of --prune, --export and --add.")
    if days is not None and not prune:
        raise UsageError("--days goes with --prune.")
    if prune:
        text = journal.pruned(days or 0.0)
    elif export is not None:
        text = journal.exported(export)
    else:
        text = journal.added(add) if add is not None else journal.listed()
    say(f"{text}\n")


@app.command("list")
def list_command(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="WORD", help="Only names or titles with these words, or close to them."),
    ] = None,
    family: Annotated[
        str | None, typer.Option("--family", metavar="NAME", help="Only this family, e.g. interior-points.")
    ] = None,
    failing: Annotated[
        bool, typer.Option("--failing", help="Only algorithms of which a claim, as printed, is refuted.")
    ] = False,
    corpus: Annotated[
        bool, typer.Option("--corpus", help="List the corpus of known-broken mechanisms and correct counterparts.")
    ] = False,
    adapters: Annotated[
        bool, typer.Option("--adapters", help="List the libraries whose objects are recognised, with their versions.")
    ] = False,
) -> None:
    """List the algorithms by family, with claim and known verdict."""
    if adapters:
        if corpus or family is not None or failing or words:
            raise UsageError("--adapters is about libraries; leave it or the other words out.")
        from dpaudit.cli.cards import adapters_listing

        say(f"{adapters_listing()}\n")
        return
    from dpaudit.cli.cards import corpus_listing, listing
    from dpaudit.cli.out_console import show

    if corpus and family is not None:
        raise UsageError("--family is about algorithms; leave it or --corpus out.")
    chosen = words or ()
    show(corpus_listing(chosen, failing=failing) if corpus else listing(chosen, family=family, failing=failing))


@app.command("show")
def show_command(
    name: Annotated[str, typer.Argument(metavar="NAME", help="An algorithm's name.", autocompletion=algorithms)],
    n: Annotated[
        bool, typer.Option("--n", help="Compute the sample sizes of its source, instead of showing the card.")
    ] = False,
    param: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="With --n: change a parameter; repeatable.")
    ] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Show every deviation from its source and every audit, too.")
    ] = False,
) -> None:
    """Show what an algorithm does, its claim and what is known of it."""
    canonical = registry.canonical_name(name)
    from dpaudit.cli.cards import described, sizes_block
    from dpaudit.cli.out_console import show
    from dpaudit.cli.requests import parameter
    from dpaudit.plans.jobs import instance_of
    from dpaudit.subjects.target import with_parameters

    kind, plan = registry.algorithm(canonical), registry.plan(canonical)
    if kind.card is None:
        raise UsageError(f"{canonical} has no card.")
    if param and not n:
        raise UsageError("--param goes with --n.")
    if not n:
        show(described(kind, kind.card, plan, verbose=verbose))
        return
    mechanism = with_parameters(instance_of(plan, kind), dict(parameter(text) for text in param or ()))
    if not mechanism.sample_sizes:
        raise UsageError(f"No sample size is printed for {canonical}.")
    show(sizes_block(mechanism, mechanism.sample_sizes))


@app.command("finding", cls=PanelCommand, epilog=epilog("dpaudit finding", "dpaudit finding 1"))
@with_options
def finding_command(
    number: Annotated[
        int | None, typer.Argument(metavar="NUMBER", help="Of the finding; without it all are listed.")
    ] = None,
    jobs: Jobs = None,
    outputs: Outputs = NOWHERE,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Show a finding about a printed claim, and run the audit that shows it."""
    from dpaudit.cli.findings import audit_of, card, listing, run_script
    from dpaudit.cli.out_console import show

    if number is None:
        if outputs != NOWHERE:
            raise UsageError("Give the number of a finding; a list of all has no report.")
        show(listing())
        return
    from dpaudit.cli.requests import workers
    from dpaudit.cli.run import finish
    from dpaudit.plans.findings import finding

    located = finding(number)
    if not located.finding.case:
        if outputs != NOWHERE:
            raise UsageError(f"No audit shows finding {number}, so that it has no report.")
        show(card(located))
        say(run_script(located))
        return
    request, only = audit_of(located, workers(jobs))
    files.refuse_unwritable(outputs, [])
    if not outputs.take_stdout:
        show(card(located))
    finish(request, outputs, quiet=quiet, verbose=verbose, only=only, expect=True)


@app.command("check", cls=PanelCommand, epilog=epilog(*CHECK_EXAMPLES))
@with_options
def check_command(
    targets: Targets = None,
    every: Every = False,
    corpus: Corpus = False,
    command: Command = None,
    persistent: Persistent = None,
    *,
    given: Given,
    outputs: Outputs = NOWHERE,
    expect: Annotated[
        bool,
        typer.Option("--expect", help="Exit with 0 if all verdicts are as expected.", rich_help_panel=OUTPUT),
    ] = False,
    privacy: Privacy = False,
    utility: Utility = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Audit the claim of your own function, or of an algorithm."""
    request = _checked(
        targets, given, every=every, corpus=corpus, command=command, persistent=persistent, privacy=privacy,
        utility=utility,
    )
    if expect and any(not isinstance(target, str) or ":" in target for target in request.targets):
        raise UsageError("--expect compares with the verdicts that the catalogue expects; your own function has none.")
    evidence = request.prior_from
    # evidence may accumulate in one file: --json may write where --evidence read
    earlier = [evidence] if evidence is not None and not files.same_file(evidence, outputs.json) else []
    files.refuse_unwritable(outputs, [*_sources(request), *_datasets(given), *earlier])
    from dpaudit.cli.run import finish

    finish(request, outputs, quiet=quiet, verbose=verbose, expect=expect)


@app.command("plan", cls=PanelCommand, epilog=epilog(*PLAN_EXAMPLES, codes=EXIT_CODES_OF_PLANS))
@with_options
def plan_command(
    targets: Targets = None,
    every: Every = False,
    corpus: Corpus = False,
    command: Command = None,
    persistent: Persistent = None,
    *,
    given: Given,
    privacy: Privacy = False,
    utility: Utility = False,
    json: Annotated[
        str | None,
        typer.Option("--json", metavar="FILE", help="Write JSON; - for stdout.", rich_help_panel=OUTPUT),
    ] = None,
) -> None:
    """Show what `dpaudit check` would take: samples, time on many workers, power."""
    request = _checked(
        targets, given, every=every, corpus=corpus, command=command, persistent=persistent, privacy=privacy,
        utility=utility,
    )
    earlier = [] if request.prior_from is None else [request.prior_from]
    files.refuse_unwritable(Outputs(json=json), [*_sources(request), *_datasets(given), *earlier])
    from dpaudit.cli.plan import finish_plan

    finish_plan(request, json)


@app.command("samples", cls=PanelCommand, epilog=epilog(*SAMPLES_EXAMPLES))
@with_options
def samples_command(
    targets: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE", help="Outputs on D and on D′ (.npy, .npz, .csv, .parquet, .ndjson, or folders of these); "
            "or one file, or - for standard input, that names the dataset of each output.", rich_help_panel=WHAT,
        ),
    ],
    given: Given,
    outputs: Outputs = NOWHERE,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Audit recorded outputs of M(D) and M(D′); each is used once."""
    if len(targets) > 2:
        raise UsageError(f"Give one file, or two (the outputs on D, and those on D′), not {len(targets)}.")
    files.refuse_unwritable(outputs, targets)
    from dpaudit.cli.requests import request_of
    from dpaudit.cli.run import finish

    finish(request_of("samples", targets, given), outputs, quiet=quiet, verbose=verbose)


@app.command("scores", cls=PanelCommand, epilog=epilog(*SCORES_EXAMPLES))
def scores_command(
    in_scores: Annotated[
        str,
        typer.Argument(
            metavar="IN", help="Scores of canaries in the training data: .npy, .csv, .parquet or .ndjson. Higher means "
            "in.", rich_help_panel=WHAT,
        ),
    ],
    out_scores: Annotated[
        str, typer.Argument(metavar="OUT", help="Scores of canaries that were left out.", rich_help_panel=WHAT)
    ],
    epsilon: CanaryEpsilon = None,
    delta: CanaryDelta = None,
    claim: CanaryCurve = None,
    column: Annotated[
        str | None, typer.Option("--column", metavar="NAME", help="The column of a table, or the key of objects, that "
                                 "holds the score.", rich_help_panel=COLUMN.panel)
    ] = None,
    paired: Annotated[
        bool, typer.Option("--paired", help="The i-th scores of both files depend on each other (the same seed); one "
                           "of each pair is used.", rich_help_panel=PAIRED.panel)
    ] = False,
    blocks: Annotated[
        str | None, typer.Option("--blocks", metavar="NAME", help="The column or key that labels blocks of dependent "
                                 "scores (one training run); one score of each is used.", rich_help_panel=BLOCKS.panel)
    ] = None,
    alpha: CanaryAlpha = DEFAULT_ALPHA,
    min_power: CanaryPower = DEFAULT_MIN_POWER,
    seed: Annotated[
        int, typer.Option("--seed", metavar="N", help="Random seed of the order in which the scores are used.",
                          rich_help_panel=SEED.panel)
    ] = 0,
    json: CanaryJson = None,
    html: CanaryHtml = None,
) -> None:
    """Audit membership scores of canaries, one in each training."""
    outputs = Outputs(json=json, html=html)
    files.refuse_unwritable(outputs, (in_scores, out_scores))
    from dpaudit.cli.canaries import finish_canaries, scores_of

    result = scores_of(
        in_scores, out_scores, column=column, paired=paired, blocks=blocks, claim=claim, epsilon=epsilon, delta=delta,
        alpha=alpha, min_power=min_power, seed=seed,
    )
    finish_canaries(result, outputs)


@app.command("guesses", cls=PanelCommand, epilog=epilog(*GUESSES_EXAMPLES))
def guesses_command(
    canaries: Annotated[
        int, typer.Option("--canaries", metavar="N", help="Canaries, each included by a fair coin.",
                          rich_help_panel=WHAT)
    ],
    guessed: Annotated[
        int, typer.Option("--guessed", metavar="N", help="Guesses, their number fixed before the run.",
                          rich_help_panel=WHAT)
    ],
    correct: Annotated[
        int, typer.Option("--correct", metavar="N", help="Guesses that are right.", rich_help_panel=WHAT)
    ],
    epsilon: CanaryEpsilon = None,
    delta: CanaryDelta = None,
    claim: CanaryCurve = None,
    mu: Annotated[
        float | None, typer.Option("--mu", metavar="NUMBER", help="Test μ-GDP instead.", rich_help_panel=EPSILON.panel)
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            "--method", metavar="NAME", help="binomial or f-dp.  [default: the one that needs fewer right guesses]",
            rich_help_panel=SEED.panel,
        ),
    ] = None,
    alpha: CanaryAlpha = DEFAULT_ALPHA,
    min_power: CanaryPower = DEFAULT_MIN_POWER,
    json: CanaryJson = None,
    html: CanaryHtml = None,
) -> None:
    """Audit guesses of which canaries one training run had."""
    outputs = Outputs(json=json, html=html)
    files.refuse_unwritable(outputs)
    from dpaudit.cli.canaries import finish_canaries, guesses_of

    result = guesses_of(
        canaries, guessed, correct, claim=claim, epsilon=epsilon, delta=delta, mu=mu, alpha=alpha, method=method,
        min_power=min_power,
    )
    finish_canaries(result, outputs)


@app.command(
    "verify", cls=PanelCommand, epilog=epilog("dpaudit verify RecPrefix", "dpaudit verify ADist --domain 3 --size 3")
)
@with_options
def verify_command(
    targets: Annotated[
        list[str],
        typer.Argument(
            metavar="TARGET", help=f"{TARGETS}; its output distributions must be computable.",
            autocompletion=algorithms, rich_help_panel=WHAT,
        ),
    ],
    given: Given,
    outputs: Outputs = NOWHERE,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Prove or refute a claim exactly, on a small domain."""
    refuse_unknown(targets)
    from dpaudit.cli.requests import request_of
    from dpaudit.cli.run import finish

    request = request_of("verify", targets, given)
    files.refuse_unwritable(outputs, _sources(request))
    finish(request, outputs, quiet=quiet, verbose=verbose)


@app.command("worst", cls=PanelCommand, epilog=epilog("dpaudit worst ADist", "dpaudit worst RecConcave --scores"))
@with_options
def worst_command(
    targets: Annotated[
        list[str],
        typer.Argument(
            metavar="TARGET", help=f"{TARGETS}; its output distributions must be computable.",
            autocompletion=algorithms, rich_help_panel=WHAT,
        ),
    ],
    given: Given,
    outputs: Outputs = NOWHERE,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Search for the pair with the largest exact ε."""
    refuse_unknown(targets)
    from dpaudit.cli.requests import request_of
    from dpaudit.cli.run import finish

    request = request_of("worst", targets, given)
    files.refuse_unwritable(outputs, _sources(request))
    finish(request, outputs, quiet=quiet, verbose=verbose)


@app.command(
    "stability", cls=PanelCommand,
    epilog=epilog(
        "dpaudit stability my.py:total --at-most 9 --data 'integers(0, 9)'",
        "dpaudit stability my.py:f --at-most 1 --metric l1 --pair '[0,1]' '[1,1]'",
    ),
)
@with_options
def stability_command(
    target: Annotated[
        str,
        typer.Argument(
            metavar="TARGET", help="A function f(dataset) or a transformation of OpenDP: file.py:name or module:name.",
            rich_help_panel=WHAT,
        ),
    ],
    given: Given,
    outputs: FileOutputs = NOWHERE,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Search for a violation of a deterministic function's stability."""
    from dpaudit.cli.stability import finish_stability, stability_request

    finish_stability(stability_request(target, given), outputs, quiet=quiet, verbose=verbose)


@app.command(
    "prove", cls=PanelCommand,
    epilog=epilog(
        "dpaudit prove SVT1", "dpaudit prove my.py:f --epsilon 1 --answers 8",
        "dpaudit prove my.py:f --epsilon 1 --records 5 --between 0 1", "dpaudit prove --check proof.json",
        codes=EXIT_CODES_OF_PROOFS,
    ),
)
def prove_command(
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="TARGET", help="An algorithm's name, or a function f(data, rng): file.py:name or module:name.",
            autocompletion=algorithms, rich_help_panel=WHAT, show_default=False,
        ),
    ] = None,
    param: Annotated[
        list[str] | None,
        typer.Option(PARAMETERS.flag, metavar=PARAMETERS.metavar, help=PARAMETERS.about, rich_help_panel=WHAT),
    ] = None,
    epsilon: Annotated[
        float | None,
        typer.Option("--epsilon", metavar="NUMBER", help="Prove this ε.  [default: the algorithm's own claim]",
                     rich_help_panel=EPSILON.panel),
    ] = None,
    delta: Annotated[
        float | None, typer.Option("--delta", metavar="NUMBER", help="With --epsilon: δ of the claim.  [default: 0]",
                                   rich_help_panel=EPSILON.panel)
    ] = None,
    claim: Annotated[
        str | None, typer.Option("--claim", metavar="CURVE", help="Prove 'zcdp(0.1)' or 'gdp(0.5)' instead.",
                                 rich_help_panel=EPSILON.panel)
    ] = None,
    stream: Annotated[
        bool, typer.Option("--stream", help="Streams of answers of every length.", rich_help_panel=SCOPE)
    ] = False,
    answers: Annotated[
        int | None, typer.Option("--answers", metavar="K", help="All vectors of K real answers.", rich_help_panel=SCOPE)
    ] = None,
    one: Annotated[
        bool, typer.Option("--one", help="With --answers: one answer differs, not each.", rich_help_panel=SCOPE)
    ] = False,
    total: Annotated[
        bool, typer.Option("--total", help="With --answers: the differences of all answers add up.",
                           rich_help_panel=SCOPE)
    ] = False,
    whole: Annotated[
        bool, typer.Option("--whole", help="With --answers: answers are whole numbers.", rich_help_panel=SCOPE)
    ] = False,
    by: Annotated[
        float | None,
        typer.Option("--by", metavar="NUMBER", rich_help_panel=SCOPE,
                     help="Largest difference of an answer, or of all in total.  [default: 1]"),
    ] = None,
    records: Annotated[
        int | None, typer.Option("--records", metavar="N", help="All datasets of N records.", rich_help_panel=SCOPE)
    ] = None,
    between: Annotated[
        tuple[float, float] | None,
        typer.Option("--between", metavar="LOW HIGH", help="Records are real numbers in this interval.",
                     rich_help_panel=SCOPE),
    ] = None,
    domain: Annotated[
        str | None,
        typer.Option("--domain", metavar="A,B,…", help="Records are one of these values.", rich_help_panel=SCOPE),
    ] = None,
    relation: Annotated[
        str | None,
        typer.Option("--relation", metavar="NAME", help="replace-one or add-remove-one.  [default: replace-one]",
                     rich_help_panel=SCOPE),
    ] = None,
    refute: Annotated[
        bool, typer.Option("--refute/--no-refute", help="Look for a violation by sampling if nothing is proved.",
                           rich_help_panel=SEED.panel)
    ] = True,
    lower: Annotated[
        bool, typer.Option("--lower", help="Bound a proved ε from below by sampling; up to a minute.",
                           rich_help_panel=SEED.panel)
    ] = False,
    seed: Annotated[
        int, typer.Option("--seed", metavar="N", help="Seed of the samples.", rich_help_panel=SEED.panel)
    ] = 0,
    certificate: Annotated[
        str | None,
        typer.Option("--certificate", metavar="FILE", help="Write the certificate of a proof.",
                     rich_help_panel=OUTPUT),
    ] = None,
    html: CanaryHtml = None,
    json: CanaryJson = None,
    check: Annotated[
        str | None,
        typer.Option("--check", metavar="FILE", help="Verify a certificate, and prove nothing.",
                     rich_help_panel=OUTPUT),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Prove ε-DP for every dataset of a scope, by aligning the noise of neighbouring datasets."""
    from dpaudit.cli.prove import ProofFiles, check_file, finish_prove, scope_of

    if check is not None:
        if target is not None:
            raise UsageError("Give a target or --check, not both.")
        check_file(check)
    if target is None:
        raise UsageError("Give an algorithm or a function, or a certificate with --check.")
    if ":" not in target:
        refuse_unknown([target])
    scope = scope_of(
        answers=answers, one=one, total=total, whole=whole, by=by, stream=stream, records=records, between=between,
        domain=domain, relation=relation,
    )
    finish_prove(
        target, scope, parameters=param or (), epsilon=epsilon, delta=delta, claim=claim, refute=refute,
        lower=lower, seed=seed, outputs=ProofFiles(html=html, json=json, certificate=certificate), quiet=quiet,
    )


@app.command(
    "trace", cls=PanelCommand,
    epilog=epilog("dpaudit trace my.py:mean --epsilon 1 --pair '[0,1]' '[0,0]'"),
)
@with_options
def trace_command(
    target: Annotated[
        str, typer.Argument(metavar="TARGET", help="A function: file.py:name or module:name.", rich_help_panel=WHAT)
    ],
    given: Given,
) -> None:
    """Name the lines of a function that no noise protects, from at most 20 calls; no verdict, so exit code 0."""
    from dpaudit.cli.out_console import show
    from dpaudit.cli.requests import request_of
    from dpaudit.evidence.traced import trace_of

    show(str(trace_of(request_of("trace", [target], given))))


@app.command("compare", cls=PanelCommand, epilog=epilog("dpaudit compare interior-points --html report.html"))
@with_options
def compare_command(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="A comparison, e.g. interior-points.", autocompletion=comparisons,
            rich_help_panel=WHAT,
        ),
    ],
    given: Given,
    outputs: Outputs = NOWHERE,
    quiet: Quiet = False,
) -> None:
    """Compare algorithms for one task on the same inputs."""
    from dpaudit.cli.requests import request_of
    from dpaudit.cli.run import finish

    request = request_of("compare", [name], given)
    files.refuse_unwritable(outputs)
    finish(request, outputs, quiet=quiet)


@app.command("report", cls=PanelCommand)
@with_options
def report_command(
    results: Annotated[str, typer.Argument(metavar="RESULTS.json", help="Written by `dpaudit check --json`.")],
    jobs: Jobs = None,
    outputs: Outputs = NOWHERE,
    expect: Annotated[
        bool, typer.Option("--expect", help="Accept verdicts that the catalogue expects.", rich_help_panel=OUTPUT)
    ] = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Show a JSON result, or write it as HTML, JUnit XML, Markdown, …"""
    from rich.console import Console

    from dpaudit.cli.out_console import OutConsole
    from dpaudit.cli.requests import workers
    from dpaudit.cli.run import code_of, written
    from dpaudit.language.checks import whole
    from dpaudit.report.console import ConsoleReporter
    from dpaudit.report.event_log import EventLog
    from dpaudit.results.stream import events_of

    processes = whole("--jobs", workers(jobs), least=1)
    files.refuse_unwritable(outputs, [results])
    if (of_stability := files.stability_in(results)) is not None:
        from dpaudit.cli.stability import report_stability

        report_stability(of_stability, outputs, quiet=quiet, verbose=verbose)
    result = files.read(results)
    out = OutConsole()
    if not outputs.named:
        ConsoleReporter(out, Console(stderr=True), quiet=quiet, verbose=verbose).show(result)
    with EventLog(outputs) as log:
        for event in events_of(result):
            log.on(event)
    failures = written(result, outputs, log, quiet=quiet, expect=expect, jobs=processes)
    failures += out.failures
    for failure in failures:
        complain(str(failure))
    raise typer.Exit(code_of(failures, 0))


@app.command("replay", cls=PanelCommand)
@with_options
def replay_command(
    identifier: Annotated[str, typer.Argument(metavar="ID", help="The replay id shown in a report.")],
    jobs: Jobs = None,
    outputs: Outputs = NOWHERE,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Run a stored audit again, from the same seed."""
    from dpaudit.cli.requests import workers
    from dpaudit.cli.run import code_of, compared, run, written
    from dpaudit.engine import store
    from dpaudit.plans.request import Request
    from dpaudit.plans.stability import is_stability
    from dpaudit.report.event_log import EventLog
    from dpaudit.results.faults import exit_code

    kept = store.get(identifier)
    if is_stability(kept.request):
        from dpaudit.cli.stability import replay_stability

        replay_stability(kept, outputs, quiet=quiet, verbose=verbose)
    request = replace(Request.from_json(kept.request), jobs=workers(jobs), cluster=None)
    files.refuse_unwritable(outputs, _sources(request))
    with EventLog(outputs) as log:
        result, failures = run(
            request, log, quiet=quiet, verbose=verbose, stdout_taken=outputs.take_stdout, only=identifier
        )
    failures += written(result, outputs, log, quiet=quiet, jobs=request.jobs, evidence=request.prior_from)
    for failure in failures:
        complain(str(failure))
    if result.interrupted:
        raise typer.Exit(130)
    if not result.every:
        raise UsageError(f"The audit {identifier} is no longer part of `{kept.command}`.")
    same, sentence = compared(result, kept.audit)
    print(flat(sentence), file=sys.stderr)
    raise typer.Exit(code_of(failures, exit_code(result) if same else 4))


def main() -> None:
    """Entry point: every mistake of a user is one sentence on stderr."""
    code: object = 0
    settle_terminal()
    try:
        # by hand, because typer's own way to run a command says nothing when it is interrupted
        command = typer.main.get_command(app)
        if "_DPAUDIT_COMPLETE" in os.environ:
            # a shell asks what may follow; typer answers, and ends with its own exit code
            command.main(prog_name="dpaudit")
        with command.make_context("dpaudit", sys.argv[1:]) as context:
            command.invoke(context)
    except typer.Exit as ended:
        code = ended.exit_code
    except SystemExit as ended:
        if "_DPAUDIT_COMPLETE" in os.environ:
            raise
        # code of the mechanism must not choose the exit code
        complain(str(MechanismError(f"Something called sys.exit({ended.code!r}) while dpaudit ran.")))
        code = 4
    except DpauditError as error:
        complain(str(error))
        code = error.exit_code
    except ClickError as error:
        complain(_sentence(error))
        code = 2
    except (KeyboardInterrupt, typer.Abort):
        complain("Interrupted.")
        code = 130
    except BrokenPipeError:
        # the reader of stdout has gone (`| head`); nothing more can be said there
        files.drop(sys.stdout)
        code = 0
    except Exception as error:
        if unwritable(error):
            complain(f"Cannot write to stdout: {getattr(error, 'strerror', error)}.")
            files.drop(sys.stdout)
            sys.exit(2)
        if isinstance(error, OSError) and error.filename is not None:
            complain(f"Cannot use {os.fsdecode(error.filename)!r}: {error.strerror or error}.")
            sys.exit(2)
        # a bug of dpaudit's own: still one sentence, and how to see the rest
        if os.environ.get("DPAUDIT_TRACEBACK"):
            raise
        from dpaudit.subjects.user_errors import described

        complain(str(InternalError(described(error))))
        code = 4
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as error:
        # what its buffer held is lost, and Python itself would end with a code that says nothing
        files.drop(sys.stdout)
        if not isinstance(error, BrokenPipeError):
            complain(f"Cannot write to stdout: {error.strerror or error}.")
            code = code or 2
    sys.exit(code if isinstance(code, int) else 0)


def _checked(
    targets: list[str] | None, given: Mapping[str, Any], *, every: bool, corpus: bool, command: str | None,
    persistent: str | None, privacy: bool, utility: bool,
) -> Request:
    """The request of `dpaudit check`, by the words of its command line."""
    # the whole catalogue is audited whole; of a name it is the privacy that is in question
    both = privacy == utility and (privacy or every)
    only = None if both else "utility" if utility else "privacy"
    if persistent is not None and command is None:
        raise UsageError("{} is about a command; give one with {}.", PERSISTENT, COMMAND)
    named = named_targets(targets, every=every, corpus=corpus, command=command)
    refuse_unknown(named)
    from dpaudit.cli.requests import request_of
    from dpaudit.subjects import command as commands

    made = () if command is None else (commands.command(command, persistent=persistent),)
    return request_of("check", (*named, *made), given, only=only)


def _datasets(given: Mapping[str, Any]) -> list[str]:
    """The files of the datasets that are given."""
    return [argument[1:] for argument in given["pair"] or () if argument.startswith("@")]


def _sources(request: Request) -> list[str]:
    """The files of the functions, mechanisms and recorded outputs that are checked."""
    if request.recorded is not None:
        return list(request.recorded.words.files) if request.recorded.words is not None else []
    return [target.rpartition(":")[0] for target in request.targets if isinstance(target, str) and ".py:" in target]


def _sentence(error: Exception) -> str:
    """What a parsing error says, with the option that it is about."""
    text = str(getattr(error, "format_message", lambda: str(error))())
    # an empty word that nothing asked for would be shown as nothing
    text = text.replace("()", "('')")
    return text if text.endswith((".", "?")) else f"{text}."


if __name__ == "__main__":
    main()
