"""Programs for one record in [0, 1] that use Python in ways that a careless reading gets wrong.

Order of evaluation, merging of branches, iterators, classes whose operators or attributes are their own, objects that
change after they were put into others, integers against floats.
"""

# ruff: noqa

import functools, itertools, collections, enum
from typing import NamedTuple
import numpy as np
from dataclasses import dataclass
from dpaudit.language.mechanism import Mechanism
from dpaudit.language.distributions import Product

# 2 dict display order
def display(data, rng):
    it = iter([1.0, 0.001])
    d = {next(it): next(it)}
    return rng.laplace(data[0], list(d.values())[0])

# 3 annotations of nested functions
def annot(data, rng):
    s = [0.001, 1.0]
    def g(x: s.pop()):
        return x
    return rng.laplace(data[0], s[-1])

def annsub(data, rng):
    s = [0.001, 1.0]
    s[s.pop()]: int
    return rng.laplace(data[0], s[-1])

# 4 dict(values=...)
def dictkw(data, rng):
    d = dict(values={"s": 1.0})
    return rng.laplace(data[0], d.get("s", 0.001))

def updkw(data, rng):
    d = {"s": 0.001}
    d.update(more={"s": 1.0})
    return rng.laplace(data[0], d["s"])

# 5 iterators
def prod(data, rng):
    g = iter((5,))
    n = len(list(itertools.product(g))) if False else 1
    if data[0] > 0.5:
        n = len(list(itertools.product(g)))
    return next(g, 7) + n

def join(data, rng):
    g = iter(("a",))
    n = "a"
    if data[0] > 0.5:
        n = "".join(g)
    return next(g, 7)

def remade(data, rng):
    g = iter((5, 6))
    n = 5
    if data[0] > 0.5:
        n = next(next(iter([g])))
    return next(g)

# 6 global iterators
G = iter([1.0] * 250)
def globit(data, rng):
    return rng.laplace(data[0], next(G, 0.001))

# 7 np.bool_
def boolmax(data, rng):
    a = max(data[0] > 0.3, data[0] > 0.6)
    return (a + a) - 2 * int(data[0] > 0.3)

def npmax(data, rng):
    a = np.maximum(data[0] > 0.3, data[0] > 0.6)
    return (a + a) - 2 * int(data[0] > 0.3)

def arrmax(data, rng):
    a = np.max(data > 0.5)
    return (a + a) - 2 * int(data[0] > 0.5)

T = np.bool_(True)
def npbool(data, rng):
    x = T if data[0] > 0.5 else data[0]
    return x + T - (2 if data[0] > 0.5 else data[0] + 1)

# 8 boolean index
def boolidx(data, rng):
    return np.sum(np.ones(5)[data[0] > 0.5])

def booladd(data, rng):
    h = np.zeros(10)
    h[data[0] > 0.5] += 1
    return h + rng.laplace(0, 2, size=10)

# 9 leak in an object
def leak(data, rng):
    a = [0]
    p = Product((a,))
    a[0] = data[0]
    return p

def leakeq(data, rng):
    a, b = [0], [0]
    p, q = Product((a,)), Product((b,))
    a[0] = data[0]
    return p == q

class Box(Mechanism):
    def __init__(self, x):
        self.x = x
    def run(self, d):
        return 0
def box(data, rng):
    a = []
    b = Box(a)
    a.append(data[0])
    return b

class Evil(Mechanism):
    def __init__(self, x):
        x.append(1)
    def run(self, d):
        return 0
def evil(data, rng):
    a = []
    if data[0] > 0.5:
        Evil(a)
    return len(a)

# 10 subclasses of builtins
class Interval(NamedTuple):
    low: float
    high: float
    def __contains__(self, x):
        return self.low <= x <= self.high
I = Interval(0.2, 0.7)
def interval(data, rng):
    if data[0] in I:
        return 1
    return 0
J = Interval(-2, -1)
class Near(frozenset):
    def __contains__(self, x):
        return any(abs(x - y) < 0.1 for y in self)
class Inside(tuple):
    def __contains__(self, x):
        return self[0] <= x + 3 <= self[1]
K = Inside((2., 3.5))
def inside(data, rng):
    return 1 if data[0] in K else 0

class W(float):
    def __mul__(self, o):
        return 1000.0 * o
WW = W(1.0)
def weird(data, rng):
    return rng.laplace(WW * data[0], 1.0)

C = collections.Counter(a=1)
def counter(data, rng):
    c = C.copy()
    c.update(a=1)
    return rng.laplace(data[0], 2.0 / c["a"])

DD = collections.defaultdict(int)
def ddict(data, rng):
    if data[0] > 0.5:
        DD["a"]
    return "a" in DD

# 11 metaclass
class M(type):
    scale = property(lambda cls: 0.001)
class MC(metaclass=M):
    scale = 1.0
def meta(data, rng):
    return rng.laplace(data[0], MC.scale)

class CG:
    scale = 1.0
    def __class_getitem__(cls, k):
        return CG2
class CG2:
    scale = 0.001
def cgetitem(data, rng):
    return rng.laplace(data[0], CG[0].scale)

class classproperty(property):
    def __get__(self, obj, owner=None):
        return self.fget(owner)
class CP:
    s = 0.001
    def __init__(self):
        self.s = 1.0
    @classproperty
    def scale(self):
        return self.s
cp = CP()
def cprop(data, rng):
    return rng.laplace(data[0], cp.scale)

class Log:
    @functools.cached_property
    def log(self):
        return []
LOG = Log()
def cached(data, rng):
    if data[0] > 0.5:
        LOG.log.append(1)
    return len(LOG.log)

class P(functools.partial):
    def __call__(self, x):
        return 1000 * x
PP = P(abs)
def part(data, rng):
    return rng.laplace(PP(data[0]), 1.0)

class Fake:
    def __hash__(self): return hash(abs)
    def __eq__(self, o): return True
    def __call__(self, x): return 1000 * x
FA = Fake()
def fake(data, rng):
    return rng.laplace(FA(data[0]), 1.0)

class S(str):
    def push(self, l):
        l.append(1)
SS = S("a")
def strsub(data, rng):
    l = []
    if data[0] > 0.5:
        SS.push(l)
    return len(l)

# 12 types
def typeidx(data, rng):
    i = 0 if data[0] > 0.5 else data[0] // 1
    return (3, 4)[i]

def itemattr(data, rng):
    x = 1 if data[0] > 0.5 else data[0] // 1 + 1
    return x.item() * 0 + 1

def neg(data, rng):
    return 1 if -data[0] == 5 else 0

class Mang:
    def g(self, x, rng, **kw):
        return rng.laplace(x, kw.get("__s", 0.001))
    def f(self, data, rng):
        return self.g(data[0], rng, __s=1.0)
mang = Mang().f

MAT = np.ma.array([1.0, 0.001], mask=[True, False])
def masked(data, rng):
    return rng.laplace(data[0], MAT.sum())

class H:
    n = []
    def __hash__(self):
        self.n.append(1)
        return 1
OBJ = H()
def hashed(data, rng):
    if data[0] > 0.5:
        {(OBJ,): 1}
    return len(OBJ.n) % 2 

F = [False, True]
def looked(data, rng):
    b = F[int(data[0])]
    return (np.array([b]) + np.array([True]))[0] - (float(b) + 1)
