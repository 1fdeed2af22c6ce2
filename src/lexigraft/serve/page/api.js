// The server's answers. Addresses are relative, so that the page also works below a proxy's prefix.

import { showOpening } from "./announce.js";

const KEY = "lexigraft-key";
const OPENING = "the systems are being opened; ask again in a second"; // as the server says it
const RETRY_MS = 400;
let key = "";
try {
  key = sessionStorage.getItem(KEY) ?? "";
} catch {
  // storage is forbidden; a key then lasts as long as the page
}

export class Refused extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

export function useKey(text) {
  key = text;
  try {
    sessionStorage.setItem(KEY, text);
  } catch {
    // see above
  }
}

async function explained(response) {
  if (response.status === 401) return key ? "This key is not one of the server’s." : "This server asks for a key.";
  try {
    const body = await response.json();
    if (typeof body.error === "string") return body.error;
  } catch {
    // not from our server, but from a proxy before it
  }
  return `The server answered ${response.status}.`;
}

function later(signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, RETRY_MS);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

// A server that opens its systems is no trouble: it is asked again until they are there.
async function send(path, options) {
  for (;;) {
    try {
      return await sendOnce(path, options);
    } catch (error) {
      const isOpening = error.status === 503 && error.message === OPENING;
      if (error.name !== "AbortError") showOpening(isOpening);
      if (!isOpening) throw error;
      await later(options.signal);
    }
  }
}

async function sendOnce(path, options) {
  const headers = { Accept: "application/json", ...options.headers };
  if (/[^\x20-\x7e\xa0-\xff]/.test(key)) throw new Refused("This key has a character that no key can have.", 401);
  if (key) headers.Authorization = `Bearer ${key}`;
  let response;
  try {
    response = await fetch(path, { ...options, headers, credentials: "same-origin" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused("The server does not answer. Is it still running?", 0);
  }
  if (!response.ok) throw new Refused(await explained(response), response.status);
  showOpening(false);
  try {
    return await response.json();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused("What answered is not this page’s server, but something before it.", response.status);
  }
}

export function ask(path, question = {}, signal = undefined) {
  const given = Object.entries(question).filter(([, value]) => value !== "" && value !== undefined && value !== null);
  const query = new URLSearchParams(given).toString();
  return send(query ? `${path}?${query}` : path, { signal });
}

export function post(path, body, signal = undefined) {
  const headers = { "Content-Type": "application/json" };
  return send(path, { method: "POST", headers, body: JSON.stringify(body), signal });
}

// A question of which only the newest counts: asking again cancels what is under way, whose promise then gives null.
export function newestOnly(question) {
  let running = null;
  const newest = async (...given) => {
    running?.abort();
    const mine = new AbortController();
    running = mine;
    try {
      const answer = await question(mine.signal, ...given);
      return mine.signal.aborted ? null : answer;
    } catch (error) {
      if (mine.signal.aborted) return null;
      throw error;
    }
  };
  newest.cancel = () => running?.abort();
  return newest;
}
