"""numpy arrays of symbols.

An `Array` is an object array in which views share their memory as numpy's do. Its functions are numpy's, on elements
that the interpreter computes with.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any, ClassVar, TypeAlias

import numpy as np

from dpaudit.proofs.forms import Cell, Condition, Form, PostProcessed, constant, is_symbolic
from dpaudit.proofs.functions import Table
from dpaudit.proofs.paths import CannotMerge
from dpaudit.proofs.results import Unsupported
from dpaudit.proofs.values import Native, concrete, is_plain, type_name

Interpreter: TypeAlias = Any
"""`interpreter.Interpreter`, which imports this module."""


MOST_ELEMENTS = 20_000
"""Elements of an array beyond which it is not followed."""


class Array:
    """An array.

    Args:
        values: an object array of numbers and symbols.
        kind: "float", "int" or "bool", numpy's kind of elements; "unknown" where it may be int or float.
        writable: whether the program made it.
    """

    __dpaudit_array__: ClassVar[bool] = True

    def __init__(self, values: np.ndarray[Any, Any], kind: str, *, writable: bool = True) -> None:
        self.values, self.kind, self.writable = values, kind, writable
        if kind != "bool":
            _settle(values, kind)

    # --- making ---

    @staticmethod
    def of(interpreter: Interpreter, value: Any) -> Array:
        """A value of the program as an array."""
        if isinstance(value, Array):
            return value
        if isinstance(value, np.ndarray) and type(value) is not np.ndarray:
            raise interpreter.refused(f"An array of class {type(value).__name__} is not followed.")
        if isinstance(value, np.ndarray):
            kinds = {"f": "float", "i": "int", "u": "int", "b": "bool"}
            if value.dtype not in (np.float64, np.int64, np.bool_):
                raise interpreter.refused(f"An array of {value.dtype} is not followed.", "Use float64 or int64.")
            if value.size > MOST_ELEMENTS:
                raise interpreter.refused(f"An array has more than {MOST_ELEMENTS:,} elements.")
            if value.ndim > 1 and not value.flags.c_contiguous:
                raise interpreter.refused("An array with another order in memory is not followed.",
                                          "Make it with np.ascontiguousarray.")
            if not np.isfinite(value).all():
                raise interpreter.refused("An array holds a number that is not finite.")
            return Array(_objects(value.tolist(), value.shape), kinds[value.dtype.kind], writable=False)
        return array(interpreter, value)

    def copy(self) -> Array:
        """A copy."""
        return Array(self.values.copy(), self.kind)

    # --- parts ---

    @property
    def elements(self) -> list[Any]:
        """Its elements, and of some that are selected all that may be."""
        return list(self.values.ravel())

    @staticmethod
    def items(interpreter: Interpreter, value: Any) -> Iterator[Any]:
        mine = Array.of(interpreter, value)
        if mine.values.ndim == 0:
            raise interpreter.refused("A loop over a number.")
        for index in range(len(mine.values)):
            yield mine._part(mine.values[index])

    def _part(self, found: Any) -> Any:
        return Array(found, self.kind, writable=self.writable) if isinstance(found, np.ndarray) else scalar(
            found, self.kind
        )

    def length(self, interpreter: Interpreter) -> int:
        if self.values.ndim == 0:
            raise interpreter.refused("The length of a number.")
        return len(self.values)

    def item(self, interpreter: Interpreter, index: Any) -> Any:
        if (selected := self._selected(interpreter, index)) is not None:
            return selected
        place = self._index(interpreter, index)
        if isinstance(place, Form | Cell):
            if self.values.ndim != 1:
                raise interpreter.refused("An item is looked up by a number that depends on the data or on noise.")
            return interpreter.looked_up(list(self.values), place)
        return self._part(interpreter.plainly(self.values.__getitem__, place))

    def _selected(self, interpreter: Interpreter, index: Any) -> Selected | None:
        """self[index] where index is an array of conditions on single records; None where it is not."""
        if not isinstance(index, Array) or index.kind != "bool" or self.values.ndim != 1:
            return None
        mask = list(index.values.ravel())
        if index.values.shape != self.values.shape or not any(isinstance(each, Cell) for each in mask):
            return None
        decided = [each if isinstance(each, Cell) else interpreter.truth(each) for each in mask]
        return Selected(interpreter, self.values.copy(), decided, self.kind)

    def _index(self, interpreter: Interpreter, index: Any) -> Any:
        if isinstance(index, Array | np.ndarray):
            mine = Array.of(interpreter, index)
            if mine.kind == "bool":
                mask = [interpreter.truth(each) for each in mine.values.ravel()]
                return np.array(mask, dtype=bool).reshape(mine.values.shape)
            if mine.kind == "int" and all(not is_symbolic(each) for each in mine.values.ravel()):
                return mine.values.astype(np.int64)
            raise interpreter.refused("Items are looked up by numbers that depend on the data or on noise.")
        if isinstance(index, tuple):
            if self.values.ndim > 1 and any(isinstance(each, list | Array | np.ndarray) for each in index):
                # what it gives has another order in memory, and reshape then copies
                raise interpreter.refused("Several dimensions are indexed by a list or an array.", "Use slices.")
            return tuple(self._index(interpreter, each) for each in index)
        if isinstance(index, list):
            if not all(isinstance(each, int) and not isinstance(each, bool) for each in index):
                raise interpreter.refused("This index of an array is not followed.")
            return index
        if isinstance(index, Condition):
            raise interpreter.refused("A condition is used as an index.")
        if isinstance(index, Cell) and index.is_condition:
            raise interpreter.refused("A condition is used as an index.")
        if isinstance(index, Form | Cell):
            return index
        if isinstance(index, bool) or not (
            index is None or index is Ellipsis or isinstance(index, int | slice | np.integer)
        ) or not concrete(index):
            raise interpreter.refused("This index of an array is not followed.")
        return index

    def store(self, interpreter: Interpreter, index: Any, value: Any) -> None:
        """self[index] = value."""
        if not self.writable:
            raise interpreter.refused("An array from outside the program, or the data, is changed.",
                               "Copy it first, with `.copy()`.")
        place = self._index(interpreter, index)
        if isinstance(place, Form | Cell):
            raise interpreter.refused("A place that depends on the data or on noise is written to.", "Use np.bincount.")
        if interpreter.path.merging:
            if not isinstance(place, int | np.integer) or self.values.ndim != 1:
                raise CannotMerge
            interpreter.undo.append((self.values, place, interpreter.plainly(self.values.__getitem__, place)))
        if isinstance(value, Array | np.ndarray | list | tuple):
            new = Array.of(interpreter, value)
            if new.values.ndim and not isinstance(interpreter.plainly(self.values.__getitem__, place), np.ndarray):
                raise interpreter.refused("The program raises ValueError: an element is set to an array.")
            self._takes(interpreter, new.kind, new.values.ravel())
            held: Any = new.values.copy()
            if self.kind != "bool":
                _settle(held, self.kind)
        else:
            if not isinstance(value, _SCALARS):
                raise interpreter.refused(f"A value of type {type_name(value)} is put into an array.")
            self._takes(interpreter, kind_of(interpreter, value), [value])
            held = _converted(interpreter, value, self.kind)
            if self.kind != "bool" and isinstance(held, Cell) and held.is_condition:
                held = held.as_form()
        try:
            self.values[place] = held
        except (IndexError, ValueError) as error:
            raise interpreter.refused(f"The program raises {type(error).__name__}: {error}") from None

    def _takes(self, interpreter: Interpreter, kind: str, values: Any) -> None:
        if (self.kind == kind and kind != "unknown") or (self.kind == "float" and kind in ("int", "unknown")):
            return
        if self.kind == "int" and kind == "bool":
            return
        raise interpreter.refused(f"numpy would convert a {kind} that is put into an array of kind {self.kind}.",
                           "Make the array with dtype=float.")

    def changed(self, interpreter: Interpreter, operation: type[ast.operator], value: Any) -> None:
        """In-place arithmetic, such as +=."""
        if not self.writable:
            raise interpreter.refused("An array from outside the program, or the data, is changed.",
                               "Copy it first, with `.copy()`.")
        if interpreter.path.merging:
                raise CannotMerge
        result = Array.operated(interpreter, operation, self, value)
        if not isinstance(result, Array) or result.values.shape != self.values.shape:
            raise interpreter.refused("An array is changed in place by one of another shape.")
        self._takes(interpreter, result.kind, result.values.ravel())
        self.values[...] = result.values

    # --- arithmetic ---

    @staticmethod
    def each(interpreter: Interpreter, function: Callable[..., Any], *values: Any, kind: str | None = None) -> Any:
        """A function of the elements of arrays and numbers, with numpy's broadcasting."""
        arrays = [
            Array.of(interpreter, value) if isinstance(value, Array | np.ndarray | list | tuple) else value
            for value in values
        ]
        for value in arrays:
            if not isinstance(value, (Array, *_SCALARS)) or not (
                isinstance(value, Array) or is_symbolic(value) or is_plain(value)
            ):
                raise interpreter.refused(f"A value of type {type_name(value)} is combined with an array.")
            if isinstance(value, Cell):
                kind_of(interpreter, value)
        shapes = [value.values.shape if isinstance(value, Array) else () for value in arrays]
        try:
            shape = np.broadcast_shapes(*shapes)
        except ValueError:
            raise interpreter.refused("The program raises ValueError: arrays of other shapes are combined.") from None
        if int(np.prod(shape)) > MOST_ELEMENTS:
            raise interpreter.refused(f"An array has more than {MOST_ELEMENTS:,} elements.")
        columns = [
            np.broadcast_to(value.values, shape).ravel() if isinstance(value, Array) else [value] * int(np.prod(shape))
            for value in arrays
        ]
        if not any(isinstance(value, Array) for value in arrays):
            result = function(*arrays)
            floats = any(
                isinstance(value, float | np.floating) or (isinstance(value, Form) and not value.is_int)
                for value in arrays
            )
            return float(result) if type(result) is int and floats else result
        interpreter.elementwise += 1
        try:
            results = [function(*parts) for parts in zip(*columns, strict=True)]
        finally:
            interpreter.elementwise -= 1
        if not shape:
            return scalar(results[0], kind or kind_of(interpreter, results[0]))
        made = kind or (join(kind_of(interpreter, result) for result in results) if results else "unknown")
        return Array(_objects(results, shape), made)

    @staticmethod
    def operated(interpreter: Interpreter, operation: type[ast.operator], left: Any, right: Any) -> Any:
        """left (operation) right."""
        if operation is ast.MatMult:
            return dot(interpreter, left, right)
        kinds = [
            value.kind if isinstance(value, Array) else kind_of(interpreter, value)
            for value in (Array.of(interpreter, each) if isinstance(each, Array | np.ndarray | list | tuple) else each
                          for each in (left, right))
        ]
        if operation in (ast.BitAnd, ast.BitOr, ast.BitXor):
            if kinds != ["bool", "bool"]:
                raise interpreter.refused("`&`, `|` or `^` of numbers is not followed.")
            return Array.each(interpreter, lambda x, y: interpreter.bitwise(operation, x, y), left, right, kind="bool")
        if kinds == ["bool", "bool"]:
            if operation is ast.Sub:
                raise interpreter.refused("numpy does not subtract conditions.")
            raise interpreter.refused(
                "Arithmetic of conditions is `or` and `and` in numpy.",
                "Convert with .astype(int).",
            )
        if operation in (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod, ast.Pow):
            kind = join(kinds)
            if kind == "bool" or ("bool" in kinds and operation not in (ast.Add, ast.Sub, ast.Mult)):
                raise interpreter.refused("This operation on conditions is not followed.")
        elif operation is ast.Div:
            kind = "float"
        else:
            raise interpreter.refused("This operation on arrays is not followed.")
        return Array.each(
            interpreter, lambda x, y: interpreter.binary(operation, x, y), left, right, kind=kind
        )

    @staticmethod
    def compared(interpreter: Interpreter, symbol: str, left: Any, right: Any) -> Any:
        """left (symbol) right, element by element."""
        import operator

        plain = {
            ">=": operator.ge, ">": operator.gt, "<=": operator.le, "<": operator.lt, "==": operator.eq,
            "!=": operator.ne,
        }[symbol]

        def one(x: Any, y: Any) -> Any:
            if not is_symbolic(x) and not is_symbolic(y):
                return bool(plain(x, y))
            return interpreter.compare(x, symbol, y)

        return Array.each(interpreter, one, left, right, kind="bool")

    def reduced(self, interpreter: Interpreter, function: Callable[[list[Any]], Any], axis: Any, kind: str) -> Any:
        """A function of all elements, or of those along an axis."""
        if axis is None:
            return scalar(function(list(self.values.ravel())), kind)
        if not isinstance(axis, int) or isinstance(axis, bool) or not -self.values.ndim <= axis < self.values.ndim:
            raise interpreter.refused("This axis is not followed.")
        moved = np.moveaxis(self.values, axis, -1)
        shape = moved.shape[:-1]
        rows = moved.reshape(-1, moved.shape[-1]) if moved.size else moved
        results = [function(list(row)) for row in rows]
        return Array(_objects(results, shape), kind) if shape else scalar(results[0], kind)

    # --- methods ---

    def attribute(self, interpreter: Interpreter, name: str) -> Any:
        match name:
            case "shape":
                return self.values.shape
            case "ndim":
                return self.values.ndim
            case "size":
                return self.values.size
            case "T" if self.values.ndim < 2:
                return self
        if name == "clip":
            return Native("ndarray.clip", lambda min=None, max=None: interpreter.call(np.clip, (self, min, max), {}))
        if name in _AS_FUNCTIONS:
            whole = getattr(np, name)
            return Native(f"ndarray.{name}", lambda *args, **keywords: interpreter.call(whole, (self, *args), keywords))
        if (function := interpreter.library.array_methods.get(name)) is not None:
            return Native(f"ndarray.{name}", lambda *args, **keywords: function(interpreter, self, *args, **keywords))
        raise interpreter.refused(f"The attribute {name} of an array is not followed.")


_AS_FUNCTIONS = ("max", "min", "argmax", "argmin", "std", "var", "prod", "cumprod", "round")
"""Methods that are numpy's functions of the same name."""
_SCALARS = (bool, int, float, Fraction, np.bool_, np.integer, np.floating, Form, Cell, Condition, PostProcessed)


class Selected(Array):
    """The elements of an array at which a condition on a record holds.

    Their number and their sum are followed as such; for anything else, every condition is decided.

    Args:
        interpreter: of the program.
        every: all elements.
        mask: whether each is selected, bools and conditions on records.
        kind: as of an `Array`.
    """

    def __init__(
        self, interpreter: Interpreter, every: np.ndarray[Any, Any], mask: Sequence[bool | Cell], kind: str
    ) -> None:
        self._interpreter, self._every, self._mask = interpreter, every, mask
        self._decided: np.ndarray[Any, Any] | None = None
        self.kind, self.writable = kind, True

    @property
    def values(self) -> np.ndarray[Any, Any]:  # type: ignore[override]
        """The selected elements."""
        if self._decided is None:
            self._decided = self._every[[self._interpreter.truth(each) for each in self._mask]]
        return self._decided

    @property
    def elements(self) -> list[Any]:
        return list(self._every)

    def length(self, interpreter: Interpreter) -> Any:
        if self._decided is not None:
            return len(self._decided)
        total: Any = 0
        for each in self._mask:
            counted = interpreter.where(each, 1, 0) if isinstance(each, Cell) else int(each)
            total = interpreter.binary(ast.Add, total, counted)
        return total

    def or_zero(self, zero: float) -> list[Any] | None:
        """Every element, or zero where it is not selected: their sum is that of those selected; None if decided."""
        if self._decided is not None:
            return None
        try:
            return [
                self._interpreter.where(each, value, zero) if isinstance(each, Cell) else (value if each else zero)
                for value, each in zip(self._every, self._mask, strict=True)
            ]
        except CannotMerge:
            return None

    def attribute(self, interpreter: Interpreter, name: str) -> Any:
        return self.length(interpreter) if name == "size" else super().attribute(interpreter, name)


def _objects(values: list[Any], shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    made = np.empty(len(values) if len(shape) == 1 else int(np.prod(shape)), dtype=object)
    flat: list[Any] = values
    if (len(shape) > 1 and len(values) != made.size) or (len(shape) > 1 and values and isinstance(values[0], list)):
        flat = list(_flattened(values))
    if shape == () and not isinstance(values, list):
        flat = [values]
    for index, value in enumerate(flat):
        made[index] = value
    return made.reshape(shape)


def _flattened(values: Any) -> Iterator[Any]:
    for value in values:
        if isinstance(value, list | tuple):
            yield from _flattened(value)
        else:
            yield value


def kind_of(interpreter: Interpreter, value: Any) -> str:
    """numpy's kind of a number."""
    if not is_symbolic(value) and not is_plain(value):
        raise interpreter.refused(f"A value of type {type_name(value)} is put into an array.")
    if isinstance(value, PostProcessed):
        if value.made == "text":
            raise interpreter.refused("Text that depends on noise is put into an array.")
        return {"truth": "bool", "int": "int", "float": "float"}.get(value.made, "unknown")
    if isinstance(value, bool | np.bool_ | Condition):
        return "bool"
    if isinstance(value, int | np.integer):
        if not -2**63 <= value < 2**63:
            raise interpreter.refused("A whole number of more than 64 bits is put into an array.")
        return "int"
    if isinstance(value, Cell):
        if value.is_condition:
            return "bool"
        if isinstance(value.function, Table):
            kinds = {kind_of(interpreter, each) for each in value.function.values}
            if len(kinds) > 1 and "bool" in kinds:
                raise interpreter.refused("Records of several types are put into an array.", "Give a dtype.")
            # numpy's kind depends on the records
            return kinds.pop() if len(kinds) == 1 else "unknown"
        return "float"
    if isinstance(value, Form):
        # whole numbers may be ints or floats, and an array of ints would truncate what is stored in it
        noise = [draw for index in value.draws if (draw := interpreter.path.draws[index]).kind != "maximum"]
        if any(not draw.is_whole for draw in noise):
            return "float"
        if value.is_mixed:
            return "unknown"
        whole = interpreter.is_whole(Form(value.constant, value.records))
        # answers are numbers of any type: counts may be ints
        of_answers = any(not getattr(function, "bounded", False) for function in value.records.values())
        return "unknown" if whole or value.has_noise or of_answers or interpreter.whole_answers else "float"
    if isinstance(value, Fraction):
        raise interpreter.refused("A Fraction is put into an array, which then holds objects.", "Use a float.")
    if isinstance(value, float | np.floating):
        return "float"
    raise interpreter.refused(f"A value of type {type_name(value)} is put into an array.")


def scalar(value: Any, kind: str) -> Any:
    """An element, as numpy gives it: its numbers are not Python's."""
    if kind == "bool" and isinstance(value, bool):
        return np.bool_(value)
    if kind == "int" and type(value) is int:
        return np.int64(value)
    if kind == "float" and type(value) in (int, float):
        return np.float64(value)
    if kind == "unknown" and type(value) in (int, float):
        return Form(Fraction(value), is_mixed=True)
    return value


def join(kinds: Any) -> str:
    found = set(kinds)
    return next((kind for kind in ("float", "unknown", "int", "bool") if kind in found), "float")


def array(interpreter: Interpreter, value: Any, kind: str | None = None) -> Array:
    """np.array(value)."""
    if isinstance(value, Array | np.ndarray):
        mine = Array.of(interpreter, value)
        made = mine.copy()
        made.writable = True
        return convert(interpreter, made, kind)
    if isinstance(value, _SCALARS):
        held = np.empty((), dtype=object)
        held[()] = value
        return convert(interpreter, Array(held, kind_of(interpreter, value)), kind)
    if type(value) not in (list, tuple, range):
        raise interpreter.refused(f"An array of a {type_name(value)} is not followed.")
    parts = list(value)
    if len(parts) > MOST_ELEMENTS:
        raise interpreter.refused(f"An array has more than {MOST_ELEMENTS:,} elements.")
    if any(isinstance(each, list | tuple | Array | np.ndarray) for each in parts):
        rows = [array(interpreter, each) for each in parts]
        if len({row.values.shape for row in rows}) != 1:
            raise interpreter.refused("An array of parts of other lengths is not followed.")
        made = Array(np.stack([row.values for row in rows]), join(row.kind for row in rows))
    else:
        made = Array(_objects(parts, (len(parts),)), join(kind_of(interpreter, each) for each in parts))
    return convert(interpreter, made, kind)


def convert(interpreter: Interpreter, value: Array, kind: str | None) -> Array:
    """The array with elements of another kind; a new one."""
    if kind is None:
        if value.kind == "float":
            return Array(_each_of(value.values, lambda each: _converted(interpreter, each, "float")), "float")
        return value
    return Array(_each_of(value.values, lambda each: _cast(interpreter, each, value.kind, kind)), kind)


def _each_of(values: np.ndarray[Any, Any], function: Callable[[Any], Any]) -> np.ndarray[Any, Any]:
    made = np.empty(values.shape, dtype=object)
    flat, out = values.ravel(), made.ravel()
    results = [function(each) for each in flat]
    for index, result in enumerate(results):
        out[index] = result
    return out.reshape(values.shape)


def _settle(values: np.ndarray[Any, Any], kind: str) -> None:
    """Makes elements what numpy holds in an array of numbers: an int among floats is a float, True among ints is 1."""
    for place, value in enumerate(values.flat):
        if kind == "unknown" and (isinstance(value, Form | int | float | np.integer | np.floating) or (
            isinstance(value, Cell) and not value.is_condition
        )):
            # the type of one element depends on all others
            form = value.as_form() if isinstance(value, Cell) else value if isinstance(value, Form) else constant(value)
            values.flat[place] = value = form.typed(is_mixed=True)
        if isinstance(value, Condition) or (isinstance(value, PostProcessed) and value.made == "truth"):
            raise Unsupported("A condition is put among numbers in an array.", "Write int(...) or float(...).")
        if isinstance(value, Cell) and value.is_condition:
            values.flat[place] = value.as_form()
        elif kind == "float" and isinstance(value, bool | int | np.bool_ | np.integer):
            values.flat[place] = float(value)
        elif isinstance(value, bool | np.bool_):
            values.flat[place] = int(value)
        elif kind != "float" and isinstance(value, Form | Cell | int | np.integer):
            _check_width(value.as_form() if isinstance(value, Cell) else value)


def _check_width(value: Form | int | np.integer[Any]) -> None:
    low, high = (value, value) if not isinstance(value, Form) else (
        (value.constant, value.constant) if value.has_noise else value.extremes()
    )
    if any(bound is not None and not -2**63 <= bound < 2**63 for bound in (low, high)):
        raise Unsupported("A whole number in an array has more than 64 bits.")


def _converted(interpreter: Interpreter, value: Any, kind: str) -> Any:
    """A number that numpy stores in an array of a kind that holds it."""
    if kind == "float" and not is_symbolic(value):
        return float(value)
    if kind == "float":
        return value if isinstance(value, PostProcessed) else interpreter.number(value).typed()
    if kind == "int" and isinstance(value, bool):
        return int(value)
    return value


def _cast(interpreter: Interpreter, value: Any, before: str, kind: str) -> Any:
    if kind == before or kind == "float":
        return _converted(interpreter, value, kind)
    if kind == "int":
        if before == "bool":
            return interpreter.number(value) if is_symbolic(value) else int(value)
        return interpreter.library.truncated(interpreter, value)
    if isinstance(value, Form | Cell | PostProcessed):
        return interpreter.compare(value, "!=", 0)
    return bool(value)


def dot(interpreter: Interpreter, left: Any, right: Any) -> Any:
    """left @ right, for vectors and matrices."""
    one, other = Array.of(interpreter, left), Array.of(interpreter, right)
    x, y = one.values, other.values
    if x.ndim == 0 or y.ndim == 0 or x.ndim > 2 or y.ndim > 2 or "bool" in (one.kind, other.kind):
        raise interpreter.refused("This product of matrices is not followed.")
    if x.shape[-1] != y.shape[0]:
        raise interpreter.refused("The program raises ValueError: matrices of other shapes are multiplied.")
    kind = join((one.kind, other.kind))

    def scalar(row: Any, column: Any) -> Any:
        total: Any = 0.0 if kind == "float" else 0
        for a, b in zip(row, column, strict=True):
            total = interpreter.binary(ast.Add, total, interpreter.binary(ast.Mult, a, b))
        return total

    rows = x[None, :] if x.ndim == 1 else x
    columns = y[:, None] if y.ndim == 1 else y
    made = np.empty((rows.shape[0], columns.shape[1]), dtype=object)
    for i in range(rows.shape[0]):
        for j in range(columns.shape[1]):
            made[i, j] = scalar(rows[i], columns[:, j])
    shape = (x.shape[:-1] if x.ndim == 2 else ()) + (y.shape[1:] if y.ndim == 2 else ())
    return made[0, 0] if not shape else Array(made.reshape(shape), kind)
