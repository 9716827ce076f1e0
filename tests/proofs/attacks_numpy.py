"""Programs that use numpy and Python's containers in ways that a careless reading gets wrong.

Most return a record as it is, or have less noise than claimed: aliases, views, kinds of arrays, iterators, order of
evaluation, types of numbers. `WHERE` has the scope of those that are not for one record in [0, 1].
"""

# ruff: noqa

from fractions import Fraction
import math, itertools
import numpy as np
from dpaudit.proofs.scopes import Answers, Domain, Records as R

LN2 = math.log(2)
def w01(d, rng):              # dtype of np.array depends on data
    a = np.array(d)
    a[0] = a[0] + rng.laplace(0, 1)
    return a[0]
def w02(x, rng):              # int array of geometric draws truncates
    a = rng.geometric(0.5, size=1)
    a[0] = x[0]
    return a[0] + rng.laplace(0, 0.1)
def w02b(x, rng):
    a = np.array([rng.geometric(0.5), 0])
    a[1] = x[0]
    return a[1] + rng.laplace(0, 0.1)
def w02c(x, rng):
    a = np.array([3, 4]) // np.array([True, True])
    a[0] = x[0]
    return a[0] + rng.laplace(0, 0.1)
def w03(d, rng):
    v = rng.choice([5, d[0]])
    return 100 if v == '5' else 0
def w04(x, rng):
    b = np.array([[x[0], x[1]], [0.0, 0.0]]).T + 0
    r = b.ravel()
    b[0, 0] = 0.0
    b[1, 0] = 0.0
    b[0, 1] = 0.0
    return r
def w04b(x, rng):
    b = np.copy(np.array([[x[0], 0.0], [0.0, 0.0]]).T)
    r = b.reshape(4)
    b[0, 0] = 0.0
    return r
def w05(x, rng):
    b = np.array([True, True])
    return x.sum() + rng.laplace(0, b[0] + b[1])
def w06(x, rng):
    m = np.array([True, False])
    return np.where(~m, x * 0.01, x).sum() + rng.laplace(0, 1/100)
def w06b(x, rng):
    m = np.array([False, False, True])
    return x[~m][0]*0 + x[~m].sum() + rng.laplace(0, 1)
def w07(x, rng):
    c = x[0] > 0.5
    return (c + c) / 2 - c
def w08(x, rng):
    m = np.array([True, True])
    i = np.where(m, True, 1)
    return x[i].sum() + rng.laplace(0, 1)
def w09(x, rng):
    return 1 if x[0] > 0.5 else 1.0
def w09b(x, rng):
    v = 1 if x[0] > 0.5 else 1.0
    return str(v)
def w09c(x, rng):
    return str([True, 1][int(x[0])])
def w09d(d, rng):
    return d[0] + rng.geometric(0.5)
def w10(x, rng):
    l = [0.0, 0.0]
    r = reversed(l)
    l[0] = x[0]
    return list(r)
def w10b(x, rng):
    l = [0.0, 0.0]
    r = itertools.islice(l, 2)
    l[0] = x[0]
    return list(r)
def w10c(x, rng):
    l = [0.0]
    r = itertools.repeat(l, 1)
    l[0] = x[0]
    return list(r)
def w11(x, rng):
    it = iter([0, 1, 2])
    a = next(it) if x[0] > 0.5 else 5
    return next(it)
def w11b(x, rng):
    it = iter([0, 1, 2])
    if x[0] > 0.5:
        for v in it:
            pass
    return list(it)
def w12(x, rng):
    c, e = np.histogram(x, bins=2, range=(0, 0))
    return c
def w13(x, rng):
    a = np.zeros(2)
    a[[0, 1]] += x
    return a
def w13b(x, rng):
    a = np.zeros(2)
    a[np.array([True, True])] += x
    return a
def w14(x, rng):
    a = np.array([1])
    s = 1 if a[0] == [1] else 100
    return x.sum() + rng.laplace(0, s)
def w15(x, rng):
    s = 100 if isinstance(np.array([1])[0], int) else 1
    return x.sum() + rng.laplace(0, s)
def w15b(x, rng):
    s = 100 if repr(np.array([1.0])[0]) == "1.0" else 1
    return x.sum() + rng.laplace(0, s)
def w15c(x, rng):
    s = 100 if isinstance(rng.integers(5), int) else 1
    return x.sum() + rng.laplace(0, s)
def w16(d, rng):
    return d[0] == (d[1][0],)
def w16b(d, rng):
    v = d[0]
    v += d[1][0:1] and (d[1][0],)
    return v == (0, 0)
def w16c(d, rng):
    a = [5]; b = [7]
    v = a if d[0] == 0 else b
    a[0] = d[1]
    return v[0] == 1
def w17(d, rng):
    w = np.where(True, d[0], 0) * 2
    return w[0] + rng.laplace(0, 1)
def w17b(d, rng):
    w = np.add(d[0], d[0])
    return w[0] + rng.laplace(0, 1)
def w18(x, rng):
    l = [x[0]]
    r = rng.choice([l])
    r[0] = 0.0
    return l
def w18b(x, rng):
    l = np.array([[x[0]]])
    r = rng.choice(l)
    r[0] = 0.0
    return l
def w19(x, rng):
    a = [0]; b = [0]
    v = a if x[0] > 0.5 else b
    v[0] = 5
    return a
def w20(x, rng):
    a = [0]
    if x[0] > 0.5:
        a[0] = 1
    else:
        a[-1] = 0
    return a
def w20b(x, rng):
    a = [0]
    if x[0] > 0.5:
        a[-1] = 1
    else:
        a[0] = 0
    return a
def w20c(x, rng):
    a = np.zeros(1); b = a[:]
    if x[0] > 0.5:
        a[0] = 1.0
    else:
        b[0] = 0.0
    return a
def w20d(x, rng):
    a = np.zeros(1); b = a[:]
    if x[0] > 0.5:
        b[0] = 1.0
    else:
        a[0] = 0.0
    return a
def w21(x, rng):
    def zero(l):
        l[0] = 0.0
        return 0.0
    a = [x[0]]
    a[0] += zero(a)
    return a
def w22(x, rng):
    s = np.array(x[0]) + 0
    t = s
    s *= 0
    return t
def w23(x, rng):
    a = x.copy()
    b = np.clip(a, None, None)
    b *= 0
    return a
def w24(x, rng):
    v = np.float64(np.zeros(1))
    t = v
    v += x[0]
    return t
def w25(x, rng):
    return sum(v - v for v in x) + len(x)
def w26(x, rng):
    n = [v + rng.laplace(0, 1) for v in x]
    best = n[0]; w = n[0] - n[0]
    for i in range(1, len(n)):
        if n[i] > best:
            best = n[i]; w = best - best + i
    return w

def y1(x, rng):
    d = {0: 1}
    for k in d:
        d[k + 1] = 1
    return x.sum() + rng.laplace(0, 2)
def y2(x, rng):
    g = (v for v in x)
    l = [0]
    def f():
        return next(g2)
    g2 = (f() for _ in range(2))
    return next(g2) + rng.laplace(0, 2)
def y3(x, rng):
    return sum(sorted({3, 1})) + x.sum() + rng.laplace(0, 2)
def y4(x, rng):
    s = 0.0
    s += x
    return s.sum() + rng.laplace(0, 2)
def y5(d, rng):     # whole answers
    return d[0] + rng.geometric(0.5)
def y6(x, rng):
    b = "a" * (10 ** 11)
    return x.sum() + rng.laplace(0, 2)
def y7(x, rng):
    a = np.zeros(2)
    a[0] = np.array([x[0]])[0:1].sum()
    return a.sum() + rng.laplace(0, 2)
def y8(x, rng):
    a = np.zeros((2, 1))
    a[0] = np.array([x[0]])
    b = np.empty
    return a.sum() + rng.laplace(0, 2)
def y9(x, rng):
    a = np.zeros(2)
    a[0] = np.array([x[0]])
    return a[0] + rng.laplace(0, 2)
def y10(x, rng):
    a = np.zeros(2)
    a[0] = np.array(x[0])
    return a[0] + rng.laplace(0, 2)
def x26(x, rng):            # merging: constant forms
    n = [v + rng.laplace(0, 2) for v in x]
    best = n[0]; w = n[0] - n[0]
    for i in range(1, len(n)):
        if n[i] > best:
            best = n[i]; w = best - best + i
    return w
def x27(d, rng):             # type leak of sums of records
    return d[0] + d[1] - d[1] * 1 + 0*d[0] if False else str(max(d[0] + d[1], 100) - 100 >= 0)
def x28(d, rng):
    return (d[0] + d[1]) - d[0] - d[1] + rng.geometric(0.5)
def x29(x, rng):            # truncated storage of a maximum of sums
    return max(x[0] + x[1], 1.0) + rng.laplace(0, 1)
def x30(d, rng):   # numbers of records of mixed types: (1, 2.0): int or float
    v = d[0] - d[0] * 1 
    return str(v)
def x31(d, rng):   # type lost by forms
    v = (d[0] + d[1]) - d[1]
    u = v - d[0]
    return str(u)
def x32(d, rng):
    u = np.array([d[0]*0 + 0])
    return u.dtype
def x33(d, rng):
    a = np.zeros_like(np.array(d))
    a[0] = d[1]
    return a[0]*100 + rng.laplace(0, 100)
def x34(x, rng):   # numpy scalar times list
    a = np.array([2])
    l = a[0] * [x[0], 0.0]
    return l
def x35(x, rng):
    c = np.array([True, False])
    t = x[c[0] + c[0] - 1] if False else 0
    s = [1, 100, 100][c[0] + c[0]]
    s = 100 if np.add(c[0], True) == 2 else 1
    return x.sum() + rng.laplace(0, s)
def x36(x, rng):
    n = x + rng.laplace(0, 1, size=2)
    m = n > 0
    return m[0] + m[1]
def x37(x, rng):
    it = iter(x)
    a = [v for v in it if v > 2]
    if x[0] > 0.5 and next(it, 7) == 7:
        pass
    return 0
def x38(x, rng):
    g = iter([1, 2])
    a = x[0] > 0.5 and next(g) == 1
    return next(g)
def x39(x, rng):
    def f():
        return x[0] + 0 * next(g)
    g = iter([5, 6, 7])
    n = len([1 for v in x if v > .5 and next(g) > 0])
    return next(g)
def x40(x, rng):   # np.where evaluates both
    a = np.zeros(1)
    v = a if x[0] > 0.5 else np.zeros(1)
    v[0] = 1.0
    return a
def x41(d, rng):
    t = [[0], [0]]
    v = t[d[0]]
    v.append(1)
    return t
def x42(d, rng):
    t = {0: [0], 1: [0]}
    t.get(d[0]).append(1)
    return t
def x43(x, rng):
    a, b = {}, {}
    v = a if x[0] > 0.5 else b
    v['k'] = 1
    return [a, b]
def x44(x, rng):
    a = [0, 0]
    if x[0] > 0.5:
        a[0] = 1
    elif x[0] > 0.2:
        a[-2] = 2
    return a
def x45(x, rng):
    # chained comparison evaluation / numpy bool sum
    s = (x[0] > .5) + (x[1] > .5) + (x[2] > .5)
    return s * 1.0 - 1.0 * (x[0] > .5) - 1.0 * (x[1] > .5) - 1.0 * (x[2] > .5)
def x46(x, rng):
    return max([x[0] > 0.5, True]) + 0
def x47(x, rng):
    s = sum([x[0] > 0.5], start=(x[0] > 0.5))
    return s - 2 * (x[0] > 0.5)
def x48(x, rng):
    a = np.array([[x[0], 0.0], [0.0, 0.0]])
    for r in rng.choice([0], ) and []:
        pass
    b = np.zeros_like(a.T)
    c = b.reshape(4)
    b[0, 0] = x[0]
    return c
def x49(x, rng):
    a = np.array([[x[0], 0.0], [0.0, 0.0]])
    b = a.T.astype(float)
    c = b.ravel()
    b[0, 0] = 0.0
    return c
def x50(x, rng):
    s = 1
    for v in itertools.accumulate(np.array([True, True])):
        s = v
    return x.sum() + rng.laplace(0, s)
def x51(x, rng):
    t = np.array([1])[0] == 1
    s = 100 if isinstance(t, bool) else 1
    return x.sum() + rng.laplace(0, s)
def x52(x, rng):
    s = 100 if isinstance(len(x) and np.sum([1]), int) else 1
    return x.sum() + rng.laplace(0, s)
def x53(x, rng):
    s = 100 if isinstance(np.argmax([1, 2]), int) else 1
    return x.sum() + rng.laplace(0, s)
def x54(d, rng):
    r = rng.choice([True, 7])   # np.int64(1) in truth
    return sum(d) + rng.laplace(0, 100 if str(r) == "True" or r == 7 else 1)
def x55(x, rng):
    r = rng.choice([[1, 2]])
    s = 1 if len(r + r) == 2 else 100
    return x.sum() + rng.laplace(0, s)
def x56(x, rng):
    h, e = np.histogram(x, bins=np.array([True, False]) if False else [0, 0.5], )
    return h
def x57(x, rng):
    return np.bincount(np.array([int(v) for v in x * 2]), minlength=3)
def x58(x, rng):
    a = np.array([1.0, 2.0]); b = a[None, :]; b[0, 0] += x[0]
    return a
def x59(x, rng):
    a = np.zeros(2); a[[0, 0]] += [x[0], 0.0]
    return a
def x60(x, rng):
    a = np.zeros(2)
    a[a >= 0] -= x
    return a

def z35b(x, rng):
    s = 100 if np.add(True, True) == 2 else 1
    return x.sum() + rng.laplace(0, s)
def z31(d, rng):
    return str((d[0] + d[1]) - d[1] - d[0])
def z61(d, rng):
    a = np.array([max(d[0] + d[1], 1), 0])
    a[1] = d[0] * 0.55
    return a[1] + rng.laplace(0, 0.55)
def z62(x, rng):
    return sum((x > 0.5).tolist()) + rng.laplace(0, 1)
def z63(x, rng):
    c = bool(x[0] > .5)
    return (c + c) / 2 - c
def z64(d, rng):
    a = np.array(d)
    return (a[0] + a[1]) / 2 - a[0] * 0.5 - a[1] * 0.5
def z65(x, rng):
    m = x > 0.5
    return -np.sum(m) + m[0] + m[0]
def z66(x, rng):
    def h(c):
        return c + c
    return h(x[0] > 0.5) - 2 * int(x[0] > 0.5)
def z67(x, rng):
    s = 1
    if not np.array([0.0, 0.0])[0]:
        s = 100
    return x.sum() + rng.laplace(0, s)
def z68(x, rng):
    a = x.copy(); v = a[0:1]
    w = v if x[0] > 2 else v
    b = a * 1.0
    b[0:1] = 0
    return b


WHERE = {
    "w01": Domain(1, (0, 1, 0.5)), "w02": R(1, .95, 1.05), "w02b": R(1, .95, 1.05), "w02c": R(1, .95, 1.05),
    "w03": Domain(1, (5, "a")), "w04": R(2, 0, 1), "w05": R(2, 0, 1), "w06": R(2, 0, 1), "w08": R(2, 0, 1),
    "w12": R(1, .1, 1), "w13": R(2, 0, 1), "w13b": R(2, 0, 1), "w16": Domain(2, ((0,), (1,))),
    "w16b": Domain(2, ((0,), (1,))), "w16c": Domain(2, (0, 1)), "w17": Domain(1, ((0, 1), (1, 0))),
    "w17b": Domain(1, ((0, 1), (1, 0))), "x30": Domain(1, (1, 2.0)), "x31": Domain(2, (1, 2.0)),
    "x32": Domain(1, (1, 2.0)), "x36": R(2, 0, 1), "x41": Domain(1, (0, 1)), "x42": Domain(1, (0, 1)),
    "x54": Domain(1, (0, 1)), "x57": R(2, 0, 1), "x60": R(2, 0, 1), "z31": Domain(2, (1, 2.0)),
    "z61": Domain(2, (1, 2)), "z64": Domain(2, (True, False)),
}
