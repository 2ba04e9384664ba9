// The API's reference, drawn from its OpenAPI description.

import { get } from "./api.js";
import { $, h, replace } from "./dom.js";

// Markdown's backticks, and nothing else of it.
const prose = (text) => text.split("`").map((part, i) => (i % 2 ? h("code", {}, part) : part));

const text = (value) => h("pre", {}, JSON.stringify(value, null, 2));

function operation(path, verb, about) {
  const body = about.requestBody?.content?.["application/json"]?.schema;
  const parameters = about.parameters ?? [];
  const [first, ...rest] = (about.description ?? about.summary).split(/\n+/);
  return h(
    "details",
    {},
    h(
      "summary",
      {},
      h("span", { class: "verb" }, verb.toUpperCase()),
      h("span", { class: "path" }, path),
      h("span", { class: "hint" }, prose(first)),
    ),
    rest.length ? h("p", {}, prose(rest.join(" "))) : [],
    parameters.length
      ? [h("h3", {}, "Parameters"), h("p", {}, parameters.map((one) => `${one.name} (${one.in})`).join(", "))]
      : [],
    body ? [h("h3", {}, "Takes"), reference(body)] : [],
    h("h3", {}, "Gives"),
    Object.entries(about.responses).map(([status, answer]) =>
      h("p", {}, h("strong", {}, `${status} `), prose(answer.description), " ", schemaOf(answer)),
    ),
  );
}

function schemaOf(answer) {
  const [kind, found] = Object.entries(answer.content ?? {})[0] ?? [];
  if (!found) return "";
  return found.schema?.$ref ? reference(found.schema) : h("span", { class: "hint" }, kind);
}

function reference(schema) {
  const name = schema.$ref?.split("/").pop();
  return name ? h("a", { href: `#${name}` }, name) : text(schema);
}

const description = await get("/openapi.json");
replace($("about"), prose(description.info.description));
const groups = new Map();
for (const [path, verbs] of Object.entries(description.paths)) {
  for (const [verb, about] of Object.entries(verbs)) {
    const tag = about.tags?.[0] ?? "other";
    if (!groups.has(tag)) groups.set(tag, []);
    groups.get(tag).push(operation(path, verb, about));
  }
}
replace($("operations"), [...groups].flatMap(([tag, found]) => [h("h2", {}, tag), ...found]));
replace(
  $("schemas"),
  Object.entries(description.components.schemas).map(([name, schema]) =>
    h("details", { id: name }, h("summary", {}, h("span", { class: "path" }, name)), text(schema)),
  ),
);
addEventListener("hashchange", () => {
  const target = $(location.hash.slice(1));
  if (target?.tagName === "DETAILS") target.open = true;
});
