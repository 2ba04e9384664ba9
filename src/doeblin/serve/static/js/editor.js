// Line numbers beside a text that is edited, and a mark on the line that is complained about.

import { h, replace } from "./dom.js";

export class Editor {
  constructor(area, gutter, onChange) {
    this.area = area;
    this.onChange = onChange;
    this.numbers = h("div", { class: "numbers" });
    this.bad = null;
    replace(gutter, this.numbers);
    area.addEventListener("input", () => this.changed());
    area.addEventListener("scroll", () => this.follow());
  }

  get text() {
    return this.area.value;
  }

  set text(value) {
    this.area.value = value;
    this.area.scrollTop = 0;
    this.changed();
  }

  changed() {
    this.bad = null;
    this.draw();
    this.onChange();
  }

  // Mark a line and bring it into view.
  complain(line) {
    this.bad = line ?? null;
    this.draw();
    if (!line) return;
    const tall = this.numbers.clientHeight / this.numbers.childElementCount;
    const above = (line - 1) * tall - this.area.scrollTop;
    if (above < 0 || above > this.area.clientHeight - 2 * tall) {
      this.area.scrollTop = Math.max(0, (line - 4) * tall);
    }
    this.follow();
  }

  draw() {
    const count = this.text.split("\n").length;
    replace(
      this.numbers,
      Array.from({ length: count }, (_, i) => h("div", { class: i + 1 === this.bad ? "bad" : "" }, String(i + 1))),
    );
    this.follow();
  }

  follow() {
    this.numbers.style.transform = `translateY(${-this.area.scrollTop}px)`;
  }
}
