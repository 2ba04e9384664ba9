// What the person's accepted words told of their hand. It is kept in this browser and nowhere else:
// the server gets it with a request, answers, and forgets it.

import { post } from "./api.js";
import { $, problem } from "./dom.js";

const PLACE = "doeblin-hand"; // what was learned
const SWITCH = "doeblin-learn"; // "off" if it must not

export class LearnedHand {
  constructor() {
    this.known = read();
    this.waiting = Promise.resolve();
    this.era = 0; // an answer from before "forget" comes too late
    $("swipe-learn").checked = stored(SWITCH) !== "off";
    $("swipe-learn").addEventListener("change", () => {
      store(SWITCH, this.learns ? "on" : "off");
      this.show();
    });
    $("swipe-forget").addEventListener("click", () => this.set(null));
    this.show();
  }

  get learns() {
    return $("swipe-learn").checked;
  }

  // What goes with a request: nothing if the switch is off.
  get given() {
    return this.learns ? this.known : null;
  }

  set(hand) {
    this.era += 1;
    this.known = hand;
    store(PLACE, hand && JSON.stringify(hand));
    this.show();
  }

  // One word after the other, so that none is lost. Returns how to take it back.
  learn(points, word) {
    if (!this.learns || !points) return () => {};
    let before; // undefined until it is learned
    let undone = false;
    const era = this.era;
    this.waiting = this.waiting.then(async () => {
      if (undone || !this.learns || era !== this.era) return;
      try {
        const { hand } = await post("/api/adapt", { points, word, hand: this.known });
        if (undone || era !== this.era) return;
        before = this.known;
        this.known = hand;
        store(PLACE, JSON.stringify(hand));
        this.show();
      } catch (error) {
        this.fail(error);
      }
    });
    return () => {
      undone = true;
      if (before === undefined || era !== this.era) return;
      this.known = before;
      store(PLACE, before && JSON.stringify(before));
      this.show();
    };
  }

  // What was kept may be from another version: a hand that is refused is forgotten, and that is said.
  fail(error) {
    if (error.status === 422 && this.known) {
      this.set(null);
      $("swipe-learned").textContent = "What was learned here could not be used any more and was forgotten.";
    } else problem($("swipe-problem"), error.message);
  }

  show() {
    const counts = Object.values(this.known?.counts ?? {});
    const words = counts.reduce((sum, one) => sum + one, 0);
    $("swipe-forget").disabled = !words;
    $("swipe-learned").textContent = words
      ? `${this.learns ? "Learned" : "Not used: learned"} from ${words} ${words === 1 ? "word" : "words"}, kept in this browser only.`
      : "Nothing learned yet. What is learned stays in this browser.";
  }
}

function read() {
  try {
    const found = JSON.parse(stored(PLACE) ?? "null");
    return found && typeof found === "object" && typeof found.counts === "object" ? found : null;
  } catch {
    return null;
  }
}

// A browser may refuse to keep anything; then it is learned until the page is closed.
function stored(place) {
  try {
    return localStorage.getItem(place);
  } catch {
    return null;
  }
}

function store(place, text) {
  try {
    if (text === null) localStorage.removeItem(place);
    else localStorage.setItem(place, text);
  } catch {
    // as above
  }
}
