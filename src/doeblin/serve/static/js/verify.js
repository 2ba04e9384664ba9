// The room in which programs are proved.

import { get, post, remove } from "./api.js";
import { $, h, number, replace } from "./dom.js";
import { verdict } from "./verdict.js";

const LANGUAGES = { sl: "sygus", smt2: "horn" };
const MOST_TRIES = 8;

let running = null; // { id, program, stream, began, ticker }
let file = "program.c";

export async function start() {
  $("verify-form").addEventListener("submit", (event) => {
    event.preventDefault();
    prove();
  });
  $("verify-cancel").addEventListener("click", cancel);
  $("verify-file").addEventListener("change", open);
  $("verify-source").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) prove();
  });
  const { examples } = await get("/api/examples");
  const select = $("verify-example");
  replace(
    select,
    examples.map(({ name }) => h("option", { value: name }, name.replaceAll("_", " "))),
    h("option", { value: "", disabled: true }, "your own"),
  );
  const choose = () => {
    const found = examples.find(({ name }) => name === select.value);
    if (!found) return;
    $("verify-source").value = found.program;
    file = `${found.name}.c`;
  };
  select.addEventListener("change", choose);
  $("verify-source").addEventListener("input", () => {
    select.value = "";
    if (!/\.(sl|smt2)$/.test(file)) file = "program.c";
  });
  choose();
  counts(null);
}

async function open(event) {
  const [chosen] = event.target.files;
  if (!chosen) return;
  if (chosen.size > 64 * 1024) {
    state(`${chosen.name} is larger than 64 KiB.`);
    return;
  }
  $("verify-source").value = await chosen.text();
  $("verify-example").value = "";
  const name = chosen.name.replace(/[^A-Za-z0-9_.-]/g, "_").replace(/^[.-]+/, "");
  file = name.slice(-100) || "program.c";
  event.target.value = "";
}

// ---- one proof

async function prove() {
  if (running) return;
  $("verify-verdict").hidden = true;
  replace($("verify-candidates"));
  counts(null);
  const program = $("verify-source").value;
  const hints = $("verify-hints").value.split("\n").map((line) => line.trim()).filter(Boolean);
  busy(true);
  state("Starting …", true);
  try {
    const job = await post("/api/verify", {
      program,
      file,
      hints,
      language: LANGUAGES[file.split(".").pop()] ?? "c",
      method: $("verify-method").value,
      ints: $("verify-ints").value,
      timeout: Number($("verify-seconds").value),
      seed: Math.trunc(Number($("verify-seed").value)),
    });
    running = { id: job.id, program };
    state("Waiting for a free worker …", true);
    follow(job.id);
  } catch (error) {
    busy(false);
    state("The program was not accepted.");
    const where = error.line ? `line ${error.line}, column ${error.column}: ` : "";
    refused(`${where}${error.message}`, program, error.line);
  }
}

function follow(id) {
  const stream = new EventSource(`/api/verify/${id}/events`);
  running.stream = stream;
  const on = (event, act) => stream.addEventListener(event, (message) => act(JSON.parse(message.data)));
  on("started", watch);
  on("preparing", () => {
    clearInterval(running.ticker);
    state("Getting the chain ready; the first time, it is compiled …", true);
  });
  on("prepared", watch);
  on("lemmas", ({ text }) => attempt("lemma", [], text));
  on("products", ({ text }) => attempt("lemma", [], text));
  on("round", (news) => {
    counts(news);
    attempt(news.accepted ? "yes" : "no", news.candidate, news.round ? `round ${news.round}` : "the assertion itself");
  });
  on("end", (job) => {
    const { program } = running;
    end();
    if (job.state === "done") {
      state(`Done in ${job.result.seconds.toFixed(2)} s${job.result.rounds ? "" : ", before a search was needed"}.`);
      verdict($("verify-verdict"), job.result, program);
    } else if (job.state === "cancelled") state("Cancelled.");
    else {
      state(job.state === "refused" ? "The program was not accepted." : "It did not finish.");
      refused(job.error.message, program, job.error.line);
    }
  });
  stream.addEventListener("error", () => {
    if (running?.id === id && stream.readyState === EventSource.CLOSED) {
      end();
      state("The connection was lost.");
    }
  });
}

function cancel() {
  if (!running) return;
  const { id } = running;
  end();
  state("Cancelled.");
  remove(`/api/verify/${id}`).catch(() => {});
}

function end() {
  running.stream?.close();
  clearInterval(running.ticker);
  running = null;
  busy(false);
}

// ---- showing it

function busy(yes) {
  $("verify-start").disabled = yes;
  $("verify-cancel").disabled = !yes;
}

function state(text, isRunning = false) {
  const line = $("verify-state");
  line.textContent = text;
  line.classList.toggle("running", isRunning);
}

function watch() {
  clearInterval(running.ticker);
  running.began = performance.now();
  running.ticker = setInterval(tick, 100);
  tick();
}

function tick() {
  state(`Searching, ${((performance.now() - running.began) / 1000).toFixed(1)} s`, true);
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

function refused(message, program, line) {
  verdict($("verify-verdict"), { verdict: "UNKNOWN", refused: true, reason: message, line }, program);
}
