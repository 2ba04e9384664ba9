// The room of chains: edit A and u, slide ε, see the laws move.

import { newest } from "./api.js";
import { bars, curves, graph, stages } from "./charts.js";
import { $, atLeast, h, number, problem, replace } from "./dom.js";
import { Working } from "./working.js";

const MOST_STATES = 6;
const ask = newest("/api/chain");
const certify = newest("/api/certify");

const PRESETS = {
  "three-state": { title: "Three-state example", matrix: () => three(delta()), restart: uniform(3) },
  wells: {
    title: "Two wells",
    matrix: () => [
      [0.8, 0.19, 0.01, 0],
      [0.25, 0.74, 0.01, 0],
      [0, 0.01, 0.69, 0.3],
      [0, 0.01, 0.2, 0.79],
    ],
    restart: [1, 0, 0, 0],
  },
  ring: {
    title: "One-way ring",
    matrix: () => [
      [0.1, 0.9, 0, 0, 0],
      [0, 0.1, 0.9, 0, 0],
      [0, 0, 0.1, 0.9, 0],
      [0, 0, 0, 0.1, 0.9],
      [0.9, 0, 0, 0, 0.1],
    ],
    restart: [1, 0, 0, 0, 0],
  },
  pieces: {
    title: "Two pieces, never connected",
    matrix: () => [
      [0.6, 0.4, 0, 0],
      [0.3, 0.7, 0, 0],
      [0, 0, 0.5, 0.5],
      [0, 0, 0.9, 0.1],
    ],
    restart: [0.4, 0.1, 0.4, 0.1],
  },
};

const SOON = 60; // milliseconds: an answer that is there by then needs no mark
const AGAIN = 2000; // milliseconds after which a server that was away is asked again

let matrix;
let restart;
let again; // a timer

export async function start() {
  const select = $("chains-preset");
  replace(
    select,
    Object.entries(PRESETS).map(([name, { title }]) => h("option", { value: name }, title)),
    h("option", { value: "own", disabled: true }, "your own"),
  );
  select.addEventListener("change", load);
  $("chains-delta").addEventListener("input", load);
  $("chains-epsilon").addEventListener("input", compute);
  $("chains-more").addEventListener("click", more);
  $("chains-fewer").addEventListener("click", fewer);
  $("chains-even").addEventListener("click", even);
  $("stages-form").addEventListener("submit", certifyStages);
  load();
  certifyStages();
}

// What could not be had when the room was left may be had now.
export function visit() {
  if (!$("chains-problem").hidden) compute();
  if (!$("stages-problem").hidden) certifyStages();
}

const delta = () => 10 ** Number($("chains-delta").value);
const epsilon = () => 10 ** Number($("chains-epsilon").value);

function three(d) {
  return [
    [1 - d, d, 0],
    [1 / 3, 0, 2 / 3],
    [0, 2 * d, 1 - 2 * d],
  ];
}

function uniform(size) {
  return Array(size).fill(1 / size);
}

// ---- editing

function load() {
  const preset = PRESETS[$("chains-preset").value];
  matrix = preset.matrix();
  restart = [...preset.restart];
  $("chains-delta-row").hidden = $("chains-preset").value !== "three-state";
  $("chains-delta-value").textContent = number(delta());
  table();
  compute();
}

function own() {
  $("chains-preset").value = "own";
  $("chains-delta-row").hidden = true;
}

function more() {
  if (matrix.length >= MOST_STATES) return;
  matrix.forEach((row) => row.push(0));
  matrix.push(uniform(matrix.length + 1));
  restart.push(0);
  changed();
}

function fewer() {
  if (matrix.length <= 2) return;
  matrix.pop();
  matrix.forEach((row) => row.pop());
  restart.pop();
  even();
}

function even() {
  const scale = (row) => {
    const total = row.reduce((sum, value) => sum + value, 0);
    return total > 0 ? row.map((value) => value / total) : uniform(row.length);
  };
  matrix = matrix.map(scale);
  restart = scale(restart);
  changed();
}

function changed() {
  own();
  table();
  compute();
}

function table() {
  const names = matrix.map((_, index) => String(index + 1));
  const cell = (row, column, label) => {
    const input = h("input", {
      type: "number", min: "0", max: "1", step: "any", "aria-label": label,
      value: String(Number(row[column].toPrecision(4))),
    });
    input.addEventListener("input", () => {
      row[column] = Number(input.value);
      own();
      compute();
    });
    return h("td", {}, input);
  };
  replace(
    $("chains-matrix"),
    h("tr", {}, h("th", {}, "from ∖ to"), names.map((name) => h("th", { scope: "col" }, name))),
    matrix.map((row, i) =>
      h("tr", {}, h("th", { scope: "row" }, names[i]), row.map((_, j) => cell(row, j, `from ${i + 1} to ${j + 1}`))),
    ),
    h(
      "tr", { class: "restart" }, h("th", { scope: "row" }, "restart u"),
      restart.map((_, j) => cell(restart, j, `restart at ${j + 1}`)),
    ),
  );
  $("chains-more").disabled = matrix.length >= MOST_STATES;
  $("chains-fewer").disabled = matrix.length <= 2;
}

// While a row is being edited it seldom sums to one; no need to ask the server about that.
function oddRow() {
  for (const [index, row] of [...matrix, restart].entries()) {
    const name = index < matrix.length ? `Row ${index + 1}` : "The restart law";
    const bad = row.find((value) => !(value >= 0 && value <= 1));
    if (bad !== undefined) return `${name}: ${bad} is not a probability.`;
    const total = row.reduce((sum, value) => sum + value, 0);
    if (Math.abs(total - 1) > 1e-6) return `${name} sums to ${number(total, 4)}, not 1.`;
  }
  return "";
}

// ---- what the server says

async function compute() {
  clearTimeout(again);
  $("chains-epsilon-value").textContent = number(epsilon());
  const odd = oddRow();
  if (odd) {
    ask.drop();
    problem($("chains-problem"), odd);
    blank("A and u are no chain and law yet");
    return;
  }
  try {
    const found = await marked("chains-mark", ask({ matrix, restart, epsilon: Math.min(1, epsilon()) }));
    if (!found) return;
    problem($("chains-problem"), "");
    show(found);
  } catch (error) {
    problem($("chains-problem"), error.message);
    blank(error.refused ? "A and u are no chain and law yet" : "the server has not answered yet");
    if (!error.refused) again = setTimeout(() => $("room-chains").hidden || compute(), AGAIN);
  }
}

// What was said of another chain is not said of this one.
function blank(reason) {
  const none = () => h("p", { class: "hint" }, `Nothing to show: ${reason}.`);
  for (const name of ["graph", "laws", "curves"]) replace($(`chains-${name}`), none());
  replace($("chains-facts"));
}

// A mark beside what is being computed, if it is not there at once.
const marks = new Map();

async function marked(name, asked) {
  if (!marks.has(name)) marks.set(name, { working: new Working($(name), "chains"), newest: null });
  const mark = marks.get(name);
  mark.newest = asked;
  const timer = setTimeout(() => mark.newest === asked && mark.working.start("Computing …"), SOON);
  try {
    return await asked;
  } finally {
    clearTimeout(timer);
    if (mark.newest === asked) mark.working.stop();
  }
}

function show(found) {
  replace($("chains-graph"), graph(matrix, restart, found, epsilon()));
  replace($("chains-laws"), bars(found));
  replace(
    $("chains-curves"),
    found.curve.length ? curves(found.curve, epsilon()) : h("p", { class: "hint" }, `No curve: ${found.note}.`),
  );
  const mixing = found.certificate.mixing_time;
  facts($("chains-facts"), [
    ["spectral gap of Ã is at least", number(found.certificate.gap), true],
    ["spectral gap of Ã, computed", number(found.gap_restarted)],
    ["spectral gap of A, computed", number(found.gap)],
    ["Γ(A), the ε that A has by itself", number(found.doeblin_coefficient)],
    ...mixing.map(({ tv, steps }) => [`within ${tv} of the law after`, `${number(steps)} steps`]),
    ["an exact draw costs", `${number(found.certificate.expected_draw_cost)} steps on average`],
    ["total variation between the laws", found.stationary ? number(found.total_variation) : "A has no single law"],
  ]);
}

function facts(list, rows) {
  replace(list, rows.flatMap(([name, value, big]) => [h("dt", {}, name), h("dd", big ? { class: "big" } : {}, value)]));
}

// ---- stages

async function certifyStages() {
  const written = $("stages-exits").value.trim();
  const parts = written ? written.split(/\s*[,;]\s*|\s+/) : [];
  const exits = parts.map(Number);
  const odd = parts.find((part) => !/^[+-]?[\d.]+(e[+-]?\d+)?$/i.test(part) || !Number.isFinite(Number(part)));
  if (odd !== undefined) {
    certify.drop();
    noStages(`“${odd}” is not a number; separate numbers by commas.`);
    return;
  }
  const bad = parts.find((_, index) => !(exits[index] > 0 && exits[index] <= 1));
  if (bad !== undefined || parts.length < 2) {
    certify.drop();
    noStages(bad !== undefined ? `${bad} is not a rate: rates are above 0 and at most 1.` : "Give two rates or more, the restart stage first.");
    return;
  }
  try {
    const found = await marked("stages-mark", certify({ exits }));
    if (!found) return;
    problem($("stages-problem"), "");
    replace($("stages-picture"), stages(exits, found.stage_law));
    facts($("stages-facts"), [
      ["spectral gap is at least", number(atLeast(found.gap, 3)), true],
      ["strong Doeblin parameter", `≥ ${atLeast(found.doeblin_parameter, 8)} for ${number(found.steps)} steps at once`],
      ...found.mixing_time.map(({ tv, steps }) => [`within ${tv} of the law after`, `${number(steps)} steps`]),
      ["an exact draw costs", `${number(found.expected_draw_cost)} steps on average`],
      ["by the", found.theorem],
      ["the paper's corollary has", found.corollary_gap === null ? "nothing to say here" : `gap ≥ ${number(atLeast(found.corollary_gap, 3))}`],
    ]);
  } catch (error) {
    noStages(error.message);
  }
}

function noStages(message) {
  problem($("stages-problem"), message);
  replace($("stages-picture"));
  replace($("stages-facts"));
}
