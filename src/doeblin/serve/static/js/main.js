// Rooms by the address's hash; a room is made when first entered.

import { $ } from "./dom.js";

const ROOMS = ["swipe", "verify", "chains"];
const entered = new Set();

async function enter() {
  const wanted = location.hash.slice(1);
  if (wanted === "main") return;
  const room = ROOMS.includes(wanted) ? wanted : "swipe";
  for (const name of ROOMS) {
    $(`room-${name}`).hidden = name !== room;
    const link = document.querySelector(`nav a[data-room="${name}"]`);
    if (name === room) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `${room[0].toUpperCase()}${room.slice(1)} · doeblin`;
  if (!entered.has(room)) {
    entered.add(room);
    const module = await import(`./${room}.js`);
    await module.start();
    document.body.dataset[room] = "ready";
  }
  dispatchEvent(new Event("resize")); // what was hidden could not be measured
}

addEventListener("hashchange", () => {
  scrollTo(0, 0);
  enter();
});
enter();
