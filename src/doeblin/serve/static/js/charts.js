// Pictures as SVG.

import { h, number, s } from "./dom.js";

const path = (points) => points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");

function legend(...items) {
  return h("p", { class: "hint legend" }, items.map(([kind, text]) => h("span", { class: "entry" }, h("span", { class: `key ${kind}` }), text)));
}

// ---- the chain as a graph: discs are π, rings are π̃, lines are transitions

export function graph(matrix, restart, { stationary, stationary_restarted: tilted }, epsilon) {
  const size = matrix.length;
  const [width, height] = [460, size <= 3 ? 210 : 350];
  const places = matrix.map((_, i) => {
    if (size <= 3) return { x: width / 2 + (i - (size - 1) / 2) * 155, y: height / 2, out: Math.PI / 2 };
    const out = (2 * Math.PI * i) / size - Math.PI / 2;
    return { x: width / 2 + 150 * Math.cos(out), y: height / 2 + 105 * Math.sin(out), out };
  });
  const most = size <= 3 ? 42 : 34;
  const radius = (share) => 10 + most * Math.sqrt(share);
  places.forEach((place, i) => {
    place.reach = Math.max(radius(stationary?.[i] ?? 0), radius(tilted[i])) + 4;
  });
  const picture = s("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": describe(stationary, tilted) });
  matrix.forEach((row, i) =>
    row.forEach((chance, j) => {
      if (chance <= 0.0005) return;
      picture.append(...(i === j ? loop(places[i], chance) : edge(places[i], places[j], chance)));
    }),
  );
  restart.forEach((chance, i) => {
    if (chance > 0) picture.append(...arrival(places[i], Math.max(0.35, Math.min(1, 2 * chance * Math.sqrt(epsilon))), size));
  });
  places.forEach(({ x, y }, i) => {
    if (stationary) picture.append(s("circle", { cx: x, cy: y, r: radius(stationary[i]), class: "svg-chain-fill" }));
    picture.append(
      s("circle", { cx: x, cy: y, r: radius(tilted[i]), class: "svg-restart", "stroke-width": 3 }),
      s("text", { x, y: y + 5, "text-anchor": "middle", class: stationary ? "on" : "strong" }, String(i + 1)),
    );
  });
  return [
    picture,
    legend(["law", "disc: law of A"], ["restart", "ring: law of Ã; arrow: where restarts land"]),
  ];
}

const look = (chance) => ({
  class: "svg-soft",
  "stroke-width": (0.8 + 3 * chance).toFixed(2),
  opacity: (0.25 + 0.6 * chance).toFixed(2),
});

const at = ({ x, y }, angle, distance) => [x + distance * Math.cos(angle), y + distance * Math.sin(angle)];
const pair = ([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`;

function loop(place, chance) {
  const { out, reach } = place;
  const [a, b] = [at(place, out - 0.28, reach - 3), at(place, out + 0.28, reach - 3)];
  const [c, d] = [at(place, out - 0.4, reach + 22), at(place, out + 0.4, reach + 22)];
  return [s("path", { d: `M${pair(a)}C${pair(c)} ${pair(d)} ${pair(b)}`, ...look(chance) })];
}

function arrival(place, strength, size) {
  const angle = size <= 3 ? -Math.PI / 2 - 0.5 : place.out - 0.9;
  const [from, to] = [at(place, angle, place.reach + 32), at(place, angle, place.reach + 9)];
  const look = { opacity: strength.toFixed(2) };
  return [
    s("path", { d: `M${pair(from)}L${pair(to)}`, class: "svg-restart", "stroke-width": 2.5, ...look }),
    s("path", { d: `${path(tip(at(place, angle, place.reach + 1), [-Math.cos(angle), -Math.sin(angle)], 9))}Z`, class: "svg-restart-fill", ...look }),
  ];
}

function edge(from, to, chance) {
  const [x, y, a, b] = [from.x, from.y, to.x, to.y];
  const length = Math.hypot(a - x, b - y);
  const [ux, uy] = [(a - x) / length, (b - y) / length];
  const bend = 0.13 * length;
  const middle = [(x + a) / 2 - uy * bend, (y + b) / 2 + ux * bend];
  const start = towards([x, y], middle, from.reach);
  const end = towards([a, b], middle, to.reach + 3);
  return [
    s("path", { d: `M${pair(start)}Q${pair(middle)} ${pair(end)}`, ...look(chance) }),
    s("path", { d: `${path(tip(end, unit(middle, end), 8))}Z`, class: "svg-arrow", opacity: look(chance).opacity }),
  ];
}

function tip([x, y], [vx, vy], size) {
  const half = size / 2;
  return [
    [x, y],
    [x - size * vx - half * vy, y - size * vy + half * vx],
    [x - size * vx + half * vy, y - size * vy - half * vx],
  ];
}

function unit([x, y], [a, b]) {
  const length = Math.hypot(a - x, b - y) || 1;
  return [(a - x) / length, (b - y) / length];
}

function towards(from, to, distance) {
  const [x, y] = unit(from, to);
  return [from[0] + x * distance, from[1] + y * distance];
}

function describe(stationary, tilted) {
  const law = (values) => values.map((value, i) => `state ${i + 1}: ${number(value)}`).join(", ");
  return `Law of A: ${stationary ? law(stationary) : "more than one"}. Law with restarts: ${law(tilted)}.`;
}

// ---- both laws, side by side

export function bars({ stationary, stationary_restarted: tilted }) {
  const [width, height, left, bottom, top] = [460, 240, 34, 24, 14];
  const tallest = niceTop(Math.max(...(stationary ?? [0]), ...tilted));
  const y = (value) => top + (height - top - bottom) * (1 - value / tallest);
  const picture = s("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": describe(stationary, tilted) });
  for (const part of [0, 0.5, 1]) {
    picture.append(
      s("line", { x1: left, x2: width, y1: y(part * tallest), y2: y(part * tallest), class: "svg-line" }),
      s("text", { x: left - 6, y: y(part * tallest) + 4, "text-anchor": "end", class: "small" }, number(part * tallest, 2)),
    );
  }
  const slot = (width - left) / tilted.length;
  const thick = Math.min(44, 0.32 * slot);
  const bar = (x, value, kind) => {
    const tall = Math.max(1, y(0) - y(value));
    picture.append(
      s("rect", { x, y: y(0) - tall, width: thick, height: tall, rx: 3, class: `svg-${kind}-fill` }),
      s("text", { x: x + thick / 2, y: y(0) - tall - 4, "text-anchor": "middle", class: `small ${kind}-text` }, value.toFixed(value < 0.0995 ? 3 : 2)),
    );
  };
  tilted.forEach((value, i) => {
    const middle = left + (i + 0.5) * slot;
    if (stationary) bar(middle - thick - 2, stationary[i], "chain");
    bar(stationary ? middle + 2 : middle - thick / 2, value, "restart");
    picture.append(s("text", { x: middle, y: height - 6, "text-anchor": "middle" }, `state ${i + 1}`));
  });
  return [picture, legend(["law", "π, law of A"], ["restart", "π̃, law of Ã"])];
}

function niceTop(value) {
  return [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1].find((top) => top >= 1.05 * value) ?? 1.05;
}

// ---- KL along ε, both ways

export function curves(curve, epsilon) {
  const [width, height, left, bottom, top, right] = [460, 240, 54, 40, 12, 10];
  const known = curve.flatMap((p) => [p.kl_restarted_to_law, p.kl_law_to_restarted]).filter((v) => v !== null && v > 1e-14);
  if (!known.length) return h("p", { class: "hint" }, "Restarts change nothing: u is the law of A itself.");
  const low = Math.floor(Math.log10(Math.min(...known)));
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...known))));
  const x = (e) => left + ((Math.log10(e) + 4) / 4) * (width - left - right);
  const y = (kl) => top + (1 - (Math.log10(kl) - low) / (high - low)) * (height - top - bottom);
  const picture = s("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Divergences between the laws, growing with ε" });
  const every = Math.ceil((high - low) / 5);
  for (let power = low; power <= high; power += every) {
    picture.append(
      s("line", { x1: left, x2: width - right, y1: y(10 ** power), y2: y(10 ** power), class: "svg-line" }),
      s("text", { x: left - 6, y: y(10 ** power) + 4, "text-anchor": "end", class: "small" }, number(10 ** power, 1)),
    );
  }
  for (const e of [1e-4, 1e-3, 1e-2, 1e-1, 1]) {
    picture.append(s("text", { x: x(e), y: height - bottom + 16, "text-anchor": e === 1 ? "end" : "middle", class: "small" }, number(e, 1)));
  }
  picture.append(
    s("text", { x: (left + width) / 2, y: height - 6, "text-anchor": "middle", class: "small" }, "ε"),
    s("line", { x1: x(epsilon), x2: x(epsilon), y1: top, y2: height - bottom, class: "svg-soft", "stroke-dasharray": "3 3" }),
  );
  for (const [field, kind, dash] of [["kl_law_to_restarted", "chain", "none"], ["kl_restarted_to_law", "restart", "6 4"]]) {
    const points = curve.filter((p) => p[field] !== null && p[field] > 1e-14).map((p) => [x(p.epsilon), y(p[field])]);
    if (!points.length) continue;
    picture.append(s("path", { d: path(points), class: `svg-${kind}`, "stroke-width": 2.5, "stroke-dasharray": dash, "stroke-linejoin": "round" }));
    const here = nearest(curve, epsilon)[field];
    if (here !== null && here > 1e-14) {
      picture.append(s("circle", { cx: x(epsilon), cy: y(here), r: 4.5, class: `svg-${kind}-fill` }));
    }
  }
  return [picture, legend(["law", "KL(π ‖ π̃)"], ["restart", "KL(π̃ ‖ π), dashed"])];
}

// Between two points of the curve, straight on the logarithmic scales of the picture.
function nearest(curve, epsilon) {
  const next = curve.findIndex((p) => p.epsilon >= epsilon);
  if (next <= 0) return curve.at(next);
  const [a, b] = [curve[next - 1], curve[next]];
  const part = Math.log(epsilon / a.epsilon) / Math.log(b.epsilon / a.epsilon);
  const blend = (field) =>
    a[field] > 0 && b[field] > 0 ? Math.exp((1 - part) * Math.log(a[field]) + part * Math.log(b[field])) : b[field];
  return { kl_restarted_to_law: blend("kl_restarted_to_law"), kl_law_to_restarted: blend("kl_law_to_restarted") };
}

// ---- a cycle of stages

export function stages(exits, law) {
  const [width, height] = [Math.max(300, 150 * exits.length), 96];
  const picture = s("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `A cycle of ${exits.length} stages` });
  const x = (i) => (width / exits.length) * (i + 0.5);
  const y = 40;
  exits.forEach((rate, i) => {
    const last = i === exits.length - 1;
    const kind = i === 0 ? "restart" : "chain";
    if (!last) {
      picture.append(
        s("line", { x1: x(i) + 26, x2: x(i + 1) - 32, y1: y, y2: y, class: "svg-soft", "stroke-width": 1.5 }),
        s("path", { d: `M${x(i + 1) - 26} ${y}l-8 -4v8Z`, class: "svg-arrow" }),
        s("text", { x: (x(i) + x(i + 1)) / 2, y: y - 9, "text-anchor": "middle", class: "small" }, number(rate)),
      );
    }
    picture.append(
      s("circle", { cx: x(i), cy: y, r: 22, class: `svg-${kind}-fill` }),
      s("text", { x: x(i), y: y + 5, "text-anchor": "middle", class: "on" }, i === 0 ? "u" : `A${"₀₁₂₃₄₅₆₇₈"[i]}`),
    );
  });
  const [first, end] = [x(0), x(exits.length - 1)];
  picture.append(
    s("path", { d: `M${end} ${y + 24}C${end} ${height - 4} ${first} ${height - 4} ${first} ${y + 31}`, class: "svg-soft", "stroke-width": 1.5 }),
    s("path", { d: `M${first} ${y + 24}l-4 8h8Z`, class: "svg-arrow" }),
    s("text", { x: (first + end) / 2, y: height - 22, "text-anchor": "middle", class: "small" }, number(exits.at(-1))),
  );
  const shares = law.map((share, i) => `${i === 0 ? "u" : `A${"₀₁₂₃₄₅₆₇₈"[i]}`} ${number(100 * share)} %`).join(", ");
  return [picture, h("p", { class: "hint" }, `Share of the time in each stage: ${shares}.`)];
}
