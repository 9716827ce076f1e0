"""One key for what a mechanism computes: equal in every process that has the same code, and only there.

Evidence about a function is evidence about all that its output depends on. The key is a hash of

- the compiled code of the function and of all functions, classes (with their bases) and modules of the same project
  that it refers to, directly or through others. Compiled code holds neither comments nor line numbers, and exists also
  for what was typed into a notebook.
- the values that they hold: closures, defaults, attributes, fields, the globals that the code names. Sets are ordered,
  numpy arrays are taken by their bytes, other objects by what pickle would store of them.
- the libraries that they refer to, by version and by the hashes of their Python files in the installation's RECORD;
  of dpaudit itself the files that draw; and the version of Python.

Names of files and folders, ids and hash seeds have no part in it. What is neither code nor such a value (a lock, an
open file, a pointer of a compiled library, `eval`) has no key: then evidence on the mechanism cannot
accumulate across runs. What a function reads while it runs, from files or a network, cannot be seen here.
"""

from __future__ import annotations

import builtins
import contextlib
import dataclasses
import dis
import functools
import hashlib
import importlib
import importlib.metadata
import importlib.util
import json
import os
import platform
import sys
import sysconfig
import types
import warnings
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from itertools import takewhile
from pathlib import Path
from typing import Any, Generic, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpaudit.subjects.command import Command

MOST_OBJECTS = 200_000
"""Objects that one key may depend on."""
_DEEPEST_SET = 20
_UNKNOWABLE = [
    (eval, "eval"), (exec, "exec"), (compile, "compile"), (__import__, "__import__"), (globals, "globals"),
    (open, "open"), (input, "input"), (importlib.import_module, "importlib.import_module"),
    (os.environ, "os.environ"), (os.getenv, "os.getenv"),
]
"""What makes the code that runs, or its data, depend on what is not in the code."""
_OF_PYTHON = frozenset({
    "__dict__", "__weakref__", "__module__", "__qualname__", "__doc__", "__annotations__", "__annotate__",
    "__annotate_func__", "__annotations_cache__", "__dataclass_params__", "__match_args__", "__abstractmethods__",
    "__static_attributes__", "__firstlineno__", "__orig_bases__", "__parameters__", "__type_params__", "_abc_impl",
    "__slotnames__",  # kept by copyreg in a class once an object of it has been pickled
})
"""Entries of a class that Python makes, and that say nothing of what it computes."""
_OF_ENUM = frozenset({
    "_member_map_", "_member_names_", "_value2member_map_", "_hashable_values_", "_unhashable_values_",
    "_unhashable_values_map_", "_value_repr_", "_generate_next_value_", "_use_args_", "_new_member_",
})
_CONTENTS = (dict, list, set, frozenset, tuple, str, bytes, int, float, complex)
_DESCRIPTORS = (
    types.MemberDescriptorType, types.GetSetDescriptorType, types.WrapperDescriptorType, types.MethodDescriptorType,
    types.ClassMethodDescriptorType, types.MethodWrapperType,
)


class NoKeyError(Exception):
    """What an object computes cannot be known; the message says why."""


def code_key(subject: object) -> str:
    """A hash, as hexadecimal digits, of all that an object's results depend on.

    Args:
        subject: a function, a mechanism or any other callable.

    Raises:
        NoKeyError: it depends on something that has no key.
    """
    walk = _Walk(set(), 0)
    # an import inside a function may print or warn, and an object may do anything when its attributes are read
    with warnings.catch_warnings(), contextlib.redirect_stdout(sys.stderr):
        warnings.simplefilter("ignore")
        try:
            digest = walk.digest(subject)
        except NoKeyError:
            raise
        except RecursionError:
            raise NoKeyError("it holds values that are nested too deeply") from None
        except Exception as error:
            raise NoKeyError(f"looking through what it holds raised {type(error).__name__}") from None
    versions = [_version(name) for name in sorted({*walk.libraries, "numpy", "dpaudit"})]
    python = [platform.python_implementation(), *sys.version_info[:2]]
    return hashlib.sha256(json.dumps([digest, versions, python]).encode()).hexdigest()


@functools.lru_cache(maxsize=1)
def own_code() -> str:
    """A hash of dpaudit's own files: all of them make a verdict."""
    folder = Path(__file__).parent.parent
    files = sorted(folder.rglob("*.py"))
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in files)).hexdigest()


def own_version() -> str:
    """A hash of the parts of dpaudit that draw samples."""
    return str(_version("dpaudit")[1])


class _Walk:
    """One pass over everything that an object refers to; objects are numbered as they are met.

    Args:
        libraries: of which something was met, is added to.
        depth: in how many sets this is.
    """

    def __init__(self, libraries: set[str], depth: int) -> None:
        self.libraries = libraries
        self._depth = depth
        self._places: dict[int, int] = {}
        # also keeps them alive, so that no two have one id
        self._objects: list[object] = []

    def digest(self, value: object) -> str:
        """A hash of a value and of everything that it refers to."""
        digest = hashlib.sha256(json.dumps(self._token(value)).encode())
        done = 0
        while done < len(self._objects):
            digest.update(json.dumps(self._described(self._objects[done])).encode())
            done += 1
            if done > MOST_OBJECTS:
                raise NoKeyError(f"it depends on more than {MOST_OBJECTS:,} objects")
        return digest.hexdigest()

    def _token(self, value: object) -> object:
        """A value without an identity in full, and of anything else its number."""
        if value is None or value is Ellipsis or value is NotImplemented or type(value) is bool:
            return repr(value)
        if type(value) is int:
            return ["int", hex(value)]
        if type(value) is str:
            return ["str", value]
        if type(value) is float:
            return ["float", value.hex()]
        if type(value) is complex:
            return ["complex", value.real.hex(), value.imag.hex()]
        if type(value) is bytes:
            return ["bytes", value.hex()]
        if type(value) is tuple:
            return ["tuple", *map(self._token, value)]
        if type(value) is set or type(value) is frozenset:
            return [type(value).__name__, *self._unordered(value)]
        if type(value) is types.CodeType:
            return self._code(value)
        if isinstance(value, np.generic) and not value.dtype.hasobject and type(value).__module__ == "numpy":
            self.libraries.add("numpy")
            return ["scalar", value.dtype.str, value.tobytes().hex()]
        if type(value) is types.CellType:
            try:
                return ["cell", self._token(value.cell_contents)]
            except ValueError:
                return ["cell"]
        place = self._places.setdefault(id(value), len(self._objects))
        if place == len(self._objects):
            self._objects.append(value)
        return place

    def _unordered(self, values: Iterable[object]) -> list[str]:
        """Hashes of the members of a set, each by itself, in an order that no hash seed decides."""
        if self._depth == _DEEPEST_SET:
            raise NoKeyError("it holds sets that are nested too deeply")
        return sorted(_Walk(self.libraries, self._depth + 1).digest(value) for value in values)

    def _code(self, code: types.CodeType) -> list[object]:
        """Compiled code without names of files and line numbers."""
        return [
            "code", code.co_code.hex(), list(map(self._token, code.co_consts)), list(code.co_names),
            list(code.co_varnames), list(code.co_freevars), list(code.co_cellvars), code.co_argcount,
            code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags, code.co_exceptiontable.hex(),
        ]

    def _described(self, value: object) -> object:
        """What one object is, with tokens for what it refers to."""
        for unknowable, name in _UNKNOWABLE:
            if value is unknowable:
                raise NoKeyError(f"it uses {name}")
        kind = type(value)
        if isinstance(value, Command):
            raise NoKeyError(f"it runs another program, {value.words[0]}")
        if isinstance(value, types.FunctionType):
            return self._function(value)
        if isinstance(value, type):
            return self._class(value)
        if isinstance(value, types.ModuleType):
            return self._module(value)
        if isinstance(value, types.MethodType):
            return ["method", self._token(value.__func__), self._token(value.__self__)]
        if isinstance(value, types.BuiltinFunctionType):
            return self._builtin(value)
        if isinstance(value, _DESCRIPTORS):
            return ["descriptor", value.__name__, self._token(getattr(value, "__objclass__", None))]
        if isinstance(value, np.ufunc):
            return self._ufunc(value)
        if type(value) is functools.partial:
            return ["partial", *map(self._token, (value.func, value.args, value.keywords, vars(value)))]
        if type(value) is property:
            return ["property", *map(self._token, (value.fget, value.fset, value.fdel))]
        if type(value) is staticmethod or type(value) is classmethod:
            return [type(value).__name__, self._token(value.__func__)]
        if type(value) is functools.cached_property:
            return ["cached", self._token(value.func)]
        if type(value) is functools._lru_cache_wrapper:
            return ["cached", self._token(value.__wrapped__), self._token(value.cache_parameters())]
        if type(value) is list:
            return ["list", *map(self._token, value)]
        if type(value) is dict or type(value) is types.MappingProxyType:
            return self._mapping(value)
        if type(value) is np.ndarray:
            return self._array(value)
        if isinstance(value, Enum):
            return ["member", self._token(kind), value.name]
        if kind is object:
            return "object"
        return self._reduced(value) if self._library(kind.__module__) else self._instance(value)

    # --- code ---

    def _function(self, f: types.FunctionType) -> list[object]:
        held = [self._token(part) for part in (f.__defaults__, f.__kwdefaults__, f.__closure__)]
        extra = self._token(dict(f.__dict__)) if f.__dict__ else None
        module = f.__globals__.get("__name__")
        if self._library(module):
            if _attribute(sys.modules.get(str(module)), f.__qualname__) is f:
                return ["of a library", module, f.__qualname__]
            # a decorator's, for instance, around a function of the project
            return ["of a library", module, f.__qualname__, held, extra]
        used = [[list(names), self._token(value)] for names, value in _referred(f.__code__, f.__globals__)]
        return ["function", self._code(f.__code__), held, extra, used]

    def _class(self, cls: type) -> list[object]:
        if self._library(cls.__module__) and _named(cls):
            return ["of a library", cls.__module__, cls.__qualname__]
        entries: list[object] = []
        skipped = _OF_PYTHON | _OF_ENUM if issubclass(cls, Enum) else _OF_PYTHON
        for name, entry in sorted(vars(cls).items()):
            if name in skipped or (issubclass(cls, Enum) and isinstance(entry, cls)):
                continue
            if name == "__dataclass_fields__":
                entries.append([name, [
                    [f.name, self._token(f.default), self._token(f.default_factory), f.init, f.compare]
                    for f in dataclasses.fields(cls)
                ]])
            elif not _generated(cls, entry):
                entries.append([name, self._token(entry)])
        if issubclass(cls, Enum):
            entries.append([[name, self._token(member.value)] for name, member in cls.__members__.items()])
        return ["class", cls.__name__, self._token(type(cls)), [self._token(base) for base in cls.__bases__], entries]

    def _module(self, module: types.ModuleType) -> list[object]:
        """A module of the project of which code uses more than single names."""
        if self._library(module.__name__):
            return ["of a library", module.__name__]
        values = sorted((name, value) for name, value in vars(module).items() if not name.startswith("__"))
        return ["module", [[name, self._token(value)] for name, value in values]]

    def _builtin(self, f: types.BuiltinFunctionType) -> list[object]:
        owner = f.__self__
        if owner is None or isinstance(owner, types.ModuleType):
            self._library(f.__module__)
            return ["builtin", f.__module__, f.__qualname__]
        return ["builtin", f.__name__, self._token(owner)]

    def _ufunc(self, f: np.ufunc) -> list[object]:
        for module in ("numpy", "scipy.special"):
            if getattr(sys.modules.get(module), f.__name__, None) is f:
                self._library(module)
                return ["ufunc", module, f.__name__]
        raise NoKeyError(f"it uses the compiled function {f.__name__}")

    def _library(self, module: object) -> bool:
        """Whether a module is of Python or of an installed library, which is noted."""
        name = _distribution(module) if isinstance(module, str) else None
        if name:
            self.libraries.add(name)
        return name is not None

    # --- values ---

    def _mapping(self, value: Mapping[object, object]) -> list[object]:
        return ["dict", *([self._token(key), self._token(part)] for key, part in value.items())]

    def _array(self, value: NDArray[np.generic]) -> list[object]:
        self.libraries.add("numpy")
        if value.dtype.hasobject:
            return ["array", "object", list(value.shape), *(self._token(part) for part in value.ravel().tolist())]
        content = hashlib.sha256(value.tobytes()).hexdigest()
        return ["array", str(value.dtype.descr), list(value.shape), content]

    def _instance(self, value: Any) -> list[object]:
        """An object of the project's own class: the class, its attributes, and what it contains."""
        cls = type(value)
        lazy = {
            name for base in cls.__mro__ for name, entry in vars(base).items()
            if isinstance(entry, functools.cached_property)
        }
        held = {name: part for name, part in getattr(value, "__dict__", {}).items() if name not in lazy}
        for base in cls.__mro__:
            slots = vars(base).get("__slots__", ())
            for name in (slots,) if isinstance(slots, str) else slots:
                own = f"_{base.__name__.lstrip('_')}{name}" if name.startswith("__") and name[-2:] != "__" else name
                if name not in ("__dict__", "__weakref__") and hasattr(value, own):
                    held[own] = getattr(value, own)
        described = ["object", self._token(cls), [[name, self._token(part)] for name, part in sorted(held.items())]]
        for base in cls.__mro__:
            if base in _CONTENTS:
                # of an ordinary type, so that nothing of the subclass takes part
                return [*described, self._token(base(value)) if base is not dict else self._mapping(dict(value))]
            if base is np.ndarray:
                return [*described, self._array(np.asarray(value))]
            if _compiled(base):
                return [*described, self._reduced(value)]
        return described

    def _reduced(self, value: object) -> list[object]:
        """An object of a library: as much as pickle would store."""
        cls = type(value)
        try:
            parts = value.__reduce_ex__(4)
        except Exception:
            kind = f"{cls.__module__}.{cls.__qualname__}"
            raise NoKeyError(f"it holds an object of {kind}, whose content is not known") from None
        if isinstance(parts, str):
            return ["named", cls.__module__, parts]
        listed = [list(part) if isinstance(part, Iterator) else part for part in parts]
        # pickle's own helper comes first, and the class in its arguments
        return ["object", *map(self._token, listed)]


def _referred(code: types.CodeType, scope: dict[str, object]) -> Iterator[tuple[tuple[str, ...], object]]:
    """The globals that code names, with the names that lead to them, and the modules that it imports."""
    for use in _uses(code):
        if isinstance(use, _Import):
            yield from _imported(use.name, use.level, use.wanted, scope)
            continue
        if use.name in scope:
            referred = scope[use.name]
        elif hasattr(builtins, use.name):
            referred = getattr(builtins, use.name)
        else:
            # not bound yet, or a local name of a class's body
            yield (use.name,), None
            continue
        names = [use.name]
        for name in use.attributes:
            # of a module only what is used
            if not isinstance(referred, types.ModuleType) or not hasattr(referred, name):
                break
            referred = getattr(referred, name)
            names.append(name)
        yield tuple(names), referred
    for part in code.co_consts:
        if isinstance(part, types.CodeType):
            yield from _referred(part, scope)


class _Global(NamedTuple):
    """A global that code names, and the attributes that it reads of it next: of `np.random.normal` two."""

    name: str
    attributes: tuple[str, ...]


class _Import(NamedTuple):
    """An import statement inside a function."""

    name: str
    level: Any
    wanted: Any


@functools.lru_cache(maxsize=10_000)  # the audits of one command mostly share their code
def _uses(code: types.CodeType) -> tuple[_Global | _Import, ...]:
    """The globals that code names and the modules that it imports, without those of functions inside it."""
    steps = list(dis.get_instructions(code))
    uses: list[_Global | _Import] = []
    for at, step in enumerate(steps):
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"):
            read = takewhile(lambda later: later.opname in ("LOAD_ATTR", "LOAD_METHOD"), steps[at + 1 :])
            uses.append(_Global(step.argval, tuple(later.argval for later in read)))
        elif step.opname == "IMPORT_NAME":
            uses.append(_Import(step.argval, steps[at - 2].argval, steps[at - 1].argval or ()))
    return tuple(uses)


def _imported(name: str, level: Any, wanted: Any, scope: dict[str, Any]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """What an import statement inside a function brings; nothing where it fails."""
    try:
        full = importlib.util.resolve_name("." * int(level) + name, scope.get("__package__")) if level else name
        module = importlib.import_module(full)
    except Exception:
        yield (name,), None
        return
    if not wanted:
        yield (name,), module
    for part in wanted:
        if hasattr(module, part):
            yield (name, part), getattr(module, part)
        else:
            yield from _imported(f"{full}.{part}", 0, (), scope)


def _generated(cls: type, entry: object) -> bool:
    """Whether a method was made by `dataclasses`, from the fields."""
    return (
        dataclasses.is_dataclass(cls) and isinstance(entry, types.FunctionType)
        and entry.__code__.co_filename == "<string>"
    )


def _compiled(cls: type) -> bool:
    """Whether a class may keep what no attribute shows."""
    if cls in (object, Generic) or "__slots__" in vars(cls):
        return False
    kinds = tuple(map(type, vars(cls).values()))
    compiled = {types.WrapperDescriptorType, types.MethodDescriptorType, types.BuiltinFunctionType}
    return types.FunctionType not in kinds and not compiled.isdisjoint(kinds)


def _named(cls: type) -> bool:
    """Whether a class is found where it says that it is."""
    return _attribute(sys.modules.get(cls.__module__), cls.__qualname__) is cls


def _attribute(module: object, path: str) -> object:
    return functools.reduce(lambda owner, name: getattr(owner, name, None), path.split("."), module)


# --- libraries ---


def is_of_library(module: str) -> bool:
    """Whether a module is of Python, of an installed library or of dpaudit, and not of the user's project."""
    return module.partition(".")[0] in _OWN or _distribution(module) is not None


_OWN = frozenset({"dpaudit", "dpaudit_algorithms", "dpaudit_audits"})


@functools.lru_cache(maxsize=4096)
def _distribution(module: str) -> str | None:
    """The library that a module belongs to: "" for Python's own, None for one of the project."""
    top = module.partition(".")[0]
    if top == "dpaudit":
        return top
    if top in ("__main__", "__mp_main__"):
        return None
    loaded = sys.modules.get(module) or sys.modules.get(top)
    file = getattr(loaded, "__file__", None)
    if file is None:
        return "" if top in sys.stdlib_module_names else None
    path = Path(file).resolve()
    if {"site-packages", "dist-packages"} & set(path.parts):
        return top if _installed(top) else None
    python = {Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib")}
    return "" if top in sys.stdlib_module_names and python & set(path.parents) else None


@functools.lru_cache(maxsize=1024)
def _installed(top: str) -> tuple[importlib.metadata.Distribution, ...]:
    """The distributions that a top-level module may come from."""
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        # the quick way, for the many whose name is that of their module
        distribution = importlib.metadata.distribution(top)
        record = f"\n{distribution.read_text('RECORD')}"
        if f"\n{top}/" in record or f"\n{top}." in record:
            return (distribution,)
    names = sorted(set(importlib.metadata.packages_distributions().get(top, ())))
    return tuple(map(importlib.metadata.distribution, names))


@functools.lru_cache(maxsize=1024)
def _version(top: str) -> list[object]:
    """A library's distributions, their versions and their Python files."""
    if top == "dpaudit":
        folder = Path(__file__).parent.parent
        drawing = ("stats", "outputs", "language", "interpret", "subjects/adapters")
        files = sorted(path for part in drawing for path in (folder / part).rglob("*.py"))
        return [top, hashlib.sha256(b"\0".join(path.read_bytes() for path in files)).hexdigest()]
    described: list[object] = [top]
    for one in _installed(top):
        record = one.read_text("RECORD") or ""
        files_listed = sorted(line for line in record.splitlines() if ".py,sha256=" in line)
        files_digest = hashlib.sha256("\n".join(files_listed).encode()).hexdigest()
        described.append([one.metadata["Name"], one.version, files_digest])
    return described
