// What the person's accepted words told of their hand. It is kept in this browser and nowhere else:
// the server gets it with a request, answers, and forgets it.

import { post } from "./api.js";
import { $ } from "./dom.js";
import { Kept } from "./kept.js";

const FORMAT = "doeblin-hand-1";

export class LearnedHand {
  constructor(onForget) {
    this.onForget = onForget;
    this.store = new Kept("doeblin-hand", "localStorage"); // what was learned
    this.aside = new Kept("doeblin-hand-unread", "localStorage"); // and what this version cannot read
    this.switch = new Kept("doeblin-learn", "localStorage"); // "off" if it must not
    this.known = this.takenBack();
    this.waiting = Promise.resolve();
    this.era = 0; // an answer from before "forget" comes too late
    this.obey();
    $("swipe-learn").addEventListener("change", () => {
      this.switch.text = this.learns ? "on" : "off";
      this.show();
    });
    this.switch.onChange(() => this.obey());
    this.store.onChange(() => this.follow());
    $("swipe-forget").addEventListener("click", () => {
      this.set(null);
      this.aside.text = null;
      onForget();
    });
  }

  get stored() {
    const found = this.store.value;
    return readable(found) ? found : null;
  }

  // What is kept or, if that is nothing, what was put aside: this version may be the one to read it.
  takenBack() {
    const [found, aside] = [this.stored, this.aside.value];
    if (found) return found;
    this.setAside();
    if (!readable(aside)) return null;
    this.store.value = aside;
    this.aside.text = null;
    return aside;
  }

  // Another version may have learned it, and can read it again.
  setAside() {
    if (this.store.text === null) return;
    if (this.aside.text === null) this.aside.text = this.store.text;
    this.store.text = null;
  }

  obey() {
    $("swipe-learn").checked = this.switch.text !== "off";
    this.show();
  }

  // Another tab has learned or forgotten: what is on its way here builds on what is no more.
  follow() {
    this.era += 1;
    this.known = this.stored;
    if (!this.known) this.onForget();
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
    this.know(hand);
  }

  know(hand) {
    this.known = hand;
    this.store.value = hand;
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
      const given = this.known;
      try {
        const { hand } = await post("/api/adapt", { points, word, hand: given });
        if (undone || !this.learns || era !== this.era) return;
        before = given;
        this.know(hand);
      } catch (error) {
        if (error.status === 422 && given) this.refused(given);
        else $("swipe-learned").textContent = `“${word}” was not learned: ${error.message}`;
      }
    });
    return () => {
      undone = true;
      if (before !== undefined && era === this.era) this.know(before);
    };
  }

  // What was kept may be from another version: a hand that is refused is put aside.
  refused(hand) {
    if (hand !== this.known) return; // another request had it, too
    this.setAside();
    this.set(null);
  }

  show() {
    const counts = Object.values(this.known?.counts ?? {});
    const words = counts.reduce((sum, one) => sum + one, 0);
    const kept = this.store.lasts ? "kept in this browser only" : "until you leave: this browser has no room to keep that";
    const aside = this.aside.text === null ? "" : " What another version learned is put aside, not used.";
    const choice = this.switch.lasts ? "" : " This browser has no room to keep your choice, either.";
    $("swipe-forget").disabled = !words && !aside;
    const learned = words
      ? `${this.learns ? "Learned" : "Not used: learned"} from ${words} ${words === 1 ? "word" : "words"}, ${kept}.`
      : "Nothing learned yet. What is learned stays in this browser.";
    $("swipe-learned").textContent = learned + aside + choice;
  }
}

function readable(hand) {
  if (hand?.format !== FORMAT || typeof hand.counts !== "object") return false;
  return Object.values(hand.counts ?? {}).every((count) => Number.isInteger(count) && count > 0);
}
