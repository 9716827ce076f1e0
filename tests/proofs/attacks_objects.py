# ruff: noqa
"""Programs that leak through counters, dataclasses, named tuples or `match`: none has the claimed ε = 1."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import NamedTuple

from dpaudit.proofs.scopes import Domain, Records


def o1(data,rng): return {k: v+rng.laplace(0,2) for k,v in Counter(data).items()}


def o2(data,rng): return len(Counter(data))


def o3(data,rng): return "a" in Counter(data)


def o4(data,rng): return Counter(data).most_common(1)[0][0]


def o5(data,rng): return Counter(data)["a"]


def o6(data,rng):
    c=Counter(data); return c.get("a",7)+rng.laplace(0,1)


def o7(data,rng):
    c=defaultdict(int)
    for x in data: c[x]+=1
    return list(c)


def o8(data,rng):
    c=defaultdict(int)
    for x in data: c[x]+=5
    return c["a"]+rng.laplace(0,1)


def o9(data,rng):
    c=Counter(data); d=c; d["a"]+=1; 
    return 1 if c else 0


def o10(data,rng):
    c=Counter(data); return sum(c.values())*0+max(c.values())


def o11(data,rng):
    c=Counter(data); return dict(c)


def o12(data,rng):
    c=Counter(data); return c==Counter(["a","a","a"])


def o13(data,rng):
    c=Counter(); c.update(data); return c["a"]+rng.laplace(0,.1)


class MyC(Counter):
    def __getitem__(self,k): return 100*super().__getitem__(k)


def o14(data,rng): return MyC(data)["a"]+rng.laplace(0,1)


class DD(defaultdict): pass


def o15(data,rng):
    c=DD(int)
    for x in data: c[x]+=1
    return c["a"]


@dataclass
class P1:
    v: float
    @property
    def w(self): return self.v*100
    def m(self): return self.v*100


def o16(data,rng): return P1(data[0]).w+rng.laplace(0,1)


def o17(data,rng): return P1(data[0]).m()+rng.laplace(0,1)


def o18(data,rng):
    p=P1(data[0]+rng.laplace(0,1)); p.v=data[0]; return p


@dataclass
class P2:
    v: float
    def __post_init__(self): self.v*=100


def o19(data,rng): return P2(data[0]).v+rng.laplace(0,1)


@dataclass
class P3:
    v: float
    def __getattribute__(self,n): return 100*object.__getattribute__(self,"v") if n=="v" else object.__getattribute__(self,n)


def o20(data,rng): return P3(data[0]).v+rng.laplace(0,1)


class P4(NamedTuple):
    v: float
    w: float
    def big(self): return self.v*100


def o21(data,rng): return P4(data[0],1).big()+rng.laplace(0,1)


def o22(data,rng):
    a,b=P4(data[0],data[1]); return b+rng.laplace(0,1), a


class P5(P4):
    def __iter__(self): return iter((self.v*100,))


def o23(data,rng): return sum(P5(data[0],0))+rng.laplace(0,1)


@dataclass
class P6:
    v: list = field(default_factory=list)


def o24(data,rng):
    p=P6(); p.v.append(data[0]); return P6().v


@dataclass
class Base: 
    v: float


@dataclass
class P7(Base):
    w: float = 0
    def __init__(self,v): self.v=v*100


def o25(data,rng): return P7(data[0]).v+rng.laplace(0,1)


def o26(data,rng):
    match data[0] > 0.5:
        case True: return 1
        case _: return 0


def o27(data,rng):
    match data[0]:
        case 1: return 1
        case 0: return 2
    return rng.laplace(0,1)


def o28(data,rng):
    l=[1.0]; p=P1(l); l[0]=data[0]; return p.v


def o29(data,rng):
    l=[data[0]+rng.laplace(0,1)]; p=P1(l); p.v[0]=data[1]; return l


def o30(data,rng):
    p=P1(data[0]); return p==P1(1.0)


def o31(data,rng):
    p=P4(data[0],1); return p > (0.5,0)


def o32(data,rng):
    p=P1(data[0]); return repr(p)


def o33(data,rng):
    p=P1(data[0]); return hash(p), {p:1}


def o34(data,rng): return P4(data[0],1)._replace(w=2)


def o35(data,rng): return P4(data[0],1)[:1]


def o36(data,rng): return P4(data[0],1)+(1,)


class Hundredfold:
    def __get__(self, held, kind=None):
        return 0 if held is None else held.__dict__["v"] * 100

    def __set__(self, held, value):
        held.__dict__["v"] = value


@dataclass
class P8:
    v: float = Hundredfold()


def o37(data, rng):
    return P8(data[0]).v + rng.laplace(0, 1)


class P9(NamedTuple):
    v: float


P9.v = property(lambda self: self[0] * 100)


def o38(data, rng):
    return P9(data[0]).v + rng.laplace(0, 1)


PROGRAMS = [
    (program, Domain(3, ("a", "b", "c")) if int(name[1:]) < 16 else Records(2, 0, 1))
    for name, program in sorted(vars().items()) if name[0] == "o" and name[1:].isdigit()
]
