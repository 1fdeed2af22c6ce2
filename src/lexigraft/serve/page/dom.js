// Nodes are made here and nowhere else. Text becomes text nodes, so markup from a server is shown and never obeyed.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) node.addEventListener(event, listener);
    } else if (value === true) {
      node.setAttribute(name, "");
    } else if (value !== false && value !== null && value !== undefined) {
      node.setAttribute(name, String(value));
    }
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

export function element(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function drawn(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

export function byId(id) {
  return document.getElementById(id);
}

// Replaces all children in one go. Who stood on one of them stands on its successor afterwards: the one with the same
// data-key. Without this a keyboard would lose its place at every new ranking.
export function replaceKeepingFocus(container, nodes) {
  const focused = document.activeElement;
  const key = container.contains(focused) ? focused.dataset.key : undefined;
  container.replaceChildren(...nodes.filter(Boolean));
  if (key !== undefined) {
    container.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus({ preventScroll: true });
  }
}

// A bar whose length is a share of its track. The style is set by CSSOM: the content-security policy forbids attributes.
export function bar(share) {
  const filled = element("span", { class: "bar-filled" });
  filled.style.setProperty("inline-size", `${Math.max(0, Math.min(1, share)) * 100}%`);
  return element("span", { class: "bar", "aria-hidden": "true" }, filled);
}

export function option(value, text, selected) {
  return element("option", { value, selected }, text);
}
