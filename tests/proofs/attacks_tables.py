# ruff: noqa
"""Programs that leak through tables of counts, masks, objects and streams that carry them: none has the claimed ε = 1."""

import sys
from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from dpaudit.proofs.scopes import Answers, Domain, Records, Stream

R = Records(1, 0, 1)
R2 = Records(2, 0, 1)
D2 = Domain(1, (0, 1))
CASES = []


def c(scope):
    def add(program):
        CASES.append((program, scope))
        return program
    return add


@c(D2)
def mul(data,rng):
    t=np.ones((2,2)); t[data[0]][0]*=5.0
    return t


@c(D2)
def mul_t(data,rng):
    t=np.ones((2,2)); t[data[0],0]*=5.0
    return t


@c(D2)
def mul_hid(data,rng):
    if rng.laplace(0,1)>10000:
        t=np.ones((2,2)); t[data[0]][0]*=5.0
        return t[1,0]
    return 0


@c(R)
def mul_rec(data,rng):
    if rng.laplace(0,1)>10000:
        t=np.ones((2,2)); t[int(data[0])][0]/=5.0
        return t[1,0]
    return 0


def swap(t):
    t[0]=[0,0]; t[1]=[0,0]
    return 0


@c(D2)
def swp(data,rng):
    t=[[0,0],[0,0]]; r=t[0]
    t[data[0]][swap(t)]+=1
    return r[0]


@c(D2)
def swp_hid(data,rng):
    if rng.laplace(0,1)>10000:
        t=[[0,0],[0,0]]; r=t[0]
        t[data[0]][swap(t)]+=1
        return r[0]
    return 0


@c(Domain(1,(True,2)))
def tru(data,rng):
    a=np.zeros(3); a[data[0]]+=1
    return a[0]


@c(Domain(1,(True,2)))
def tru_hid(data,rng):
    if rng.laplace(0,1)>10000:
        a=np.zeros(3); a[data[0]]+=1
        return a[0]
    return 0


@c(Domain(1,(0,1.0)))
def flo(data,rng):
    t=[0,0]; t[data[0]]+=1
    return 0


@c(Domain(1,(0,1.0)))
def flo_hid(data,rng):
    if rng.laplace(0,1)>10000:
        t=[0,0]; t[data[0]]+=1
    return 0


class H:
    def __init__(self,c): self.c=c


class E0:
    pass


@c(R)
def missing(data,rng):
    h=E0()
    if data[0]>0.5: h.x=None
    h.x
    return 0


@c(R)
def missing_hid(data,rng):
    if rng.laplace(0,1)>10000:
        h=E0()
        if data[0]>0.5: h.x=None
        h.x
    return 0


@c(R)
def missing2(data,rng):
    h=E0()
    return 0 if data[0]>0.5 else h.y and 0


@c(R)
def clipraise(data,rng):
    if rng.laplace(0,1)>10000:
        if data[0]>0.5: x=np.clip(1.0,0,max=2)
        else: x=1.0
    return 0


@c(R)
def clipraise2(data,rng):
    if rng.laplace(0,1)>10000:
        if data[0]>0.5: x=np.clip(1.0,0,None,max=2)
    return 0


@c(R)
def clipraise3(data,rng):
    if rng.laplace(0,1)>10000:
        if data[0]>0.5: x=np.array([1.0]).clip(a_min=0)
    return 0


@c(R)
def clipraise4(data,rng):
    if rng.laplace(0,1)>10000:
        if data[0]>0.5: x=np.clip(1.0,0)
    return 0


@c(Stream())
def s_alias(data,rng):
    c=[0]; h=H(c)
    for a in data:
        if h.c[0]==1: return a
        c[0]=1
    return 0


@c(Stream())
def s_alias2(data,rng):
    c=[]; h=H(c)
    for a in data:
        if len(h.c)==1: return a
        c.append(1)
    return 0


@c(Stream())
def s_alias3(data,rng):
    c={0}; h=H(c)
    for a in data:
        if 1 in h.c: return a
        c.add(1)
    return 0


@c(Stream())
def s_alias4(data,rng):
    c={"k":0}; h=[H(c)]
    for a in data:
        if h[0].c["k"]==1: return a
        c["k"]=1
    return 0


@c(Stream())
def s_alias_late(data,rng):
    c=[0]; h=H(c); 
    big=rng.laplace(0,1)>10000
    for a in data:
        if big:
            if h.c[0]==1: return a
            c[0]=1
    return 0


@c(Stream())
def s_missing(data,rng):
    h=E0()
    for a in data:
        if a>0: h.x
    return 0


@c(R)
def atom(data,rng):
    n=data[0]+rng.laplace(0,1)
    y=max(n,0)
    if y==n: return data[0]
    return 0


@c(R)
def atom2(data,rng):
    l=rng.laplace(0,1)
    n=data[0]+l
    y=max(n,0)
    k=y-l
    if k==data[0]: return (l,data[0])
    return (l,0)


@c(R)
def atom3(data,rng):
    l=rng.laplace(0,1)
    y=max(data[0]+l,0)
    z=data[0]+l
    if y-z==0: return (z,y,data[0])
    return (z,y)


@c(Domain(1,(0,1)))
def tallyn(data,rng):
    t=defaultdict(int); t[data[0]][0]+=1
    return t[1]


@dataclass


class Del:
    log: list
    def __del__(self): self.log.append(1)


@c(R)
def dele(data,rng):
    log=[]; d=Del(log); d=0
    if len(log)==1: return data[0]
    return 0


@c(R)
def dele_hid(data,rng):
    if rng.laplace(0,1)>10000:
        log=[]; d=Del(log); d=0
        if len(log)==1: return data[0]
    return 0
ns={}; exec("def __setattr__(self,n,v):\n object.__setattr__(self,n,v*0.001)",ns)


@dataclass


class Sa:
    a: float
    __setattr__=ns["__setattr__"]


@c(R)
def seta(data,rng):
    d=Sa(1000.0)
    return rng.laplace(data[0],d.a)


@c(R)
def seta2(data,rng):
    d=Sa(1000.0); d.a=1000.0
    return rng.laplace(data[0],d.a)


@c(D2)
def mul_plain(data,rng):
    t=np.ones((2,2)); t[data[0]][0]*=5.0
    return t[1,0]


@c(Records(1,0,3))
def hist_scale(data,rng):
    t=np.ones((3,2)); t[int(min(data[0],2)),0]/=4
    return t[1:]


@c(R2)
def missing_max(data,rng):
    if rng.laplace(0,1)>10000:
        m=max(data[0],data[1])
        h=E0()
        if data[0]>0.5: h.x=None
        h.x
    return 0


@c(R)
def missing_coin(data,rng):
    if rng.integers(0,64)==0 and rng.integers(0,64)==0 and rng.integers(0,64)==0:
        h=E0()
        if data[0]>0.5: h.x=None
        h.x
    return 0


@c(R2)
def clip_max(data,rng):
    if rng.laplace(0,1)>10000:
        m=max(data[0],data[1])
        if data[0]>0.5: x=np.clip(1.0,0,max=2)
    return 0


@c(R)
def clip_late(data,rng):
    if rng.laplace(0,1)>10000:
        if data[0]>0.9: x=np.clip(1.0,0,max=2)
        else: x=1.0
    return 0


@c(R2)
def atom_max(data,rng):
    if rng.laplace(0,1)>10000:
        m=max(data[0],data[1])
        n=data[0]+rng.laplace(0,1)
        y=max(n,0)
        if y==n: return data[0]
    return 0


@c(R)
def atom_coin(data,rng):
    if rng.integers(0,64)==0 and rng.integers(0,64)==0 and rng.integers(0,64)==0:
        n=data[0]+rng.laplace(0,1)
        y=max(n,0)
        if y==n: return data[0]
    return 0


@c(R)
def atom_min(data,rng):
    n=data[0]+rng.laplace(0,1)
    if min(n,1)==n: return data[0]
    return 0


@c(R)
def atom_clip(data,rng):
    n=data[0]+rng.laplace(0,1)
    if np.clip(n,0,1)==n: return data[0]
    return 0


@c(R)
def atom_ne(data,rng):
    n=data[0]+rng.laplace(0,1)
    if np.maximum(n,0)!=n: return 0
    return data[0]


@c(R)
def atom_zero(data,rng):
    n=data[0]+rng.laplace(0,1)
    if max(n,0)==0: return data[0]
    return 0


@c(R)
def atom_ge(data,rng):
    n=data[0]+rng.laplace(0,1)
    y=max(n,0)
    if y<=n: return data[0]
    return 0


@c(Stream())
def s_two(data,rng):
    c=[0]; h=H(c); g=H(c); n=0
    for a in data:
        if h.c[0]==1: return a
        if n<12: n+=1
        if n==12: g.c[0]=1
    return 0


@c(R)
def sharp(data,rng):
    n=data[0]-0.5+rng.laplace(0,0.001)
    return max(n,0)==n


@c(Records(3,0,1))
def sharp3(data,rng):
    n=sum(data)-1.5+rng.laplace(0,0.001)
    return bool(max(n,0)==n)


@c(R)
def sharp_if(data,rng):
    n=data[0]-0.5+rng.laplace(0,0.001)
    if min(n,0)==n: return "low"
    return "high"


@c(R)
def sharp_np(data,rng):
    n=data+rng.laplace(0,0.001,1)
    b=np.clip(n,0.4,0.6)
    return (b==n)


@c(R)
def sharp_count(data,rng):
    n=data-0.5+rng.laplace(0,0.001,1)
    return int(np.count_nonzero(np.maximum(n,0)==n))


@c(Stream())
def sharp_s(data,rng):
    out=[]
    for a in data:
        n=a+rng.laplace(0,0.001)
        out.append(max(n,0)==n)
    return out


@c(Answers(1))
def sharp_a(data,rng):
    n=data[0]+rng.laplace(0,0.001)
    return max(n,0)==n


@c(Answers(1,whole=True))
def sharp_w(data,rng):
    n=data[0]+rng.laplace(0,0.001)
    return max(n,0)==n


@dataclass
class DC:
    a: float


@c(R)
def merged_missing(data,rng):
    if rng.laplace(0,1)>10000:
        h=DC(1.0)
        if data[0]>0.9: h.zz
    return 0


class Evil:
    """Equal to "a" where its caller has a record above 0.5."""
    def __hash__(self): return hash("a")
    def __eq__(self,other): return sys._getframe(1).f_locals.get("data",[0])[0]>0.5


OUT={Evil():1,"zz":2}


@c(R)
def evil_del(data,rng):
    e=dict(OUT); del e["a"]
    return len(e)


@c(R)
def evil_get(data,rng):
    e=dict(OUT); return e.get("a",0)


@c(R)
def evil_update(data,rng):
    e=dict(OUT); e.update({"a":4}); return len(e)


@c(Stream())
def two_deep(data,rng):
    c=[0]; g=H(H(c)); n=0
    for a in data:
        if g.c.c[0]==1: return a
        if n<9: n+=1
        if n==9: c[0]=1
    return 0
