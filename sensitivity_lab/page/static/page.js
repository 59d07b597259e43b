// The page: it asks a transport for the parts of an answer, one after the other, and shows each.
// Texts of answers and of files are put in as text, never as HTML.

import * as pictures from "./pictures.js";
import { OPEN, localTransport, tokenOf, workerTransport } from "./transports.js";

const FIELDS = ["universe", "query", "relation", "size", "k", "epsilon", "x"];
const PARTS = ["sensitivity", "curve", "local", "smooth", "reach"];
const OF_X = PARTS.slice(2);
const OTHER_UNIT = ["var", "count", "count_distinct"]; // answers not on the axis of the records

/** Universes to type: the name of the field, a hint, and what stands in it first. */
const KINDS = {
  domain: ["Values, or first:last, or first:last:step", "Such as 1,2,3 or 0:60.", "0:60"],
  interval: ["Lowest:highest", "Every real number from one to the other, such as 0:2.5.", "0:60"],
  records: ["Records", "Separate them by commas, blanks or lines.", ""],
};
const NO_RECORDS = "The link has no records in it: type or load the universe.";

/** The controls of a field, if it is not the one of its name alone. */
const CONTROLS = { universe: ["universe-kind", "universe-text"], x: ["x-kind", "x-text", "file"] };

const $ = (id) => document.getElementById(id);
const typed = {}; // what was typed as a universe, by kind
const file = { text: null, name: "" };
const wanted = { size: 1, k: 1 }; // as chosen; an answer may show less
let transport = null;
let most = { size: 1, k: 1 };
let stops = [1]; // sizes of the slider
let kindShown = "";
let version = 0; // of the controls: answers to earlier ones are dropped
let waiting = null; // the newest request that is not yet computed
let since = 0; // when what is computed now began; 0 if nothing is
let timer = 0;
let linked = false; // whether the controls were set by a link
let sizeOfX = false; // whether n was taken from x
let fileFault = "";
let ground = null; // the universe that is shown: as asked, and its axis
let cursor = 0; // a place on the grid of that axis
let nearX = null; // of a place across the axis, the nearest one on that grid
let nearK = null; // of a place across the curve, the nearest distance

function make(name, attributes, ...children) {
  const made = document.createElement(name);
  Object.assign(made, attributes);
  made.append(...children);
  return made;
}

const words = (text, className = "") => make("p", { className }, text);
const warning = (text) => words(text, "warning");
const alert = (text) => make("p", { className: "message", role: "alert" }, text);
const grouped = (number) => number.toLocaleString("en");
const many = (number, what) => `${grouped(number)} ${what}${number === 1 ? "" : "s"}`;
const option = (value, text = value) => make("option", { value }, text);

/** Choose a value, also one that is not listed: what it is worth, the answer says. */
function choose(select, value) {
  if (![...select.options].some((one) => one.value === value)) select.append(option(value));
  select.value = value;
}

// Pictures are drawn again when their place changes its width.
const drawings = new Map();
const observer = new ResizeObserver((seen) => seen.forEach(({ target }) => redraw(target)));

function redraw(place) {
  const width = Math.floor(place.clientWidth);
  if (width > 0 && drawings.has(place)) place.replaceChildren(drawings.get(place)(width) ?? "");
}

function show(id, drawing) {
  drawings.set($(id), drawing);
  observer.observe($(id));
  redraw($(id));
}

/** Empty a part: its pictures, its words, and its messages. */
function clear(part) {
  for (const place of $(part).querySelectorAll("[id$=-picture], [id$=-told]")) {
    drawings.delete(place);
    place.replaceChildren();
  }
  $(part).classList.remove("stale");
}

function slide(id, first, last, now, text) {
  const ends = { ariaValueMin: first, ariaValueMax: last };
  Object.assign($(id), { ...ends, ariaValueNow: now, ariaValueText: text });
}

// What the controls say.
function described(kind, text) {
  if (kind.startsWith("given:")) return { kind: "given", column: kind.slice(6) };
  if (kind !== "csv") return { kind, text };
  return { kind, text: file.text, column: $("column").value, name: file.name };
}

function dataset() {
  const [kind, text] = [$("x-kind").value, $("x-text").value];
  if (kind === "none" || (kind === "records" && !text.trim())) return null;
  if (kind !== "csv" || $("column").value) return described(kind, text);
  // What is meant to be x, and cannot be read, is not none.
  return { kind: "unread", text: fileFault || "no column of the file is chosen" };
}

/** Why there is no universe yet; "" if there is one. */
function lacking() {
  const kind = $("universe-kind").value;
  const [none, what] = {
    records: [!$("universe-text").value.trim(), "Type the records of the universe."],
    csv: [!$("column").value, fileFault || "Choose a column of the file."],
  }[kind] ?? [false];
  return none ? (linked && NO_RECORDS) || what : "";
}

const request = () => ({
  universe: described($("universe-kind").value, $("universe-text").value),
  query: $("query").value,
  relation: $("relation").value,
  ...wanted,
  epsilon: $("epsilon").value,
  x: dataset(),
});

// Computing: one request at a time, and then the newest.
/** Leave what is computed, or about to be, and what is shown, to an earlier state. */
function outdate() {
  version++;
  clearTimeout(timer);
  waiting = null;
}

function changed() {
  outdate();
  timer = setTimeout(ask, 150);
  for (const part of document.querySelectorAll(".part")) part.classList.add("stale");
  $("copy-code").disabled = true;
  say("Computing", true);
}

function say(text, busy) {
  $("status").textContent = text;
  $("stop").ariaDisabled = String(!busy);
  $("answer").ariaBusy = String(busy);
}

async function ask() {
  const lack = lacking();
  if (lack) return refuse({ field: "", message: lack });
  waiting = request();
  if (since) {
    // What is computed is of no use anymore, but to let it end may be quicker than to restart.
    const begun = since;
    const left = Math.max(0, begun + transport.patience - performance.now());
    setTimeout(() => waiting && since === begun && transport.stop(), left);
    return;
  }
  while (waiting) {
    const now = waiting;
    waiting = null;
    await compute(now, version);
  }
}

async function compute(asked, of) {
  const found = async (part, fields) => {
    say(`Computing: ${$(`${part}-title`).textContent}`, true);
    since = performance.now();
    const answer = await transport.ask({ ...asked, ...fields });
    since = 0;
    return of === version ? answer : null;
  };
  const [done, said] = [[], new Set()];
  let first = null; // the answer with the sensitivity
  for (const part of PARTS) {
    if (OF_X.includes(part) && !asked.x) continue;
    const answer = await found(part, { ask: "answer", parts: [part] });
    if (!answer) return;
    if (!first) {
      if (!answer.ok) return refuse(answer);
      unsay();
      first = answer;
      begin(answer, asked);
      history.replaceState(null, "", link());
    }
    clear(part);
    if (answer.field === "x") {
      wrong("x", answer.message);
      $(part).hidden = $("of-x").hidden = true;
      break;
    }
    const faults = answer.ok ? answer.messages.map(({ text }) => text) : [answer.message];
    const told = faults.filter((text) => !said.has(text));
    told.forEach((text) => said.add(text));
    $(part).hidden = false; // a picture needs to know its width
    if (answer[part]) {
      done.push(part);
      $(`${part}-told`).append(...SHOW[part](answer, asked, first));
    }
    $(`${part}-told`).append(...told.map(alert));
    $(part).hidden = !$(`${part}-told`).hasChildNodes();
    // It is there for what is finished, also if the rest is stopped.
    const code = await found("code", { ask: "code", parts: done });
    if (!code) return;
    clear("code");
    $("code").hidden = $("copy-code").disabled = !code.ok;
    $("code-told").append(code.code ?? "");
  }
  fresh();
  say("Ready", false);
}

/** Take the ends of the sliders and the numbers from an answer: not all is possible. */
function begin({ state, most: ends, universe }, asked) {
  most = ends;
  stops = stopsTo(ends.size);
  for (const name of ["size", "k"]) {
    const [got, hoped] = [state[name], asked[name]];
    Object.assign($(name), { value: got, max: ends[name] });
    const hint = `At most ${grouped(got)} is possible here; ${grouped(hoped)} was asked for.`;
    $(`${name}-hint`).textContent = got < hoped ? hint : "";
  }
  sliders();
  ground = universe.axis && { made: asked.universe, axis: universe.axis };
  showX();
  $("x-told").textContent = "";
  $("of-x").hidden = false;
  $("no-x").hidden = Boolean(asked.x);
  $("parts-of-x").hidden = !asked.x;
}

const controlsOf = (field) => (CONTROLS[field] ?? [field]).map($);

/** Show what is wrong with a field beside it. */
function wrong(field, message) {
  $(`${field}-error`).textContent = message;
  for (const control of controlsOf(field)) {
    control.ariaInvalid = "true";
    control.setAttribute("aria-describedby", `${field}-hint ${field}-error`);
  }
}

function unsay() {
  for (const field of FIELDS) {
    $(`${field}-error`).textContent = field === "x" ? fileFault : "";
    for (const control of controlsOf(field)) control.ariaInvalid = "false";
  }
  $("fault").textContent = "";
}

/** Show why there is no answer at all. */
function refuse({ field, message }) {
  if (since) transport.stop(); // what is computed is for an earlier state
  unsay();
  const known = FIELDS.includes(field);
  if (known) wrong(field, message);
  else $("fault").textContent = message;
  fresh();
  ground = null;
  $("of-x").hidden = true;
  showX();
  if (known) $("sensitivity-told").append(words(`No number yet: the ${field} needs a correction.`));
  say("Not computed", false);
}

/** Empty the parts that still show an earlier state. */
function fresh() {
  for (const part of document.querySelectorAll(".part.stale")) {
    clear(part.id);
    part.hidden = part.id !== "sensitivity";
  }
}

function stop() {
  if ($("stop").ariaDisabled === "true") return;
  outdate();
  if (since) transport.stop();
  fresh();
  const part = $("status").textContent.split("Computing")[1] ?? "";
  say(`Stopped${part}. Change something to go on.`, false);
}

// What is shown.
/** All sizes up to 20, then round ones: a slider of a million places could not be set. */
function stopsTo(end) {
  const found = [];
  for (let size = 1; size < end;) {
    found.push(size);
    const step = 10 ** Math.max(0, Math.floor(Math.log10(size)) - 1);
    size += size < 20 || end <= 100 ? 1 : step * (size / step < 50 ? 5 : 10);
  }
  return [...found, end];
}

function sliders() {
  const size = Number($("size").value);
  const place = stops.findIndex((stop) => stop >= size);
  const last = stops.length - 1;
  Object.assign($("size-slider"), { max: last, value: place < 0 ? last : place });
  $("size-slider").setAttribute("aria-valuetext", `n = ${size}`);
  Object.assign($("k-slider"), { max: most.k, value: $("k").value });
}

/** By part, the pictures that are shown, and the words that are returned. */
const SHOW = {
  sensitivity({ sensitivity, noise, witness, strip, universe, state, ...told }, asked) {
    ["witness", "noise"].forEach(clear);
    $("witness").hidden = false;
    $("noise").hidden = !noise;
    showWitness(witness, strip, universe.axis, asked.query);
    const spread = noise ? showNoise(witness, noise, asked.epsilon) : "";
    const size = told.size_of_x;
    const button = make("button", {}, `Take n = ${size}, the size of x`);
    button.onclick = () => {
      set("size", size);
      sizeOfX = true;
    };
    const hint = $("size-hint").textContent;
    return [
      ...told.withheld.map(warning),
      size && size <= most.size && size !== state.size ? button : "",
      words(sensitivity.text, "number"),
      words(sensitivity.claim),
      ...told.warnings.map(warning),
      hint && warning(`Size n: ${hint}`),
      sizeOfX
        ? warning(`${asked.relation.startsWith("bounded") ? "n is public here, and it" : "n"} was
            taken from your data: that is right only if the number of records may be known.`)
        : "",
      spread,
      noise
        ? words("ε is the loss of this one number: two published numbers cost two.", "hint")
        : "",
      ...told.notes.map((text) => words(text, "hint")),
    ];
  },

  curve({ curve }, asked, { state }) {
    const here = curve.find(({ k }) => k === state.k);
    const title = `At k = ${state.k}, the sensitivity of ${asked.query} is ${here.text}.`;
    slide("curve-picture", 1, most.k, state.k, `k = ${state.k}: sensitivity ${here.text}`);
    const values = curve.map(({ value }) => value);
    if (values.includes(null)) return [words(`${title} The curve is beyond what can be drawn.`)];
    const names = { across: "distance k (at most)", upward: "sensitivity", title };
    const ends = { first: curve[0].k, k: state.k, low: 0, high: Math.max(...values) };
    show("curve-picture", (width) => {
      const drawn = pictures.chart(width, [values], { ...names, ...ends });
      nearK = drawn.distanceAt;
      return drawn.svg;
    });
    return [words(`${title} Click the curve, or press arrow keys on it, to choose k.`)];
  },

  local({ local }, asked, { sensitivity, state }) {
    $("x-told").textContent = `x has ${many(local.size, "record")}, ${local.records.join(", ")}, and
      f(x) = ${local.answer}. All of this is as private as x: do not publish it.`;
    return [
      words(local.text, "number"),
      words(`No neighbor of x, at most k = ${state.k} away, has an answer further than this from
        f(x). Noise of this scale would not protect x: the scale tells something about x.`),
      local.size === state.size
        ? words(`The global sensitivity, ${sensitivity?.text ?? "not known"}, is the largest one of
            all datasets with n = ${grouped(state.size)}.`)
        : "",
    ];
  },

  smooth({ smooth }, asked, { noise }) {
    const larger = noise && Number(smooth.scale) > Number(noise.half);
    return [
      words(smooth.text, "number"),
      words(`The largest local sensitivity, for one change, of all datasets, times exp(−β) for each
        step away from x; β = ${smooth.beta}. One step changes it by at most the factor exp(β), so
        Cauchy noise of scale ${smooth.scale} protects x for ε = ${asked.epsilon}, if the noisy
        answer alone is published: its scale is private.`),
      larger
        ? words(`For this x it is more noise than the Laplace noise of the global sensitivity: half of
            the noisy answers are within ${smooth.scale} of f(x), not ${noise.half}.`)
        : "",
    ];
  },

  reach({ reach }, asked, { state: { k } }) {
    const moves = `is at least ${reach.least} and at most ${reach.greatest}: it moves down by
      ${reach.down} and up by ${reach.up} from f(x).`;
    const still = reach.down === "0" && reach.up === "0";
    const title = `Within distance k = ${k} of x, the answer ${still ? "does not move." : moves}`;
    const names = { across: "distance from x (at most)", upward: "answer", title };
    const { lower, upper } = reach;
    const ends = { first: 0, k, low: Math.min(...lower), high: Math.max(...upper) };
    const lines = [lower, upper];
    show("reach-picture", (width) => pictures.chart(width, lines, { ...names, ...ends }).svg);
    const mixed = k > 1 && asked.relation.startsWith("unbounded");
    return [
      words(title),
      mixed ? words("Here some records may be added and others removed, one at a time.") : "",
    ];
  },
};

function key(part, what) {
  const size = { width: 16, height: 16, "aria-hidden": "true" };
  const picture = pictures.draw("svg", size, pictures.shape(part, 8, 8));
  return make("span", { className: "key" }, picture, what);
}

function showWitness(witness, strip, axis, query) {
  const ends = `f(x) = ${witness.answer_x}, f(y) = ${witness.answer_y}`;
  const [title, onAxis] = [`Records of x and y; ${ends}`, !OTHER_UNIT.includes(query)];
  show("witness-picture", (width) => pictures.pair(width, witness, strip, axis, onAxis, title));
  const rows = { x: "x", y: "y", only_x: "Only in x", only_y: "Only in y" };
  const list = ([name, what]) => words(`${what}: ${witness[name].join(", ") || "no record"}`);
  $("witness-told").append(
    make("p", {}, key("A", "only in x"), key("B", "only in y"), key("C", "in both")),
    ...Object.entries(rows).map(list),
    words(`They have ${many(witness.shared, "record")} in common. ${ends}.`),
  );
  const word = strip.map(({ part }) => part).join("");
  const sorted = `The sorted universe in blocks: ${word}`;
  if (word) show("strip-picture", (width) => pictures.blocks(width, strip, sorted));
  const legend = `A only in x, B only in y, C in both, O in neither; with the number of records, and
    below, the values. Widths are not to scale where blocks are narrow or have no end.`;
  $("strip-told").append(word ? legend : "This worst case has too many blocks for a picture.");
}

/** Show the noise around both answers, and return its scale in words. */
function showNoise(witness, noise, epsilon) {
  const title = `Laplace noise of scale ${noise.text} around f(x) and f(y)`;
  const { scale, text, half, most: far } = noise;
  if (scale && ![witness.value_x, witness.value_y].includes(null)) {
    show("noise-picture", (width) => pictures.densities(width, witness, scale, title));
  }
  const told = `${title}. No output is more than exp(ε) times as likely on one as on the other.`;
  const none = "All neighbors have the same answer: no noise is needed.";
  $("noise-told").append(words(scale === 0 ? none : told));
  const spread = `For ε = ${epsilon}, Laplace noise has scale ${text}: half of the noisy answers are
    within ${half} of the true one, 95 % within ${far}.`;
  return words(scale === 0 ? none : spread, "strong");
}

// The dataset x, clicked together on the axis of the universe that is shown.
const recordsOfX = () => $("x-text").value.match(/[^,;\s]+/g) ?? [];

/** The values that can be clicked: of a range or an interval by steps, else those of the axis. */
function grid() {
  const { low, high, ticks } = ground.axis;
  const { kind, text } = ground.made;
  const steps = kind === "domain" && text.includes(":") ? (text.split(":").map(Number)[2] ?? 1) : 0;
  if (!steps && kind !== "interval") {
    const away = (to) => ticks.map((tick) => Math.abs(tick - to));
    const near = (to) => away(to).indexOf(Math.min(...away(to)));
    return { last: ticks.length - 1, value: (place) => ticks[place], near };
  }
  const step = steps || pictures.stepOf(high - low, 100);
  const digits = Math.max(...[low, step].map((one) => (`${one}`.split(".")[1] ?? "").length));
  const value = (place) => Number((low + place * step).toFixed(digits));
  const last = Math.floor((high - low) / step + 1e-9);
  return { last, value, near: (to) => Math.round((to - low) / step) };
}

function showX() {
  const open = $("x-kind").value === "records" && ground !== null;
  $("x-axis").hidden = $("x-hint").hidden = !open;
  if (!open) return;
  const [values, records, counts] = [grid(), recordsOfX(), new Map()];
  cursor = Math.min(cursor, values.last);
  for (const one of records) counts.set(one, (counts.get(one) ?? 0) + 1);
  const here = values.value(cursor);
  const text = `${here}: ${many(counts.get(`${here}`) ?? 0, "record")}`;
  slide("x-axis", 0, values.last, cursor, text);
  show("x-axis", (width) => {
    const title = `x has ${many(records.length, "record")}`;
    const drawn = pictures.dots(width, counts, ground.axis, here, title);
    nearX = (at) => Math.max(0, Math.min(values.last, values.near(drawn.valueAt(at))));
    return drawn.svg;
  });
}

function edit(value, add) {
  const records = recordsOfX();
  if (!add && !records.includes(value)) return;
  if (add) records.push(value);
  else records.splice(records.lastIndexOf(value), 1);
  $("x-text").value = records.sort((one, other) => one - other).join(", ");
  showX();
  changed();
}

/** Where arrow keys, Page Up and Page Down, Home and End lead; other keys stay. */
function moved(event, place, first, last) {
  const leap = Math.max(1, Math.round((last - first) / 10));
  const by = { Left: -1, Down: -1, Right: 1, Up: 1, PageDown: -leap, PageUp: leap };
  const step = by[event.key.replace("Arrow", "")] ?? 0;
  const to = { Home: first, End: last }[event.key] ?? place + step;
  if (to !== place) event.preventDefault();
  return Math.max(first, Math.min(last, to));
}

function listenToPictures() {
  const across = ({ clientX, currentTarget }) =>
    clientX - currentTarget.getBoundingClientRect().left;
  const [curve, axis] = [$("curve-picture"), $("x-axis")];
  const now = () => Number($("k").value);
  const go = (k) => k !== now() && set("k", Math.max(1, Math.min(most.k, k)));
  curve.addEventListener("click", (event) => nearK && go(Math.round(nearK(across(event))) || 1));
  curve.addEventListener("keydown", (event) => go(moved(event, now(), 1, most.k)));
  axis.addEventListener("click", (event) => {
    const record = event.target.dataset.value;
    if (record !== undefined) return edit(record, false);
    cursor = nearX(across(event));
    return edit(`${grid().value(cursor)}`, true);
  });
  axis.addEventListener("keydown", (event) => {
    const adds = ["Enter", " "].includes(event.key);
    if (adds || ["Delete", "Backspace"].includes(event.key)) {
      event.preventDefault();
      edit(`${grid().value(cursor)}`, adds);
    } else {
      cursor = moved(event, cursor, 0, grid().last);
      showX();
    }
  });
}

function want(name, value) {
  if (name === "size") sizeOfX = false;
  wanted[name] = value;
  sliders();
  changed();
}

function set(name, value) {
  $(name).value = value;
  want(name, value);
}

// A CSV file: its records become the dataset x; the universe only if that is chosen.
async function read(chosen) {
  outdate();
  if (since) transport.stop(); // the file does not wait for an earlier state
  $("file-name").textContent = `Reading ${chosen.name}`;
  const reader = new FileReader();
  reader.readAsText(chosen);
  await new Promise((resolve) => reader.addEventListener("loadend", resolve));
  const { result: text } = reader;
  const unread = { ok: false, message: "the browser cannot read it" };
  const { name } = chosen;
  const answer = text === null ? unread : await transport.ask({ ask: "columns", text, name });
  const { ok, records = [], first = "", told = "" } = answer;
  fileFault = ok ? "" : `${name}: ${answer.message}`;
  linked = false;
  Object.assign(file, { text: ok ? text : null, name });
  $("column").replaceChildren(option("", "none"), ...records.map((one) => option(one)));
  $("column").value = first;
  for (const one of document.querySelectorAll("option[value=csv]")) one.disabled = !ok;
  // Also if it cannot be used: then neither an earlier file nor no dataset takes its place.
  $("x-kind").value = "csv";
  $("file-columns").hidden = !ok;
  $("file-name").textContent = told;
  kinds();
  changed();
}

function listenToFiles() {
  $("file").addEventListener("change", () => $("file").files.length && read($("file").files[0]));
  for (const name of ["dragover", "dragleave", "drop"]) {
    document.addEventListener(name, (event) => {
      const { types, files } = event.dataTransfer;
      if (!types.includes("Files")) return;
      event.preventDefault();
      document.body.classList.toggle("dragged", name === "dragover");
      if (name !== "drop" || !files.length) return;
      $("file").value = ""; // the chooser does not name another one
      read(files[0]);
    });
  }
}

// A link has parameters, and never data.
const isTyped = (universe) => ["domain", "interval"].includes(universe?.kind);

function link() {
  const { universe, x, ...kept } = request();
  Object.assign(kept, { size: Number($("size").value), k: Number($("k").value) });
  kept.universe = isTyped(universe) ? universe : { kind: universe.kind };
  return `${location.origin}${location.pathname}#q=${encodeURIComponent(JSON.stringify(kept))}`;
}

/** Set the controls to the link in the address, and compute; say so if it cannot be read. */
function restore() {
  let given = null;
  if (!location.hash.startsWith("#q=")) return changed();
  try {
    given = JSON.parse(decodeURIComponent(location.hash.slice(3)));
  } catch {
    // It is cut off, or was no link of this page.
  }
  const isLink = typeof given?.query === "string";
  if (isLink) take(given);
  linked = isLink;
  changed();
  if (isLink) return undefined;
  outdate(); // nothing is computed
  return refuse({ field: "", message: "The link cannot be read: copy it again, or choose here." });
}

/** Set the controls to parameters; the answer to them says whether they are right. */
function take(given) {
  const made = given.universe;
  const kind = isTyped(made) || made?.kind === "csv" ? made.kind : "records";
  $("universe-kind").value = kind;
  typed[kind] = isTyped(made) ? String(made.text) : "";
  kindShown = "";
  sizeOfX = false;
  if (kind === "csv") $("column").value = "";
  for (const name of ["query", "relation"]) if (name in given) choose($(name), `${given[name]}`);
  for (const name of ["size", "k"]) if (name in given) $(name).value = wanted[name] = given[name];
  if ("epsilon" in given) $("epsilon").value = String(given.epsilon);
  kinds();
}

/** Show the fields that belong to the kinds of universe and dataset that are chosen. */
function kinds() {
  const [chosen] = $("universe-kind").selectedOptions;
  const [label, hint, first] = KINDS[chosen.value] ?? ["", "", ""];
  if (kindShown) typed[kindShown] = $("universe-text").value;
  kindShown = label && chosen.value;
  $("universe-typed").hidden = !label;
  $("universe-label").textContent = label;
  $("universe-text").value = typed[chosen.value] ?? first;
  $("universe-hint").textContent = hint;
  $("universe-warning").hidden = chosen.parentElement.id !== "rows";
  $("x-typed").hidden = $("x-kind").value !== "records";
  showX();
}

async function copy(button, text) {
  const before = button.textContent;
  const copied = navigator.clipboard.writeText(text).then(() => "Copied");
  button.textContent = await copied.catch(() => "Not copied: the browser does not allow it");
  setTimeout(() => (button.textContent = before), 2000);
}

function loading(progress, text) {
  $("loading").hidden = progress >= 1;
  $("progress").value = progress;
  $("loading-text").textContent = text || "Loading Python";
}

function listen() {
  const on = (names, event, act) => names.forEach((name) => $(name).addEventListener(event, act));
  on(["universe-kind", "x-kind"], "change", kinds);
  on(["universe-kind"], "change", () => (linked = false));
  on(["universe-kind", "x-kind", "query", "relation", "column"], "change", changed);
  on(["x-text"], "input", showX);
  on(["universe-text", "epsilon", "x-text"], "input", changed);
  on(["size", "k"], "input", ({ target: { id, value } }) => want(id, value && Number(value)));
  on(["size-slider"], "input", ({ target }) => set("size", stops[target.value]));
  on(["k-slider"], "input", ({ target }) => set("k", Number(target.value)));
  on(["controls"], "submit", (event) => event.preventDefault());
  on(["stop"], "click", stop);
  on(["copy-code"], "click", ({ target }) => copy(target, $("code-told").textContent));
  on(["copy-link"], "click", ({ target }) => copy(target, link()));
  window.addEventListener("hashchange", () => {
    if (location.hash.startsWith("#token=")) location.reload();
    restore();
  });
  // A page that is left, or loaded again, does not leave its search behind.
  window.addEventListener("pagehide", () => since && transport.stop());
  listenToPictures();
  listenToFiles();
}

/** Fill the controls with what there is to choose, and the first state. */
function fill({ queries, relations, given, first }) {
  const named = (names) => names.map((name) => option(`given:${name}`, name));
  $("said").append(...named(given.universes));
  $("rows").append(...named(given.records));
  $("x-kind").append(...named(given.records));
  $("query").append(...queries.map((name) => option(name)));
  $("relation").append(...relations.map((name) => option(name)));
  take(first);
  const { kind, column } = first.universe;
  if (kind === "given") $("universe-kind").value = `given:${column}`;
  if (given.first) $("x-kind").value = `given:${given.first}`;
  $("given").textContent = given.told;
  kinds();
}

async function start() {
  const local = "local" in document.body.dataset; // as the server of this machine writes it
  const token = local && tokenOf();
  if (local && !token) return refuse({ field: "", message: OPEN });
  const other = (text) => say(text, since > 0);
  transport = token ? localTransport(token, other) : workerTransport("engine/worker.js", loading);
  $("file-privacy").textContent = transport.data;
  $("link-told").textContent = transport.links;
  const choices = await transport.ask({ ask: "choices" });
  if (!choices.ok) return refuse(choices);
  fill(choices);
  listen();
  return restore();
}

start();
