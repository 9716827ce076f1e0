"""Programs with one loop over a stream that return an answer as it is, or more than their noise covers.

Each was once proved, or is near to one that was: two names of one list, functions that a loop carries, loops over what
was released, generators, comprehensions that run late, whole noise on real answers.
"""

# ruff: noqa

import numpy as np

# S1 alias of a list
def s1(data, rng):
    out = []
    shown = out
    for a in data:
        if len(shown) > 0:
            return a
        out.append(1)
    return 0

def s1b(data, rng):
    used = [0]
    also = used
    for a in data:
        if also[0]:
            return a
        used[0] = 1
    return 0

# S2 closures of a factory
def s2(data, rng):
    def make(v):
        def get():
            return v
        return get
    v = 0
    g = make(1)
    for a in data:
        if v + g() == 1:
            return a
    return 0

# S5 whole noise, real answers
def s5(data, rng):
    for a in data:
        x = rng.geometric(0.5) - rng.geometric(0.5)
        if x >= a:
            if x <= a:
                return 1
        return 0
    return 0

# S8 a global function with a public argument changes a list
def mark(flag, out):
    flag.append(1)
def s8(data, rng):
    out = []
    flag = []
    for a in data:
        out.append(1)
        break
    else:
        return 0
    mark(flag, out)
    if flag:
        return a
    return 0

# S9 a loop over what was released runs once
def s9(data, rng):
    out = []
    for a in data:
        out.append(1)
        if len(out) >= 3:
            break
    else:
        return 0
    res = []
    for _ in out:
        res.append(a + rng.laplace(0, 1))
    return res
def s9b(data, rng):
    out = []
    for a in data:
        out.append(1)
        if len(out) >= 3:
            break
    else:
        return 0
    n = sum(1 for _ in out if True)
    if n > 1:
        return a
    return 0
def s9c(data, rng):
    out = []
    for a in data:
        out.append(1)
        if len(out) >= 3:
            break
    else:
        return 0
    if len([*out]) > 1:
        return a
    return 0
def s88(data, rng):
    rho = rng.laplace(0, 1)
    for a in data:
        if a + rng.laplace(0, 2) >= rho:
            break
    return [rho + rng.laplace(0, 1) for _ in range(len(data))]
# S11 helper in the loop
def many(out):
    return sum(1 for _ in out if True)
def s11(data, rng):
    out = []
    for a in data:
        if many(out) > 1:
            return a
        out.append(1)
    return 0
def s13(data, rng):
    for i, p in enumerate(enumerate(data)):
        if np.asarray(p).ndim == 1:
            return p[1]
    return 0
def s21(data, rng):
    st = [0]
    def ask(a):
        if st[0]:
            return 0
        st[0] = 1
        return a + rng.laplace(0, 1)
    go = lambda: [ask(a) for a in data]
    first = go()
    st[0] = 0
    second = go()
    return first, second
def s22(data, rng):
    on = 1
    g = (0 if on else a for a in data)
    on = 0
    return list(g)
def s26(data, rng):
    out = []
    for a in data:
        b = []
        out.append(b)
        b.append(a)
    return out
def s27(data, rng):
    out = []
    for a in data:
        if out.count(1):
            return a
        out.append(np.array([1]))
    return 0
def s33(data, rng):
    g = None
    k = 0
    for a in data:
        if g is not None:
            if g() == 1:
                return a
        def g(x=k):
            return x
        k = 1
    return 0
def s33b(data, rng):
    k = 0
    g = lambda: 0
    for a in data:
        if g() == 1:
            return a
        g = lambda x=k: x
        k = 1
    return 0
G = [0]
def s35(data, rng):
    lst = G
    for a in data:
        if G[0]:
            return a
        lst[0] = 1
    return 0
def s44(data, rng):
    coin = rng.random() < 0.5
    for a in (data if coin else ()):
        return a
    for b in data:
        return 0
    return 0
class D(dict):
    def __getitem__(self, k):
        return 1
D0 = D(x=0)
def s54(data, rng):
    d = D0
    for a in data:
        if d["x"] == 1:
            return a
    return 0
class Obj:
    n = 0
    def __add__(self, o):
        self.n += 1
        return 0
O = Obj()
def s103(data, rng):
    for a in data:
        O + 1
        if O.n == 100000:
            return a
    return 0
def s110(data, rng):
    out = []
    for a in data:
        r = out.extend(())
        if r is None:
            return a
    return 0
