// What a screen reader is told. Results change with every key; only where they have rested for a moment are they said.

import { byId } from "./dom.js";

const REST_MS = 800;
let timer = 0;

export function announce(text) {
  clearTimeout(timer);
  timer = setTimeout(() => {
    if (byId("announcer").textContent !== text) byId("announcer").textContent = text;
  }, REST_MS);
}

export function showOpening(isOpening) {
  byId("opening").hidden = !isOpening;
}

export function showTrouble(text) {
  const place = byId("trouble");
  if (place.textContent !== text) place.textContent = text;
  place.hidden = text === "";
}
