"""A headless Chromium that the machine has, driven by Playwright; no browser is downloaded.

Without Playwright or Chromium these tests are skipped, with the reason; where `DPAUDIT_BROWSER=required` is set they
fail instead. `DPAUDIT_CHROMIUM` names the binary; otherwise the first of chromium, chromium-browser and google-chrome.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"),
]


def _unavailable(reason: str) -> None:
    if os.environ.get("DPAUDIT_BROWSER") == "required":
        pytest.fail(f"DPAUDIT_BROWSER=required, but {reason}", pytrace=False)
    pytest.skip(reason)


def chromium() -> str | None:
    """The path of Chromium's binary, if there is one."""
    named = os.environ.get("DPAUDIT_CHROMIUM")
    if named:
        return named if Path(named).exists() else None
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One browser for all tests of a worker."""
    try:
        from axe_playwright_python import sync_playwright as _  # noqa: F401
        from playwright.sync_api import sync_playwright
    except ImportError as error:
        _unavailable(f"{error.name} is not installed: pip install -e '.[browser]'")
    path = chromium()
    if path is None:
        _unavailable("there is no Chromium; install it, or name its binary in DPAUDIT_CHROMIUM")
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield found
        found.close()


@dataclass
class Opened:
    """A page that was opened, and what went on in it."""

    page: Page
    complaints: list[str] = field(default_factory=list)
    """Errors and warnings of the console, and exceptions."""
    requests: list[str] = field(default_factory=list)
    """Addresses that were asked for, beside the file itself."""


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """`written(name)` is the file of a page, written once."""
    folder = tmp_path_factory.mktemp("pages")
    report: dict[str, Path] = {}

    def write(name: str) -> Path:
        from browser_pages import FOLDER, html_of, write_folder

        if name in FOLDER:
            if not report:
                report.update(write_folder(folder / "report"))
            return report[name]
        path = folder / f"{name.replace(' ', '-')}.html"
        if not path.exists():
            path.write_text(html_of(name), encoding="utf-8")
        return path

    return write


@pytest.fixture
def opened(browser: Browser, written: Callable[[str], Path]) -> Iterator[Callable[..., Opened]]:
    """`opened(name, width=…, …)` opens a page in a context of its own."""
    contexts = []

    def open_(name: str, *, width: int = 1440, height: int = 900, **settings: Any) -> Opened:
        context = browser.new_context(viewport={"width": width, "height": height}, **settings)
        contexts.append(context)
        found = Opened(context.new_page())
        address = written(name).as_uri()
        found.page.on("console", lambda m: found.complaints.append(m.text) if m.type in ("error", "warning") else None)
        found.page.on("pageerror", lambda error: found.complaints.append(str(error)))
        found.page.on(
            "request", lambda r: found.requests.append(r.url) if r.url.partition("#")[0] != address else None
        )
        found.page.goto(address)
        return found

    yield open_
    for context in contexts:
        context.close()
