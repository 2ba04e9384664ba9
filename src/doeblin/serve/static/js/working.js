// A mark that something is being done, at once; and what keeps it, if it takes long.

import { get } from "./api.js";

const LONG = 600; // milliseconds

export class Working {
  constructor(element, pool) {
    this.element = element;
    this.pool = pool;
    this.timer = null;
  }

  start(text) {
    this.stop();
    this.text = text;
    this.began = performance.now();
    this.show(text);
    this.timer = setInterval(() => this.explain(), LONG);
  }

  // The mark goes; `text` stays in its place.
  stop(text = "") {
    clearInterval(this.timer);
    this.timer = null;
    this.element.classList.remove("running");
    this.element.textContent = text;
  }

  show(text) {
    this.element.classList.add("running");
    if (this.element.textContent !== text) this.element.textContent = text;
  }

  async explain() {
    const mine = this.timer;
    const doing = await pending(this.pool);
    if (mine !== this.timer) return;
    const seconds = Math.round((performance.now() - this.began) / 1000);
    this.show(doing ? `${doing} … ${seconds} s` : `${this.text} ${seconds ? `${seconds} s` : ""}`);
  }
}

// What a part of the server does before it is ready; nothing once it is.
export async function pending(pool) {
  try {
    const { ready, doing, unavailable } = (await get("/api/health")).pools[pool];
    return ready || unavailable ? "" : sentence(doing ?? "starting");
  } catch {
    return "";
  }
}

const sentence = (text) => text[0].toUpperCase() + text.slice(1);
