// The keyboard: a canvas that is drawn on, and the trace of a swipe in key units.

const LONGEST = 4000; // points
const FOOT = 0.9; // height of the space bar, in key heights
const TAP = 0.5; // how far a finger moves in a tap, at most, in key widths

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
    this.points = [];
    this.ghost = "";
    this.pointer = null;
    canvas.addEventListener("pointerdown", (event) => this.down(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerup", (event) => this.up(event));
    canvas.addEventListener("pointercancel", () => this.drop());
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

  down(event) {
    if (!event.isPrimary || event.button > 0) return;
    event.preventDefault();
    document.activeElement?.blur(); // or a space after the swipe would press what was pressed before
    this.pointer = event.pointerId;
    try {
      this.canvas.setPointerCapture(event.pointerId);
    } catch {
      // A pointer that is gone already cannot be captured; its trace ends with what came.
    }
    // Where the keyboard is now is where the whole trace belongs, whatever moves meanwhile.
    this.box = this.canvas.getBoundingClientRect();
    this.points = [];
    this.ghost = "";
    this.onStart();
    this.take([event]);
  }

  move(event) {
    if (event.pointerId !== this.pointer) return;
    const all = event.getCoalescedEvents?.() ?? [];
    this.take(all.length ? all : [event]);
  }

  up(event) {
    if (event.pointerId !== this.pointer) return;
    this.take([event]);
    this.pointer = null;
    if (this.isSpace()) {
      this.clear();
      this.onSpace();
    } else this.onSwipe(this.trace());
  }

  drop() {
    this.pointer = null;
    this.points = [];
    this.draw();
  }

  // A tap on the space bar, and no swipe that begins or ends there.
  isSpace() {
    const [{ x, y }] = this.points;
    const far = Math.max(...this.points.map((point) => Math.hypot(point.x - x, point.y - y)));
    return y > this.bottom && far < TAP;
  }

  take(events) {
    for (const event of events) {
      if (this.points.length >= LONGEST) break;
      const last = this.points.at(-1);
      this.points.push({
        x: (event.clientX - this.box.left) / this.unit,
        y: (event.clientY - this.box.top) / this.tall,
        t: Math.max(event.timeStamp, last?.t ?? 0),
      });
    }
    this.draw();
  }

  trace() {
    const start = this.points[0].t;
    return this.points.map(({ x, y, t }) => ({ x, y, t: t - start }));
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
    this.path(c, colour, w, tall);
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

  path(c, colour, w, tall) {
    const points = this.points.map(({ x, y }) => [x * w, y * tall]);
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
