// Conditions on metadata. A condition is a line of the search's own language, as --where takes it, and stands in the address.

import { element, option } from "./dom.js";
import { systemOf } from "./systems.js";

const SIGNS = {
  number: [["=", "is"], [">=", "at least"], ["<=", "at most"], ["!=", "is not"]],
  date: [[">=", "from"], ["<=", "up to"], ["=", "is"]],
  list: [["has", "has"], ["not has", "has not"]],
  text: [["=", "is"], ["!=", "is not"]],
  yes_or_no: [["=", "is"], ["!=", "is not"]],
};

const WORDS = new Set(["and", "or", "not", "in", "has"]);

export function condition(field, sign, value) {
  const plain = field.kind === "number" || field.kind === "date";
  const name = /^[\p{L}\p{N}_][\p{L}\p{N}_.-]*$/u.test(field.name) && !WORDS.has(field.name.toLowerCase()) ? field.name : quoted(field.name);
  return `${name} ${sign} ${plain ? value.trim() : quoted(value)}`;
}

const quoted = (text) => `"${text.replace(/[\\"]/g, "\\$&")}"`;

export function createFilters(place, store, systems) {
  const name = element("select", { id: "filter-field", "aria-label": "Field" });
  const sign = element("select", { id: "filter-sign", "aria-label": "Comparison" });
  const value = element("input", { id: "filter-value", "aria-label": "Value", list: "filter-values", autocomplete: "off", required: true });
  const values = element("datalist", { id: "filter-values" });
  const add = element("button", { type: "submit" }, "Add");
  const form = element("form", { class: "filter-form" }, name, sign, value, values, add);
  const summary = element("summary", {}, "Filters");
  const details = element("details", { class: "filters" }, summary, form);
  const active = element("ul", { class: "chips conditions" });
  place.append(details, active);
  let fields = [];

  const chosen = () => fields.find((field) => field.name === name.value) ?? fields[0];

  function fieldChanged() {
    const field = chosen();
    if (!field) return;
    sign.replaceChildren(...(SIGNS[field.kind] ?? SIGNS.text).map(([written, said]) => option(written, said)));
    values.replaceChildren(...(field.values ?? []).map((known) => option(String(known), "")));
    value.value = "";
  }

  name.addEventListener("change", fieldChanged);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const text = condition(chosen(), sign.value, value.value);
    value.value = "";
    if (!store.state.where.includes(text)) store.set({ where: [...store.state.where, text], k: 10 });
  });

  function remove(text) {
    store.set({ where: store.state.where.filter((other) => other !== text) });
    summary.focus();
  }

  function update(state) {
    const offered = systemOf(systems, state.sides[0]).fields ?? [];
    if (offered !== fields) {
      fields = offered;
      name.replaceChildren(...fields.map((field) => option(field.name, field.name)));
      fieldChanged();
    }
    details.hidden = fields.length === 0;
    active.hidden = state.where.length === 0;
    active.replaceChildren(...state.where.map((text) => element("li", {},
      element("button", { type: "button", class: "chip", "aria-label": `Remove the filter ${text}`, on: { click: () => remove(text) } },
        element("span", {}, text), element("span", { "aria-hidden": "true" }, "×")))));
  }
  return { update };
}
