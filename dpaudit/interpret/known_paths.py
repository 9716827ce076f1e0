"""The paths of a mechanism that were run before, which later runs follow without its program."""

from __future__ import annotations

from collections.abc import Hashable, Sized

from dpaudit.interpret.walk import Last
from dpaudit.language import Applied, Distribution
from dpaudit.language.distributions import Finite, Then
from dpaudit.outputs.canonical import Outcome, Raised
from dpaudit.outputs.fingerprint import fingerprint, key_of, may_change

AGREEING = 2
"""Runs that must have reached a place of a program, and found the same, before others pass it without the program."""
EACH = 10
"""The size of a place beside what it holds: values of a draw, records, parts of an output."""
MOST = 1 << 17
"""The largest size of what is kept of a mechanism on one dataset."""
MOST_OF_ALL = 1 << 19
"""The largest size of what is kept of a mechanism when a dataset is added."""
MOST_DATASETS = 64
"""Datasets on which the paths of a mechanism are kept."""


class Room:
    """The size of what is kept of a mechanism on a dataset."""

    __slots__ = ("used",)

    def __init__(self) -> None:
        self.used = 0

    @property
    def has_more(self) -> bool:
        """Whether more may be kept."""
        return self.used < MOST


class Known:
    """A place of a program: what it does there, and the places that follow.

    Args:
        room: if given, what follows it is kept.
        node: what it does there; None until a run has reached it.
    """

    __slots__ = ("_after", "_content", "_image", "_inside", "_may_change", "_room", "_seen", "node")

    def __init__(self, room: Room | None = None, node: object = None) -> None:
        self.node = node
        """A distribution, an applied mechanism, or the end of the program."""
        self._room = room
        self._image: Hashable = None
        self._content: Hashable = None
        """All that it holds: a program could read fields that are not compared."""
        self._may_change = True
        self._seen = 0
        """Runs in a row that have found the same content."""
        self._inside: Known | None = None
        self._after: dict[Hashable, Known] | None = None

    def is_certain(self) -> bool:
        """Whether the program need not be run to know what it does here.

        It must not have changed what it drew from, or returned, since: it may use an array again.
        """
        if self._seen < AGREEING:
            return False
        return not self._may_change or fingerprint(self.node, every_field=True) == self._content

    @property
    def image(self) -> Hashable:
        """The fingerprint of what it does here, when it came here."""
        if self._image is None:
            self._image = fingerprint(self.node)
        return self._image

    def reached(self, node: object) -> bool:
        """Called when a run has come here; whether it found the same as those before it."""
        if self._room is None or (_is_failure(node) and not self._seen):
            self.node = node
            return True
        image, content = fingerprint(node), fingerprint(node, every_field=True)
        if self._seen and image != self._image:
            return False
        if not self._seen:
            self._room.used += _size(node)
        self._seen = self._seen + 1 if content == self._content else 1
        self.node, self._image, self._content = node, image, content
        if self._seen == AGREEING:
            self._may_change = may_change(node)
        return True

    def following(self, value: Outcome) -> Known:
        """The place after a value of the draw."""
        room = self._room
        if room is None or not (self._after or room.has_more) or _is_failure(value):
            return Known()
        if not (isinstance(self.node, Finite) and self.node.finite) and not isinstance(self.node, Applied | Then):
            # real numbers: hardly two runs have the same
            return Known()
        if self._after is None:
            self._after = {}
        # 1 and True are different values to a program
        key = fingerprint(value)
        known = self._after.get(key)
        if known is None:
            if not room.has_more:
                return Known()
            room.used += EACH
            known = self._after[key] = Known(room)
        return known

    @property
    def inside(self) -> Known:
        """The first place of the mechanism that is applied here, or the draw that is continued here."""
        if self._inside is not None:
            return self._inside
        if self._room is None or not self._room.has_more:
            return Known()
        self._room.used += EACH
        self._inside = Known(self._room)
        return self._inside


def _is_failure(node: object) -> bool:
    # failures are equal whatever their messages, which are counted too
    return type(node.value if isinstance(node, Last) else node) is Raised


def _size(node: object) -> int:
    if isinstance(node, Last):
        node = node.value
    if isinstance(node, Then):
        return _size(node.base)
    if isinstance(node, Applied):
        return len(node.dataset) if isinstance(node.dataset, Sized) else 1
    if isinstance(node, Finite) and node.finite:
        return len(node.values)
    return 1 if isinstance(node, Distribution) or not isinstance(node, Sized) else len(node)


class KnownPaths:
    """The known paths of one mechanism, on each of the last datasets. A copy, such as a worker's, knows none."""

    def __init__(self) -> None:
        self._of: dict[Hashable, tuple[Known, Room]] = {}
        """By the key of the dataset, the last one used at the end."""

    def on(self, dataset: object) -> Known:
        """The first place of the program on a dataset."""
        key = key_of(dataset)
        try:
            found = self._of.pop(key, None)
        except TypeError:
            # what cannot be hashed
            return Known(Room())
        if found is None:
            while len(self._of) == MOST_DATASETS or sum(room.used for _, room in self._of.values()) > MOST_OF_ALL:
                del self._of[next(iter(self._of))]
            room = Room()
            found = Known(room), room
        self._of[key] = found
        return found[0]

    def __fingerprint__(self) -> Hashable:
        return None

    def __reduce__(self) -> tuple[type[KnownPaths], tuple[()]]:
        return KnownPaths, ()
