// Everything that can be seen stands in the address, so every view is a link, and Back undoes a step.

const PAUSE_MS = 250; // of a hand that rests: an address costs the browser more than a result

const FIRST = { system: "system", qk: "qk", dk: "dk", off: "off" };
const SECOND = { system: "with", qk: "with_qk", dk: "with_dk", off: "with_off" };
const VIEWS = ["search", "vocabulary", "report", "judge"];
const SORTS = ["postings", "term", "wackiness"];
const MOST_RESULTS = 100;

const wholeNumber = (text, otherwise, most) => {
  const number = /^\d{1,9}$/.test(text ?? "") ? Number(text) : otherwise;
  return Math.min(Math.max(number, 1), most);
};
const oneOf = (text, allowed) => (allowed.includes(text) ? text : allowed[0]);

function readSide(given, names) {
  const read = (name) => given.get(names[name]) ?? "";
  return { system: read("system"), qk: read("qk"), dk: read("dk"), off: given.getAll(names.off) };
}

export function readAddress(search) {
  const given = new URLSearchParams(search);
  return {
    view: oneOf(given.get("view"), VIEWS),
    q: given.get("q") ?? "",
    k: wholeNumber(given.get("k"), 10, MOST_RESULTS),
    sides: given.has(SECOND.system) ? [readSide(given, FIRST), readSide(given, SECOND)] : [readSide(given, FIRST)],
    where: given.getAll("where"),
    open: given.get("open") ?? "",
    starts: given.get("starts") ?? "",
    sort: oneOf(given.get("sort"), SORTS),
    descending: given.get("order") !== "up",
    page: wholeNumber(given.get("page"), 1, 1e9),
    term: given.get("term") ?? "",
  };
}

function writeSide(given, side, names) {
  for (const name of ["system", "qk", "dk"]) {
    if (side[name] !== "" || names === SECOND && name === "system") given.append(names[name], side[name]);
  }
  for (const term of side.off) given.append(names.off, term);
}

export function writeAddress(state) {
  const given = new URLSearchParams();
  const add = (name, value, usual) => value !== usual && given.append(name, value);
  add("view", state.view, "search");
  add("q", state.q, "");
  add("k", state.k, 10);
  writeSide(given, state.sides[0], FIRST);
  if (state.sides.length > 1) writeSide(given, state.sides[1], SECOND);
  for (const condition of state.where) given.append("where", condition);
  add("open", state.open, "");
  add("starts", state.starts, "");
  add("sort", state.sort, "postings");
  add("order", state.descending ? "down" : "up", "down");
  add("page", state.page, 1);
  add("term", state.term, "");
  const query = given.toString();
  return query ? `?${query}` : location.pathname;
}

// Lists that say the same are the same: who compares by identity then asks nothing anew.
function keepingEquals(read, former) {
  for (const name of ["sides", "where"]) {
    if (JSON.stringify(read[name]) === JSON.stringify(former[name])) read[name] = former[name];
  }
  return read;
}

// `set(changes)` is a step of its own. `set(changes, "growing")` is a part of one that is being made, as a key is of a
// query: the first part makes the step, the others change it, until `settle()` or another step.
export function createStore() {
  let state = readAddress(location.search);
  let growing = false;
  let timer = 0;
  const listeners = [];

  function settle() {
    if (timer) {
      clearTimeout(timer);
      timer = 0;
      history.replaceState(null, "", writeAddress(state));
    }
    growing = false;
  }

  function set(changes, how = "step") {
    const former = state;
    if (how === "growing" && growing) {
      state = { ...state, ...changes };
      clearTimeout(timer);
      timer = setTimeout(keepGrowing, PAUSE_MS);
    } else {
      settle();
      state = { ...state, ...changes };
      if (how === "silent") history.replaceState(null, "", writeAddress(state));
      else history.pushState(null, "", writeAddress(state));
      growing = how === "growing";
    }
    for (const listener of listeners) listener(state, former);
  }

  function keepGrowing() {
    timer = 0;
    history.replaceState(null, "", writeAddress(state));
  }

  addEventListener("popstate", () => {
    clearTimeout(timer);
    timer = 0;
    growing = false;
    const former = state;
    state = keepingEquals(readAddress(location.search), former);
    for (const listener of listeners) listener(state, former);
  });
  return {
    get state() {
      return state;
    },
    set,
    settle,
    setSide(index, changes, how) {
      set({ sides: state.sides.map((side, at) => (at === index ? { ...side, ...changes } : side)) }, how);
    },
    listen: (listener) => listeners.push(listener),
  };
}
