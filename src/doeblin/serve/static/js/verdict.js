// A verdict: the banner, the annotated program, the failing run, the files.

import { h, replace } from "./dom.js";

const MEANING = {
  SAFE: "No run of this program violates an assertion",
  UNSAFE: "There is a run that fails",
  UNKNOWN: "Neither a proof nor a failure was found",
};
const FILES = {
  acsl: "Annotated C (ACSL)",
  witness: "Witness (YAML)",
  certificate: "Proof (SMT-LIB)",
  test: "C program that fails",
};

// The verdict in a line, where it is seen without looking for it.
export function announce(banner, result) {
  banner.className = `banner ${result.verdict}`;
  banner.hidden = false;
  replace(
    banner,
    h("strong", {}, title(result)),
    h("span", {}, result.reason || meaning(result)),
    result.remark ? h("span", { class: "hint" }, sentence(result.remark)) : [],
  );
  banner.scrollIntoView({ block: "nearest" });
}

function title({ refused, reason, verdict }) {
  if (refused) return "NOT ACCEPTED";
  return reason?.startsWith("nothing to prove") ? "NOTHING TO PROVE" : verdict;
}

function meaning({ verdict, assumptions = [] }) {
  const known = assumptions.length ? `, assuming ${assumptions.join(" and ")}` : "";
  return `${MEANING[verdict]}${known}.`;
}

const sentence = (text) => `${text[0].toUpperCase()}${text.slice(1)}.`;

export function verdict(card, result, program) {
  card.className = `card verdict ${result.verdict}`;
  card.hidden = false;
  const steps = (result.trace ?? []).map(parse);
  replace(
    card,
    result.refused ? [] : h("p", { class: "hint" }, summary(result)),
    result.inputs?.length ? [h("h2", {}, "With these inputs"), inputs(result.inputs)] : [],
    h("h2", {}, result.invariants?.length ? "The program with its invariants" : "The program"),
    listing(program, result, steps),
    steps.length ? [h("h2", {}, "The failing run"), run(steps)] : [],
    result.files?.length ? downloads(result.files) : [],
  );
}

function summary(result) {
  const by = result.found_by ? `, found by ${result.found_by}` : "";
  const checked = {
    SAFE: " A fresh solver re-checked the proof.",
    UNSAFE: " The run was replayed.",
    UNKNOWN: "",
  }[result.verdict];
  return (
    `${result.seconds.toFixed(2)} s, rounds: ${result.rounds}, questions to the solver: ${result.queries}${by}. ` +
    `Integers: ${result.ints_meaning}.${checked}`
  );
}

function inputs(list) {
  const shown = list.slice(0, 40).map(({ what, value }) => `${what}: ${value}`);
  if (list.length > 40) shown.push(`… and ${list.length - 40} more`);
  return h("p", { class: "mono" }, shown.join("\n").split("\n").flatMap((line) => [line, h("br")]));
}

// ---- the source

const TOKEN =
  /(\/\*[\s\S]*?(?:\*\/|$)|\/\/[^\n]*)|("(?:\\.|[^"\\\n])*")|\b(auto|break|case|char|const|continue|default|do|else|enum|extern|for|goto|if|int|long|return|short|signed|static|switch|typedef|unsigned|void|while|_Bool)\b|\b(\d\w*)\b/g;

function listing(program, { invariants = [], line: bad, trace = [] }, steps) {
  const rows = [];
  const lines = colour(program.trimEnd());
  const visited = new Set(steps.map((step) => step.line));
  const failing = bad ?? (trace.length ? steps.at(-1).line : null);
  lines.forEach((parts, index) => {
    const line = index + 1;
    for (const invariant of invariants.filter((one) => one.line === line)) {
      const indent = program.split("\n")[index].match(/^\s*/)[0];
      rows.push(
        h(
          "div",
          { class: "row invariant" },
          h("span", { class: "n", "aria-hidden": "true" }, "⊢"),
          h("span", { class: "code" }, `${indent}invariant ${invariant.formula}`),
        ),
      );
    }
    const kind = line === failing ? "failing" : visited.has(line) ? "visited" : "";
    rows.push(
      h(
        "div",
        { class: `row ${kind}` },
        h("span", { class: "n" }, String(line)),
        h("span", { class: "code" }, parts),
      ),
    );
  });
  return h("div", { class: "listing", tabindex: "0", role: "region", "aria-label": "Annotated program" }, rows);
}

function colour(text) {
  const lines = [[]];
  const add = (piece, kind) => {
    piece.split("\n").forEach((part, index) => {
      if (index) lines.push([]);
      if (part) lines.at(-1).push(kind ? h("span", { class: kind }, part) : part);
    });
  };
  let at = 0;
  for (const match of text.matchAll(TOKEN)) {
    add(text.slice(at, match.index), "");
    add(match[0], match[1] ? "c" : match[2] ? "d" : match[3] ? "k" : "d");
    at = match.index + match[0].length;
  }
  add(text.slice(at), "");
  return lines;
}

// ---- the run

function parse(text) {
  const found = text.match(/^\s*(\d+)\s\s(.*?)\s{2,}(\S.*)$/);
  return found
    ? { line: Number(found[1]), source: found[2], what: found[3] }
    : { line: null, source: text, what: "" };
}

function run(steps) {
  const head = h("tr", {}, ["line", "source", "what happens"].map((title) => h("th", { scope: "col" }, title)));
  const rows = steps.map(({ line, source, what }) =>
    h("tr", {}, h("td", {}, line === null ? "" : String(line)), h("td", {}, source), h("td", {}, what)),
  );
  const table = h("table", { class: "steps" }, h("thead", {}, head), h("tbody", {}, rows));
  return h("div", { class: "scroll tall", tabindex: "0", role: "region", "aria-label": "The failing run" }, table);
}

// ---- files

function downloads(files) {
  return h(
    "div",
    { class: "downloads" },
    files.map(({ kind, name, text }) =>
      h("button", { type: "button", "data-kind": kind, onclick: () => save(name, text) }, FILES[kind]),
    ),
  );
}

function save(name, text) {
  const address = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  const link = h("a", { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
