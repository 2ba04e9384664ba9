// The room in which one swipes.

import { get, post } from "./api.js";
import { $, h, percent, problem, replace } from "./dom.js";
import { LearnedHand } from "./hand.js";
import { Keyboard } from "./keyboard.js";
import { Sentence } from "./sentence.js";
import { Tours } from "./tours.js";
import { Working, pending } from "./working.js";

const SHOWN = 4;
const TRIES = 3; // of a server that is busy
const SOON = 5; // seconds that are worth waiting for it

let keyboard;
let tours;
let working;
let hand;
let sentence;

export async function start() {
  const layout = await get("/api/keyboard");
  keyboard = new Keyboard($("swipe-keys"), layout, {
    onStart: accept,
    onSwipe: ask,
    onSpace: () => say("space"), // the word was taken as the finger came down
  });
  working = new Working($("swipe-mark"), "decode");
  hand = new LearnedHand(() => sentence.forget());
  sentence = new Sentence(hand);
  tours = new Tours(() => hand.given);
  $("swipe-back").addEventListener("click", back);
  $("swipe-clear").addEventListener("click", clear);
  $("swipe-form").addEventListener("submit", typed);
  $("swipe-typed").addEventListener("keydown", (event) => {
    if (/^[1-4]$/.test(event.key) && sentence.open?.guesses) {
      event.preventDefault();
      pick(Number(event.key) - 1);
    }
  });
  addEventListener("keydown", (event) => {
    const busy = event.target.closest?.("input, textarea, select") || $("room-swipe").hidden;
    if (busy || event.ctrlKey || event.metaKey || event.altKey) return;
    if (/^[1-4]$/.test(event.key)) pick(Number(event.key) - 1);
    else if (event.key === "Backspace") back();
    else if (event.key === " " && !event.target.closest?.("button:not(.chosen), a")) {
      event.preventDefault();
      accept();
    }
  });
  show();
  if (await pending("decode")) greet();
}

// Until the decoder is ready, say so; who swipes meanwhile gets an answer when it is.
async function greet() {
  const text = "You can swipe already; the answer comes as soon as it can …";
  working.start(text);
  while (working.text === text && (await pending("decode"))) await new Promise((wake) => setTimeout(wake, 500));
  if (working.text === text) working.stop();
}

// ---- asking

// Its place in the text is made at once: the next swipe need not wait for the answer.
function ask(points, own = true) {
  tours.forget();
  send(sentence.begin(points, own)); // a typed trace says nothing of a hand
}

function send(place) {
  working.start("Reading the swipe …");
  show();
  answer(place).then(
    (candidates) => (candidates.length ? read(place, candidates) : lost(place)),
    (error) => failed(place, error.message),
  );
}

function again(place) {
  problem($("swipe-problem"), "");
  sentence.retry(place);
  send(place);
  $("swipe-text").focus({ preventScroll: true }); // the button is gone
}

function read(place, candidates) {
  if (place.request.signal.aborted) return; // deleted meanwhile
  sentence.answer(place, candidates);
  rest(place === sentence.last);
  if (place === sentence.last) tours.offer(place.points);
  say(
    place === sentence.open
      ? candidates.map((g, i) => `${i + 1}: ${g.word}, ${percent(g.probability)}`).join("; ")
      : place.word,
  );
  show();
}

function lost(place) {
  if (place.request.signal.aborted) return;
  const newest = place === sentence.last;
  sentence.lose(place);
  rest(newest);
  problem($("swipe-problem"), newest ? "No word fits this trace; try again." : "An earlier swipe is lost: no word fits it.");
  show();
}

function failed(place, reason) {
  if (place.request.signal.aborted) return;
  sentence.fail(place, reason);
  rest(place === sentence.last);
  problem($("swipe-problem"), `A swipe got no answer (${reason}). Press ↻ in the text to try it again.`);
  show();
}

// The mark is of the newest swipe, or of the last that is awaited.
function rest(newest) {
  if (newest || !sentence.awaited) working.stop();
}

// With what is known of the person; if that is refused, without, and it is put aside.
async function answer({ points, request: { signal } }) {
  const given = hand.given;
  try {
    return await patiently({ points, k: SHOWN, hand: given }, signal);
  } catch (error) {
    if (error.status !== 422 || !given) throw error;
    const found = await patiently({ points, k: SHOWN }, signal);
    hand.refused(given);
    return found;
  }
}

// A server that is busy says when to come again.
async function patiently(body, signal) {
  for (let tries = 1; ; tries++) {
    try {
      const { candidates } = await post("/api/decode", body, signal);
      if (!Array.isArray(candidates)) throw new Error("the server's answer has no candidates");
      return candidates;
    } catch (error) {
      if (tries === TRIES || !(error.after <= SOON)) throw error;
      working.start("The server is busy; trying again …");
      await new Promise((wake) => setTimeout(wake, 1000 * error.after));
    }
  }
}

function typed() {
  const field = $("swipe-typed");
  const letters = field.value.toLowerCase().replace(/\s/g, "");
  const odd = [...letters].find((letter) => !keyboard.layout.keys.some((key) => key.letter === letter));
  problem($("swipe-typed-problem"), "");
  if (!letters || odd) {
    problem($("swipe-typed-problem"), odd ? `There is no key “${odd}”; letters a to z only.` : "Type some letters first.");
    return;
  }
  accept();
  ask(keyboard.follow(letters), false);
  field.select();
}

// ---- the text

function accept() {
  problem($("swipe-problem"), "");
  sentence.accept();
  show();
}

function pick(index) {
  const guess = sentence.open?.guesses?.[index];
  if (!guess) return;
  sentence.pick(index);
  keyboard.show(guess.word);
  say(`${guess.word} chosen`);
  show();
}

function back() {
  const gone = sentence.remove();
  say(gone ? `${gone.word ?? "swipe"} deleted` : "nothing to delete");
  changed();
}

function clear() {
  sentence.clear();
  say("text cleared");
  changed();
}

function changed() {
  working.stop();
  problem($("swipe-problem"), "");
  keyboard.clear();
  tours.forget();
  show();
}

function show() {
  const text = $("swipe-text");
  const { places, open } = sentence;
  const parts = places.flatMap((place, index) => [written(place, index), " "]);
  if (open) parts.pop();
  if (!parts.length) parts.push(h("span", { class: "empty" }, "Your text will appear here."));
  else parts.push(h("span", { class: "caret", "aria-hidden": "true" }));
  replace(text, parts);
  text.scrollTop = text.scrollHeight; // its height is fixed, so that the keyboard never moves
  // Buttons stay in place when only the choice changes, so that focus is not lost.
  const holder = $("swipe-candidates");
  const guesses = open?.guesses ?? [];
  const shown = guesses.map((guess) => guess.word).join(" ");
  if (holder.dataset.words !== shown) {
    holder.dataset.words = shown;
    replace(holder, guesses.map(button));
  }
  [...holder.children].forEach((element, index) => {
    element.classList.toggle("chosen", index === open?.chosen);
    element.setAttribute("aria-pressed", String(index === open?.chosen));
  });
}

function written(place, index) {
  if (place.problem) {
    const label = `Try word ${index + 1} again: ${place.problem}`;
    return h("button", { type: "button", class: "failed", title: label, "aria-label": label, onclick: () => again(place) }, "↻");
  }
  if (!place.guesses) return h("span", { class: "awaited" }, "…");
  return place.accepted ? place.word : h("span", { class: "maybe" }, place.word);
}

function button(guess, index) {
  const share = h("span", { class: "share" });
  share.style.width = `${100 * guess.probability}%`;
  const word = h("span", { class: "word" }, guess.word);
  word.style.setProperty("--letters", String(guess.word.length));
  return h(
    "button",
    {
      type: "button",
      class: "candidate",
      onclick: () => pick(index),
      onpointerenter: () => keyboard.show(guess.word),
      onfocus: () => keyboard.show(guess.word),
    },
    word,
    " ",
    h("span", { class: "percent" }, percent(guess.probability)),
    h("span", { class: "number", "aria-hidden": "true" }, String(index + 1)),
    share,
  );
}

function say(message) {
  $("swipe-live").textContent = message;
}
