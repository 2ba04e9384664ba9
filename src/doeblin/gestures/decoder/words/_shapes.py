"""What no automaton holds: a whole trace against a word's ideal path, as features of A."""

from __future__ import annotations

import math

import numpy as np

from ...._numba import larger, part, smaller
from ..restart import column_mean
from ._names import NUM_FEATURES, SHAPE_POINTS, TOUCH


@part(error_model="numpy")
def resample(points, out):
    """Points at equal distances along a path. Returns the path's length."""
    count = len(points)
    along = np.empty(count)
    along[0] = 0.0
    for k in range(1, count):
        along[k] = along[k - 1] + math.hypot(
            points[k, 0] - points[k - 1, 0], points[k, 1] - points[k - 1, 1]
        )
    total = along[-1]
    j = 0
    for k in range(len(out)):
        at = total * k / (len(out) - 1)
        while j < count - 2 and along[j + 1] < at:
            j += 1
        if count == 1 or total <= 0.0:
            out[k, 0], out[k, 1] = points[0, 0], points[0, 1]
            continue
        gap = along[j + 1] - along[j]
        share = smaller(larger((at - along[j]) / gap, 0.0), 1.0) if gap > 0 else 0.0
        out[k, 0] = points[j, 0] + share * (points[j + 1, 0] - points[j, 0])
        out[k, 1] = points[j, 1] + share * (points[j + 1, 1] - points[j, 1])
    return total


@part(error_model="numpy")
def normalise(points, out):
    """The shape alone: centred, its larger side scaled to one."""
    count = len(points)
    cx, cy = column_mean(points, 0), column_mean(points, 1)
    size = 0.5
    for axis in range(2):
        low = high = points[0, axis]
        for k in range(1, count):
            low, high = smaller(low, points[k, axis]), larger(high, points[k, axis])
        size = larger(size, high - low)
    for k in range(count):
        out[k, 0] = (points[k, 0] - cx) / size
        out[k, 1] = (points[k, 1] - cy) / size


@part(error_model="numpy")
def elastic(points, plane, keys):
    """Letters matched in order to points so that the squared distances' sum is least.

    Returns the root mean square distance and the greatest distance of that matching.
    """
    count = len(points)
    cost, worst = np.empty(count), np.empty(count)
    for i in range(count):
        cost[i] = worst[i] = 0.0
    for j in range(len(keys)):
        best, best_worst = np.inf, np.inf
        for i in range(count):
            square = (points[i, 0] - plane[keys[j], 0]) ** 2
            square += (points[i, 1] - plane[keys[j], 1]) ** 2
            if j == 0:
                best, best_worst = 0.0, 0.0
            elif cost[i] < best:
                best, best_worst = cost[i], worst[i]
            cost[i] = best + square
            worst[i] = larger(best_worst, square)
    at = 0
    for i in range(1, count):
        if cost[i] < cost[at]:
            at = i
    return math.sqrt(cost[at] / len(keys)), math.sqrt(worst[at])


@part(error_model="numpy")
def shifts(drawn, ideal, out):
    """How the points of a drawn path lie beside those of the ideal one (`SHIFTS`)."""
    mx, my = column_mean(ideal, 0), column_mean(ideal, 1)
    off_x = column_mean(drawn, 0) - mx
    off_y = column_mean(drawn, 1) - my
    wide, tall, along, down, across = 1.0, 0.5, 0.0, 0.0, 0.0
    for k in range(SHAPE_POINTS):
        x, y = ideal[k, 0] - mx, ideal[k, 1] - my
        dx, dy = drawn[k, 0] - ideal[k, 0] - off_x, drawn[k, 1] - ideal[k, 1] - off_y
        wide += x * x / SHAPE_POINTS
        tall += y * y / SHAPE_POINTS
        along += x * dx / SHAPE_POINTS
        down += y * dy / SHAPE_POINTS
        across += y * dx / SHAPE_POINTS
    out[0], out[1] = off_x, off_y
    out[2], out[3] = drawn[0, 0] - ideal[0, 0], drawn[0, 1] - ideal[0, 1]
    out[4], out[5] = drawn[-1, 0] - ideal[-1, 0], drawn[-1, 1] - ideal[-1, 1]
    # A short path says little of slopes: the ones and halves above shrink them.
    out[6], out[7], out[8] = along / wide, down / tall, across / tall


@part(error_model="numpy")
def word_features(trace, plane, drawn, shape_drawn, length, keys, doubled, out):
    """The features of one word for one trace (y in key widths), after the first three.

    `drawn` and `shape_drawn` are the trace's points at equal distances, and its shape alone.
    """
    x, y, t = trace.x, trace.y, trace.t
    count = len(keys)
    path = np.empty((count, 2))
    expected = 0.0
    for k in range(count):
        path[k, 0], path[k, 1] = plane[keys[k], 0], plane[keys[k], 1]
        if k:
            gap = math.hypot(path[k, 0] - path[k - 1, 0], path[k, 1] - path[k - 1, 1])
            # How long people take between two letters (ms), see the generator.
            expected += math.exp(5.21 + 0.43 * math.log(larger(gap, 0.5)))
    ideal = np.empty((SHAPE_POINTS, 2))
    ideal_length = resample(path, ideal)
    ideal_shape = np.empty((SHAPE_POINTS, 2))
    normalise(ideal, ideal_shape)
    mean, square, greatest, shape = 0.0, 0.0, 0.0, 0.0
    for k in range(SHAPE_POINTS):
        gap = math.hypot(drawn[k, 0] - ideal[k, 0], drawn[k, 1] - ideal[k, 1])
        mean += gap / SHAPE_POINTS
        square += gap * gap / SHAPE_POINTS
        greatest = larger(greatest, gap)
        shape += (
            math.hypot(shape_drawn[k, 0] - ideal_shape[k, 0], shape_drawn[k, 1] - ideal_shape[k, 1])
            / SHAPE_POINTS
        )
    near, farthest = elastic(drawn, plane, keys)
    ratio = math.log((length + 1.0) / (ideal_length + 1.0))
    duration = larger(t[-1] - t[0], 20.0)
    slowness = math.log(duration / larger(expected, 100.0))
    dwell = 0.0
    if doubled >= 0:
        spent = 0.0
        for k in range(1, len(x)):
            if math.hypot(x[k] - plane[doubled, 0], y[k] - plane[doubled, 1]) < TOUCH:
                spent += t[k] - t[k - 1]
        dwell = math.log((spent + 20.0) / (duration / count + 20.0))
    out[3] = count + out[2]
    out[4] = mean
    out[5] = square
    out[6] = greatest
    out[7] = shape
    out[8] = (drawn[0, 0] - ideal[0, 0]) ** 2 + (drawn[0, 1] - ideal[0, 1]) ** 2
    out[9] = (drawn[-1, 0] - ideal[-1, 0]) ** 2 + (drawn[-1, 1] - ideal[-1, 1]) ** 2
    out[10] = ratio
    out[11] = ratio * ratio
    out[12] = near
    out[13] = farthest
    out[14] = slowness
    out[15] = slowness * slowness
    out[16] = dwell
    shifts(drawn, ideal, out[NUM_FEATURES:])


@part(error_model="numpy")
def trace_features(trace, plane, ids, masses, words, tree, features):
    """The features of a trace's first candidates, as many as there are `masses`."""
    points = np.empty((len(trace.x), 2))
    for k in range(len(trace.x)):
        points[k, 0], points[k, 1] = trace.x[k], trace.y[k]
    drawn = np.empty((SHAPE_POINTS, 2))
    length = resample(points, drawn)
    shape_drawn = np.empty((SHAPE_POINTS, 2))
    normalise(drawn, shape_drawn)
    for k in range(len(masses)):
        word, row = ids[k], features[k]
        row[0], row[1], row[2] = masses[k], tree.log_frequency[word], tree.doubles[word]
        keys = words.keys[words.starts[word] : words.starts[word + 1]]
        word_features(trace, plane, drawn, shape_drawn, length, keys, words.doubled[word], row)
