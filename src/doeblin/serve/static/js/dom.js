// Elements from words. Text always goes in as text, so nothing shown can be markup.

export const $ = (id) => document.getElementById(id);

export function h(tag, properties = {}, ...children) {
  return fill(document.createElement(tag), properties, children);
}

export function s(tag, properties = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), properties, children);
}

function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return element;
}

export function replace(element, ...children) {
  element.replaceChildren(...children.flat(Infinity));
}

export function problem(element, message) {
  element.hidden = !message;
  element.textContent = message || "";
}

/** A lower bound in so many digits, rounded down (as in `doeblin certify`). */
export function atLeast(value, digits) {
  if (value <= 0) return 0;
  const scale = 10 ** (digits - 1 - Math.floor(Math.log10(value)));
  return Number((Math.floor(value * scale * (1 + 1e-12)) / scale).toPrecision(digits));
}

export function number(value, digits = 3) {
  if (value === null || value === undefined) return "∞";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e5 || size < 1e-4) {
    const [mantissa, power] = value.toExponential(digits - 1).split("e");
    const scale = `10${superscript(Number(power))}`;
    return Number(mantissa) === 1 ? scale : `${Number(mantissa)}·${scale}`;
  }
  return size >= 1000 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(digits)));
}

function superscript(power) {
  return String(power).replace(/./g, (c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[c]));
}

export function percent(value) {
  if (value > 0 && value < 0.001) return "< 0.1 %";
  if (value < 1 && value > 0.999) return "> 99.9 %";
  return `${(100 * value).toFixed(value < 0.1 || value > 0.9 ? 1 : 0)} %`;
}
