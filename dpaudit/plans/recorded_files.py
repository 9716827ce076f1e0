"""Recorded outputs as files hold them: .npy, .npz, .csv, .parquet, NDJSON, folders of these, and standard input."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import sys
import time
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from dpaudit.errors import DatasetError, DpauditError, ParameterError, UsageError
from dpaudit.language.containers import library
from dpaudit.options import BLOCKS, COLUMN, FOLLOW
from dpaudit.subjects.recorded import (
    RECORDED,
    Arrival,
    Followed,
    Recorded,
    RecordedFiles,
    Stream,
    of_frame,
    recorded_outputs,
)

STDIN = "-"
FORMATS = (".npy", ".npz", ".csv", ".parquet", ".ndjson", ".jsonl")
"""What files of recorded outputs are called."""
D_NAMES, D_PRIME_NAMES = ("D",), ("D'", "D′", "Dprime", "D_prime")
"""What a file with outputs on both datasets calls them."""
DATASET, OUTPUT = "dataset", "output"
"""Parts of a line of such a file."""
COMPRESSED = (".gz", ".bz2", ".xz", ".zip", ".zst")
MAGIC = {".npy": b"\x93NUMPY", ".npz": b"PK", ".parquet": b"PAR1"}
"""What files begin with."""
_LONGEST_MAGIC = 8
BETWEEN_ROUNDS = 1.0
"""Seconds after which folders that are followed are read again."""
_CHUNK = 1 << 20
_MOST_REASON = 200
_USED = 16
"""Digits of a hash that are kept with evidence."""


@dataclass
class _Part:
    """Outputs of one file.

    Args:
        outputs: an array, series, frame or list.
        datasets: the name of the dataset of each, if the file says so.
        blocks: the label of the block of each, if wanted.
    """

    outputs: Any
    datasets: list[object] | None = None
    blocks: list[Hashable] | None = None

    def of(self, names: Sequence[str]) -> _Part:
        """The outputs on one dataset."""
        assert self.datasets is not None
        kept = [place for place, name in enumerate(self.datasets) if name in names]
        blocks = None if self.blocks is None else [self.blocks[place] for place in kept]
        if hasattr(self.outputs, "iloc"):
            return _Part(self.outputs.iloc[kept], blocks=blocks)
        outputs = self.outputs[kept] if isinstance(self.outputs, np.ndarray) else [self.outputs[at] for at in kept]
        return _Part(outputs, blocks=blocks)


@dataclass
class _Read:
    """Files that have been read, and what a replay is held against."""

    words: RecordedFiles
    digests: list[str] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    used: Mapping[str, str] = field(default_factory=dict)
    """The beginnings of the hashes of recordings that are evidence already, and their names."""
    wanted: frozenset[str] | None = None
    """Hashes of the files of folders that are wanted; None for all that are not used."""

    def note(self, source: str, digest: str) -> None:
        """Put down a file.

        Raises:
            UsageError: it is evidence already, or was before it changed.
        """
        if digest[:_USED] in self.used:
            raise UsageError(f"{source} is part of the earlier evidence already, and every output counts once.")
        if source in self.used.values() and self.wanted is None:
            raise UsageError(
                f"{source} has changed since it became part of the earlier evidence. Every output counts once: put new "
                "outputs into a new file."
            )
        self.sources.append(source)
        self.digests.append(digest)

    def skips(self, source: str, digest: str) -> bool:
        """Whether a file of a folder is left out: it is evidence already, or came later.

        Raises:
            UsageError: another file with the same contents is evidence already. To leave this one out would choose
                outputs by their values, and a copy must not count twice.
        """
        known = self.used.get(digest[:_USED])
        if known is not None and not _same_place(known, source):
            raise UsageError(
                f"{source} has the same contents as {known}, which is part of the earlier evidence already. Remove it "
                "if it is a copy. If it is another recording that came out equal, record more outputs in each file."
            )
        return known is not None or (self.wanted is not None and digest not in self.wanted)


def read_recorded(
    words: RecordedFiles, *, used: Iterable[str] = (), wanted: Iterable[str] | None = None
) -> Recorded:
    """The recorded outputs that a command line names.

    Args:
        words: one file, folder or "-" with outputs on both datasets, or two with those on D and on D′.
        used: recordings that are evidence already (`Recorded.recordings`); those in folders are left out.
        wanted: hashes of the files of folders to read; None for all.

    Raises:
        DatasetError: there is no such file, or it holds no outputs.
        UsageError: it takes a library that is not installed, or what it names is evidence already.
    """
    known = {digest: source for one in used for source, _, digest in [one.rpartition(" ")]}
    read = _Read(words, used=known, wanted=None if wanted is None else frozenset(wanted))
    labels = ("D", "D′")
    if len(words.files) == 2:
        if words.files == (STDIN, STDIN):
            raise DatasetError('Standard input is read once; name the dataset of each output on it, and give "-" once.')
        left, right = (
            _of_one(_whole(word, read), word, which) for which, word in enumerate(words.files)
        )
        labels = _labels(*words.files)
    else:
        left, right = _split(words.files[0], read)
    blocks = None
    if words.blocks is not None:
        if left.blocks is None or right.blocks is None:
            raise DatasetError(
                "{} names a column of a table or a part of objects; an array has none: give labels in a table.", BLOCKS
            )
        blocks = left.blocks, right.blocks
    return recorded_outputs(
        left.outputs, right.outputs, name=words.name or RECORDED, labels=labels, digests=tuple(read.digests),
        sources=tuple(read.sources), paired=words.paired, blocks=blocks, shuffled=not words.ordered, words=words,
    )


def _of_one(part: _Part, word: str, which: int) -> _Part:
    """The outputs on one dataset; if they name it, all have to name that one."""
    others = [name for name in part.datasets or () if name not in (D_NAMES, D_PRIME_NAMES)[which]]
    if others:
        raise DatasetError(
            f"{word} stands for the outputs on {'D′' if which else 'D'}, and names the dataset {others[0]!r}; give a "
            "file with outputs on both datasets alone, and of two files the outputs on D first."
        )
    return part


def _same_place(first: str, second: str) -> bool:
    """Whether two paths may be of one file, named from different folders."""
    parts = sorted((Path(first).parts, Path(second).parts), key=len)
    return parts[1][-len(parts[0]) :] == parts[0]


def _labels(left: str, right: str) -> tuple[str, str]:
    """Names of files, with their folders where the names are the same."""
    names = Path(left).name, Path(right).name
    return names if names[0] != names[1] else (left, right)


def _split(word: str, read: _Read) -> tuple[_Part, _Part]:
    """The outputs on D and on D′ of one file, folder, or standard input."""
    if word.lower().endswith(".npz"):
        arrays = _npz(_bytes_of(word, read), word)
        return _Part(_named(arrays, D_NAMES, word)), _Part(_named(arrays, D_PRIME_NAMES, word))
    part = _whole(word, read)
    where = "Standard input" if word == STDIN else word
    if part.datasets is None:
        raise DatasetError(
            f"{where} does not say which outputs are of D and which of D′; give two files, or one with "
            '{"dataset": "D", "output": 3.2} on each line or with the columns dataset and output.'
        )
    unknown = [name for name in part.datasets if name not in (*D_NAMES, *D_PRIME_NAMES)]
    if unknown:
        raise DatasetError(f"{where} names the dataset {unknown[0]!r}; it is \"D\" or \"D'\" (or \"Dprime\").")
    return part.of(D_NAMES), part.of(D_PRIME_NAMES)


def _named(arrays: dict[str, Any], names: Sequence[str], word: str) -> Any:
    found = [arrays[name] for name in names if name in arrays]
    if not found:
        raise DatasetError(f"{word} has the arrays {', '.join(arrays) or 'none'}; name them D and Dprime.")
    return found[0]


def _whole(word: str, read: _Read) -> _Part:
    """All outputs of a file, a folder or standard input."""
    if word == STDIN:
        text = _standard_input().read()
        read.note("standard input", hashlib.sha256(text).hexdigest())
        return _text(text, "standard input", read.words)
    path = Path(word)
    if not path.is_dir():
        return _file(word, read)
    files = files_in(word)
    if not files:
        raise DatasetError(f"The folder {word} has no recorded outputs: no {', '.join(FORMATS[:-1])} or {FORMATS[-1]}.")
    new = [one for one in files if not read.skips(one, _digest(one))]
    if not new:
        raise UsageError(f"All files of {word} are part of the earlier evidence already; there is nothing new.")
    return _joined([_file(one, read) for one in new])


def files_in(folder: str) -> list[str]:
    """The recorded outputs of a folder, in the order of their names.

    Raises:
        DatasetError: it cannot be read.
    """
    try:
        return [str(one) for one in sorted(Path(folder).iterdir()) if one.suffix.lower() in FORMATS]
    except OSError as error:
        raise DatasetError(f"Cannot read {folder}: {error.strerror or error}.") from None


def _standard_input() -> BinaryIO:
    if sys.stdin is None:
        raise DatasetError("Standard input is closed, so there are no outputs to read from it.")
    return sys.stdin.buffer


def _file(word: str, read: _Read) -> _Part:
    suffix = Path(word).suffix.lower()
    if suffix not in FORMATS:
        packed = " Decompress it first." if suffix in COMPRESSED else ""
        raise DatasetError(
            f"{word} is none of {', '.join(FORMATS)}, a folder of these, or - for standard input.{packed}"
        )
    if suffix == ".npy":
        read.note(word, _digest(word))
        with open(word, "rb") as file:
            _refuse_other(file.read(_LONGEST_MAGIC), word, suffix)
        try:
            # large files stay on the disk
            outputs = np.load(word, mmap_mode="r", allow_pickle=False)
        except Exception as error:
            raise _unreadable(word, error) from None
        return _of_array(outputs, read.words)
    content = _bytes_of(word, read)
    _refuse_other(content[:_LONGEST_MAGIC], word, suffix)
    if suffix == ".npz":
        arrays = _npz(content, word)
        if len(arrays) != 1:
            raise DatasetError(f"{word} has the arrays {', '.join(arrays) or 'none'}; of one dataset it has one.")
        return _of_array(next(iter(arrays.values())), read.words)
    if suffix in (".ndjson", ".jsonl"):
        return _ndjson(_decoded(content), word, read.words)
    return _frame(content, word, suffix, read.words)


def _digest(word: str) -> str:
    digest = hashlib.sha256()
    try:
        with open(word, "rb") as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
    except OSError as error:
        raise DatasetError(f"Cannot read {word}: {error.strerror or error}.") from None
    return digest.hexdigest()


def _bytes_of(word: str, read: _Read) -> bytes:
    try:
        content = Path(word).read_bytes()
    except OSError as error:
        raise DatasetError(f"Cannot read {word}: {error.strerror or error}.") from None
    read.note(word, hashlib.sha256(content).hexdigest())
    return content


def _refuse_other(start: bytes, word: str, suffix: str) -> None:
    """Refuse an empty file, and one that is of another format than its name says.

    Args:
        start: its first bytes.
    """
    if not start:
        raise DatasetError(f"There is nothing in {word}.")
    magic = MAGIC.get(suffix)
    if magic is not None and not start.startswith(magic):
        raise DatasetError(f"Cannot read {word}: it is no {suffix} file, whatever its name says.")


def _unreadable(word: str, error: Exception) -> DatasetError:
    reason = _reason(error)
    if "object" in reason.lower():
        reason = (
            "it holds Python objects, which are not unpickled; save numbers or text, or write one JSON value on each "
            "line of a .ndjson"
        )
    return DatasetError(f"Cannot read {word}: {reason}.")


def _npz(content: bytes, word: str) -> dict[str, Any]:
    _refuse_other(content[:_LONGEST_MAGIC], word, ".npz")
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            return dict(arrays)
    except Exception as error:
        raise _unreadable(word, error) from None


def _of_array(outputs: Any, words: RecordedFiles) -> _Part:
    names = outputs.dtype.names
    if words.column is None and words.blocks is None:
        return _Part(outputs)
    if names is None:
        raise DatasetError("{} and {} name parts of tables and objects; an array has none.", COLUMN, BLOCKS)
    for wanted in (words.column, words.blocks):
        if wanted is not None and wanted not in names:
            raise DatasetError(f"The array has the fields {', '.join(names)}, and no {wanted!r}.")
    blocks = None if words.blocks is None else outputs[words.blocks].tolist()
    return _Part(outputs if words.column is None else outputs[words.column], blocks=blocks)


def _text(content: bytes, where: str, words: RecordedFiles) -> _Part:
    """Lines of JSON, or a table with commas, whichever it looks like."""
    text = _decoded(content)
    start = text.lstrip()[:1]
    if not start:
        raise DatasetError(f"There is nothing in {where}.")
    return _ndjson(text, where, words) if start in '{["' else _frame(content, where, ".csv", words)


def _decoded(content: bytes) -> str:
    # some systems begin a text with a byte order mark
    return content.decode("utf-8-sig", errors="replace")


def json_lines(lines: Iterable[str], where: str, *, first: int = 1) -> Iterator[tuple[int, Any]]:
    """The values of lines of JSON, with their numbers.

    Raises:
        DatasetError: a line is none.
    """
    for number, line in enumerate(lines, first):
        if line.strip():
            try:
                yield number, json.loads(line)
            except (ValueError, RecursionError) as error:
                raise DatasetError(f"Line {number} of {where} is not JSON ({error}).") from None


def _ndjson(text: str, where: str, words: RecordedFiles) -> _Part:
    outputs: list[Any] = []
    datasets: list[object] = []
    blocks: list[Hashable] = []
    for number, value in json_lines(text.split("\n"), where):
        output, dataset = part_of_line(value, number, where, words)
        outputs.append(output)
        if dataset is not None:
            datasets.append(dataset)
        if words.blocks is not None:
            if not isinstance(value, dict) or words.blocks not in value:
                raise DatasetError(f"Line {number} of {where} has no {words.blocks!r}, which labels its block.")
            blocks.append(json.dumps(value[words.blocks]))
    if not outputs:
        raise DatasetError(f"There are no outputs in {where}.")
    if datasets and len(datasets) < len(outputs):
        raise DatasetError(f'Some lines of {where} have a "dataset" and some have none; give it on every line.')
    return _Part(_even(outputs), datasets or None, blocks if words.blocks is not None else None)


def part_of_line(value: Any, number: int, where: str, words: RecordedFiles) -> tuple[Any, object]:
    """The output that a line holds, and the name of its dataset, if it has one.

    Raises:
        DatasetError: it has no output.
    """
    dataset = value.get(DATASET) if isinstance(value, dict) else None
    key = words.column or (OUTPUT if isinstance(value, dict) and (OUTPUT in value or dataset is not None) else None)
    if key is None:
        return _plain(value), None
    if not isinstance(value, dict) or key not in value:
        raise DatasetError(f"Line {number} of {where} has no {key!r}.")
    return _plain(value[key]), dataset


def _plain(value: Any) -> Any:
    """Lists as tuples, which are outputs of a function as well."""
    if isinstance(value, list):
        return tuple(map(_plain, value))
    return {key: _plain(part) for key, part in value.items()} if isinstance(value, dict) else value


def _even(outputs: list[Any]) -> Any:
    """Vectors of numbers as an array: JSON of some languages writes 3.0 as 3."""
    lengths = {len(one) if type(one) is tuple else -1 for one in outputs}
    if len(lengths) == 1 and lengths != {-1} and lengths != {0}:
        kinds = {type(part) for one in outputs for part in one}
        if kinds <= {int, float} and float in kinds:
            return np.array(outputs, dtype=np.float64)
    return outputs


def _frame(content: bytes, where: str, suffix: str, words: RecordedFiles) -> _Part:
    """The outputs of a table, one a row."""
    pandas = library("pandas", f"to read {where}")
    try:
        if suffix == ".parquet":
            library("pyarrow", f"to read {where}")
            frame = pandas.read_parquet(io.BytesIO(content))
        else:
            # a blank line is an output that is missing: to leave it out would choose outputs by their values. Only at
            # the end of a file it is none
            content = content.strip(b"\r\n")
            if not content.strip():
                raise DatasetError(f"There is nothing in {where}.")
            header = None if _is_data(content) else "infer"
            # in one piece, so that equal cells have equal types
            frame = pandas.read_csv(io.BytesIO(content), header=header, skip_blank_lines=False, low_memory=False)
    except DpauditError:
        raise
    except Exception as error:
        raise DatasetError(f"Cannot read {where}: {_reason(error)}.") from None
    frame.columns = [str(name) for name in frame.columns]
    for wanted in (words.column, words.blocks):
        if wanted is not None and wanted not in frame.columns:
            raise DatasetError(f"{where} has the columns {', '.join(frame.columns)}, and no {wanted!r}.")
    datasets = frame[DATASET].tolist() if DATASET in frame.columns and words.column != DATASET else None
    blocks = None if words.blocks is None else frame[words.blocks].tolist()
    column = words.column or (OUTPUT if OUTPUT in frame.columns else None)
    labels = {None if datasets is None else DATASET, words.blocks} - {None}
    outputs = frame.drop(columns=list(labels)) if column is None else frame[column]
    if hasattr(outputs, "columns") and not len(outputs.columns):
        raise DatasetError(f"{where} has no column of outputs.")
    return _Part(outputs, datasets, blocks)


def _is_data(content: bytes) -> bool:
    """Whether the first line of a table holds numbers, and so no names."""
    line = content.split(b"\n", 1)[0].decode(errors="replace")
    try:
        return bool([float(cell) for cell in line.split(",")])
    except ValueError:
        return False


def _joined(parts: list[_Part]) -> _Part:
    """The outputs of several files, one after another."""
    datasets = [part.datasets for part in parts]
    if any(one is None for one in datasets) != all(one is None for one in datasets):
        raise DatasetError("Some files of the folder name datasets and some do not; put them in two folders.")
    arrays = [of_frame(part.outputs) if hasattr(part.outputs, "to_numpy") else part.outputs for part in parts]
    same = all(isinstance(one, np.ndarray) and not one.dtype.hasobject and not one.dtype.names for one in arrays)
    shapes = {one.shape[1:] for one in arrays} if same else set()
    if len(shapes) == 1:
        outputs: Any = np.concatenate(arrays)
    else:
        outputs = [row for part in parts for row in _listed(part.outputs)]
    return _Part(
        outputs,
        None if datasets[0] is None else [name for one in datasets for name in one or []],
        None if parts[0].blocks is None else [label for part in parts for label in part.blocks or []],
    )


def _listed(outputs: Any) -> Iterable[Any]:
    if hasattr(outputs, "columns"):
        return list(outputs.to_dict("records"))
    return list(outputs.tolist()) if hasattr(outputs, "tolist") else list(outputs)


def live(words: RecordedFiles) -> Recorded:
    """The outputs of standard input, read as they are needed.

    Raises:
        DatasetError: what does not go with a stream was asked for, or its first line is none.
    """
    if words.paired or words.blocks is not None:
        raise DatasetError("A stream is used as it arrives, without pairs and blocks; record it in a file for these.")
    lines = io.TextIOWrapper(_standard_input(), encoding="utf-8-sig", errors="replace")
    stream = Stream(_arriving(lines, words))
    return Recorded([], [], words.name or RECORDED, shuffled=False, words=words, stream=stream)


def follow(words: RecordedFiles, *, used: Iterable[str] = ()) -> Recorded:
    """The outputs of folders, whose files are read as they come.

    Args:
        words: one folder of files with outputs on both datasets, or two folders with those on D and on D′.
        used: recordings that are evidence already; their files are left out.

    Raises:
        DatasetError: there are no such folders, or what does not go with them was asked for.
        ParameterError: the seconds are negative.
    """
    if words.paired or words.blocks is not None:
        raise DatasetError("Files are followed without pairs and blocks; read them once for these, without {}.", FOLLOW)
    if words.follow is None or not words.follow >= 0:
        raise ParameterError("{} must be at least 0, not {}.", FOLLOW, words.follow)
    for word in words.files:
        if not Path(word).is_dir():
            raise DatasetError("{} waits for new files in folders, and {} is none.", FOLLOW, word)
    if len({os.path.realpath(word) for word in words.files}) < len(words.files):
        raise DatasetError("Both folders are the same one; the outputs on D and on D′ come from two.")
    known = {digest: source for one in used for source, _, digest in [one.rpartition(" ")]}
    read = _Read(words, used=known)
    return _followed(words, read, _coming(words, read))


def _followed(words: RecordedFiles, read: _Read, files: Iterator[str | None]) -> Recorded:
    assert words.follow is not None
    arrivals = (None if file is None else _arrival(file, words, read) for file in files)
    stream = Followed(arrivals, idle=words.follow, shuffled=not words.ordered)
    labels = _labels(*words.files) if len(words.files) == 2 else ("D", "D′")
    return Recorded([], [], words.name or RECORDED, labels, shuffled=not words.ordered, words=words, stream=stream)


def _arrival(file: str, words: RecordedFiles, read: _Read) -> Arrival:
    """The outputs on D and on D′ of one file."""
    if len(words.files) == 1:
        left, right = (part.outputs for part in _split(file, read))
    else:
        which = [Path(word) for word in words.files].index(Path(file).parent)
        outputs = _of_one(_file(file, read), file, which).outputs
        left, right = ([], outputs) if which else (outputs, [])
    return Arrival(left, right, file, read.digests[-1])


def _coming(words: RecordedFiles, read: _Read) -> Iterator[str | None]:
    """The files that come into folders, in the order of their names where several do; None after each round.

    A file is read when it has not changed from one round to the next.
    """
    assert words.follow is not None
    done: dict[str, tuple[int, int]] = {}
    before: dict[str, tuple[int, int]] = {}
    last = time.monotonic()
    while True:
        now = {file: state for word in words.files for file in files_in(word) if (state := _state(file)) is not None}
        for file in done:
            if now.get(file, done[file]) != done[file]:
                raise DatasetError(
                    f"{file} has changed since it was read. Every output counts once: put new outputs into a new file, "
                    "and give it this name when it is complete."
                )
        new = sorted((file for file in now if file not in done), key=lambda file: (Path(file).name, file))
        for file in new:
            if before.get(file) == now[file]:
                done[file] = now[file]
                if not read.skips(file, _digest(file)):
                    yield file
        if new:
            last = time.monotonic()
        elif time.monotonic() - last >= words.follow:
            return
        before = now
        yield None
        time.sleep(BETWEEN_ROUNDS)


def _state(file: str) -> tuple[int, int] | None:
    """What changes with a file's contents; None where it is gone."""
    try:
        state = os.stat(file)
    except OSError:
        return None
    return state.st_size, state.st_mtime_ns


def _arriving(lines: Iterable[str], words: RecordedFiles) -> Iterator[tuple[int, Any]]:
    """The dataset and the output of every line, JSON or CSV with the columns dataset and output."""
    where, header = "standard input", None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        if header is None and line.lstrip()[0] == "{":
            output, dataset = part_of_line(next(json_lines([line], where, first=number))[1], number, where, words)
            yield _which(dataset, number, where), output
            continue
        cells = next(csv.reader([line]))
        if header is None:
            header = cells
            for wanted in (DATASET, words.column or OUTPUT):
                if wanted not in header:
                    raise DatasetError(f"Line {number} of {where} is no JSON object and no header with {wanted!r}.")
        elif len(cells) != len(header):
            raise DatasetError(f"Line {number} of {where} has {len(cells)} columns, and its header has {len(header)}.")
        else:
            row = dict(zip(header, cells, strict=True))
            yield _which(row[DATASET], number, where), _cell(row[words.column or OUTPUT])


def _which(dataset: object, number: int, where: str) -> int:
    if dataset in D_NAMES or dataset in D_PRIME_NAMES:
        return 0 if dataset in D_NAMES else 1
    raise DatasetError(f'Line {number} of {where} has the dataset {dataset!r}; it is "D" or "D\'" (or "Dprime").')


def _cell(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def again(
    words: RecordedFiles, digests: Sequence[str], *, used: Iterable[str] = (), sources: Sequence[str] = ()
) -> Recorded:
    """The recorded outputs of an earlier audit; files that have come into a folder since then are left out.

    Args:
        sources: where folders were followed, the files in the order in which they were read.

    Raises:
        UsageError: they have changed, or are gone.
    """
    if words.follow is not None:
        for source, digest in zip(sources, digests, strict=True):
            try:
                same = _digest(source) == digest
            except DatasetError as error:
                raise UsageError(f"The recorded outputs of this audit cannot be read again: {error}") from None
            if not same:
                raise _changed(source)
        return _followed(words, _Read(words), iter(sources))
    if not digests:
        raise UsageError(
            "This audit was of a stream, read until it was decided, and a stream cannot be read again; to repeat an "
            "audit, record the outputs in a file."
        )
    try:
        recorded = read_recorded(words, used=used, wanted=digests)
    except DatasetError as error:
        raise UsageError(f"The recorded outputs of this audit cannot be read again: {error}") from None
    if list(recorded.digests) != list(digests):
        number = next((i for i, one in enumerate(digests) if [one] != list(recorded.digests[i : i + 1])), len(digests))
        known = number < len(words.files) and len(digests) == len(words.files)
        name = "standard input" if words.files == (STDIN,) else words.files[number] if known else "a file"
        raise _changed(name)
    return recorded


def _changed(name: str) -> UsageError:
    return UsageError(
        f"The recorded outputs are not those of this audit: the SHA-256 of {name} has changed. An audit can only be "
        "repeated on the outputs that it was made from; audit the new ones with `dpaudit samples`."
    )


def _reason(error: Exception) -> str:
    return " ".join(str(error).split())[:_MOST_REASON].rstrip(".") or type(error).__name__
