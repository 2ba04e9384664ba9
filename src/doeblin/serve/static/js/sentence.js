// The text, a place for every swipe in the order of swiping, however late its answer comes.

import { Kept } from "./kept.js";

class Place {
  constructor(points, trace) {
    this.points = points; // what is asked
    this.trace = trace; // what its word will teach, if anything
    this.guesses = null; // until the answer comes
    this.problem = null; // why none came
    this.chosen = 0;
    this.accepted = false;
    this.kept = true;
    this.unlearn = null; // once it is learned
    this.request = new AbortController();
  }

  get word() {
    return this.guesses?.[this.chosen].word ?? null;
  }
}

export class Sentence {
  constructor(hand) {
    this.hand = hand;
    this.store = new Kept("doeblin-text", "sessionStorage");
    const words = this.store.value;
    this.places = (Array.isArray(words) ? words : []).map((word) => {
      const place = new Place(word?.points ?? null, null);
      if (place.points) place.problem = "the page was left";
      else place.guesses = [{ word: String(word) }];
      place.accepted = true;
      return place;
    });
  }

  get awaited() {
    return this.places.some((place) => !place.guesses && !place.problem);
  }

  get last() {
    return this.places.at(-1) ?? null;
  }

  // The place whose word may still be chosen: the last one, until it is accepted.
  get open() {
    return this.last?.accepted ? null : this.last;
  }

  // `own` ones may be learned from.
  begin(points, own) {
    this.accept();
    if (this.last?.problem) this.last.trace = null; // words are learned in their order
    this.places.push(new Place(points, own ? points : null));
    this.keep();
    return this.last;
  }

  answer(place, guesses) {
    place.guesses = guesses;
    this.settle();
  }

  // It keeps its place, and may be asked again.
  fail(place, reason) {
    place.problem = reason;
    if (place !== this.last) place.trace = null;
    this.settle();
  }

  retry(place) {
    place.problem = null;
    place.request = new AbortController();
  }

  lose(place) {
    place.request.abort();
    this.places = this.places.filter((one) => one !== place);
    this.settle();
  }

  // What the open place has, or will have: its answer may be on its way.
  accept() {
    const { open } = this;
    if (!open) return;
    open.accepted = true;
    if (!this.hand.learns) open.trace = null;
    this.settle();
  }

  pick(index) {
    this.open.chosen = index;
    this.keep();
  }

  // Who deletes a word did not mean it.
  remove() {
    const { last } = this;
    if (!last) return null;
    this.lose(last);
    last.unlearn?.();
    return last;
  }

  clear() {
    for (const place of this.places) place.request.abort();
    this.places = [];
    this.keep();
  }

  // What is in the text now is neither learned nor kept any more.
  forget() {
    for (const place of this.places) {
      place.trace = null;
      place.kept = false;
    }
    this.keep();
  }

  // Words are learned in the order of the text: unlearning goes back from its end.
  settle() {
    for (const place of this.places) {
      if (place.problem) continue;
      if (!place.accepted || !place.guesses) break;
      place.unlearn ??= this.hand.learn(place.trace, place.word);
    }
    this.keep();
  }

  keep() {
    const words = this.places.filter(({ kept }) => kept).map(({ word, points }) => word ?? { points });
    this.store.value = words.length ? words : null;
  }
}
