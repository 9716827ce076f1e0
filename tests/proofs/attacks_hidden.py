# ruff: noqa
"""Programs that hide behind a branch of small probability what they do otherwise than a careless reading says.

Replays on concrete data do not reach that branch. Behind it, each program returns a raw record, or one with less noise than it
seems: none of them has the claimed ε = 1.
"""

from __future__ import annotations

import math

import numpy as np

from dpaudit.language import Laplace
from dpaudit.proofs.scopes import Domain, Records, Scope, Stream


def ext(data, rng):
    if rng.laplace(0, 1) > 10000:
        s = []
        s.extend((len(s) for _ in range(2)))
        if s[1] == 1:
            return data[0]
    return 0


def iadd(data, rng):
    if rng.laplace(0, 1) > 10000:
        s = []
        s += (len(s) for _ in range(2))
        if s[1] == 1:
            return data[0]
    return 0


def upd(data, rng):
    if rng.laplace(0, 1) > 10000:
        d = {}
        d.update(((k, len(d)) for k in range(2)))
        if d[1] == 1:
            return data[0]
    return 0


def sortkey2(data, rng):
    if rng.laplace(0, 1) > 10000:
        l = [1, 2]
        r = []

        def key(x):
            r.append(len(l))
            return x
        l.sort(key=key)
        if r[0] == 0:
            return data[0]
    return 0


def maxkey(data, rng):
    if rng.laplace(0, 1) > 10000:
        it = iter([1, 2, 3, 4])
        r = []

        def key(x):
            r.append(next(it, 9))
            return x
        max(it, key=key)
        if r[0] == 2:
            return data[0]
    return 0


def listarr(data, rng):
    n = rng.laplace(0, 1)
    if rng.laplace(0, 1) > 10000:
        l = [data[0] + n]
        l += np.array([-n])
        return l[0]
    return 0


def listarr2(data, rng):
    if rng.laplace(0, 1) > 10000:
        l = [1.0]
        l += np.array([1.0])
        if len(l) == 1:
            return data[0]
    return 0


def where0(data, rng):
    n = rng.laplace(0, 1)
    if rng.laplace(0, 1) > 10000:
        x = np.where(data[0] > 0.5, 1.0, 0.0)
        y = x
        y += n
        return x - n
    return 0


def where1(data, rng):
    if rng.laplace(0, 1) > 10000:
        x = np.where(True, 1.0, 0.0)
        y = x
        y += 1
        if x == 2:
            return data[0]
    return 0


def absb(data, rng):
    if rng.laplace(0, 1) > 10000:
        t = np.abs(True)
        u = np.abs(True)
        if t + u == 1:
            return data[0]
    return 0


def absb2(data, rng):
    if rng.laplace(0, 1) > 10000:
        t = data[0] >= 0
        if abs(t) + abs(t) == 1:
            return data[0]
    return 0


def fstr(data, rng):
    if rng.laplace(0, 1) > 10000:
        if len(f'{[np.zeros(1)[0]]}') > 6:
            return data[0]
    return 0


def fstr2(data, rng):
    if rng.laplace(0, 1) > 10000:
        if len(f'{np.sum(np.zeros(0))}') > 1:
            return data[0]
    return 0


def fstr3(data, rng):
    if rng.laplace(0, 1) > 10000:
        if len(f'{np.maximum(3, 2.0)}') > 1:
            return data[0]
    return 0


def fmt(data, rng):
    if rng.laplace(0, 1) > 10000:
        if len('{!r}'.format(np.zeros(1)[0])) > 6:
            return data[0]
    return 0


def pct(data, rng):
    if rng.laplace(0, 1) > 10000:
        if len('%r' % np.zeros(1)[0]) > 6:
            return data[0]
    return 0


def zipit(data, rng):
    if rng.laplace(0, 1) > 10000:
        it = iter([1, 2, 3, 4])
        z = zip(it, ())
        next(z, 0)
        next(z, 0)
        if next(it) == 3:
            return data[0]
    return 0


def mapit(data, rng):
    if rng.laplace(0, 1) > 10000:
        it = iter([1, 2, 3, 4])
        z = map(lambda x, y: x, it, ())
        next(z, 0)
        next(z, 0)
        if next(it) == 3:
            return data[0]
    return 0


def lamyield(data, rng):
    if rng.laplace(0, 1) > 10000:
        g = lambda v: (yield Laplace(v, 1))
        return g(data[0])
    return 0


def defyield(data, rng):
    if rng.laplace(0, 1) > 10000:
        return helper(data[0])
    return 0


def helper(v):

    def g(x=(yield Laplace(v, 1))):
        return x
    return g()


class Mang:

    def g(self, x, rng, **kw):
        return rng.laplace(x, kw.get('__s', 0.001))

    def f(self, data, rng):
        if rng.laplace(0, 1) > 10000:
            return self.g(data[0], rng, __s=1.0)
        return 0

    def h(self, x, rng, __s=0.001, **kw):
        return rng.laplace(x, kw.get('_Mang__s', 0.001))

    def f2(self, data, rng):
        if rng.laplace(0, 1) > 10000:
            return self.h(data[0], rng, _Mang__s=1.0)
        return 0


mang2 = Mang().f2


class Meta(type):

    @property
    def scale(cls):
        return 1.0


class UM(metaclass=Meta):

    def __init__(self):
        self.scale = 0.001


um = UM()


def metaprop(data, rng):
    if rng.laplace(0, 1) > 10000:
        return rng.laplace(data[0], um.scale)
    return 0


class DD:
    __dict__ = {'scale': 1.0}


dd = DD()
dd.scale = 0.001


def dictattr(data, rng):
    if rng.laplace(0, 1) > 10000:
        return rng.laplace(data[0], dd.scale)
    return 0


class O:
    n = 0

    def bump(self, *a):
        O_.n += 1
        return 0
    __gt__ = __lt__ = __eq__ = __abs__ = __round__ = __floor__ = __index__ = bump

    def __repr__(self):
        O_.n += 1
        return ''
    __hash__ = None


class Count:
    n = 0


O_ = Count()
o = O()


def s_max(data, rng):
    if rng.laplace(0, 1) > 10000:
        b = O_.n
        if data[0] > 0.5:
            max([o, o])
        return O_.n - b
    return 0


def s_abs(data, rng):
    if rng.laplace(0, 1) > 10000:
        b = O_.n
        if data[0] > 0.5:
            abs(o)
        return O_.n - b
    return 0


def s_round(data, rng):
    if rng.laplace(0, 1) > 10000:
        b = O_.n
        if data[0] > 0.5:
            round(o)
        return O_.n - b
    return 0


def s_floor(data, rng):
    if rng.laplace(0, 1) > 10000:
        b = O_.n
        if data[0] > 0.5:
            math.floor(o)
        return O_.n - b
    return 0


def s_index(data, rng):
    if rng.laplace(0, 1) > 10000:
        b = O_.n
        if data[0] > 0.5:
            (1, 2)[o]
        return O_.n - b
    return 0


def s_range(data, rng):
    if rng.laplace(0, 1) > 10000:
        b = O_.n
        if data[0] > 0.5:
            range(o)
        return O_.n - b
    return 0


def s_eq(data, rng):
    if rng.laplace(0, 1) > 10000:
        b = O_.n
        if data[0] > 0.5:
            [o] == [1]
        return O_.n - b
    return 0


def s_repr(data, rng):
    if rng.laplace(0, 1) > 10000:
        b = O_.n
        if data[0] > 0.5:
            f'{[o]}'
        return O_.n - b
    return 0


def s_sorted(data, rng):
    if rng.laplace(0, 1) > 10000:
        b = O_.n
        if data[0] > 0.5:
            sorted([o, o])
        return O_.n - b
    return 0


class RL(list):

    def __reversed__(self):
        O_.n += 1
        return iter(())


rl = RL()


def s_rev(data, rng):
    if rng.laplace(0, 1) > 10000:
        b = O_.n
        if data[0] > 0.5:
            reversed(rl)
        return O_.n - b
    return 0


def s_enum(data, rng):
    if rng.laplace(0, 1) > 10000:
        b = O_.n
        if data[0] > 0.5:
            enumerate((), o)
        return O_.n - b
    return 0


def s_slice(data, rng):
    if rng.laplace(0, 1) > 10000:
        b = O_.n
        if data[0] > 0.5:
            (1, 2)[o:]
        return O_.n - b
    return 0


SEEN = []


def note(x):
    SEEN.append(x)
    return 0


def pubkey(data, rng):
    out = []
    for a in data:
        out.append(1)
        if out.count(1) >= 9:
            max(out, key=note)
            if len(SEEN) > 10 ** 6:
                return a
            out = []
    return 0


def pubsort(data, rng):
    out = []
    for a in data:
        out.append(1)
        if out.count(1) >= 9:
            sorted(out, key=note)
            if len(SEEN) > 10 ** 6:
                return a
            out = []
    return 0


def logiadd(data, rng):
    out = []
    for a in data:
        shown = out
        out += [1]
        if rng.laplace(0, 1) > 10000:
            if shown.count(1) == 1:
                return a
        break
    return 0


def logextend(data, rng):
    out = []
    for a in data:
        if rng.laplace(0, 1) > 10000:
            out.extend((out.count(1) for _ in range(0)))
            out.append(1)
            out.extend((out.count(1) for _ in range(2)))
            if out.count(1) == 2:
                return a
        break
    return 0


def grow(l):
    l += [1]
    return 0


def helperiadd(data, rng):
    out = []
    for a in data:
        out.append(0)
        if rng.laplace(0, 1) > 10000:
            grow(out)
            if out.count(1) == 1:
                return a
        break
    return 0


def helperiadd2(data, rng):
    out = []
    for a in data:
        out.append(0)
        if out.count(0) == 9:
            grow(out)
            if out.count(1) == 1:
                return a
            break
    return 0


def afterloop(data, rng):
    out = []
    for a in data:
        out.append(0)
        if out.count(0) == 9:
            x = a
            grow(out)
            break
    else:
        return 0
    if out.count(1) == 1:
        return x
    return 0


H = np.float16(0)
I8 = np.int8(1)
F2 = np.array([[1.0, 2.0], [3.0, 4.0]], order='F')


def c1_where_scalar(x, rng):
    if rng.laplace(0, 1) > 1000000.0:
        t = np.where(True, 0.0, 0.0)
        u = t
        t += x[0]
        return u
    return 0


def c2_order_ufunc(x, rng):
    if rng.laplace(0, 1) > 1000000.0:
        b = np.array([[x[0], 0.0], [0.0, 0.0]])[:, [0, 1]] + 0.0
        r = b.reshape(4)
        b[0, 0] = 0.0
        return r
    return 0


def c3_order_copy(x, rng):
    if rng.laplace(0, 1) > 1000000.0:
        b = np.copy(np.array([[x[0], 0.0], [0.0, 0.0]])[:, [0, 1]])
        r = b.ravel()
        b[0, 0] = 0.0
        return r
    return 0


def c4_abs_bool(x, rng):
    m = np.array([True, True])
    if rng.laplace(0, 2) > 1000000.0:
        return x[0] + rng.laplace(0, abs(m[0]) + abs(m[1]))
    return 0


def c5_abs_bool_array(x, rng):
    m = np.abs(np.array([True, True]))
    if rng.laplace(0, 2) > 1000000.0:
        return x[0] + rng.laplace(0, m[0] + m[1])
    return 0


def c6_floor_ints(x, rng):
    if rng.laplace(0, 2) > 1000000.0:
        f = np.floor(np.array([1, 2]))
        f[0] = x[0]
        return f[0] + rng.laplace(0, 0.1)
    return 0


def c7_fstring(x, rng):
    if rng.laplace(0, 2) > 1000000.0:
        return x[0] + rng.laplace(0, 100 if f'{[np.array([1.0])[0]]}' == '[1.0]' else 0.01)
    return 0


def c8_percent(x, rng):
    if rng.laplace(0, 2) > 1000000.0:
        return x[0] + rng.laplace(0, 100 if '%r' % np.array([1.0])[0] == '1.0' else 0.01)
    return 0


def c9_format(x, rng):
    if rng.laplace(0, 2) > 1000000.0:
        return x[0] + rng.laplace(0, 100 if '{!r}'.format(np.array([1.0])[0]) == '1.0' else 0.01)
    return 0


def c10_max_cond(x, rng):
    if rng.laplace(0, 2) > 1000000.0:
        m = np.maximum(x > 0.5, x < 0.3)
        return 2 * m[0] - (m[0] + m[0])
    return 0


def c11_cond_abs(d, rng):
    if rng.laplace(0, 2) > 1000000.0:
        w = np.abs(np.array([d[0] == 0, True]))
        return w[0] + w[1] - 1 - w[0]
    return 0


def c12_float16(x, rng):
    if rng.laplace(0, 2) > 1000000.0:
        a = np.array([H])
        a[0] = x[0]
        return a[0] + rng.laplace(0, 2)
    return 0


def c13_denormal(x, rng):
    if rng.laplace(0, 2) > 1000000.0:
        v = x[0] * 5e-324
        return v * 1e+308 * 1e+16
    return 0


def c14_true_in_int_array(x, rng):
    if rng.laplace(0, 2) > 1000000.0:
        return x[0] + rng.laplace(0, 100 if f'{np.array([True, 1])[0]}' == 'True' else 0.01)
    return 0


def c15_sum_of_nothing(x, rng):
    if rng.laplace(0, 2) > 1000000.0:
        return x[0] + rng.laplace(0, 0.01 if f'{np.sum([])}' == '0.0' else 100)
    return 0


PROGRAMS: list[tuple[object, Scope]] = [
    (ext, Records(1, 0, 1)),
    (iadd, Records(1, 0, 1)),
    (upd, Records(1, 0, 1)),
    (sortkey2, Records(1, 0, 1)),
    (maxkey, Records(1, 0, 1)),
    (listarr, Records(1, 0, 1)),
    (listarr2, Records(1, 0, 1)),
    (where0, Records(1, 0, 1)),
    (where1, Records(1, 0, 1)),
    (absb, Records(1, 0, 1)),
    (absb2, Records(1, 0, 1)),
    (fstr, Records(1, 0, 1)),
    (fstr2, Records(1, 0, 1)),
    (fstr3, Records(1, 0, 1)),
    (fmt, Records(1, 0, 1)),
    (pct, Records(1, 0, 1)),
    (zipit, Records(1, 0, 1)),
    (mapit, Records(1, 0, 1)),
    (lamyield, Records(1, 0, 1)),
    (defyield, Records(1, 0, 1)),
    (mang2, Records(1, 0, 1)),
    (metaprop, Records(1, 0, 1)),
    (dictattr, Records(1, 0, 1)),
    (s_max, Records(1, 0, 1)),
    (s_abs, Records(1, 0, 1)),
    (s_round, Records(1, 0, 1)),
    (s_floor, Records(1, 0, 1)),
    (s_index, Records(1, 0, 1)),
    (s_range, Records(1, 0, 1)),
    (s_eq, Records(1, 0, 1)),
    (s_repr, Records(1, 0, 1)),
    (s_sorted, Records(1, 0, 1)),
    (s_rev, Records(1, 0, 1)),
    (s_enum, Records(1, 0, 1)),
    (s_slice, Records(1, 0, 1)),
    (pubkey, Stream()),
    (pubsort, Stream()),
    (logiadd, Stream()),
    (logextend, Stream()),
    (helperiadd, Stream()),
    (helperiadd2, Stream()),
    (afterloop, Stream()),
    (c1_where_scalar, Records(2, 0, 1)),
    (c2_order_ufunc, Records(2, 0, 1)),
    (c3_order_copy, Records(2, 0, 1)),
    (c4_abs_bool, Records(2, 0, 1)),
    (c5_abs_bool_array, Records(2, 0, 1)),
    (c6_floor_ints, Records(1, 0.95, 1.05)),
    (c7_fstring, Records(2, 0, 1)),
    (c8_percent, Records(2, 0, 1)),
    (c9_format, Records(2, 0, 1)),
    (c10_max_cond, Records(2, 0, 1)),
    (c11_cond_abs, Domain(2, (0, 1))),
    (c12_float16, Records(1, 2049, 2051)),
    (c13_denormal, Records(1, 0, 4)),
    (c14_true_in_int_array, Records(2, 0, 1)),
    (c15_sum_of_nothing, Records(2, 0, 1)),
]
