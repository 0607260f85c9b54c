"""The linear relaxation by alternating directions: AD³ of Martins, Figueiredo, Aguiar, Smith and Xing (2011, 2015).

A *variable* is an arc, or the mark of an arc that is not projective. Every *factor* knows a few of them and has its own
*copy* of each; ``agreed`` is the mean of the copies. In each round every factor moves its copies to where the sum of

    multiplier * copy + scores of the factor's own parts - rate / 2 * (copy - agreed)²

is highest; then the multipliers draw the copies towards their new mean. The multipliers of a variable always sum to its
score, so that the best sums of the factors, each for itself, bound the score of every tree from above.

Of a structured factor only the best configuration can be found: a tree, the children on one side of a head, a number of
children, or the arcs into and out of a word. Its copies are a mixture of configurations, the *active set*, which is
mended from round to round. Pairs of siblings and clauses have solutions in closed form.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc._jit import copy_values, jit, jit_helper, jit_inline, jit_noinline

Indices = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

NEXT_SIBLINGS, VALENCY, GRANDPARENTS = 0, 1, 2
MOST_ACTIVE = 24  # configurations of a factor
RIDGE = 1e-9  # keeps configurations apart that depend on each other
TOLERANCE = 1e-9
INNER = 10  # changes of an active set in a round
OVER = 1.5  # the step of multipliers
LEAST = 10  # rounds before anything else is looked at


class Factors(NamedTuple):
    """What each head knows about its arcs; factor f has the copies starts[f] to starts[f + 1]."""

    kinds: Indices  # [f]
    starts: Indices
    variables: Indices  # of each copy
    offsets: Indices  # [f]: its own parts are offsets[f] to offsets[f + 1] of the next two
    tables: Floats  # the scores of these parts
    numbers: Indices  # and their numbers among the parts of their kind
    inner: Indices  # [f]: so many of the copies of a factor of grandparents are arcs into its word


class Active(NamedTuple):
    """The configurations that are mixed in the copies of each factor."""

    counts: Indices  # [f]: how many there are
    weights: Floats  # [f, c]: their shares in the mixture
    own: Floats  # [f, c]: the scores of their own parts
    products: Floats  # [f, c, d]: of each two rows
    rows: Floats  # zeros and ones, one configuration of a factor after the other
    given: Floats  # of each copy: what the factor was last solved for


class Copies(NamedTuple):
    """The copies of variables that factors of one sort have."""

    multipliers: Floats
    values: Floats


class Clauses(NamedTuple):
    """Of the literals starts[c] to starts[c + 1], at least so many are true, and at most so many."""

    starts: Indices
    variables: Indices  # of each literal
    negated: Flags  # of each literal: whether it is the variable's negation
    least: Floats  # [c]
    most: Floats
    weights: Floats  # [c]: what it costs for each literal that is missing or too many; infinite: it may not be


class Scratch(NamedTuple):
    """Room for the solution of one factor."""

    given: Floats
    gradient: Floats
    row: Floats
    best: Floats
    back: Indices
    order: Indices
    solved: Floats
    solution: Floats
    ones: Floats


@jit
def alternate(
    factors, pairs, clauses, active, of_factors, of_pairs, of_clauses, agreed, degrees, rate, earlier, rounds, enough
):
    """Rounds until the copies agree within ``enough``; (rounds done, rate, how much they disagree)."""
    scratch = new_scratch(len(agreed))
    before, disagreement = agreed.copy(), np.inf
    for done in range(1, rounds + 1):
        solve_factors(factors, active, of_factors, agreed, rate, scratch)
        solve_pairs(pairs, of_pairs, agreed, rate)
        solve_clauses(clauses, of_clauses, agreed, rate, scratch)
        copy_values(agreed, before)
        mean_of_copies(factors, pairs, clauses, of_factors, of_pairs, of_clauses, agreed, degrees)
        disagreement = draw(factors.variables, of_factors, agreed, rate)
        disagreement += draw(pairs.first, Copies(of_pairs.multipliers[0], of_pairs.values[0]), agreed, rate)
        disagreement += draw(pairs.second, Copies(of_pairs.multipliers[1], of_pairs.values[1]), agreed, rate)
        disagreement += draw(clauses.variables, of_clauses, agreed, rate)
        moved = 0.0
        for i in range(len(agreed)):
            moved += degrees[i] * (agreed[i] - before[i]) ** 2
        if done >= LEAST and disagreement < enough and moved < enough:
            return done, rate, disagreement
        if changes_rate(earlier + done):
            pull = 10.0 * rate * rate * moved
            if disagreement > 10.0 * pull:
                rate *= 2.0
            elif pull > 10.0 * disagreement:
                rate /= 2.0
    return rounds, rate, disagreement


@jit_inline
def changes_rate(rounds):
    """More and more rarely: no rate that goes on changing lets copies agree in the end."""
    return rounds % 8 == 0 and (rounds <= 128 or rounds & (rounds - 1) == 0)


@jit_helper
def new_scratch(size):
    return Scratch(
        np.empty(size),
        np.empty(size),
        np.empty(size),
        np.empty(size),
        np.empty(size, np.int64),
        np.empty(size, np.int64),
        np.empty((MOST_ACTIVE, MOST_ACTIVE)),
        np.empty(MOST_ACTIVE),
        np.empty(MOST_ACTIVE),
    )


@jit_noinline
def mean_of_copies(factors, pairs, clauses, of_factors, of_pairs, of_clauses, agreed, degrees):
    """What the copies agree on; variables without a copy stay."""
    for i in range(len(agreed)):
        if degrees[i] > 0:
            agreed[i] = 0.0
    for c in range(len(factors.variables)):
        agreed[factors.variables[c]] += of_factors.values[c]
    for p in range(len(pairs.first)):
        agreed[pairs.first[p]] += of_pairs.values[0, p]
        agreed[pairs.second[p]] += of_pairs.values[1, p]
    for c in range(len(clauses.variables)):
        agreed[clauses.variables[c]] += of_clauses.values[c]
    for i in range(len(agreed)):
        if degrees[i] > 0:
            agreed[i] /= degrees[i]


@jit_noinline
def draw(variables, copies, agreed, rate):
    """Multipliers draw copies to what is agreed; how far they were from it."""
    total = 0.0
    for c in range(len(variables)):
        difference = copies.values[c] - agreed[variables[c]]
        copies.multipliers[c] -= OVER * rate * difference
        total += difference * difference
    return total


@jit_noinline
def solve_pairs(pairs, copies, agreed, rate):
    """The copies of pairs of arcs that score something together."""
    for p in range(len(pairs.first)):
        a = agreed[pairs.first[p]] + copies.multipliers[0, p] / rate
        b = agreed[pairs.second[p]] + copies.multipliers[1, p] / rate
        c = pairs.scores[p] / rate
        if c >= 0.0:
            if a > b + c:
                b += c
            elif b > a + c:
                a += c
            else:
                a = b = 0.5 * (a + b + c)
        elif a + b + 2.0 * c > 1.0:
            a += c
            b += c
        elif a + b > 1.0:
            a = 0.5 * (a + 1.0 - b)
            a = min(max(a, 0.0), 1.0)
            b = 1.0 - a
        copies.values[0, p] = min(max(a, 0.0), 1.0)
        copies.values[1, p] = min(max(b, 0.0), 1.0)


@jit_noinline
def solve_clauses(clauses, copies, agreed, rate, scratch):
    """The copies of clauses: the nearest values whose literals sum to what the clause says.

    A clause that may be broken moves its literals by no more than its weight.
    """
    for c in range(len(clauses.starts) - 1):
        start, end = clauses.starts[c], clauses.starts[c + 1]
        values, total = scratch.given[: end - start], 0.0
        for i in range(start, end):
            value = agreed[clauses.variables[i]] + copies.multipliers[i] / rate
            values[i - start] = 1.0 - value if clauses.negated[i] else value
            total += min(max(values[i - start], 0.0), 1.0)
        shift, furthest = 0.0, clauses.weights[c] / rate
        if total < clauses.least[c] or (clauses.least[c] == 1.0 and clauses.most[c] == 1.0):
            shift = min(shift_to(values, clauses.least[c]), furthest)
        elif total > clauses.most[c]:
            shift = max(shift_to(values, clauses.most[c]), -furthest)
        for i in range(start, end):
            value = min(max(values[i - start] + shift, 0.0), 1.0)
            copies.values[i] = 1.0 - value if clauses.negated[i] else value


@jit_inline
def shift_to(values, wanted):
    """What must be added to all values for them, between 0 and 1, to sum to what is wanted."""
    return shift_to_one(values) if wanted == 1.0 else shift_to_number(values, wanted)


@jit_inline
def shift_to_one(values):
    """What must be added to all values for those that are then above 0 to sum to 1."""
    shift, left = np.inf, len(values) + 1
    while True:
        total, count = 0.0, 0
        for value in values:
            if value + shift > 0.0:
                total += value
                count += 1
        if count >= left or count == 0:  # none is left where values are so large that 1 is nothing beside them
            return shift
        shift, left = (1.0 - total) / count, count


@jit_inline
def shift_to_number(values, wanted):
    """``shift_to`` for any number that they can sum to: bisection, then the line through the ends of the interval."""
    low, high = -values[0], 1.0 - values[0]
    for value in values:
        low, high = min(low, -value), max(high, 1.0 - value)
    sum_low, sum_high = 0.0, float(len(values))
    for _ in range(30):
        middle, total = 0.5 * (low + high), 0.0
        for value in values:
            total += min(max(value + middle, 0.0), 1.0)
        if total < wanted:
            low, sum_low = middle, total
        else:
            high, sum_high = middle, total
    if sum_high - sum_low < 1e-12:
        return high
    return low + (high - low) * (wanted - sum_low) / (sum_high - sum_low)


@jit_noinline
def solve_factors(factors, active, copies, agreed, rate, scratch):
    """The copies of structured factors; those that would be solved for what they were solved for last stay."""
    for f in range(len(factors.kinds)):
        start, end = factors.starts[f], factors.starts[f + 1]
        changed = False
        for c in range(start, end):
            given = copies.multipliers[c] + rate * agreed[factors.variables[c]]
            changed = changed or abs(given - active.given[c]) > TOLERANCE
            active.given[c] = given
        if changed:
            solve_factor(f, factors, active, active.given[start:end], rate, copies.values[start:end], scratch)


@jit_noinline
def solve_factor(f, factors, active, given, rate, values, scratch):
    """The mixture of configurations with the highest given * values + own scores - rate / 2 * values²."""
    size = len(given)
    weights, own, products = active.weights[f], active.own[f], active.products[f]
    first = MOST_ACTIVE * factors.starts[f]
    rows = active.rows[first : first + MOST_ACTIVE * size].reshape((MOST_ACTIVE, size))
    row, gradient = scratch.row[:size], scratch.gradient[:size]
    if active.counts[f] == 0:
        own[0] = best_configuration(f, factors, given, row, scratch)
        add_row(row, rows, products, 0)
        weights[0] = 1.0
        active.counts[f] = 1
    for _ in range(INNER):
        count = active.counts[f]
        level = balance(given, rows, own, products, count, rate, scratch)
        blocking, step = blocked(weights, scratch.solution, count)
        for k in range(count):
            weights[k] += step * (scratch.solution[k] - weights[k])
        if blocking >= 0:
            active.counts[f] = remove_row(blocking, rows, weights, own, products, count)
            continue
        mix(rows, weights, count, values)
        for i in range(size):
            gradient[i] = given[i] - rate * values[i]
        score = best_configuration(f, factors, gradient, row, scratch)
        total = score
        for i in range(size):
            total += row[i] * gradient[i]
        if total <= level + TOLERANCE * (1.0 + abs(level)):
            return
        if count == MOST_ACTIVE:
            count = remove_row(np.argmin(weights[:count]), rows, weights, own, products, count)
        own[count], weights[count] = score, 0.0
        add_row(row, rows, products, count)
        active.counts[f] = count + 1


@jit_inline
def balance(given, rows, own, products, count, rate, scratch):
    """Weights, perhaps below 0, by which all active configurations gain the same; that level."""
    matrix, solution, ones = scratch.solved, scratch.solution, scratch.ones
    for k in range(count):
        right = own[k]
        for i in range(len(given)):
            right += given[i] * rows[k, i]
        solution[k], ones[k] = right, 1.0
        for j in range(k + 1):
            # a constant in each row, which makes no difference as weights sum to 1, but for the empty row
            total = rate * (products[k, j] + 1.0)
            if j == k:
                total += rate * RIDGE
            for i in range(j):
                total -= matrix[k, i] * matrix[j, i]
            matrix[k, j] = np.sqrt(max(total, rate * RIDGE)) if j == k else total / matrix[j, j]
    substitute(matrix, solution, count)
    substitute(matrix, ones, count)
    total, total_of_ones = 0.0, 0.0
    for k in range(count):
        total += solution[k]
        total_of_ones += ones[k]
    level = (total - 1.0) / total_of_ones
    for k in range(count):
        solution[k] -= level * ones[k]
    return level + rate


@jit_inline
def substitute(factor, right, count):
    """Solve factor * factorᵀ * x = right, in place."""
    for k in range(count):
        for i in range(k):
            right[k] -= factor[k, i] * right[i]
        right[k] /= factor[k, k]
    for k in range(count - 1, -1, -1):
        for i in range(k + 1, count):
            right[k] -= factor[i, k] * right[i]
        right[k] /= factor[k, k]


@jit_inline
def blocked(weights, solution, count):
    """The first weight that falls below 0 on the way to the solution, and how much of the way that is."""
    blocking, step = -1, 1.0
    for k in range(count):
        if solution[k] < 0.0:
            reach = weights[k] / (weights[k] - solution[k])
            if blocking < 0 or reach < step:
                blocking, step = k, reach
    return blocking, step


@jit_inline
def add_row(row, rows, products, count):
    """Add a configuration as the last one."""
    for i in range(len(row)):
        rows[count, i] = row[i]
    for k in range(count + 1):
        total = 0.0
        for i in range(len(row)):
            total += row[i] * rows[k, i]
        products[count, k] = products[k, count] = total


@jit_inline
def remove_row(which, rows, weights, own, products, count):
    """Put the last configuration in the place of one that goes; how many are left."""
    last = count - 1
    for i in range(rows.shape[1]):
        rows[which, i] = rows[last, i]
    weights[which], own[which] = weights[last], own[last]
    products[which, which] = products[last, last]
    for k in range(last):
        if k != which:
            products[which, k] = products[k, which] = products[last, k]
    return last


@jit_inline
def mix(rows, weights, count, values):
    values[:] = 0.0
    for k in range(count):
        for i in range(len(values)):
            values[i] += weights[k] * rows[k, i]


@jit_inline
def best_configuration(f, factors, scores, row, scratch):
    """The best configuration of a factor, in row; the score of its own parts."""
    table = factors.tables[factors.offsets[f] : factors.offsets[f + 1]]
    kind = factors.kinds[f]
    if kind == NEXT_SIBLINGS:
        return best_path(table, scores, row, scratch)
    if kind == VALENCY:
        return best_count(table, scores, row, scratch)
    return best_grandparent(table, scores, factors.inner[f], row)


@jit_noinline
def best_path(table, scores, row, scratch):
    """The children on one side of a head, from the first to the last: table[(i + 1) * size + j] that j follows i."""
    size = len(scores)
    best, back = scratch.best, scratch.back
    last, highest = -1, 0.0
    for j in range(size):
        best[j], back[j] = table[j], -1
        for i in range(j):
            score = best[i] + table[(i + 1) * size + j]
            if score > best[j]:
                best[j], back[j] = score, i
        best[j] += scores[j]
        if best[j] > highest:
            last, highest = j, best[j]
        row[j] = 0.0
    total = 0.0
    while last >= 0:
        row[last] = 1.0
        total += table[(back[last] + 1) * size + last]
        last = back[last]
    return total


@jit_noinline
def best_count(table, scores, row, scratch):
    """The best children of a head if k of them score table[k], the last also for more."""
    size, most = len(scores), len(table) - 1
    order = scratch.order
    for i in range(size):
        place = i
        while place > 0 and scores[order[place - 1]] < scores[i]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = i
        row[i] = 0.0
    total, highest, count = 0.0, table[0], 0
    for k in range(1, size + 1):
        total += scores[order[k - 1]]
        if total + table[min(k, most)] > highest:
            highest, count = total + table[min(k, most)], k
    for k in range(count):
        row[order[k]] = 1.0
    return table[min(count, most)]


@jit_noinline
def best_grandparent(table, scores, n_inner, row):
    """The arc into a word and the arcs out of it: table[g * n_outer + b] that both are there."""
    n_outer = len(scores) - n_inner
    best, highest = 0, -np.inf
    for g in range(n_inner):
        total = scores[g]
        for b in range(n_outer):
            total += max(scores[n_inner + b] + table[g * n_outer + b], 0.0)
        row[g] = 0.0
        if total > highest:
            best, highest = g, total
    row[best] = 1.0
    total = 0.0
    for b in range(n_outer):
        own = table[best * n_outer + b]
        row[n_inner + b] = 0.0
        if scores[n_inner + b] + own > 0.0:
            row[n_inner + b] = 1.0
            total += own
    return total


@jit
def bound_of(factors, pairs, clauses, of_factors, of_pairs, of_clauses, n_variables):
    """The sum of what each factor reaches for itself: no solution scores more."""
    scratch, total = new_scratch(n_variables), 0.0
    for f in range(len(factors.kinds)):
        scores = of_factors.multipliers[factors.starts[f] : factors.starts[f + 1]]
        row = scratch.row[: len(scores)]
        total += best_configuration(f, factors, scores, row, scratch)
        for i in range(len(scores)):
            total += row[i] * scores[i]
    for p in range(len(pairs.first)):
        a, b = of_pairs.multipliers[0, p], of_pairs.multipliers[1, p]
        total += max(max(0.0, a + b + pairs.scores[p]), max(a, b))
    for c in range(len(clauses.starts) - 1):
        total += best_of_clause(c, clauses, of_clauses.multipliers, scratch)
    return total


@jit_noinline
def best_of_clause(c, clauses, multipliers, scratch):
    """The best sum that literals of a clause have, less what it costs to break it."""
    order, total, count = scratch.given, 0.0, 0
    for i in range(clauses.starts[c], clauses.starts[c + 1]):
        score = multipliers[i]
        if clauses.negated[i]:
            total += score
            score = -score
        place = count
        while place > 0 and order[place - 1] < score:
            order[place] = order[place - 1]
            place -= 1
        order[place] = score
        count += 1
    best = -np.inf
    for k in range(count + 1):
        away = max(max(clauses.least[c] - k, k - clauses.most[c]), 0.0)
        if away == 0.0:
            best = max(best, total)
        elif clauses.weights[c] < np.inf:
            best = max(best, total - clauses.weights[c] * away)
        if k < count:
            total += order[k]
    return best


@jit
def add_amounts(factors, active, kind, amounts):
    """How much of each own part of the factors of a kind there is in their mixtures."""
    for f in range(len(factors.kinds)):
        if factors.kinds[f] != kind:
            continue
        size = factors.starts[f + 1] - factors.starts[f]
        first = MOST_ACTIVE * factors.starts[f]
        own = factors.numbers[factors.offsets[f] : factors.offsets[f + 1]]
        for k in range(active.counts[f]):
            row = active.rows[first + k * size : first + (k + 1) * size]
            weight = active.weights[f, k]
            if kind == NEXT_SIBLINGS:
                before = -1
                for i in range(size):
                    if row[i] > 0.0:
                        amounts[own[(before + 1) * size + i]] += weight
                        before = i
            elif kind == VALENCY:
                amounts[own[min(int(row.sum()), len(own) - 1)]] += weight
            else:
                g = 0
                while row[g] == 0.0:
                    g += 1
                n_outer = size - factors.inner[f]
                for b in range(n_outer):
                    if row[factors.inner[f] + b] > 0.0:
                        amounts[own[g * n_outer + b]] += weight
