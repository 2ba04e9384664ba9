// What the browser keeps under a name: "localStorage" for good, "sessionStorage" until the tab is
// closed. A browser may refuse; then it is known until the page is left.

export class Kept {
  constructor(name, shelf) {
    this.name = name;
    this.shelf = shelf;
    this.lasts = true;
  }

  get text() {
    try {
      return window[this.shelf].getItem(this.name);
    } catch {
      return null;
    }
  }

  // What was kept before stays if there is no room for more; `lasts` says if this is kept.
  set text(text) {
    try {
      if (text === null) window[this.shelf].removeItem(this.name);
      else window[this.shelf].setItem(this.name, text);
      this.lasts = true;
    } catch {
      this.lasts = false;
    }
  }

  // When another tab changes it, if it is kept for good.
  onChange(act) {
    addEventListener("storage", ({ key }) => {
      if (key === this.name || key === null) act();
    });
  }

  get value() {
    try {
      return JSON.parse(this.text);
    } catch {
      return null;
    }
  }

  set value(value) {
    this.text = value === null ? null : JSON.stringify(value);
  }
}
