"""The figures of one page: styles become classes, and what several figures have alike is stated once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

_DEFINITION = re.compile(r'<(\w+) id="([^"]*)"(.*)', re.DOTALL)
_REFERENCE = re.compile(r'(?<=#)[^")]+(?=[")])')
_SIZE = re.compile(r' width="\d+" height="\d+" stroke-linejoin="round"')
"""Of a figure alone; a page's own style sheet says it."""
_FALLBACK = re.compile(r"(var\(--[a-z]+), [^()]*\)")
_USE = 19
"""Characters of an element that stands for another."""


@dataclass(frozen=True)
class PageFigures:
    """Figures of `to_svg` as they stand on one page.

    Args:
        drawn: figure as `to_svg` wrote it → as it stands on the page.
        shared: an element of the page, anywhere; figures refer to what it defines. It has no size, but it must
            not be hidden: a browser does not paint by patterns of what it does not render.
        rules: of the page's style sheet.
    """

    drawn: dict[str, str]
    shared: str
    rules: str


def page_figures(figures: Iterable[str]) -> PageFigures:
    """The figures of a page; their titles and descriptions keep their ids.

    Args:
        figures: made by `to_svg`, each with a prefix of its own.
    """
    classes: dict[str, str] = {}
    definitions: dict[str, str] = {}
    split = {svg: _split(svg, classes, definitions) for svg in figures}
    groups: dict[str, str] = {}
    bodies = _grouped([body for _, body in split.values()], groups)
    drawn = {
        svg: "".join([*head, *body, "</svg>"])
        for (svg, (head, _)), body in zip(split.items(), bodies, strict=True)
    }
    lines = [_named(text, name) for text, name in definitions.items()]
    lines += [
        _named(text, name) if text.startswith("<g ") or text.count("<") == 1 else f'<g id="{name}">{text}</g>'
        for text, name in groups.items()
    ]
    shared = '<svg class="shared" width="0" height="0" aria-hidden="true"><defs>\n{}\n</defs></svg>'
    rules = "\n".join(f".{name} {{ {style} }}" for style, name in classes.items())
    return PageFigures(drawn, shared.format("\n".join(lines)) if lines else "", rules)


def _named(element: str, name: str) -> str:
    return re.sub(r"^<\w+", rf'\g<0> id="{name}"', element)


def _grouped(bodies: list[list[str]], groups: dict[str, str]) -> list[list[str]]:
    """Repeated elements, and neighbours that are repeated together, as references to groups; `groups` has those."""
    def referred(text: str, times: int) -> str:
        if text not in groups and (times - 1) * len(text) > times * _USE + len('<g id="e999"></g>'):
            groups[text] = f"e{len(groups) + 1}"
        return f'<use href="#{groups[text]}"/>' if text in groups else text

    times = Counter(element for body in bodies for element in body)
    bodies = [[referred(element, times[element]) for element in body] for body in bodies]
    while True:
        pairs = Counter(
            pair for body in bodies for pair in pairwise(body) if all(one.startswith('<use href="#e') for one in pair)
        )
        pair, number = max(pairs.items(), key=lambda item: item[1], default=(("", ""), 0))
        if number < 3:
            return bodies
        joined = referred("".join(pair), number)
        bodies = [_with_pair(body, pair, joined) for body in bodies]


def _with_pair(body: list[str], pair: tuple[str, str], joined: str) -> list[str]:
    """Elements with one pair of neighbours replaced."""
    out: list[str] = []
    for element in body:
        if out and (out[-1], element) == pair:
            out[-1] = joined
        else:
            out.append(element)
    return out


def _split(svg: str, classes: dict[str, str], definitions: dict[str, str]) -> tuple[list[str], list[str]]:
    """The lines before the elements of a figure, and the elements; classes and definitions that are new are added."""
    opening, title, description, *body = re.split(r"\n(?=<)", svg)[:-1]
    names: dict[str, str] = {}

    def settled(line: str) -> str:
        line = _REFERENCE.sub(lambda m: names.get(m[0], m[0]), line)
        # a page has a value for every variable
        line = _FALLBACK.sub(r"\1)", line)
        line = re.sub(r'clip-path="([^"]*)" style="', r'style="clip-path:\1;', line)
        return re.sub(
            r'(?<= )style="([^"]*)"', lambda m: f'class="{classes.setdefault(m[1], f"f{len(classes) + 1}")}"', line
        )

    if body and body[0] == "<defs>":
        end = body.index("</defs>")
        for line in body[1:end]:
            definition = _DEFINITION.fullmatch(line)
            assert definition is not None, line
            tag, name, rest = definition.groups()
            names[name] = definitions.setdefault(settled(f"<{tag}{rest}"), f"d{len(definitions) + 1}")
        body = body[end + 1 :]
    return [_SIZE.sub("", opening), title, description], [settled(line) for line in body]
