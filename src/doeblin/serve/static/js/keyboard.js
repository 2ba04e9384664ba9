// The keyboard: a canvas that is drawn on, and the traces of swipes in key units.

const MOST = 2000; // points of a trace
const OFTEN = 4; // milliseconds between points: a mouse may send one each, and no word needs them
const FOOT = 0.9; // height of the space bar, in key heights
const TAP = 0.5; // how far a finger moves in a tap, at most, in key widths

// One finger's way, from down to up.
class Trace {
  constructor(event, place) {
    this.id = event.pointerId;
    this.type = event.pointerType;
    this.place = place; // from an event to key units
    this.points = [];
    this.gap = OFTEN;
    this.done = false;
    this.alone = true; // no other finger was down meanwhile
    this.take(event);
  }

  take(event) {
    const last = this.points.at(-1);
    const { x, y } = this.place(event);
    const t = Math.max(event.timeStamp, last?.t ?? 0);
    // The end is wherever the finger was last, so that the newest point may be replaced.
    if (this.points.length > 1 && t - this.points.at(-2).t < this.gap) this.points.pop();
    this.points.push({ x, y, t });
    if (this.points.length > MOST) this.thin();
  }

  // However long it takes, all of it counts: every other point goes.
  thin() {
    const end = this.points.length - 1;
    this.points = this.points.filter((_, at) => at % 2 === 0 || at === end);
    this.gap *= 2;
  }

  get moved() {
    const [{ x, y }] = this.points;
    return this.points.some((point) => Math.hypot(point.x - x, point.y - y) >= TAP);
  }
}

export class Keyboard {
  constructor(canvas, layout, { onSwipe, onStart, onSpace }) {
    this.canvas = canvas;
    this.layout = layout;
    this.onSwipe = onSwipe;
    this.onStart = onStart;
    this.onSpace = onSpace;
    this.bottom = Math.max(...layout.keys.map((key) => key.y)) + 0.5;
    // Rooms give a width to the canvas such that its height fits: `--shape` is width by height.
    canvas.style.setProperty("--shape", String(layout.width / ((this.bottom + FOOT) * layout.aspect)));
    this.points = []; // of the last word
    this.ghost = "";
    this.traces = []; // of fingers that are down, and of those that wait for one, as they came down
    canvas.addEventListener("pointerdown", (event) => this.down(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerup", (event) => this.up(event));
    canvas.addEventListener("pointercancel", (event) => this.drop(event));
    new ResizeObserver(() => this.resize()).observe(canvas.parentElement);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
    addEventListener("resize", () => this.resize());
    this.resize();
  }

  resize() {
    const box = this.canvas.getBoundingClientRect();
    if (!box.width) return;
    this.width = box.width;
    this.unit = box.width / this.layout.width; // a key's width and, below, its height in pixels
    this.tall = this.unit * this.layout.aspect;
    this.height = (this.bottom + FOOT) * this.tall;
    const scale = devicePixelRatio || 1;
    this.canvas.style.height = `${this.height}px`;
    this.canvas.width = Math.round(this.width * scale);
    this.canvas.height = Math.round(this.height * scale);
    this.context = this.canvas.getContext("2d");
    this.context.setTransform(scale, 0, 0, scale, 0, 0);
    this.draw();
  }

  // ---- pointers

  // Two thumbs may overlap: each has a trace of its own.
  down(event) {
    if (event.button > 0) return;
    event.preventDefault();
    document.activeElement?.blur(); // or a space after the swipe would press what was pressed before
    try {
      this.canvas.setPointerCapture(event.pointerId);
    } catch {
      // A pointer that is gone already cannot be captured; its trace ends with what came.
    }
    // Where the keyboard is now is where the whole trace belongs, whatever moves meanwhile.
    const { left, top } = this.canvas.getBoundingClientRect();
    const { unit, tall } = this;
    const place = ({ clientX, clientY }) => ({ x: (clientX - left) / unit, y: (clientY - top) / tall });
    // A first one of its kind is the only one: another's end was never told.
    if (event.isPrimary) this.traces = this.traces.filter(({ done, type }) => done || type !== event.pointerType);
    this.traces.push(new Trace(event, place));
    if (this.traces.length > 1) for (const trace of this.traces) trace.alone = false;
    this.points = [];
    this.ghost = "";
    this.onStart();
    this.draw();
  }

  move(event) {
    const trace = this.of(event);
    if (!trace) return;
    const all = event.getCoalescedEvents?.() ?? [];
    for (const one of all.length ? all : [event]) trace.take(one);
    this.draw();
  }

  up(event) {
    const trace = this.of(event);
    if (!trace) return;
    trace.take(event);
    trace.done = true;
    if (!trace.alone && !trace.moved) this.without(trace); // it rested beside another
    this.settle();
  }

  drop(event) {
    this.without(this.of(event));
    this.settle();
  }

  // Words come in the order of their beginnings; a finger that rests holds none up.
  settle() {
    for (;;) {
      const first = this.traces.find((trace) => trace.done || trace.moved);
      if (!first?.done) break;
      this.without(first);
      this.give(first);
    }
    this.draw();
  }

  of(event) {
    return this.traces.find((one) => one.id === event.pointerId && !one.done);
  }

  without(trace) {
    this.traces = this.traces.filter((one) => one !== trace);
  }

  give({ points, moved }) {
    // A tap on the space bar, and no swipe that begins or ends there.
    if (points[0].y > this.bottom && !moved) {
      this.clear();
      this.onSpace();
    } else {
      this.points = points;
      this.onSwipe(this.trace());
    }
  }

  // As it is sent: no more digits than a finger has.
  trace() {
    const start = this.points[0].t;
    const short = (number, digits) => Number(number.toFixed(digits));
    return this.points.map(({ x, y, t }) => ({ x: short(x, 4), y: short(y, 4), t: short(t - start, 1) }));
  }

  // ---- without a pointer: straight lines from key to key, at a person's pace

  follow(letters) {
    const keys = [...letters].map((letter) => this.layout.keys.find((key) => key.letter === letter));
    const points = [];
    let time = 0;
    keys.forEach((key, index) => {
      const before = keys[index - 1];
      if (before === key) return;
      if (before) {
        const gap = Math.hypot(key.x - before.x, (key.y - before.y) * this.layout.aspect);
        const lasts = Math.exp(5.21 + 0.43 * Math.log(Math.max(gap, 0.5)));
        const frames = Math.max(2, Math.round(lasts / 16));
        for (let frame = 1; frame < frames; frame++) {
          const part = frame / frames;
          const eased = part * part * (3 - 2 * part);
          points.push({
            x: before.x + (key.x - before.x) * eased,
            y: before.y + (key.y - before.y) * eased,
            t: time + lasts * part,
          });
        }
        time += lasts;
      }
      points.push({ x: key.x, y: key.y, t: time });
    });
    this.points = points;
    this.ghost = "";
    this.draw();
    return this.trace();
  }

  show(word) {
    this.ghost = word;
    this.draw();
  }

  clear() {
    this.points = [];
    this.ghost = "";
    this.draw();
  }

  // ---- drawing

  draw() {
    if (!this.context) return;
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(`--${name}`).trim();
    const c = this.context;
    c.clearRect(0, 0, this.width, this.height);
    const [w, tall] = [this.unit, this.tall];
    const gap = Math.max(2, 0.05 * w);
    c.textAlign = "center";
    c.textBaseline = "middle";
    c.font = `500 ${Math.round(0.4 * w)}px system-ui, "Noto Sans", "DejaVu Sans", sans-serif`;
    for (const key of this.layout.keys) {
      const near = this.ghost.includes(key.letter);
      c.fillStyle = colour(near ? "chain-soft" : "well");
      c.strokeStyle = colour(near ? "chain" : "line");
      c.lineWidth = 1;
      c.beginPath();
      c.roundRect((key.x - 0.5) * w + gap, (key.y - 0.5) * tall + gap, w - 2 * gap, tall - 2 * gap, 0.16 * w);
      c.fill();
      c.stroke();
    }
    this.foot(c, colour, w, tall, gap);
    for (const points of [this.points, ...this.traces.map((trace) => trace.points)]) this.path(points, c, colour, w, tall);
    c.fillStyle = colour("ink"); // on top, so that no trace hides a letter
    for (const key of this.layout.keys) c.fillText(key.letter, key.x * w, key.y * tall);
    c.fillStyle = colour("soft");
    c.font = `${Math.round(0.3 * w)}px system-ui, "Noto Sans", "DejaVu Sans", sans-serif`;
    c.fillText("space", this.width / 2, (this.bottom + FOOT / 2) * tall);
  }

  foot(c, colour, w, tall, gap) {
    const [left, wide] = [1.5 * w, (this.layout.width - 3) * w];
    c.fillStyle = colour("well");
    c.strokeStyle = colour("line");
    c.beginPath();
    c.roundRect(left + gap, this.bottom * tall + gap, wide - 2 * gap, FOOT * tall - 2 * gap, 0.16 * w);
    c.fill();
    c.stroke();
  }

  path(trace, c, colour, w, tall) {
    const points = trace.map(({ x, y }) => [x * w, y * tall]);
    if (!points.length) return;
    c.lineCap = "round";
    c.lineJoin = "round";
    c.strokeStyle = colour("restart");
    for (const [width, alpha] of [[0.3 * w, 0.18], [0.11 * w, 0.8]]) {
      c.globalAlpha = alpha;
      c.lineWidth = width;
      c.beginPath();
      c.moveTo(...points[0]);
      for (let i = 1; i < points.length - 1; i++) {
        const [x, y] = points[i];
        c.quadraticCurveTo(x, y, (x + points[i + 1][0]) / 2, (y + points[i + 1][1]) / 2);
      }
      c.lineTo(...points.at(-1));
      c.stroke();
    }
    c.globalAlpha = 1;
    c.fillStyle = colour("restart");
    c.beginPath();
    c.arc(...points[0], 0.14 * w, 0, 2 * Math.PI);
    c.fill();
    c.fillStyle = colour("card");
    c.beginPath();
    c.arc(...points[0], 0.06 * w, 0, 2 * Math.PI);
    c.fill();
  }
}
