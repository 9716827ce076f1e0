"""Follow pages word for word in a fresh environment: what a page tells to install, and then all that it tells to run.

    python tests/docs/fresh.py [PAGE …]

Without pages: README.md and the tutorial. pip needs what it always needs. The tests follow the same pages in the
environment that they run in.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from docs_blocks import DOCS, ROOT, blocks, follow, named

DEFAULT = (ROOT / "README.md", DOCS / "tutorial" / "index.md")


def installs(text: str) -> list[str]:
    """The lines of a block that only install something."""
    return [line for line in text.splitlines() if line.startswith("pip install ") and "&&" not in line]


def followed(page: Path, folder: Path) -> str:
    """Follow a page in an environment of its own; how long installing and the rest took, in words.

    Raises:
        AssertionError: a command ends or prints otherwise than the page says.
        subprocess.CalledProcessError: pip failed.
    """
    venv.create(folder / "env", with_pip=True)
    work = folder / "work"
    work.mkdir()
    os.environ["PATH"] = f"{folder / 'env' / 'bin'}{os.pathsep}{os.environ['PATH']}"
    began, printed, installing = time.monotonic(), "", 0.0
    for block in blocks(page):
        if block.mark.startswith("not run"):
            os.chdir(ROOT)
            before = time.monotonic()
            for line in installs(block.text):
                subprocess.run(["bash", "-c", line.replace("pip install", "pip install --quiet", 1)], check=True)
            installing += time.monotonic() - before
            continue
        if block.mark == "run" and block.language == "python":
            raise AssertionError(f"{block.where} is Python, which would run outside of the environment")
        os.chdir(work)
        printed = follow(block, printed, {}, work)
    took = time.monotonic() - began - installing
    return f"{named(page)}: installed in {installing:.0f} s, followed in {took:.0f} s"


def main() -> None:
    """Follow the pages that are named."""
    path = os.environ["PATH"]
    # of the checkout that this runs in nothing may help
    for name in ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"):
        os.environ.pop(name, None)
    os.environ.update(COLUMNS="80", NO_COLOR="1")
    for page in [Path(word).resolve() for word in sys.argv[1:]] or DEFAULT:
        os.environ["PATH"] = path
        with tempfile.TemporaryDirectory() as folder:
            print(followed(page, Path(folder)), flush=True)
            os.chdir(ROOT)


if __name__ == "__main__":
    main()
