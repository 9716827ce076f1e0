# ruff: noqa
"""More programs that hide what they do behind a branch of small probability, or a late turn of a stream.

They are as those of `attacks_hidden`: none has the claimed ε = 1.
"""

from dpaudit.language import Laplace, cached
from dpaudit.stats.power import _least as least
from fractions import Fraction
import enum
import itertools
import itertools, numpy as np
import math
import numpy as np
from dpaudit.proofs.scopes import Answers, Domain, Records, Scope, Stream


class a2_Count:
    n = 0


a2_O_ = a2_Count()


class a2_O:

    def __getitem__(self, k):
        a2_O_.n += 1
        return 0

    def __add__(self, k):
        a2_O_.n += 1
        return 0


a2_o = a2_O()


def a2_annot(data, rng):
    if rng.laplace(0, 1) > 10000:
        b = a2_O_.n
        if data[0] > 0.5:

            def g(x: a2_o[0]):
                return x
        return a2_O_.n - b
    return 0


def a2_annot2(data, rng):
    if rng.laplace(0, 1) > 10000:
        b = a2_O_.n

        def g(x: a2_o[0]):
            return x
        if a2_O_.n > b:
            return data[0]
    return 0


def a2_annot3(data, rng):
    if rng.laplace(0, 1) > 10000:
        it = iter([1, 2])

        def g(x: [y for y in it]):
            return x
        if next(it, 7) == 7:
            return data[0]
    return 0


def a2_annot4(data, rng):
    if rng.laplace(0, 1) > 10000:
        return a2_h4(data[0])
    return 0


def a2_h4(v):

    def g(x: (yield from (Laplace(v, 1),))):
        return x
    return 0


def a2_annot5(data, rng):
    if rng.laplace(0, 1) > 10000:
        b = a2_O_.n

        def g(x: a2_o + 1):
            return x
        if a2_O_.n > b:
            return data[0]
    return 0


def a3_arrstore(data, rng):
    if rng.laplace(0, 1) > 10000:
        x = np.zeros(2)
        x[:] = [1, 2]
        y = x.tolist()
        if len(f'{y[0]}') == 3:
            return data[0]
    return 0


def a3_wh(data, rng):
    if rng.laplace(0, 1) > 10000:
        x = np.where(np.array([True, False]), 1, 2.5)
        if len(f'{x[0]}') == 3:
            return data[0]
    return 0


def a3_inst(data, rng):
    if rng.laplace(0, 1) > 10000:
        x = np.where(True, [1], [2.0])
        if len(f'{x[0]}') == 3:
            return data[0]
    return 0


def a3_maxarr(data, rng):
    if rng.laplace(0, 1) > 10000:
        x = np.maximum(np.array([1, 2]), 0.0)
        if len(f'{x[0]}') == 3:
            return data[0]
    return 0


def a3_clarr(data, rng):
    if rng.laplace(0, 1) > 10000:
        x = np.array([1, 2]).clip(0.0, 3.0)
        if len(f'{x[0]}') == 3:
            return data[0]
    return 0


def s3_cont(data, rng):
    out = []
    for a in data:
        out.append(0)
        if out.count(0) == 9:
            l = [out]
            l[0] += [1]
            if out.count(1) == 1:
                return a
            break
    return 0


def s3_publist2(data, rng):
    n = 0
    for j, a in enumerate(data):
        n = min(n + 1, 9)
        if n == 9:
            m = []
            k = [m] * j
            q = k[0]
            q += [1]
            if len(m) == 1:
                return a
    return 0


a6_G = []


def a6_enough(n):
    a6_G.append(n)
    return True


def a6_ours(data, rng):
    if rng.laplace(0, 1) > 10000:
        b = len(a6_G)
        if data[0] > 0.5:
            least(a6_enough, 1)
        return len(a6_G) - b
    return 0


def a7_filt(data, rng):
    if rng.laplace(0, 1) > 10000:
        it = iter([1, 2, 3, 4])
        f = filter(None, zip(it, ()))
        next(f, 0)
        next(f, 0)
        if next(it) == 3:
            return data[0]
    return 0


def a7_acc(data, rng):
    if rng.laplace(0, 1) > 10000:
        it = iter([1, 2, 3, 4])
        f = itertools.accumulate(map(lambda x, y: x, it, ()))
        next(f, 0)
        next(f, 0)
        if next(it) == 3:
            return data[0]
    return 0


def a8_npexp(data, rng):
    if rng.laplace(0, 1) > 10000:
        t = np.array([1.0])[0] > 0
        if float(np.exp(t)) > 2.7185:
            return data[0]
    return 0


def a8_npexp8(data, rng):
    if rng.laplace(0, 1) > 10000:
        if float(np.exp(True)) > 2.7185:
            return data[0]
    return 0


p3_F = Fraction(1, 2)


def p3_d10(x, rng):
    a = np.array([True, 1])
    i = np.array([a[0], a[0]])
    return x[i][0] - x[0]


def p3_d10b(x, rng):
    v = np.minimum(True, 1)
    i = np.array([v, v])
    return x[i][0] - x[0]


def p3_d10c(x, rng):
    m = np.maximum(np.array([True, True]), 0)
    i = np.array([m[0], m[1]])
    return x[i][0] - x[0]


def p3_d11(d, rng):
    e = np.zeros_like(np.array(d))
    e[0] = rng.laplace(0, 1)
    return d[0] * 0.5 + e[0]


def p3_d12(d, rng):
    return np.sum(d[0] == np.array([1])[0])


def p3_d12b(d, rng):
    return np.count_nonzero(d[0] != np.array([1])[0])


def p3_d13(x, rng):
    a = np.array([True, p3_F])
    b = np.array([a[0], a[0]])
    b[0] = x[0]
    return b[0] + rng.laplace(0, 0.1)


def p3_d14(x, rng):
    return x[0] + rng.laplace(0, 100 if np.exp(True) < 2.7185 else 1)


def p4_e1(d, rng):
    c = np.array(d)[0] > 0
    v = c if d[0] == 1 else 0
    return 2 * v - (v + v)


def p4_e1b(d, rng):
    m = np.array([True])
    v = [0, m[0]][d[0]]
    return 2 * v - (v + v)


def p4_e1c(d, rng):
    m = np.array([True])
    v = {0: 0, 1: m[0]}[d[0]]
    return -v + rng.laplace(0, 1)


def p4_e2(d, rng):
    return 2 ** np.array(d)[0] + rng.laplace(0, 1)


def p4_e2b(d, rng):
    return (2 ** np.array(d)).sum() + rng.laplace(0, 1)


def updated_from_a_generator(x, rng):
    d = {}
    d.update((k, 2 - len(d)) for k in 'ab')
    return x[0] + rng.laplace(0, d['b'])


def sorted_while_empty(x, rng):
    l = [0.0, 1.0]
    r = []
    l.sort(key=lambda v: r.append(x[0] if len(l) == 0 else 0) or 0)
    return r[0]


def extended_from_a_generator(x, rng):
    l = []
    l.extend(x[0] if len(l) else 0.0 for _ in range(2))
    return l[1]


def unsigned(d, rng):
    return np.array(d)[0] * 0 - 1


def choice_of_zeros(d, rng):
    return rng.choice([d[0], 'b']) == d[0]


def rounded_by_numpy(x, rng):
    return x[0] + rng.laplace(0, 100 if round(np.array([0.005])[0], 2) == round(0.005, 2) else 0.5)


def not_real(d, rng):
    v = np.array(d)[0] ** 0.5
    return v == v


def edges_shared(x, rng):
    e = np.array([0.0, 0.5, 1.0])
    h, f = np.histogram([0.2], bins=e)
    e[0] = x[0]
    return f[0]


def empty_of_conditions(x, rng):
    c = np.concatenate([x[:0] > 0, np.array([1, 2])])
    c[0] = x[0]
    return c[0] + rng.laplace(0, 0.1)


def empty_of_ints(x, rng):
    c = np.concatenate([np.zeros(0, dtype=int) + 1, np.array([1, 2])])
    c[0] = x[0]
    return c[0] + rng.laplace(0, 0.1)


def condition_among_ints(x, rng):
    if rng.laplace(0, 1) > 1e6:
        a = np.zeros(1, dtype=int)
        a[0] = x[0] > 0.5
        b = np.array([a[0]])
        return np.where(~b, 5, 0)[0] + 5 * b[0]
    return 0


def number_and_tuple(d, rng):
    return np.sum(np.array(d)[0] == (0, 1))


@cached(maxsize=16)
def kept_noise(place, rng):
    """The same for all who ask."""
    return rng.laplace(0, 1)


def noise_that_is_kept(data, rng):
    return data[0] + kept_noise(0, rng), data[0] * 0 + kept_noise(0, rng)


class Level(int, enum.Enum):
    """Members that are compared as whole numbers, and are objects of their own."""

    LOW = 1
    HIGH = 2


LOW, HIGH = Level.LOW, Level.HIGH


def largest_is_a_member(data, rng):
    return (0 if max(data) is LOW else 100) + rng.laplace(0, 1)


def record_is_a_member(data, rng):
    return (0 if data[0] is LOW else 100) + rng.laplace(0, 1)


def smallest_is_a_member(data, rng):
    found = min(data[0], data[1])
    return (0 if found is not HIGH else 100) + rng.laplace(0, 1)



PROGRAMS: list[tuple[object, Scope]] = [
    (a2_annot, Records(1, 0, 1)),
    (a2_annot2, Records(1, 0, 1)),
    (a2_annot3, Records(1, 0, 1)),
    (a2_annot4, Records(1, 0, 1)),
    (a2_annot5, Records(1, 0, 1)),
    (a3_arrstore, Records(1, 0, 1)),
    (a3_wh, Records(1, 0, 1)),
    (a3_inst, Records(1, 0, 1)),
    (a3_maxarr, Records(1, 0, 1)),
    (a3_clarr, Records(1, 0, 1)),
    (s3_cont, Stream()),
    (s3_publist2, Stream()),
    (a6_ours, Records(1, 0, 1)),
    (a7_filt, Records(1, 0, 1)),
    (a7_acc, Records(1, 0, 1)),
    (a8_npexp, Records(1, 0, 1)),
    (a8_npexp8, Records(1, 0, 1)),
    (p3_d10, Records(2, 0, 1)),
    (p3_d10b, Records(2, 0, 1)),
    (p3_d10c, Records(2, 0, 1)),
    (p3_d11, Answers(1)),
    (p3_d12, Domain(1, ((0, 1), (1, 1)))),
    (p3_d12b, Domain(1, ((0, 1), (1, 1)))),
    (p3_d13, Records(1, 0, 0.1)),
    (p3_d14, Records(2, 0, 1)),
    (p4_e1, Domain(1, (0, 1))),
    (p4_e1b, Domain(1, (0, 1))),
    (p4_e1c, Domain(1, (0, 1))),
    (p4_e2, Domain(1, (0, -1))),
    (p4_e2b, Domain(1, (0, -1))),
    (updated_from_a_generator, Records(1, 0, 1.5)),
    (sorted_while_empty, Records(1, 0, 1)),
    (extended_from_a_generator, Records(1, 0, 1)),
    (unsigned, Domain(1, (2**63, 1))),
    (choice_of_zeros, Domain(1, ("a\0", "a"))),
    (rounded_by_numpy, Records(1, 0, 1)),
    (not_real, Domain(1, (-1.0, 4.0))),
    (edges_shared, Records(1, 0, 1)),
    (empty_of_conditions, Records(1, 0.95, 1.05)),
    (empty_of_ints, Records(1, 0.95, 1.05)),
    (condition_among_ints, Records(1, 0, 1)),
    (number_and_tuple, Domain(1, (0, 5))),
    (noise_that_is_kept, Records(1, 0, 1)),
    (largest_is_a_member, Domain(2, (LOW, HIGH))),
    (record_is_a_member, Domain(2, (LOW, HIGH))),
    (smallest_is_a_member, Domain(2, (LOW, HIGH))),
]
