# ruff: noqa
"""Programs that leak through what they compute from noisy numbers, or beside it: none has the claimed ε = 1."""

import math

import numpy as np

from dpaudit.proofs.scopes import Domain, Records


def p1(data,rng):
    r=np.sqrt(data[0]+rng.laplace(0,1))
    if r>3: return 1
    elif r<=3: return 2
    else: return data[0]


def p2(data,rng):
    r=np.sqrt(data[0]+rng.laplace(0,1))
    if r-r==0: return 0
    return data[0]


def p2b(data,rng):
    r=np.sqrt(data[0]+rng.laplace(0,1))
    if r*0==0: return 0
    return data[0]


def p3(data,rng):
    y = 1 if data[0]>0.5 else 1.0
    return f"{y*0+rng.geometric(0.5)}"


def p4(data,rng):
    y = np.float64(1.0) if data[0]>0.5 else 1.0
    n = round(rng.laplace(0,1))
    z = y*0+n
    return 1/z


def p4b(data,rng):
    a=np.array([1.0])
    y = a[0] if data[0]>0.5 else 1.0
    return y/round(rng.laplace(0,1))


def p4c(data,rng):
    y = data[0]*0+ (np.array([1.0])[0] if data[0]>0.5 else 1.0)
    x = y + rng.laplace(0,1)
    return x/round(rng.laplace(0,1))


def p5(data,rng):
    xs=[data[0]+rng.laplace(0,1), data[0]*50+rng.laplace(0,1)]
    g=(x*x for x in xs)
    return max(g), list(g)


def p7(data,rng):
    r=round(data[0]+rng.laplace(0,1)); return data[0]-r


def p8(data,rng):
    l=rng.laplace(0,1); return round(data[0]+l), round(data[0]*2+l)


def p9(data,rng):
    l=rng.laplace(0,1)
    if data[0]>0.5: return round(l)
    return math.floor(l)


def p10(data,rng):
    l=rng.laplace(0,1)
    return round(l) if data[0]>0.5 else math.floor(l)


def p10b(data,rng):
    l=rng.laplace(0,1); a=round(l); b=math.floor(l)
    return a if data[0]>0.5 else b


def p10c(data,rng):
    l=rng.laplace(0,1); a=round(l); b=math.floor(l)
    x=[a,b]
    return x[int(data[0])]


def p15(data,rng):
    r=round(rng.laplace(0,1)); return [0,data[0]*100][r]


def p15b(data,rng):
    r=round(rng.laplace(0,1)) ; return (data[0]*100,)*r


def p15c(data,rng):
    r=round(rng.laplace(0,1)) ; return [data[0]*100 for _ in range(r)]


def p15d(data,rng):
    r=round(rng.laplace(0,1)) ; return data[:r]


def p20(data,rng):
    r=round(data[0]+rng.laplace(0,2)); return data[0]+rng.laplace(0,r)


def p20b(data,rng):
    r=round(data[0]+rng.laplace(0,1)); return rng.laplace(r,1)+data[0]


def p21(data,rng):
    a=np.array([data[0]*50+rng.laplace(0,1)]); b=a.view() if False else a
    np.round(a,0,a)
    return b


def p21b(data,rng):
    x=[data[0]+rng.laplace(0,1)]
    y=np.asarray(x); z=np.sort(y); z[0]=data[0]*50
    return z


def p21c(data,rng):
    y=np.array([data[0]+rng.laplace(0,1), rng.laplace(0,1)])
    z=np.round(y); z[0]=data[0]*50
    return y, z


def p23(data,rng): return round(data[0]) 


def p23b(data,rng): return math.exp(data[0])


def p24(data,rng):
    u=rng.uniform(); r=round(u*2+data[0]); return r


def p25(data,rng):
    l=rng.laplace(0,1)
    return math.exp(l) - l + data[0]


def p26(data,rng):
    x=data[0]+rng.laplace(0,1)
    r=math.exp(x)
    return (data[0] if r<0 else 0)


def p27(data,rng):
    x=data[0]+rng.laplace(0,1)
    d={}
    d[round(x)]=data[0]
    return d


def p28(data,rng):
    x=data[0]+rng.laplace(0,1)
    s={round(x), data[0]>0.5}
    return len(s)


def p29(data,rng):
    x=round(data[0]+rng.laplace(0,1))
    y=x if data[0]>0.5 else x
    z= x+0 if data[0]>0.5 else x+1
    return z


def p30(data,rng):
    l=rng.laplace(0,1)
    f=round
    if data[0]>0.5: f=math.floor
    return f(l)


def p31(data,rng):
    l=rng.laplace(0,1)
    a=[round(l)]
    if data[0]>0.5: a.append(1)
    return len(a)


def p32(data,rng):
    l=rng.laplace(0,1)
    return f"{l:.{int(data[0]*3)}f}"


def p33(data,rng):
    l=rng.laplace(0,1)
    return f"{round(l)} {data[0]}"


def p34(data,rng):
    l=rng.laplace(0,1)
    return round(l, int(data[0]*3))


def p35(data,rng):
    l=rng.laplace(0,1); r=round(l)
    return r == data[0]


def p36(data,rng):
    l=rng.laplace(0,1); r=round(l)
    return r and data[0]


def p37(data,rng):
    l=rng.laplace(0,1); r=round(l)
    while r > 3: 
        r = r - 1
    return r + data[0]


def p38(data,rng):
    y=data+rng.laplace(0,1,1)
    y += data
    return np.round(y)


def p39(data,rng):
    x=data[0]+rng.laplace(0,1)
    return np.median(np.array([x,data[0]*3]))


def p40(data,rng):
    x=data[0]+rng.laplace(0,1)
    return max(round(x), data[0]*10)


def p41(data,rng):
    x=data[0]+rng.laplace(0,1)
    return sum([round(x)], data[0])


def p42(data,rng):
    x=rng.laplace(0,1)
    z = 1.0 if data[0] > 0.5 else 1
    return round(x)**z


def p43(data,rng):
    x=rng.geometric(0.5)
    z = 2.0 if data[0] > 0.5 else 2
    return str(round(x)*z)


def p44(data,rng):
    x=rng.geometric(0.5)
    z = data[0]*0 + (0.0 if data[0] > 0.5 else 0)
    return str(round(x)+z)


def p45(data,rng):
    x=round(rng.laplace(0,1))
    z = max(data[0]-0.5,0)*0
    return f"{x+z}"


def p46(data,rng):
    x=round(rng.laplace(0,1))
    z = max(data[0]-0.5,0)*0
    return 1/(x+z), [1,2,3][0]


def p47(data,rng):
    x=rng.laplace(0,1)
    return np.clip(x, 0, data[0])


def p48(data,rng):
    x=rng.laplace(0,1)
    return np.maximum(np.round(x), data[0])


def p49(data,rng):
    x=np.array([1,2]) + np.array([rng.geometric(0.5), 0])
    x[0] = round(rng.laplace(0,1)) + 0.5
    return x


def p50(data,rng):
    # int array truncates
    x=np.zeros(2,dtype=int); x[0]=np.exp(data[0]+rng.laplace(0,1)); return x


def q1(data,rng):
    f={0:math.floor,1:math.ceil}[data[0]]
    return f(rng.laplace(0,1))


def q2(data,rng):
    return round(rng.laplace(0,1), data[0])


def q3(data,rng):
    return round(rng.laplace(0,1))*data[0]


def q4(data,rng):
    return math.pow(2.0, rng.laplace(0,1)+100*data[0])


PROGRAMS = [
    (program, Records(1, 0, 1) if name[0] == "p" else Domain(1, (0, 1)))
    for name, program in sorted(vars().items()) if name[0] in "pq" and name[1:2].isdigit()
]
