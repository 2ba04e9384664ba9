// The room in which one swipes.

import { get, newest } from "./api.js";
import { $, h, percent, problem, replace } from "./dom.js";
import { LearnedHand } from "./hand.js";
import { Keyboard } from "./keyboard.js";
import { Tours } from "./tours.js";
import { Working, pending } from "./working.js";

const decode = newest("/api/decode");
const SHOWN = 4;

let keyboard;
let tours;
let working;
let hand;
let words = []; // accepted, each with how to unlearn it
let swiped = null; // the trace of the guesses
let guesses = [];
let chosen = -1; // which guess stands in the text, not yet accepted

export async function start() {
  keyboard = new Keyboard($("swipe-keys"), await get("/api/keyboard"), {
    onStart: accept,
    onSwipe: ask,
    onSpace: () => say("space"), // the word was taken as the finger came down
  });
  working = new Working($("swipe-mark"), "decode");
  hand = new LearnedHand();
  tours = new Tours(() => hand.given);
  $("swipe-back").addEventListener("click", back);
  $("swipe-clear").addEventListener("click", clear);
  $("swipe-form").addEventListener("submit", (event) => {
    event.preventDefault();
    typed();
  });
  $("swipe-typed").addEventListener("keydown", (event) => {
    if (/^[1-4]$/.test(event.key) && guesses.length) {
      event.preventDefault();
      pick(Number(event.key) - 1);
    }
  });
  addEventListener("keydown", (event) => {
    const busy = event.target.closest?.("input, textarea, select") || $("room-swipe").hidden;
    if (busy || event.ctrlKey || event.metaKey || event.altKey) return;
    if (/^[1-4]$/.test(event.key)) pick(Number(event.key) - 1);
    else if (event.key === "Backspace") back();
    else if (event.key === " " && !event.target.closest?.("button, a")) {
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

async function ask(points, own = true) {
  problem($("swipe-problem"), "");
  tours.forget();
  working.start("Reading the swipe …");
  try {
    const found = await answer(points);
    if (!found) return;
    working.stop();
    guesses = found.candidates;
    swiped = own ? points : null; // a typed trace says nothing of a hand
    chosen = guesses.length ? 0 : -1;
    tours.offer(points);
    say(
      guesses.length
        ? guesses.map((g, i) => `${i + 1}: ${g.word}, ${percent(g.probability)}`).join("; ")
        : "No word fits this trace.",
    );
    if (!guesses.length) problem($("swipe-problem"), "No word fits this trace; try again.");
  } catch (error) {
    guesses = [];
    chosen = -1;
    working.stop();
    problem($("swipe-problem"), error.message);
  }
  show();
}

// With what is known of the person; if that is refused, without, and it is forgotten.
async function answer(points) {
  const given = hand.given;
  try {
    return await decode({ points, k: SHOWN, hand: given });
  } catch (error) {
    if (error.status !== 422 || !given) throw error;
    const found = await decode({ points, k: SHOWN });
    hand.fail(error);
    return found;
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
  if (chosen >= 0) {
    const { word } = guesses[chosen];
    words.push({ word, unlearn: hand.learn(swiped, word) });
  }
  guesses = [];
  chosen = -1;
  show();
}

function pick(index) {
  if (!guesses[index]) return;
  chosen = index;
  keyboard.show(guesses[index].word);
  say(`${guesses[index].word} chosen`);
  show();
}

function back() {
  decode.drop();
  working.stop();
  problem($("swipe-problem"), "");
  let gone = chosen >= 0 ? guesses[chosen].word : null;
  if (!gone && words.length) {
    const last = words.pop();
    last.unlearn(); // who deletes a word did not mean it
    gone = last.word;
  }
  guesses = [];
  chosen = -1;
  keyboard.clear();
  tours.forget();
  say(gone ? `${gone} deleted` : "nothing to delete");
  show();
}

function clear() {
  words = [];
  back();
}

function show() {
  const text = $("swipe-text");
  const parts = words.length ? [`${words.map(({ word }) => word).join(" ")} `] : [];
  if (chosen >= 0) parts.push(h("span", { class: "maybe" }, guesses[chosen].word));
  if (!parts.length) parts.push(h("span", { class: "empty" }, "Your text will appear here."));
  else parts.push(h("span", { class: "caret", "aria-hidden": "true" }));
  replace(text, parts);
  text.scrollTop = text.scrollHeight; // its height is fixed, so that the keyboard never moves
  // Buttons stay in place when only the choice changes, so that focus is not lost.
  const holder = $("swipe-candidates");
  const shown = guesses.map((guess) => guess.word).join(" ");
  if (holder.dataset.words !== shown) {
    holder.dataset.words = shown;
    replace(holder, guesses.map(button));
  }
  [...holder.children].forEach((element, index) => {
    element.classList.toggle("chosen", index === chosen);
    element.setAttribute("aria-pressed", String(index === chosen));
  });
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
