// "Show me the chain": the walk over words, restarts marked, and the bars that it builds.

import { post } from "./api.js";
import { $, h, percent, problem, replace } from "./dom.js";

const STEPS = 200;
const PACE = 70; // milliseconds a step

export class Tours {
  constructor(hand) {
    this.hand = hand; // whose it is, when asked
    this.points = null;
    this.timer = null;
    this.seed = 0;
    $("chain-play").addEventListener("click", () => (this.timer ? this.finish() : this.play()));
  }

  offer(points) {
    this.points = points;
    $("chain-play").disabled = false;
  }

  forget() {
    this.stop();
    this.points = null;
    $("chain-play").disabled = true;
    $("chain-stage").hidden = true;
    $("chain-intro").hidden = false;
  }

  async play() {
    const points = this.points;
    $("chain-play").disabled = true;
    $("chain-play").textContent = "Drawing …";
    let found;
    try {
      found = await post("/api/tours", { points, steps: STEPS, seed: this.seed++, hand: this.hand() });
    } catch (error) {
      problem($("swipe-problem"), error.message);
      return;
    } finally {
      $("chain-play").disabled = this.points === null;
      $("chain-play").textContent = this.found ? "Show another run" : "Show me the chain";
    }
    if (points !== this.points) return;
    this.found = found;
    this.at = 0;
    this.restarts = 0;
    this.counts = new Map();
    this.rows = new Map();
    $("chain-intro").hidden = true;
    $("chain-stage").hidden = false;
    replace($("chain-strip"));
    replace($("chain-bars"), found.words.map((word) => this.row(word)));
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
      this.finish();
      return;
    }
    $("chain-play").textContent = "Skip to the end";
    this.timer = setInterval(() => this.step(), PACE);
    this.step();
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
    $("chain-play").textContent = this.found ? "Show another run" : "Show me the chain";
  }

  finish() {
    while (this.at < this.found.steps.length) this.advance();
    this.show();
    this.stop();
  }

  step() {
    this.advance();
    this.show();
    if (this.at >= this.found.steps.length) this.stop();
  }

  advance() {
    const { word, restart } = this.found.steps[this.at++];
    this.counts.set(word, (this.counts.get(word) ?? 0) + 1);
    if (restart) this.restarts++;
    const other = word !== this.found.words[0].word;
    $("chain-strip").append(h("i", { class: restart ? "restart" : other ? "other" : "", title: word }));
  }

  show() {
    const { word, restart } = this.found.steps[this.at - 1];
    $("chain-word").textContent = word;
    $("chain-tag").textContent = restart ? "restart" : "step of A";
    $("chain-tag").classList.toggle("restart", restart);
    const mean = (1 / this.found.epsilon).toFixed(0);
    $("chain-count").textContent =
      `Step ${this.at} of ${this.found.steps.length}, tour ${this.restarts}. ` +
      `ε = ${this.found.epsilon.toPrecision(2)}: a restart every ${mean} steps on average.`;
    for (const [name, row] of this.rows) {
      const count = this.counts.get(name) ?? 0;
      row.element.hidden = !count;
      row.element.classList.toggle("now-here", name === word);
      row.fill.style.width = `${(100 * count) / this.at}%`;
      row.value.textContent = percent(count / this.at);
    }
  }

  row({ word, probability }) {
    const fill = h("span", { class: "fill" });
    const goal = h("span", { class: "goal" });
    goal.style.left = `min(${100 * probability}%, 100% - 2px)`;
    const value = h("span", { class: "value" });
    const element = h(
      "div",
      { class: "bar", role: "listitem", hidden: true },
      h("span", { class: "name" }, word),
      h("span", { class: "track" }, fill, goal),
      value,
    );
    this.rows.set(word, { element, fill, value });
    return element;
  }
}
