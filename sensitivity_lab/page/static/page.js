// The page: it asks a transport for the parts of an answer, one after the other, and shows each.
// Texts of answers and of files are put in as text, never as HTML.

import * as pictures from "./pictures.js";
import { INSTALL, localTransport, tokenOf, workerTransport } from "./transports.js";

const FIELDS = ["universe", "query", "relation", "size", "k", "epsilon", "x"];
const DOING = {
  sensitivity: "the sensitivity",
  curve: "the curve",
  local: "the local sensitivity",
  smooth: "the smooth sensitivity",
  reach: "the reach",
  code: "the code",
};
/** Queries whose answers are not on the axis of the records. */
const OTHER_UNIT = ["var", "count", "count_distinct"];
const KINDS = {
  domain: [
    "a domain: listed values",
    "Values, or first:last, or first:last:step",
    "0:100",
    "What a record can be, told apart from the data, such as 0:100 or 1,2,3.",
  ],
  interval: [
    "an interval: every real number",
    "Lowest:highest",
    "0:100",
    "Every real number from one to the other, such as 0:2.5.",
  ],
  records: [
    "records, typed or pasted",
    "Records",
    "",
    "Separate records by commas, blanks or lines.",
  ],
  csv: ["all rows of the CSV file", "", "", "The column chosen below, under “Your dataset x”."],
};

const NO_X =
  "Choose or type a dataset x to see its local and smooth sensitivity, and its reach. It stays here, and is in no link.";
const $ = (id) => document.getElementById(id);
const typed = Object.fromEntries(Object.entries(KINDS).map(([kind, [, , first]]) => [kind, first]));
const file = { text: null, name: "" };
const wanted = { size: 1, k: 1 }; // as chosen; an answer may show less
let transport = null;
let most = { size: 1, k: 1 };
let stops = [1]; // sizes of the slider
let kindShown = "domain";
let version = 0; // of the controls: answers to earlier ones are dropped
let waiting = null; // the newest request that is not yet computed
let fileFault = ""; // what is wrong with the file that was chosen last
let since = 0; // when what is computed now began; 0 if nothing is
let timer = 0;
let ground = null; // the universe that is shown, as asked, and its axis
let cursor = 0; // a place on the grid of the axis of x
let nearX = null; // the place on that grid that is nearest to one across the picture
let nearK = null; // the distance that is nearest to a place across the curve

function make(name, attributes, ...children) {
  const made = document.createElement(name);
  Object.assign(made, attributes);
  made.append(...children);
  return made;
}

const paragraph = (...children) => make("p", {}, ...children);

const count = (number, what) => `${number.toLocaleString("en")} ${what}${number === 1 ? "" : "s"}`;

/** Choose a value, also one that is not listed: what it is worth, the answer says. */
function choose(select, value) {
  if (![...select.options].some((option) => option.value === value)) {
    select.append(make("option", { value }, value));
  }
  select.value = value;
}

// Pictures are drawn again when their place changes its width.

const drawings = new Map();
const observer = new ResizeObserver((entries) => entries.forEach(({ target }) => redraw(target)));

function redraw(place) {
  const width = Math.floor(place.clientWidth);
  if (width > 0 && drawings.has(place)) place.replaceChildren(drawings.get(place)(width) ?? "");
}

function show(id, drawing) {
  drawings.set($(id), drawing);
  observer.observe($(id));
  redraw($(id));
}

function clear(part) {
  for (const place of $(part).querySelectorAll("[id$=-picture], [id$=-told], #code-text")) {
    drawings.delete(place);
    place.replaceChildren();
  }
  if (part === "sensitivity") $(part).replaceChildren();
}

// What the controls say.

function universe() {
  const kind = $("universe-kind").value;
  if (kind.startsWith("given:")) return { kind: "given", column: kind.slice(6) };
  return kind === "csv" ? ofFile() : { kind, text: $("universe-text").value };
}

const ofFile = () => ({ kind: "csv", text: file.text, column: $("column").value, name: file.name });

function dataset() {
  const kind = $("x-kind").value;
  if (kind.startsWith("given:")) return { kind: "given", column: kind.slice(6) };
  if (kind === "csv") return file.text === null ? null : ofFile();
  return kind === "typed" && $("x-text").value.trim()
    ? { kind: "records", text: $("x-text").value }
    : null;
}

const request = () => ({
  universe: universe(),
  query: $("query").value,
  relation: $("relation").value,
  ...wanted,
  epsilon: $("epsilon").value,
  x: dataset(),
});

// Computing: one request at a time, and then the newest.

function changed() {
  version++;
  clearTimeout(timer);
  timer = setTimeout(ask, 150);
  for (const part of document.querySelectorAll(".part")) part.classList.add("stale");
  say("Computing", true);
}

function say(text, busy) {
  $("status").textContent = text;
  $("stop").setAttribute("aria-disabled", String(!busy));
  $("answer").setAttribute("aria-busy", String(busy));
}

async function ask() {
  timer = 0;
  waiting = request();
  if (since) {
    // What is computed is of no use anymore; it may end by itself, which is quicker than to restart.
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
  const done = [];
  const found = async (part, fields) => {
    say(`Computing ${DOING[part]}`, true);
    since = performance.now();
    const answer = await transport.ask(fields);
    since = 0;
    return of === version ? answer : null;
  };
  let answered = null;
  for (const part of asked.x
    ? ["sensitivity", "curve", "local", "smooth", "reach"]
    : ["sensitivity", "curve"]) {
    const ofX = part !== "sensitivity" && part !== "curve";
    const x = ofX ? asked.x : null; // a wrong x does not hide the global sensitivity
    const answer = await found(part, { ask: "answer", parts: [part], ...asked, x });
    if (!answer) return;
    if (part === "sensitivity") begin(answer);
    if (!answer.ok) {
      refuse(answer);
      if (!ofX) return;
      break;
    }
    answered ??= answer;
    clear(part);
    if (part === "sensitivity") {
      reduced(answer, asked);
      ground = answer.universe.axis && { made: asked.universe, axis: answer.universe.axis };
      showX();
      clear("of-x");
      $("x-told").textContent = asked.x ? "" : NO_X;
    }
    if (answer[part]) {
      done.push(part);
      SHOW[part](answer, asked, answered);
    } else {
      $(part).append(...answer.messages.filter((one) => one.part === part).map(told));
    }
    $(part).classList.remove("stale");
  }
  const code = await found("code", {
    ask: "code",
    ...asked,
    x: done.length > 2 ? asked.x : null,
    parts: done,
  });
  if (!code) return;
  clear("code");
  if (code.ok) $("code-text").textContent = code.code;
  fresh();
  say("Ready", false);
  keep();
}

const told = ({ text }) => make("p", { className: "message", role: "alert" }, text);

/** Remove the messages of an earlier state. */
function begin() {
  for (const field of FIELDS) {
    $(`${field}-error`).textContent = "";
    for (const control of controlsOf(field)) control.removeAttribute("aria-invalid");
  }
  $("fault").textContent = "";
  for (const message of document.querySelectorAll(".part > .message")) message.remove();
}

function controlsOf(field) {
  const names = { universe: ["universe-kind", "universe-text"], x: ["x-kind", "x-text", "file"] };
  return (names[field] ?? [field]).map($);
}

/** Show why there is no answer, beside the field that is wrong. */
function refuse({ field, message }) {
  fresh();
  const known = FIELDS.includes(field);
  $(known ? `${field}-error` : "fault").textContent = message;
  if (known) controlsOf(field).forEach((control) => control.setAttribute("aria-invalid", "true"));
  say(known ? "There is something to mend: see the message." : "Not computed", false);
  if (field === "x") return;
  ground = null;
  showX();
  $("sensitivity").replaceChildren(
    paragraph(known ? `No number: see the message about the ${field}.` : "No number."),
  );
}

/** Empty the parts that still show an earlier state. */
function fresh() {
  for (const part of document.querySelectorAll(".part.stale")) {
    clear(part.id);
    part.classList.remove("stale");
  }
}

function stop() {
  if ($("stop").getAttribute("aria-disabled") === "true") return;
  version++;
  clearTimeout(timer);
  waiting = null;
  if (since) transport.stop();
  begin();
  fresh();
  say("Stopped. Change something to go on.", false);
}

// What is shown.

/** Set the ends of the sliders, and the numbers to what was computed. */
function reduced({ state, most: ends }, asked) {
  most = ends;
  stops = stopsTo(ends.size);
  for (const name of ["size", "k"]) {
    $(name).value = state[name];
    $(name).max = ends[name];
    const less = state[name] < asked[name];
    $(`${name}-hint`).textContent = less
      ? `At most ${state[name].toLocaleString("en")} is possible here; ${asked[name].toLocaleString("en")} was asked for.`
      : "";
  }
  sliders(state);
}

function sliders({ size, k }) {
  const place = stops.findIndex((stop) => stop >= size);
  Object.assign($("size-slider"), {
    max: stops.length - 1,
    value: place < 0 ? stops.length : place,
  });
  $("size-slider").setAttribute("aria-valuetext", `n = ${size}`);
  Object.assign($("k-slider"), { max: most.k, value: k });
}

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

function key(part, words) {
  const picture = pictures.draw(
    "svg",
    { width: 16, height: 16, "aria-hidden": "true" },
    pictures.shape(part, 8, 8),
  );
  return make("span", { className: "key" }, picture, words);
}

const SHOW = {
  sensitivity({ sensitivity, noise, warnings, messages, witness, strip, universe: made }, asked) {
    const scale = noise
      ? paragraph(
          "For ε = ",
          asked.epsilon,
          ", Laplace noise has scale ",
          make("b", {}, noise.text),
          `: half of the noisy answers are within ${noise.half} of the true one, 95 % within ${noise.most}.`,
        )
      : "";
    $("sensitivity").append(
      make("p", { className: "number" }, sensitivity.text),
      paragraph(sensitivity.claim),
      ...warnings.map((text) => make("p", { className: "warning" }, text)),
      scale,
      ...messages.map(told),
    );
    for (const part of ["witness", "noise"]) {
      clear(part);
      $(part).classList.remove("stale");
    }
    showWitness(witness, strip, made.axis, asked);
    if (noise) showNoise(witness, noise);
  },

  curve({ curve }, asked, { state }) {
    const here = curve.find(({ k }) => k === state.k);
    const words = `At k = ${state.k}, the sensitivity of ${asked.query} is ${here.text}.`;
    if (curve.every(({ value }) => value !== null)) {
      show("curve-picture", (width) => {
        const drawn = pictures.curve(width, curve, state.k, words);
        nearK = drawn.distanceAt;
        return drawn.svg;
      });
      $("curve-told").append(
        paragraph(`${words} Click the curve, or press arrow keys on it, to choose k.`),
      );
    } else {
      $("curve-told").append(paragraph(`${words} The curve is beyond what can be drawn.`));
    }
    const slider = $("curve-picture");
    slider.setAttribute("aria-valuemin", 1);
    slider.setAttribute("aria-valuemax", most.k);
    slider.setAttribute("aria-valuenow", state.k);
    slider.setAttribute("aria-valuetext", `k = ${state.k}: sensitivity ${here.text}`);
  },

  local({ local }, asked, { sensitivity, state }) {
    const other =
      local.size === state.size ? "" : `, but for n = ${state.size.toLocaleString("en")}`;
    $("x-told").textContent =
      `x has ${count(local.size, "record")}, and f(x) = ${local.answer}: ${local.records.join(", ")}. All that is ` +
      "shown about x is as private as x: it covers no other dataset, so do not publish it.";
    $("local-told").append(
      make("p", { className: "number-x" }, local.text),
      paragraph(
        `No neighbor of x, with at most ${count(state.k, "change")}, has an answer further from f(x) than this. The ` +
          `global sensitivity is ${sensitivity?.text ?? "not known"}${other}. Noise scaled to the local sensitivity would itself tell something about x.`,
      ),
    );
    if (other) {
      const button = make("button", { type: "button" }, `Take n = ${local.size}, the size of x`);
      button.addEventListener("click", () => set("size", local.size));
      $("local-told").append(button);
    }
  },

  smooth({ smooth }, asked) {
    $("smooth-told").append(
      make("p", { className: "number-x" }, smooth.text),
      paragraph(
        `An upper bound of the local sensitivity that neighbors cannot change by more than a factor of exp(β), β = ${smooth.beta}. ` +
          `Cauchy noise of scale ${smooth.scale} for it protects x for ε = ${asked.epsilon}; publish the noisy answer alone, not this scale.`,
      ),
    );
  },

  reach({ reach }, asked, { state }) {
    const words = `Within distance k = ${state.k} of x, the answer is at least ${reach.least} and at most ${reach.greatest}`;
    show("reach-picture", (width) => pictures.fan(width, reach, state.k, `${words}.`));
    const mixed = state.k > 1 && !asked.relation.startsWith(`${reach.steps}:`.replace("_", " "));
    $("reach-told").append(
      paragraph(
        `${words}: it moves down by ${reach.down} and up by ${reach.up} from f(x). ` +
          (mixed
            ? "Here some records may be added and others removed; the local sensitivity is for records that are only added, or only removed."
            : ""),
      ),
    );
  },
};

function showWitness(witness, strip, axis, { query }) {
  const ends = `f(x) = ${witness.answer_x}, f(y) = ${witness.answer_y}`;
  const onAxis = !OTHER_UNIT.includes(query);
  show("witness-picture", (width) =>
    pictures.pair(width, witness, strip, axis, onAxis, `Records of x and y; ${ends}`),
  );
  const list = (records) => records.join(", ") || "none";
  const rows = [
    ["x", witness.x],
    ["y", witness.y],
    ["only in x", witness.only_x],
    ["only in y", witness.only_y],
  ];
  $("witness-told").append(
    paragraph(key("A", "only in x"), key("B", "only in y"), key("C", "in both")),
    make(
      "dl",
      {},
      ...rows.flatMap(([name, records]) => [make("dt", {}, name), make("dd", {}, list(records))]),
    ),
    paragraph(`Both have ${count(witness.shared, "record")} in common. ${ends}.`),
  );
  if (strip.length === 0) {
    $("strip-told").append(paragraph("This worst case has too many blocks for a picture."));
    return;
  }
  let exact = true;
  const word = strip.map(({ part }) => part).join("");
  show("strip-picture", (width) => {
    const drawn = pictures.blocks(width, strip, `The sorted universe in blocks: ${word}`);
    exact = drawn.exact;
    return drawn.svg;
  });
  $("strip-told").append(
    make(
      "p",
      { className: "hint" },
      "A only in x, B only in y, C in both, O in neither; the number is how many records. ",
      exact ? "" : "Not to scale.",
    ),
  );
}

function showNoise(witness, noise) {
  if (noise.scale === 0) {
    $("noise-told").append(
      paragraph("The answer is the same on all neighbors: no noise is needed."),
    );
    return;
  }
  const words = `Laplace noise of scale ${noise.text} around f(x) and f(y)`;
  const drawable = noise.scale !== null && witness.value_x !== null && witness.value_y !== null;
  if (drawable)
    show("noise-picture", (width) => pictures.densities(width, witness, noise.scale, words));
  $("noise-told").append(
    paragraph(
      `${words}: `,
      drawable
        ? "no output is more than exp(ε) times as likely on x as on y, or on y as on x."
        : "beyond what can be drawn.",
    ),
  );
}

// The dataset x, clicked together on the axis of the universe that is shown.

function recordsOfX() {
  return $("x-text")
    .value.split(/[,;\s]+/)
    .filter(Boolean);
}

/** The values that can be clicked: of a range or an interval by steps, else those of the axis. */
function grid() {
  const { made, axis } = ground;
  const { low, high, ticks } = axis;
  const range = made.kind === "domain" && made.text.split(":").map(Number);
  if (made.kind !== "interval" && !(range && range.length > 1)) {
    const closer = (to) => (best, tick, place) =>
      Math.abs(tick - to) < Math.abs(ticks[best] - to) ? place : best;
    return {
      last: ticks.length - 1,
      value: (place) => ticks[place],
      near: (to) => ticks.reduce(closer(to), 0),
    };
  }
  const step = range ? (range[2] ?? 1) : pictures.stepOf(high - low, 100);
  const digits = Math.max(...[low, step].map((one) => (String(one).split(".")[1] ?? "").length));
  const value = (place) => Number((low + place * step).toFixed(digits));
  return {
    last: Math.floor((high - low) / step + 1e-9),
    value,
    near: (to) => Math.round((to - low) / step),
  };
}

function showX() {
  const open = $("x-kind").value === "typed" && ground;
  $("x-axis").hidden = $("x-hint").hidden = !open;
  if (!open) return;
  const values = grid();
  cursor = Math.min(cursor, values.last);
  const counts = new Map();
  for (const one of recordsOfX()) counts.set(one, (counts.get(one) ?? 0) + 1);
  const here = String(values.value(cursor));
  const slider = $("x-axis");
  slider.setAttribute("aria-valuemin", 0);
  slider.setAttribute("aria-valuemax", values.last);
  slider.setAttribute("aria-valuenow", cursor);
  slider.setAttribute("aria-valuetext", `${here}: ${count(counts.get(here) ?? 0, "record")}`);
  const title = `x has ${count(recordsOfX().length, "record")}`;
  show("x-axis", (width) => {
    const drawn = pictures.dots(width, counts, ground.axis, values.value(cursor), title);
    nearX = (at) => Math.max(0, Math.min(values.last, values.near(drawn.valueAt(at))));
    return drawn.svg;
  });
}

function edit(value, add) {
  const records = recordsOfX();
  if (add) records.push(value);
  else if (records.includes(value)) records.splice(records.lastIndexOf(value), 1);
  else return;
  $("x-text").value = records.sort((one, other) => one - other).join(", ");
  showX();
  changed();
}

/** Move as arrow keys, Page Up and Page Down, Home and End do; undefined for other keys. */
function moved(event, place, first, last) {
  const leap = Math.max(1, Math.round((last - first) / 10));
  const places = {
    ArrowLeft: place - 1,
    ArrowDown: place - 1,
    ArrowRight: place + 1,
    ArrowUp: place + 1,
    PageDown: place - leap,
    PageUp: place + leap,
    Home: first,
    End: last,
  };
  if (!(event.key in places) || event.ctrlKey || event.altKey || event.metaKey) return undefined;
  event.preventDefault();
  return Math.max(first, Math.min(last, places[event.key]));
}

const across = (event, place) => event.clientX - place.getBoundingClientRect().left;

function onCurve() {
  const place = $("curve-picture");
  place.addEventListener("click", (event) => {
    if (nearK)
      set("k", Math.max(1, Math.min(most.k, Math.round(nearK(across(event, place))) || 1)));
  });
  place.addEventListener("keydown", (event) => {
    const k = moved(event, Number($("k").value), 1, most.k);
    if (k !== undefined && k !== Number($("k").value)) set("k", k);
  });
}

function onAxis() {
  const place = $("x-axis");
  place.addEventListener("click", (event) => {
    const record = event.target.dataset?.value;
    if (record === undefined) {
      cursor = nearX(across(event, place));
      edit(String(grid().value(cursor)), true);
    } else edit(record, false);
  });
  place.addEventListener("keydown", (event) => {
    if (["Enter", " ", "Delete", "Backspace"].includes(event.key)) {
      event.preventDefault();
      edit(String(grid().value(cursor)), event.key === "Enter" || event.key === " ");
      return;
    }
    const next = moved(event, cursor, 0, grid().last);
    if (next === undefined) return;
    cursor = next;
    showX();
  });
}

function set(name, value) {
  wanted[name] = value;
  $(name).value = value;
  sliders({ size: Number($("size").value), k: Number($("k").value) });
  changed();
}

// A CSV file: its records become the dataset x; as the universe only if that is chosen.

async function read(chosen) {
  version++; // what is computed is of an earlier state, and the file is not to wait for it
  clearTimeout(timer);
  waiting = null;
  if (since) transport.stop();
  $("x-error").textContent = "";
  $("file-name").textContent = `Reading ${chosen.name}`;
  const reader = new FileReader();
  reader.readAsText(chosen);
  await new Promise((resolve) => reader.addEventListener("loadend", resolve));
  const text = reader.result;
  const answer =
    text === null
      ? { ok: false, message: "The browser cannot read this file." }
      : await transport.ask({ ask: "columns", text });
  if (answer.ok) {
    Object.assign(file, { text, name: chosen.name });
    const names = Object.entries(answer.columns);
    $("column").replaceChildren(
      ...names.map(([value, size]) =>
        make("option", { value }, `${value} (${count(size, "record")})`),
      ),
    );
    for (const select of ["x-kind", "universe-kind"]) {
      [...$(select).options].find(({ value }) => value === "csv").disabled = false;
    }
    $("x-kind").value = "csv";
    $("file-columns").hidden = false;
  }
  const kept = file.text === null ? "" : `${file.name} is read.`;
  $("file-name").textContent = kept;
  kinds();
  changed();
  if (!answer.ok) fileFault = `${chosen.name}: ${answer.message}`;
  $("x-error").textContent = fileFault;
}

function onFile() {
  $("file").addEventListener("change", () => $("file").files.length && read($("file").files[0]));
  const drag = (name, doing) =>
    document.addEventListener(name, (event) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      document.body.classList.toggle("dragged", name === "dragover");
      doing?.(event);
    });
  drag("dragover");
  drag("dragleave");
  drag(
    "drop",
    ({ dataTransfer }) => dataTransfer.files.length && transport && read(dataTransfer.files[0]),
  );
}

// A link has parameters, and never data.

function link() {
  const { universe: made, x, ...kept } = request();
  Object.assign(kept, { size: Number($("size").value), k: Number($("k").value) });
  if (made.kind === "domain" || made.kind === "interval") kept.universe = made;
  return `${location.origin}${location.pathname}#q=${encodeURIComponent(JSON.stringify(kept))}`;
}

function keep() {
  $("link-told").textContent =
    "It has the query, the relation, n, k and ε" +
    (/%22universe%22/.test(link())
      ? ", and the typed universe. No file and no x is in it."
      : ". The universe is left out, since it is records; no x is in it.");
  history.replaceState(null, "", link());
}

/** Set the controls to what a link says; the answer to it says whether that is right. */
function restore() {
  if (!location.hash.startsWith("#q=")) return;
  let given = null;
  try {
    given = JSON.parse(decodeURIComponent(location.hash.slice(3)));
  } catch {
    // said below
  }
  if (given === null || typeof given !== "object") {
    $("fault").textContent = "The link cannot be read; these are other parameters.";
    return;
  }
  const made = given.universe;
  if (["domain", "interval"].includes(made?.kind)) {
    $("universe-kind").value = made.kind;
    typed[made.kind] = String(made.text);
    kindShown = "";
  }
  for (const name of ["query", "relation"]) if (name in given) choose($(name), String(given[name]));
  for (const name of ["size", "k"]) if (name in given) $(name).value = wanted[name] = given[name];
  if ("epsilon" in given) $("epsilon").value = String(given.epsilon);
  kinds();
}

/** Show the fields that belong to the kinds of universe and dataset that are chosen. */
function kinds() {
  const kind = $("universe-kind").value;
  if (kindShown in typed) typed[kindShown] = $("universe-text").value;
  const [, label, , hint] = KINDS[kind] ?? ["", "", "", ""];
  $("universe-typed").hidden = !label;
  $("universe-label").textContent = label;
  $("universe-text").rows = kind === "records" ? 3 : 1;
  $("universe-text").value = typed[kind] ?? "";
  $("universe-hint").textContent = hint;
  const rows = $("universe-kind").selectedOptions[0]?.parentElement.id === "rows";
  $("universe-warning").hidden = !rows;
  kindShown = kind;
  $("x-typed").hidden = $("x-kind").value !== "typed";
  showX();
}

async function copy(button, text) {
  const before = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    button.textContent = "This browser does not copy: select the text";
  }
  setTimeout(() => (button.textContent = before), 2000);
}

function loading(progress, text) {
  $("loading").hidden = progress >= 1;
  $("progress").value = progress;
  $("loading-text").textContent = text || "Loading Python";
}

function listen() {
  for (const name of ["universe-kind", "x-kind"]) {
    $(name).addEventListener("change", () => {
      kinds();
      changed();
    });
  }
  for (const name of ["query", "relation", "column"]) $(name).addEventListener("change", changed);
  for (const name of ["universe-text", "epsilon"]) $(name).addEventListener("input", changed);
  $("x-text").addEventListener("input", () => {
    showX();
    changed();
  });
  for (const name of ["size", "k"]) {
    $(name).addEventListener("input", () => {
      const { value } = $(name);
      wanted[name] = value === "" ? "" : Number(value);
      sliders({ size: Number($("size").value), k: Number($("k").value) });
      changed();
    });
  }
  $("size-slider").addEventListener("input", () => set("size", stops[$("size-slider").value]));
  $("k-slider").addEventListener("input", () => set("k", Number($("k-slider").value)));
  $("controls").addEventListener("submit", (event) => event.preventDefault());
  $("stop").addEventListener("click", stop);
  $("copy-code").addEventListener("click", () => copy($("copy-code"), $("code-text").textContent));
  $("copy-link").addEventListener("click", () => copy($("copy-link"), link()));
  window.addEventListener("hashchange", () => {
    if (tokenOf() && !location.hash) location.reload();
    restore();
    changed();
  });
  onCurve();
  onAxis();
  onFile();
}

function fill(choices) {
  const option = ([value, text, disabled]) =>
    make("option", { value, disabled: Boolean(disabled) }, text);
  const named = (names) => names.map((name) => [`given:${name}`, name]);
  const listed = (kind) => [kind, KINDS[kind][0], kind === "csv"];
  const { universes, records } = choices.given;
  const group = (id, label, options) => make("optgroup", { id, label }, ...options.map(option));
  $("universe-kind").append(
    group("said", "What a record can be", [
      ...["domain", "interval"].map(listed),
      ...named(universes),
    ]),
    group("rows", "Rows as the universe: only if they are public", [
      ...["records", "csv"].map(listed),
      ...named(records),
    ]),
  );
  $("x-kind").append(
    ...[
      ["none", "none"],
      ["typed", "typed or clicked"],
      ["csv", "a column of the CSV file", true],
      ...named(records),
    ].map(option),
  );
  $("query").append(...choices.queries.map((name) => option([name, name])));
  $("relation").append(...choices.relations.map((name) => option([name, name])));
  const { universe: made, query, relation, size, k, epsilon } = choices.first;
  $("universe-kind").value = made.kind === "given" ? `given:${made.column}` : made.kind;
  choose($("query"), query);
  choose($("relation"), relation);
  Object.assign(wanted, { size, k });
  Object.assign($("size"), { value: size });
  Object.assign($("k"), { value: k });
  $("epsilon").value = epsilon;
  kindShown = "";
  most = choices.most;
  stops = stopsTo(most.size);
  kinds();
}

async function start() {
  const token = tokenOf();
  if (token) transport = localTransport(token);
  else if (typeof WebAssembly === "object")
    transport = workerTransport("engine/worker.js", loading);
  else {
    refuse({
      field: "",
      message: `This browser has no WebAssembly, so Python cannot run in it. ${INSTALL}`,
    });
    return;
  }
  $("file-privacy").textContent = transport.data;
  const choices = await transport.ask({ ask: "choices" });
  if (!choices.ok) {
    refuse(choices);
    return;
  }
  fill(choices);
  restore();
  listen();
  changed();
}

start();
