// Rooms by the address's hash; a room is made when first entered, as soon as the server is there.

// All modules at once: browsers never ask again for one that could not be had.
import * as chains from "./chains.js";
import { $, problem } from "./dom.js";
import * as swipe from "./swipe.js";
import * as verify from "./verify.js";

const ROOMS = { swipe, verify, chains };
const AGAIN = 2000; // milliseconds until a room that could not be made is tried again
const made = new Map(); // promises, by the rooms' names

let here;

async function enter() {
  const wanted = location.hash.slice(1);
  if (wanted === "main") return;
  here = Object.hasOwn(ROOMS, wanted) ? wanted : "swipe";
  for (const name in ROOMS) {
    $(`room-${name}`).hidden = name !== here;
    const link = document.querySelector(`nav a[data-room="${name}"]`);
    if (name === here) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `${here[0].toUpperCase()}${here.slice(1)} · doeblin`;
  if (made.has(here)) ROOMS[here].visit?.();
  else await open(here);
  dispatchEvent(new Event("resize")); // what was hidden could not be measured
}

function open(name) {
  if (!made.has(name)) made.set(name, make(name));
  return made.get(name);
}

// Until it is made, nothing in it can be pressed.
async function make(name) {
  const note = $(`${name}-closed`);
  try {
    await ROOMS[name].start();
    problem(note, "");
    document.querySelector(`#room-${name} > [inert]`).inert = false;
    document.body.dataset[name] = "ready";
  } catch (error) {
    made.delete(name);
    problem(note, `${error.message} This room opens as soon as it can.`);
    setTimeout(() => name === here && open(name), AGAIN);
  }
}

addEventListener("submit", (event) => event.preventDefault()); // no form is ever sent as such
addEventListener("hashchange", () => {
  scrollTo(0, 0);
  enter();
});
enter();
