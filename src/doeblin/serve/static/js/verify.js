// The room in which programs are proved.

import { get, post, remove } from "./api.js";
import { $, h, number, replace } from "./dom.js";
import { Editor } from "./editor.js";
import { Kept } from "./kept.js";
import { announce, verdict } from "./verdict.js";
import { Working } from "./working.js";

const LANGUAGES = { sl: "sygus", smt2: "horn" };
const MOST_TRIES = 8;
const MOST_BYTES = 4; // of a character
const PATIENCE = 10_000; // milliseconds without a connection: the server has given it up long ago

const kept = new Kept("doeblin-program", "sessionStorage");

// The proof that is asked for: `id` comes with the first answer, `began` is null while the clock stands
// still, `lost` is when the connection was lost, if it is.
let running = null;
let judged = null; // the program that the verdict in view is about
let file = "program.c";
let editor;
let working;
let limits;

export async function start() {
  const [most, { examples }] = await Promise.all([get("/api/limits"), get("/api/examples")]);
  limits = most;
  working = new Working($("verify-state"), "verify");
  $("verify-source").addEventListener("input", own); // before the editor hears of it
  editor = new Editor($("verify-source"), $("verify-gutter"), changed);
  $("verify-form").addEventListener("submit", prove);
  $("verify-cancel").addEventListener("click", cancel);
  $("verify-file").addEventListener("change", open);
  $("verify-source").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) prove();
  });
  $("verify-most").textContent = `(at most ${limits.verify_seconds})`;
  $("verify-seconds").max = String(limits.verify_seconds);
  $("verify-seconds").value = String(Math.min(10, limits.verify_seconds));
  choices(examples);
  counts(null);
}

// The examples, and the program that was here before, if there was one.
function choices(examples) {
  const select = $("verify-example");
  replace(
    select,
    examples.map(({ name }) => h("option", { value: name }, name.replaceAll("_", " "))),
    h("option", { value: "", disabled: true }, "your own"),
  );
  const choose = () => {
    const found = examples.find(({ name }) => name === select.value);
    if (found) edit(found.program, `${found.name}.c`);
  };
  select.addEventListener("change", choose);
  const before = kept.value;
  if (typeof before?.program !== "string") return choose();
  edit(before.program, String(before.file));
  select.value = examples.find(({ program }) => program === before.program)?.name ?? "";
}

function edit(program, name) {
  file = name;
  editor.text = program;
}

function own() {
  $("verify-example").value = "";
  if (!/\.(sl|smt2)$/.test(file)) file = "program.c";
}

function changed() {
  kept.value = { program: editor.text, file };
  judge(judged);
}

// A verdict stays in view while its program is mended, but it says whose it is.
function judge(program) {
  judged = program;
  const stale = judged !== null && judged !== editor.text;
  $("verify-stale").hidden = !stale;
  $("room-verify").classList.toggle("stale", stale);
}

async function open(event) {
  const [chosen] = event.target.files;
  if (!chosen) return;
  if (chosen.size > MOST_BYTES * limits.program_characters) {
    state(`${chosen.name} is larger than ${(MOST_BYTES * limits.program_characters) / 1024} KiB.`);
    return;
  }
  const name = chosen.name.replace(/[^A-Za-z0-9_.-]/g, "_").replace(/^[.-]+/, "");
  $("verify-example").value = "";
  edit(await chosen.text(), name.slice(-100) || "program.c");
  event.target.value = "";
}

// ---- one proof

async function prove() {
  if (running) return;
  const odd = oddOption();
  if (odd) {
    refused(odd, editor.text, null);
    state("The search was not started.");
    return;
  }
  judge(null);
  $("verify-verdict").hidden = true;
  $("verify-banner").hidden = true;
  editor.complain(null);
  replace($("verify-candidates"));
  counts(null);
  const program = editor.text;
  const hints = $("verify-hints").value.split("\n").map((line) => line.trim()).filter(Boolean);
  const run = (running = { program, spent: 0, began: null, lost: Infinity });
  busy(true);
  working.start("Starting …");
  try {
    const job = await post("/api/verify", {
      program,
      file,
      hints,
      language: LANGUAGES[file.split(".").pop()] ?? "c",
      method: $("verify-method").value,
      ints: $("verify-ints").value,
      timeout: Number($("verify-seconds").value),
      seed: Number($("verify-seed").value),
    });
    run.id = job.id;
    if (running !== run) return drop(run); // cancelled meanwhile
    wait();
    follow(run);
  } catch (error) {
    if (running !== run) return;
    end();
    if (error.refused) notAccepted(error, program);
    else state(`The search could not be started: ${error.message}`);
  }
}

function oddOption() {
  const seconds = Number($("verify-seconds").value);
  if (!(seconds > 0 && seconds <= limits.verify_seconds)) {
    return `Seconds must be more than 0 and at most ${limits.verify_seconds}, the limit of this server.`;
  }
  const seed = $("verify-seed").value;
  if (!/^\d{1,9}$/.test(seed)) return "Seed must be a whole number from 0 to 999999999.";
  if (!editor.text.trim()) return "There is no program; paste one, open a file or choose an example.";
  const characters = [...editor.text].length;
  if (characters > limits.program_characters) {
    return `The program has ${characters} characters; at most ${limits.program_characters} are taken.`;
  }
  return "";
}

function summary({ verdict, seconds, rounds }) {
  if (verdict === "UNKNOWN") return `Not decided after ${seconds.toFixed(2)} s.`;
  return `Done in ${seconds.toFixed(2)} s${rounds ? "" : ", before a search was needed"}.`;
}

function follow(run) {
  const stream = new EventSource(`/api/verify/${run.id}/events`);
  run.stream = stream;
  const on = (event, act) => stream.addEventListener(event, (message) => act(JSON.parse(message.data)));
  on("started", watch);
  on("preparing", () => {
    rest();
    working.start("Getting the chain ready; the first time, it is compiled …");
  });
  on("prepared", watch);
  on("lemmas", ({ text }) => attempt("lemma", [], text));
  on("products", ({ text }) => attempt("lemma", [], text));
  on("round", (news) => {
    counts(news);
    attempt(news.accepted ? "yes" : "no", news.candidate, news.round ? `round ${news.round}` : "the assertion itself");
  });
  on("end", (job) => {
    const { program } = run;
    end();
    if (job.state === "done") {
      state(summary(job.result));
      announce($("verify-banner"), job.result);
      verdict($("verify-verdict"), job.result, program);
      judge(program);
    } else if (job.state === "cancelled") state("The server gave it up: nobody listened for a while.");
    else if (job.state === "refused") notAccepted(job.error, program);
    else state(`It did not finish: ${job.error.message}.`);
  });
  stream.addEventListener("error", () => lost(run));
}

// The browser tries again by itself, unless it was told not to.
function lost(run) {
  if (running !== run) return;
  const now = performance.now();
  if (run.stream.readyState === EventSource.CLOSED || now > run.lost + PATIENCE) {
    end();
    state("The connection was lost.");
    drop(run);
  } else if (run.lost === Infinity) {
    run.lost = now;
    run.stream.addEventListener("open", run.began === null ? wait : watch, { once: true });
    rest();
    working.start("The connection is lost; trying again …");
  }
}

function wait() {
  running.lost = Infinity;
  working.start("Waiting for a free worker …");
}

function cancel() {
  if (!running) return;
  const run = running;
  end();
  state("Cancelled.");
  drop(run);
}

// The server need not go on with it. One that has not answered yet is told as soon as it has.
function drop({ id }) {
  if (id) remove(`/api/verify/${id}`).catch(() => {});
}

function end() {
  running.stream?.close();
  clearInterval(running.ticker);
  running = null;
  busy(false);
}

// ---- showing it

// A button that is switched off gives its focus to the one that is switched on.
function busy(yes) {
  const [from, to] = yes ? [$("verify-start"), $("verify-cancel")] : [$("verify-cancel"), $("verify-start")];
  to.disabled = false;
  if (document.activeElement === from) to.focus();
  from.disabled = true;
}

function state(text) {
  working.stop(text);
}

// The clock of the search stands still while the chain is made ready.
function watch() {
  rest();
  running.lost = Infinity;
  working.stop();
  running.began = performance.now();
  running.ticker = setInterval(tick, 100);
  tick();
}

function rest() {
  clearInterval(running.ticker);
  running.spent = searched();
  running.began = null;
}

function searched() {
  const { spent, began } = running;
  return began === null ? spent : spent + (performance.now() - began) / 1000;
}

function tick() {
  working.show(`Searching, ${searched().toFixed(1)} s`);
}

function counts(news) {
  $("verify-counts").hidden = !news;
  if (!news) return;
  const rows = {
    rounds: news.round,
    "reachable states": news.examples.reachable,
    "failing states": news.examples.failing,
    "steps between": news.examples.steps,
    restarts: news.restarts,
    "chain steps": news.chain_steps,
  };
  replace(
    $("verify-counts"),
    Object.entries(rows).map(([name, value]) =>
      h("div", {}, h("dt", {}, name), h("dd", {}, number(value))),
    ),
  );
}

function attempt(kind, candidate, title) {
  const mark = { yes: "accepted by the solver", no: "refuted" }[kind];
  const list = $("verify-candidates");
  list.prepend(
    h(
      "li",
      { class: kind },
      h("span", { class: "where" }, mark ? `${title}, ${mark}` : title),
      candidate.map(({ line, formula }) =>
        h("div", {}, candidate.length > 1 && line ? `line ${line}: ${formula}` : formula),
      ),
    ),
  );
  while (list.children.length > MOST_TRIES) list.lastChild.remove();
}

function notAccepted(error, program) {
  state("The program was not accepted.");
  refused(error.message, program, error);
}

function refused(message, program, place) {
  const { line, column } = place ?? {};
  const where = line ? `line ${line}, column ${column}: ` : "";
  const result = { verdict: "UNKNOWN", refused: true, reason: `${where}${message}`, line };
  editor.complain(line);
  announce($("verify-banner"), result);
  verdict($("verify-verdict"), result, program);
  judge(program);
}
