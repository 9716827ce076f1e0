# ruff: noqa
"""Programs with values that look alike: what is public in a stream, objects of equal repr, outputs of equal name."""

import types
from dataclasses import dataclass, field
from dpaudit.proofs.scopes import Answers, Domain, Records, Stream


def t1(data, rng):
    out = []
    for i, a in enumerate(data):
        j = i + 1 if a > 0 else i
        out.append(j)
    return out
def t1b(data, rng):
    j = 0
    for i, a in enumerate(data):
        j = i
        if a > 0:
            j = i + 1
    return j
def t1c(data, rng):
    last = 0
    for i, a in enumerate(data):
        last = i if a > 0 else last
    return last
def t1d(data, rng):
    return [i if a > 0 else i + 1 for i, a in enumerate(data)]
def make(flag):
    class A:
        on = flag
    return A
A0, A1 = make(0), make(1)
def t2(data, rng):
    kind = A0
    for a in data:
        if kind.on:
            return a
        kind = A1
    return 0
M0 = types.ModuleType("m"); M0.on = 0
M1 = types.ModuleType("m"); M1.on = 1
def t3(data, rng):
    kind = M0
    for a in data:
        if kind.on:
            return a
        kind = M1
    return 0
def t4(data, rng):
    kind = M0
    late = 0
    for a in data:
        if kind.on:
            return a
        if late:
            kind = M1
        late = 1
    return 0
class Secret(str):
    def __repr__(self): return "***"
def c1(data, rng):
    return data[0]
class Num(int):
    def __repr__(self): return "n"
X0, X1 = Num(0), Num(1)
def c2(data, rng):
    return X1 if data[0] else X0
class L(list):
    def __iter__(self): return iter(())
L0, L1 = L([0]), L([1])
def c3(data, rng):
    return L1 if data[0] else L0
class O:
    def __repr__(self): return "o"
S0, S1 = {O()}, {O()}
def c4(data, rng):
    return S1 if data[0] else S0
O1, O2 = O(), O()
D0, D1 = {O1: 1}, {O2: 1}
def c6(data, rng):
    return D1 if data[0] else D0
def m1(data, rng):
    return X1 if data[0] + rng.laplace(0, 1) > 0.5 else X0
def m2(data, rng):
    if data[0] + rng.laplace(0, 1) > 0.5:
        return X1
    return X0
@dataclass(frozen=True)
class C:
    on: int = field(repr=False)
    def get(self):
        return self.on
G0, G1 = C(0).get, C(1).get
def t5(data, rng):
    f = G0
    for a in data:
        if f():
            return a
        f = G1
    return 0
def t6(data, rng):
    d = {"x": 0}
    for i, a in enumerate(data):
        d["x"] = i
        if a > 0:
            d["x"] = i + 1
    return d["x"]
def t7(data, rng):
    out = [0, 1]
    y = 0
    for a in data:
        out.append(0)
        y = out[1] if a > 0 else out[0]
    return y
def t8(data, rng):
    n = len(data)
    y = n
    for a in data:
        y = n + 1 if a > 0 else n
    return y


def t9(data, rng):
    for i, a in enumerate(data):
        if [i, i + 1].index(i + 1) == 1:
            return a
    return 0


def t10(data, rng):
    for i, a in enumerate(data):
        if [i, i + 1].count(i) == 1:
            return a
    return 0


PROGRAMS = [
    *((program, Stream()) for program in (t1, t1b, t1c, t1d, t2, t3, t4, t5, t6, t7, t8, t9, t10)),
    (c1, Domain(1, (Secret("a"), Secret("b")))),
    *((program, Domain(1, (0, 1))) for program in (c2, c3, c4, c6)),
    (m1, Records(1, 0, 1)), (m1, Answers(1)), (m2, Records(1, 0, 1)),
]
