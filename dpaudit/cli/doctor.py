"""`dpaudit doctor`: what is installed, what is missing and for what, and whether it computes what it must."""

from __future__ import annotations

import locale
import os
import platform
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import metadata
from tempfile import TemporaryFile

from packaging.requirements import Requirement

from dpaudit import config
from dpaudit.engine import store
from dpaudit.engine.orchestrator import run
from dpaudit.errors import DpauditError
from dpaudit.extras import install_command
from dpaudit.interpret import law
from dpaudit.language import Bernoulli, Claim, Mechanism
from dpaudit.plans import registry
from dpaudit.plans.request import Request
from dpaudit.results import json_form
from dpaudit.results.model import Verdict
from dpaudit.stats import clopper_pearson
from dpaudit.subjects import adapters

_BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@dataclass(frozen=True)
class Finding:
    """One line of the doctor's.

    Args:
        good: True if all is well, False if it must be fixed, None if something optional is missing.
        what: the thing checked.
        said: its state, and the remedy where it is not good.
    """

    good: bool | None
    what: str
    said: str

    def __str__(self) -> str:
        mark = {True: "✓", False: "✗", None: "–"}[self.good]
        return f"{mark} {self.what:<18} {self.said}"


def findings() -> Iterator[Finding]:
    """All checks, one after the other."""
    yield Finding(sys.version_info >= (3, 11), "Python", f"{platform.python_version()}, {sys.executable}")
    yield Finding(True, "machine", f"{platform.system()} {platform.machine()}, {os.cpu_count() or 1} cores")
    yield from _packages()
    yield from _catalogue()
    yield _adapters()
    yield _browser()
    yield _store()
    yield _settings()
    yield _encoding()
    yield from _computes()


def _packages() -> Iterator[Finding]:
    try:
        wanted = [Requirement(text) for text in metadata.requires("dpaudit") or []]
        yield Finding(True, "dpaudit", metadata.version("dpaudit"))
    except metadata.PackageNotFoundError:
        said = "is on the path but not installed; pip install it to register its catalogue"
        yield Finding(False, "dpaudit", said)
        return
    missing = []
    for requirement in wanted:
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": ""}):
            continue
        version = _version(requirement.name)
        if version is None:
            missing.append(f"{requirement} is missing")
        elif not requirement.specifier.contains(version, prereleases=True):
            missing.append(f"{requirement} is needed, {version} is installed")
    if missing:
        yield Finding(False, "needs", f"{'; '.join(missing)}: pip install them")
    else:
        versions = [f"{name} {_version(name)}" for name in ("numpy", "scipy", "scikit-learn", "python-flint")]
        yield Finding(True, "needs", f"all there: {', '.join(versions)}, …")
    for extra in metadata.metadata("dpaudit").get_all("Provides-Extra") or []:
        own = [r for r in wanted if r.marker is not None and r.marker.evaluate({"extra": extra})
               and not r.marker.evaluate({"extra": ""})]
        absent = [r.name for r in own if r.name != "dpaudit" and _version(r.name) is None]
        names = ", ".join(f"{r.name} {_version(r.name)}" for r in own if r.name != "dpaudit")
        wrong = [
            f"{r.name}{r.specifier} is wanted, {installed} is installed"
            for r in own
            if (installed := _version(r.name)) is not None and not r.specifier.contains(installed, prereleases=True)
        ]
        if wrong and not absent:
            said = f"{'; '.join(wrong)}: {install_command(extra)} for versions that go together"
            yield Finding(None, f"[{extra}]", said)
        elif absent:
            command = install_command(extra, absent)
            yield Finding(None, f"[{extra}]", f"without {', '.join(absent)}: {command}")
        elif names:
            yield Finding(True, f"[{extra}]", names)


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _catalogue() -> Iterator[Finding]:
    groups = (
        ("catalogue", registry.ALGORITHMS, "algorithms"),
        ("corpus", registry.CORPUS, "known-broken mechanisms and correct counterparts"),
    )
    for what, group, kind in groups:
        try:
            names = registry.names(group)
            for name in names:
                registry.algorithm(name)
            yield Finding(bool(names) or None, what, f"{len(names)} {kind}" if names else f"no {kind} are registered")
        except DpauditError as error:
            yield Finding(False, what, str(error))


def _adapters() -> Finding:
    try:
        there = [f"{one.library} {one.version}" for one in adapters.known() if one.version]
    except DpauditError as error:
        return Finding(False, "adapters", str(error))
    if not there:
        return Finding(None, "adapters", "none of the libraries that dpaudit recognises; `dpaudit list --adapters`")
    return Finding(True, "adapters", f"{', '.join(there)}; `dpaudit list --adapters` shows all")


def _browser() -> Finding:
    browser = next((path for name in _BROWSERS if (path := shutil.which(name))), None)
    if browser is None:
        return Finding(None, "browser", "no Chromium (needed only for the tests of the reports' pages)")
    return Finding(True, "browser", f"{browser} (for the tests of the reports' pages)")


def _store() -> Finding:
    path = store.location()
    folder = next(place for place in (path.parent.absolute(), *path.parent.absolute().parents) if place.exists())
    try:
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        remedy = "set DPAUDIT_STORE to another file"
        return Finding(False, "store", f"{path} cannot be written ({error.strerror}); {remedy}")
    size = f", {path.stat().st_size / 1e6:.1f} MB" if path.is_file() else ", not created yet"
    return Finding(True, "store", f"{path}{size}")


def _settings() -> Finding:
    try:
        settings = config.read()
    except DpauditError as error:
        return Finding(False, "settings", str(error))
    if settings.path is None:
        return Finding(True, "settings", "no [tool.dpaudit] in this folder or above")
    named = ", ".join(f"{key} = {value}" for key, value in settings.values.items())
    return Finding(True, "settings", f"{settings.path}: {named or 'empty'}")


def _encoding() -> Finding:
    encoding = sys.stdout.encoding or locale.getpreferredencoding()
    try:
        "ε ≥ δ ‹⊥›".encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return Finding(None, "terminal", f"{encoding}: ε and δ are written as words; PYTHONUTF8=1 shows them")
    return Finding(True, "terminal", f"{encoding}, {shutil.get_terminal_size().columns} columns")


def _computes() -> Iterator[Finding]:
    """A number with a closed form, an exact distribution, a bug to detect, equal results on two processes."""
    checks: tuple[tuple[str, str, Callable[[], bool]], ...] = (
        ("statistics", "Clopper–Pearson limit equals its closed form", _statistics),
        ("exact", "exact distribution of a coin", _exact),
        ("audit", "refutes a count with half its noise, and not the fixed one", _audits),
        ("processes", "same result with 1 and 2 processes", _same_on_two),
    )
    for what, said, check in checks:
        try:
            good = check()
        except Exception as error:  # a failed check is a finding, not an error
            yield Finding(False, what, f"failed: {type(error).__name__}: {error}")
            continue
        yield Finding(good, what, said if good else f"WRONG: this check failed ({said}); please report it")


def _statistics() -> bool:
    # no hit in n runs: the upper limit is 1 − α^{1/n}
    upper = clopper_pearson.upper(0, 100, alpha=0.05)
    return bool(abs(upper - (1 - 0.05 ** (1 / 100))) < 1e-12)


class _Coin(Mechanism):
    """Comes up 1 with probability 1/4 for (0,), and 3/4 for (1,)."""

    @property
    def claim(self) -> Claim:
        return Claim(1.1)

    def run(self, S: tuple[int, ...]) -> Bernoulli:
        return Bernoulli(0.75 if tuple(S) == (1,) else 0.25)


def _exact() -> bool:
    return bool(abs(law(_Coin(), (1,)).probability(bool) - 0.75) < 1e-12)


def _noisy_count(scale: float) -> Callable[..., object]:
    def count(data, rng, size):  # type: ignore[no-untyped-def]
        return sum(data) + rng.laplace(0, scale, size)

    return count


def _requested(scale: float, jobs: int = 1) -> Request:
    return Request(
        targets=(_noisy_count(scale),), epsilon=1.0, pair=((0, 1, 1), (0, 1, 0)), runs=20_000, jobs=jobs,
    )


def _audits() -> bool:
    verdicts = [run(_requested(scale)).audits[0].verdict for scale in (0.5, 1.0)]
    return verdicts == [Verdict.FAIL, Verdict.PASS]


def _same_on_two() -> bool:
    one, two = (json_form.to_object(run(_requested(0.5, jobs)))["audits"] for jobs in (1, 2))
    return bool(one == two)

