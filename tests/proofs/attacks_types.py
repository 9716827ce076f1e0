# ruff: noqa
"""Programs whose values have other types, another width or hidden state for some records: none has the claimed ε = 1.

The records that leak are often in a narrow band, which the replay does not find.
"""

import functools
import math
import types

import numpy as np

from dpaudit.proofs.scopes import Domain, Records, Stream

# === A. int-or-float type of a value joined by `where`/max/sum-if depends on the data, interpreter takes "float" ===

# A1. np.array([0]) is int64 when data<=.5, so a[0]=0.7 truncates to 0. 0 vs 70.
# Cause: arrays.kind_of(Form): "float" for a bounded record function, though Interpreter.where merged a Form with int 0.
def a1_where_int_or_float(data, rng):
    v = data[0] if data[0] > 0.5 else 0
    a = np.array([v])
    a[0] = 0.7
    return a[0] * 100 + rng.laplace(0, 1)

# A2. same by max(…, 0): int 0 or float (library._merged_extreme). Records(1,0,1) eps=1
def a2_max_int_or_float(data, rng):
    v = max(data[0] - 0.5, 0)
    a = np.array([v])
    a[0] = 0.7
    return a[0] * 100 + rng.laplace(0, 1)

# A3. same by sum(x for … if …), int 0 of an empty sum (Interpreter.counted). Records(1,0,1) eps=1
def a3_sum_if_int_or_float(data, rng):
    v = sum(x for x in data if x > 0.5)
    a = np.array([v])
    a[0] = 0.7
    return a[0] * 100 + rng.laplace(0, 1)

# A4. `//` of such a value whose quotient is constant becomes a plain int in Interpreter.floor: "0" vs "0.0".
# Records(1,0,1) eps=1 Output tells data>.5 surely.
def a4_floor_to_text(data, rng):
    v = data[0] if data[0] > 0.5 else 0
    return f"{v // 2}"

# A5. same, as index: TypeError exactly for data>.5. Records(1,0,1) eps=1
def a5_floor_as_index(data, rng):
    v = max(data[0] - 0.5, 0)
    L = [1.0, 2.0]
    return L[v // 2] + rng.laplace(0, 1)

# A6. : 0*x is 0 or 0.0; Cell.as_form -> of_function drops is_mixed of a constant
# table, so bincount takes the array as of ints: TypeError exactly for x=1.5. forms.of_function / Cell.as_form.
def a6_mixed_lost_by_constant(data, rng):
    z = 0 * data[0]
    y = int(data[1])
    return np.bincount(np.array([z + y]), minlength=2)[0] * 0 + rng.laplace(0, 1)

# === B. int64 wrap-around ===
# B1. : a + (2**63-1) wraps for 1. Array.operated never checks the range of results.
def b1_wrap_add(data, rng):
    v = np.array(data) + (2**63 - 1)
    return v.sum() / 2**60 + rng.laplace(0, 1)

# B2. (real: 0 -> 0, 1 -> -2**63 /2**63 ; scaled up it is unbounded)
def b2_wrap_multiply(data, rng):
    n = data.astype(int) * 2**32
    n = n * 2**31
    return n[0] / 2**63 + rng.laplace(0, 1)

# B3. Domain(1,(0,1)): deterministic output tells the record.
def b3_wrap_compared(data, rng):
    v = np.array(data) + (2**63 - 1)
    return (v.max() > 0) * 1.0

# === C. aliasing ===
# C1. : kind "unknown" array (really float64): np.asarray(a, dtype=float) is a itself,
# interpreter copies (library._np_asarray: kind in (None, value.kind)).
def c1_asarray_alias(data, rng):
    a = np.array([float(int(data[0])) * 0])
    b = np.asarray(a, dtype=float)
    b[0] = data[0] * 100
    return a[0] + rng.laplace(0, 1)


# === Same causes (double): the leaking records are in a narrow band (.50001,.50002) that only the
# function of the record knows (its cuts are in no row, so replay.special_points never tries them). All Records(1,0,1), eps=1. ===

def a1r(data, rng):  # 0 vs 70 in the mean: array is int64 in the band
    v = 0 if 0.50001 < data[0] < 0.50002 else data[0]
    a = np.array([v])
    a[0] = 0.7
    return a[0] * 100 + rng.laplace(0, 1)

def a3r(data, rng):  #: empty sum is int 0 in the band
    v = sum(x for x in data if not 0.50001 < x < 0.50002)
    a = np.array([v])
    a[0] = 0.7
    return a[0] * 100 + rng.laplace(0, 1)

def a4r(data, rng):  #: "0.0" in the band, "0" elsewhere
    v = data[0] if 0.50001 < data[0] < 0.50002 else 0
    return f"{v // 2}"

def a5r(data, rng):  #: TypeError in the band
    v = data[0] if 0.50001 < data[0] < 0.50002 else 0
    L = [1.0, 2.0]
    return L[v // 2] + rng.laplace(0, 1)

def b1r(data, rng):  #: int64 wraps in the band: 0.0 vs 1.0, no noise at all
    n = 1 if 0.50001 < data[0] < 0.50002 else 0
    v = np.array([n]) + (2**63 - 1)
    return (v.max() > 0) * 1.0

def b2r(data, rng):  #: as b1r by astype(int)
    n = (data + 0.49999).astype(int) * (data < 0.50002).astype(int)
    v = n + (2**63 - 1)
    return v.max() > 0

def c1r(data, rng):  #: asarray alias; 0 vs 100 in the band
    a = np.array([float(int(data[0])) * 0])
    b = np.asarray(a, dtype=float)
    b[0] = 100 if 0.50001 < data[0] < 0.50002 else 0
    return a[0] + rng.laplace(0, 1)


# === D. `x += value` where value rebinds x by a walrus: Python binds x to the old object again, the interpreter
# returns from `augment` without assigning (list and Array). Records(1,0,1), eps=1 ===
def d1_augment_walrus_list(data, rng):  #: real x is [data[0], 0]
    x = [data[0]]
    x += (x := [0])
    return x[0] * 100 + rng.laplace(0, 1)

def d1r(data, rng):  #
    x = [1 if 0.50001 < data[0] < 0.50002 else 0]
    x += (x := [0])
    return x[0] * 100 + rng.laplace(0, 1)

def d2_augment_walrus_array(data, rng):  #
    x = data * 100
    x += (x := np.zeros(1))
    return x[0] + rng.laplace(0, 1)


# === E. Streams: what was released (Public) is never None for the interpreter. Stream(), eps=1 (the replay
# follows the program with plain lists, so it never sees the abstraction of the stream). interpreter.one_comparison, Is/None ===
def e1_released_none(answers, rng):  # real: releases every answer
    out = []
    for a in answers:
        out.append(None)
        if out[-1] is None:
            out.append(a)
    return out


# E2. Streams: `sum((), out)` is `out` itself, but Interpreter.call (_OF_PUBLIC) answers a fresh Public(); `q += ["x"]`
# then is not counted in the Log. Stream(), eps=1 Real: every answer is released from the first turn on.
def e2_alias_by_sum(answers, rng):
    out = []
    for a in answers:
        q = sum((), out)
        q += [1]
        if out.count(1) > 0:
            out.append(a)
    return out

# E3. as E1 through max(out) / slices. Stream(), eps=1
def e3_released_none(answers, rng):
    out = []
    for a in answers:
        out.append(None)
        if out[-1:][0] is None:
            out.append(a)
    return out


# === G. numpy scalars lose their type: np.True_ is True, np.int64(2) is 2 (`identical`/`where` merge them).
# Records(1,0,1), eps=1, all (narrow band) ===
def g1_bool_index(data, rng):  # TypeError (list index np.True_) exactly in the band
    x = np.ones(1).any() if 0.50001 < data[0] < 0.50002 else True
    return [0.0, 1.0][x] + rng.laplace(0, 1)

def g2_format_repr(data, rng):  # "np.int64(2)" in the band, "2" elsewhere: library._on_plain/_is_text
    x = np.array([2]).sum() if 0.50001 < data[0] < 0.50002 else 2
    return "{!r}".format(x)

def g3_format_list(data, rng):  # "[np.int64(2)]" in the band, "[2]" elsewhere
    x = np.array([2]).sum() if 0.50001 < data[0] < 0.50002 else 2
    return "{}".format([x])

def g4_int_method(data, rng):  # AttributeError in the band: np.int64 has no bit_length. library.method
    x = np.array([2])[0] if 0.50001 < data[0] < 0.50002 else 2
    return x.bit_length()

def g5_shift(data, rng):  # np.int64(2) << 64 == 0: False in the band, True elsewhere (int64 width)
    x = np.array([2])[0] if 0.50001 < data[0] < 0.50002 else 2
    return (x << 64) > 0


# === H. A module (subclass of ModuleType with a property) is looked up natively, at any time, by either side of a merged
# branch: hidden state counts the branches taken. interpreter.attribute, ModuleType. Records(1,0,1), eps=1.
# h1; with a narrow band (exotic; classes' __getattr__/properties are refused or followed) ===
class _Mod(types.ModuleType):
    count = 0
    @property
    def tick(self):
        _Mod.count += 1
        return _Mod.count
_M = _Mod("m")
def h1_module_state(data, rng):
    a = _M.tick
    v = _M.tick * 0 if data[0] > 0.5 else 0
    b = _M.tick
    return b - a > 1.5

def h1r(data, rng):
    a = _M.tick
    v = 0 if 0.50001 < data[0] < 0.50002 else _M.tick * 0
    b = _M.tick
    return b - a > 1.5


# === K. _is_ours believes __module__, which functools.wraps copies: a user's function runs natively, with hidden state that
# counts which sides of a merged branch ran. interpreter.call/_is_ours. Records(1,0,1) eps=1 (exotic) ===
from dpaudit.proofs.exact import exactly as _exactly
_CALLS = []
@functools.wraps(_exactly)
def _tick(x):
    _CALLS.append(1)
    return len(_CALLS)
def k1_wraps(data, rng):
    a = _tick(0)
    v = 0 if 0.50001 < data[0] < 0.50002 else _tick(0) * 0
    b = _tick(0)
    return b - a > 1.5

# === L. Wrong constants (no data in them at all). Any of them leaks: band * (1 if the constant is wrong), and with a narrow
# band also, because off the band both sides are 0. All Records(1,0,1), eps=1 ===
# L1. Interpreter.plain: an int that came from symbols (int(x) - int(x) + 3) becomes the float 3.0 -> np.arange is of floats.
def l1_arange(data, rng):
    n = int(data[0]) - int(data[0]) + 3
    a = np.arange(n)
    a[0] = 0.7  # real: int64, truncates to 0
    band = 1 if 0.50001 < data[0] < 0.50002 else 0
    return band * 100 * (1 if a[0] == 0 else 0) + rng.laplace(0, 1)

# L2. the same through library._plain: pow(3, 2) is 9.0, divmod(3, 2)[0] is 1.0
def l2_pow(data, rng):
    n = int(data[0]) - int(data[0]) + 3
    a = np.array([pow(n, 2)])
    a[0] = 0.7
    band = 1 if 0.50001 < data[0] < 0.50002 else 0
    return band * 100 * (1 if a[0] == 0 else 0) + rng.laplace(0, 1)

# L3. Interpreter.floor: x // 2 of a float whose quotient is one number is the int 0 instead of 0.0 (no noise needed)
def l3_floor(data, rng):
    s = f"{data[0] // 2}"
    band = 1 if 0.50001 < data[0] < 0.50002 else 0
    return band * 100 if s == "0.0" else 0

# L4. numpy's scalars are shown otherwise: "{!r}".format(np.int64(2)) is "np.int64(2)" (library._on_plain, _is_text)
def l4_repr(data, rng):
    band = 1 if 0.50001 < data[0] < 0.50002 else 0
    s = "{!r}".format(np.array([2]).sum())
    return band * 100 * (0 if s == "2" else 1)


# L5. math.fabs(-1) is the int 1 for the interpreter (library: math.fabs: _abs)
def l5_fabs(data, rng):
    band = 1 if 0.50001 < data[0] < 0.50002 else 0
    return band * 100 if f"{math.fabs(-1)}" == "1.0" else 0

# L6. np.clip / np.maximum of two ints, one from symbols, is a float (Array.each without arrays: a Form not is_int counts as
# float) Real: int64, 0.7 truncates to 0.
def l6_clip_scalar(data, rng):
    n = int(data[0]) - int(data[0]) + 3
    a = np.array([np.clip(n, 0, 2)])
    a[0] = 0.7
    band = 1 if 0.50001 < data[0] < 0.50002 else 0
    return band * 100 * (1 if a[0] == 0 else 0) + rng.laplace(0, 1)


# === M. np.array of records of mixed types: numpy makes all of them floats if any is, the Cells stay int or float each
# (arrays.array/_settle, kind "unknown"): the type of a[0] tells whether ANOTHER record is 1.5. Domain(2, (0, 1, 1.5)), eps=1
#; Domain(2, (0, …, 399, 1.5)) m2((0, 1), None) == "0", m2((0, 1.5), None) == "0.0".
def m1_array_of_mixed(data, rng):
    a = np.array(data)
    z = a[0] * 0 if a[0] != 1.5 else 0
    b = np.array([z])
    c = np.asarray(b, dtype=float)
    c[0] = 100
    return b[0] + rng.laplace(0, 1)

def m2_array_of_mixed(data, rng):
    a = np.array(data).tolist()
    z = a[0] * 0 if a[0] != 1.5 else 0
    return f"{z}"


# === N. hasattr(value, "__dpaudit_truth__"), "__dpaudit_items__", "__dpaudit_item__", "__dpaudit_length__", … is asked of the
# instance, so an object of the user whose class has __getattr__ (a mock, a proxy) answers for the interpreter. Special methods
# are looked up on the type. interpreter.truth/iterate/item/length, library.method/_range/_enumerate/_tuple.
# Records(1,0,1), eps=1 (wrong constant times band). ===
class _Proxy:
    def __getattr__(self, name):
        return lambda *args: 0
_PROXY = _Proxy()
def n1_getattr_truth(data, rng):  # real: bool(_PROXY) is True -> 100 in the band
    band = 1 if 0.50001 < data[0] < 0.50002 else 0
    return band * 100 if _PROXY else 0

class _Proxy2:
    def __getattr__(self, name):
        return lambda *args: [1]
    def __iter__(self):
        return iter([5])
    def __getitem__(self, i):
        return 7
_PROXY2 = _Proxy2()
def n2_getattr_iter(data, rng):  # real sum is 5
    band = 1 if 0.50001 < data[0] < 0.50002 else 0
    return band * (sum(_PROXY2) - 1)

def n3_getattr_item(data, rng):  # real item is 7
    band = 1 if 0.50001 < data[0] < 0.50002 else 0
    return band * (0 if _PROXY2[0] == [1] else 1)


# === O. A global list (or tuple) of a subclass with __array__: numpy asks __array__, the interpreter reads the items
# (arrays.array: isinstance(value, list | tuple | range)). Records(1,0,1), eps=1 Real sum is 5. ===
class _Ls(list):
    def __array__(self, dtype=None, copy=None):
        return np.array([5.0])
_GL = _Ls([0.0])
def o1_list_subclass(data, rng):
    band = 1 if 0.50001 < data[0] < 0.50002 else 0
    return band * np.sum(_GL)

def o3_list_subclass(data, rng):
    band = 1 if 0.50001 < data[0] < 0.50002 else 0
    return band * (np.array([0.0]) + _GL)[0]


# K2. A Mechanism of the user is made natively (_is_plainly_made): a default_factory has hidden state. Records(1,0,1), eps=1,
# (exotic, as H and K)
import itertools
from dataclasses import dataclass, field
from dpaudit.language import Mechanism
_COUNT = itertools.count()
@dataclass(frozen=True)
class _Sub(Mechanism):
    n: int = field(default_factory=lambda: next(_COUNT))
    def run(self, S):
        return 0
def k2_default_factory(data, rng):
    a = _Sub().n
    v = 0 if 0.50001 < data[0] < 0.50002 else _Sub().n * 0
    b = _Sub().n
    return b - a > 1.5


def p1_square_clipped_by_an_int(data, rng):
    v = max(data[0] ** 2 - 0.5, 0)
    a = np.array([v])
    a[0] = 0.7
    return a[0] * 100 + rng.laplace(0, 1)


def p2_released_numbers_and_inf(data, rng):
    v = np.array([data[0]])[0] if data[0] > 0.5 else data[0]
    return (v + rng.laplace(0, 1)) / (max(round(rng.laplace(0, 1)), 1) / float("inf"))


def p3_number_of_numpy(data, rng):
    band = 1 if 0.50001 < data[0] < 0.50002 else 0
    return band * 100 * (0 if "{!r}".format(np.square(3)) == "9" else 1)


def p4_integer_of_numpy(data, rng):
    return data[0] + (rng.laplace(0, 1) if "{!r}".format(rng.integers(0, 2)) in ("0", "1") else 0)


def p5_choice_of_numpy(data, rng):
    return data[0] + (rng.laplace(0, 1) if "{!r}".format(rng.choice([0.5, 1.5])) in ("0.5", "1.5") else 0)


def p6_text_of_numpy(data, rng):
    return data[0] + (rng.laplace(0, 1) if "{!r}".format(rng.choice(["a", "b"])) in ("'a'", "'b'") else 0)


PROGRAMS = [
    *((each, Records(1, 0, 1)) for each in (p4_integer_of_numpy, p5_choice_of_numpy, p6_text_of_numpy)),
    (p3_number_of_numpy, Records(1, 0, 1)),
    *((each, Records(1, 0, 1)) for each in (p1_square_clipped_by_an_int, p2_released_numbers_and_inf)),
    (a1_where_int_or_float, Records(1, 0, 1)), (a2_max_int_or_float, Records(1, 0, 1)),
    (a3_sum_if_int_or_float, Records(1, 0, 1)), (a4_floor_to_text, Records(1, 0, 1)),
    (a5_floor_as_index, Records(1, 0, 1)), (a6_mixed_lost_by_constant, Domain(2, (0, 1.5))),
    (b1_wrap_add, Domain(1, (0, 1))), (b2_wrap_multiply, Records(1, 0, 1)), (b3_wrap_compared, Domain(1, (0, 1))),
    (c1_asarray_alias, Records(1, 0, 1)),
    *((each, Records(1, 0, 1)) for each in (a1r, a3r, a4r, a5r, b1r, b2r, c1r)),
    *((each, Records(1, 0, 1)) for each in (d1_augment_walrus_list, d1r, d2_augment_walrus_array)),
    (e1_released_none, Stream()),
    (e2_alias_by_sum, Stream()), (e3_released_none, Stream()),
    *((each, Records(1, 0, 1)) for each in (g1_bool_index, g2_format_repr, g3_format_list, g4_int_method, g5_shift)),
    (h1_module_state, Records(1, 0, 1)), (h1r, Records(1, 0, 1)),
    *((each, Records(1, 0, 1)) for each in (k1_wraps, l1_arange, l2_pow, l3_floor, l4_repr)),
    *((each, Records(1, 0, 1)) for each in (l5_fabs, l6_clip_scalar)),
    *((each, Domain(2, (0, 1, 1.5))) for each in (m1_array_of_mixed, m2_array_of_mixed)),
    *((each, Domain(2, (*range(400), 1.5))) for each in (m1_array_of_mixed, m2_array_of_mixed)),
    *((each, Records(1, 0, 1)) for each in (n1_getattr_truth, n2_getattr_iter, n3_getattr_item)),
    *((each, Records(1, 0, 1)) for each in (o1_list_subclass, o3_list_subclass)),
    (k2_default_factory, Records(1, 0, 1)),
]
