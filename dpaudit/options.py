"""One table of what can be asked for: every option of a request, with its name at every door.

The command line, what a result says to type, the settings of a project, and the arguments of tests are made from it;
`dpaudit.audit` and its like write their arguments out, for editors, and a test holds them against it. It imports
nothing heavy: pytest reads it in every run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

Door: TypeAlias = Literal["command line", "Python", "pytest"]
"""The front end that shows a sentence: each names options in its own way."""
KINDS: Mapping[str, type] = MappingProxyType({
    "number": float, "count": int, "flag": bool, "text": str,
    # texts on the command line, and something else in a request
    "relation": str, "pair": str, "parameters": str, "sizes": str, "evidence": str, "claim": str,
})
"""What an option's value is: the type that a setting of a project has, and that a word is read as."""
PANELS = ("What to audit", "Claim", "Datasets", "Effort", "Output")
"""The parts of a command's help, in their order."""


@dataclass(frozen=True)
class Option:
    """Something that can be asked for.

    Args:
        name: in Python, and in a request.
        kind: one of `KINDS`.
        about: one line of help.
        word: on the command line and in settings, with underscores; "" where it is `name`.
        default: on the command line; None for what the case, the mechanism or the machine gives.
        unset: how the default is shown where it is no value.
        panel: the part of the help that it is in, one of `PANELS`.
        metavar: what stands for its value in the help; "" for the parser's own word.
        at: where a request keeps it; "" where it is `name`, "every.records" for a field of its `every`.
        always: whether a command line names it also where it has its default.
        off: of a flag, whether there is a --no-… too.
        negates: of a flag, whether it says no.
        setting: whether `[tool.dpaudit]` may set it.
        test: whether `dp_audit` and `@pytest.mark.dp` take it.
        session: whether pytest takes it, as --dp-….
        silent: whether the result does not depend on it, so that a command line leaves it out.
    """

    name: str
    kind: str
    about: str
    word: str = ""
    default: object = None
    unset: str = ""
    panel: str = "Effort"
    metavar: str = ""
    at: str = ""
    always: bool = False
    off: bool = False
    negates: bool = False
    setting: bool = False
    test: bool = False
    session: bool = False
    silent: bool = False

    @property
    def key(self) -> str:
        """Its name where options are named: in settings, and as the parser's variable."""
        return self.word or self.name

    @property
    def flag(self) -> str:
        """Its word on the command line, such as "--call-time"."""
        return f"--{self.key.replace('_', '-')}"

    @property
    def place(self) -> str:
        """Where a request keeps it."""
        return self.at or self.name

    def called(self, door: Door) -> str:
        """Its name in sentences: "--certify", "certify=True", "runs (--dp-runs)"."""
        if door == "command line":
            return self.flag
        if door == "Python":
            return f"{self.name}=True" if self.default is False and not self.negates else self.name
        name = self.name if self is PARAMETERS else self.key
        if not self.session:
            return name
        return f"{name} (--dp-{name})" if self.test else f"--dp-{name}"

    def but(self, **changes: Any) -> Option:
        """The same option, as another command has it."""
        return replace(self, **changes)


DEFAULT_ALPHA = 0.001
DEFAULT_MIN_POWER = 2.0
"""A sampled PASS requires power 90 % against this multiple of the claimed ε."""
DEFAULT_RUNS = 100_000
DEFAULT_SIZE = 10
DEFAULT_DOMAIN = 8
DEFAULT_COMPARED = 2_000

EPSILON = Option("epsilon", "number", "Test this ε.", unset="the target's own", panel="Claim", test=True)
DELTA = Option("delta", "number", "Test this δ.", unset="the target's own, or 0", panel="Claim", test=True)
RELATION = Option(
    "relation", "relation",
    "Which datasets are neighbours: replace-one, add-remove-one, users (all records of one, by the first cell or "
    "users:COLUMN), private-rows, answers-l1, answers-l2 or answers-linf; append :k for groups of k (replace-one:3).",
    unset="the target's own, or replace-one", panel="Claim", metavar="NAME", test=True,
)
CLAIM = Option(
    "claim", "claim",
    "Test a curve at many (ε, δ) together, instead of one: 'gdp(0.5)', 'zcdp(0.1)', 'rdp(2: 0.5, 8: 1.1)', "
    "'profile(0: 0.38, 1: 0.13)', 'tradeoff(0: 1, 0.2: 0.2, 1: 0)' or 'dp-sgd(noise=1.1, rate=0.01, steps=1000)'.",
    panel="Claim", metavar="CURVE", unset="the target's own", test=True,
)
DATA = Option(
    "data", "text", "Description of a record, e.g. 'integers(0, 3)', instead of --domain.", panel="Datasets",
    metavar="RECORD", test=True,
)
PARAMETERS = Option(
    "parameters", "parameters", "Change a parameter of the mechanism; repeatable.", word="param",
    panel="What to audit", metavar="NAME=VALUE", test=True,
)
RUNS = Option(
    "runs", "count", "Most samples per dataset of each pair; a refutation stops earlier.",
    unset=f"each case's own ({DEFAULT_RUNS} for functions)", setting=True, test=True, session=True,
)
TIME = Option(
    "time", "number", "Time limit of the whole run.", metavar="SECONDS", unset="no limit", setting=True,
    test=True, session=True,
)
ALPHA = Option(
    "alpha", "number", "Family-wise error rate over all audits.", default=DEFAULT_ALPHA, setting=True, session=True
)
SEED = Option(
    "seed", "count", "Random seed; the same seed gives the same result.", default=0, always=True, setting=True,
    session=True,
)
JOBS = Option(
    "jobs", "count", "Worker processes.", unset="all cores", setting=True, silent=True
)
CLUSTER = Option(
    "cluster", "text", "Use the workers of a dask scheduler (tcp://host:8786) or of ray (ray, ray://host:10001).",
    metavar="ADDRESS", unset="this machine", setting=True, silent=True,
)
PAIR = Option(
    "pair", "pair", "Two datasets: JSON lists, @FILE @FILE, or files (.csv, .parquet, .npy, .json).", panel="Datasets",
    metavar="D D′", test=True,
)
SIZE = Option(
    "size", "count", "Records of each dataset of a search, exactly (the default tries others too), or rows of a table.",
    unset=str(DEFAULT_SIZE), panel="Datasets", test=True,
)
GAME = Option(
    "game", "text", "Audit with a game, e.g. digit:2 (interior points), instead of pairs.", panel="Datasets",
    metavar="NAME:N",
)
GROUPS = Option(
    "groups", "count", "Audit group privacy for groups of up to K records, by chains of neighbours.", panel="Claim",
    metavar="K", test=True,
)
CALL_TIME = Option(
    "call_time", "number", "Time limit for one call; a timeout counts as an output, as an error does.",
    metavar="SECONDS", unset="no limit", setting=True, test=True,
)
READ = Option(
    "read", "text", "Function that turns each output into what is tested: file.py:function or module:function.",
    metavar="READER", panel="What to audit", test=True,
)
CERTIFY = Option(
    "certify", "flag", "Use all samples, also after a refutation, for a sharper bound on ε.", default=False, test=True
)
STOP_AT_REFUTATION = Option(
    "stop_at_refutation", "flag", "Stop when the claim is refuted: draw no more samples for a sharper bound on ε.",
    default=False, test=True,
)
MIN_POWER = Option(
    "min_power", "number", "PASS requires power 90 % against this multiple of the claimed ε.",
    default=DEFAULT_MIN_POWER, setting=True, test=True,
)
BLACK_BOX = Option(
    "black_box", "flag", "Use samples only: no exact output distributions, no declared densities.", default=False,
    test=True,
)
CASE = Option(
    "case", "text", "Start from this case of the catalogue, with its mechanism and pairs.", panel="Datasets",
    metavar="LABEL", at="worst_case.case",
)
SCORES = Option(
    "scores", "flag", "Vary the scores instead of records: any quality function of sensitivity 1.", default=False,
    panel="Datasets", at="worst_case.scores",
)
REALISED = Option(
    "realised", "flag", "Only scores that some dataset attains.", default=False, panel="Datasets",
    at="worst_case.realised",
)
COMPARED = Option(
    "pairs", "count", "Most pairs whose output distributions are compared.", default=DEFAULT_COMPARED,
    at="worst_case.compared",
    always=True,
)
SIZES = Option(
    "sizes", "sizes", "Numbers of records.", word="n", panel="Datasets", metavar="N,N,…", at="comparison.sizes"
)
PRIVACY = Option(
    'only="privacy"', "flag", "Test privacy claims (the default for names; with --utility both).", word="privacy",
    panel="What to audit",
)
UTILITY = Option(
    'only="utility"', "flag", "Test utility guarantees (error, success probability) instead of privacy.",
    word="utility", panel="What to audit",
)
COMMAND = Option(
    "command", "text",
    "Audit a command: it reads the dataset from the JSON file {dataset}, or from stdin; its stdout is the output.",
    panel="What to audit", metavar="COMMAND",
)
PERSISTENT = Option(
    "persistent", "text",
    "Start the command once; it answers requests, a JSON line each, for many outputs (batch) or one (single).",
    panel="What to audit", metavar="batch|single", unset="the command is started for each sample",
)
DOMAIN = Option("domain", "count", "Points of the domain.", unset=str(DEFAULT_DOMAIN), panel="Datasets")
ORDERED = Option(
    "ordered", "flag", "The order of the records matters to your mechanism.", default=False, panel="Datasets"
)

BITS = Option(
    "bits", "flag", "Count the low-order bits of floating-point outputs in the verdict.", default=False, off=True,
    setting=True,
    test=True,
)
EVIDENCE = Option(
    "evidence", "evidence", "Add the evidence of an earlier result with another seed.",
    metavar="RESULTS.json", at="prior_from",
)
COLUMN = Option(
    "column", "text", "The column of a table, or the key of objects, that holds the output.",
    unset="output, or all of it", panel="Datasets", metavar="NAME", at="recorded.words.column",
)
BLOCKS = Option(
    "blocks", "text", "The column or key that labels blocks of dependent outputs; one output of each is used.",
    panel="Datasets", metavar="NAME", at="recorded.words.blocks",
)
PAIRED = Option(
    "paired", "flag", "The i-th outputs on D and D′ depend on each other (the same seed); one of each pair is used.",
    default=False, panel="Datasets", at="recorded.words.paired",
)
IN_ORDER = Option(
    "ordered", "flag", "Use the outputs in the order of the file, and not in one drawn from the seed.", default=False,
    panel="Datasets", at="recorded.words.ordered",
)
FOLLOW = Option(
    "follow", "number",
    "Read new files of the folders as they come, until none has come for SECONDS (inf: until Ctrl-C).",
    panel="Datasets", metavar="SECONDS", unset="read once", at="recorded.words.follow",
)
# a project's setting of runs is for what can be called
MOST = RUNS.but(word="most", about="Most outputs of each dataset.", unset="all", setting=False)
NAME = Option(
    "name", "text", "The name of the mechanism, in reports.", panel="What to audit", metavar="NAME",
    at="recorded.words.name",
)

CHECK: tuple[Option, ...] = (
    EPSILON,
    DELTA,
    CLAIM,
    RELATION,
    PAIR,
    DATA.but(
        about="Description of a record, e.g. 'integers(0, 100)', or a table (.csv, .parquet, .npy); dpaudit searches "
        "for pairs."
    ),
    SIZE,
    GAME,
    GROUPS,
    PARAMETERS,
    READ,
    RUNS,
    TIME,
    CALL_TIME,
    ALPHA,
    CERTIFY,
    STOP_AT_REFUTATION,
    BITS,
    MIN_POWER,
    BLACK_BOX,
    EVIDENCE,
    SEED,
    JOBS,
    CLUSTER,
)
SAMPLES: tuple[Option, ...] = (
    EPSILON.but(about="Test this ε; without it there is a bound and no verdict.", unset="no claim"),
    DELTA.but(unset="0"),
    RELATION.but(unset="replace-one"),
    COLUMN,
    PAIRED,
    BLOCKS,
    IN_ORDER,
    FOLLOW,
    NAME,
    MOST,
    TIME,
    ALPHA,
    BITS,
    MIN_POWER,
    EVIDENCE.but(
        about="Add the evidence of an earlier result of other outputs; files in folders that it used are left out."
    ),
    SEED.but(about="Random seed of the order in which the outputs are used."),
)
REPORT = Option(
    "report", "text", "Write an HTML report into a folder: an index, a page for each algorithm.", metavar="DIR",
    unset="no report", panel="Output", setting=True, silent=True,
)
VERIFY: tuple[Option, ...] = (
    DOMAIN.but(about="Points of the domain: 0, …, N − 1 for your own mechanism.", at="verify.domain"),
    SIZE.but(about="Records of a dataset.", default=4, unset="", at="verify.records", always=True, test=False),
    GROUPS.but(
        about="Also verify group privacy, for groups of up to K records.", default=3, at="verify.groups", always=True,
        test=False,
    ),
    DATA,
    ORDERED.but(at="verify.ordered"),
    Option(
        "symmetries", "flag", "Compute every output distribution; ignore declared symmetries.", word="no_symmetries",
        default=False, at="verify.symmetries", negates=True,
    ),
    EPSILON.but(about="Verify this ε."),
    DELTA.but(about="Verify this δ."),
    CLAIM.but(about=CLAIM.about.replace("Test a curve at many (ε, δ) together", "Verify a whole curve")),
    RELATION,
    PARAMETERS,
    TIME,
    JOBS,
    CLUSTER,
)
WORST: tuple[Option, ...] = (
    DOMAIN.but(at="worst_case.domain"),
    SIZE.but(
        about="Records of a dataset, at most.", default=32, unset="", at="worst_case.records", always=True, test=False
    ),
    CASE,
    SCORES,
    REALISED,
    DATA,
    ORDERED.but(at="worst_case.ordered"),
    COMPARED,
    EPSILON.but(about="Compare the worst pair with this ε."),
    DELTA.but(about="Maximise ε at this δ."),
    RELATION,
    PARAMETERS,
    TIME,
    SEED,
)
COMPARE: tuple[Option, ...] = (
    SIZES,
    PARAMETERS.but(about="Change epsilon, delta, …; repeatable.", at="comparison.parameters"),
    RUNS.but(about="Samples for each kind of inputs, and per dataset of a pair."),
    TIME,
    ALPHA,
    SEED.but(about="Random seed; the same seed gives the same result, except for times."),
    JOBS,
    CLUSTER,
)
AT_MOST = Option(
    "stability", "text", "Claimed: inputs d steps apart give outputs at most C times d apart; 2, 0.5 or 1/3.",
    word="at_most", unset="the target's own", panel="Claim", metavar="C", at="at_most",
)
METRIC = Option(
    "metric", "text",
    "Distance of outputs: absolute, l1, l2, linf; of datasets symmetric, insert-delete, change-one, hamming; discrete.",
    unset="the target's own, or absolute", panel="Claim", metavar="NAME",
)
ANY_ORDER = Option(
    "any_order", "flag", "D and D′ may list their records in different orders.", default=False, panel="Datasets"
)
STABILITY: tuple[Option, ...] = (
    AT_MOST,
    METRIC,
    RELATION,
    PAIR,
    DATA.but(
        about="Description of a record, e.g. 'integers(0, 100)', or a table (.csv, .parquet, .npy); dpaudit searches "
        "for pairs."
    ),
    SIZE.but(unset="6 and fewer"),
    ANY_ORDER,
    READ,
    COMPARED.but(about="Most pairs that are tried.", at="", always=False),
    TIME.but(about="Time limit of the search."),
    SEED,
)
TRACE: tuple[Option, ...] = (
    *(option for option in CHECK if option.key in ("epsilon", "delta", "claim", "relation", "pair")), SEED
)
OPTIONS: Mapping[str, tuple[Option, ...]] = MappingProxyType(
    {"check": CHECK, "plan": CHECK, "samples": SAMPLES, "verify": VERIFY, "worst": WORST, "compare": COMPARE,
     "stability": STABILITY, "trace": TRACE}
)
"""The options of every command that audits, and of the function of that name, in the order of its help."""
