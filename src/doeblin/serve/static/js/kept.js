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

  // Nothing rather than something older, if there is no room for it; `lasts` says if it is kept.
  set text(text) {
    this.lasts = true;
    try {
      if (text !== null) window[this.shelf].setItem(this.name, text);
    } catch {
      this.lasts = false;
      text = null;
    }
    try {
      if (text === null) window[this.shelf].removeItem(this.name);
    } catch {
      // as above
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
