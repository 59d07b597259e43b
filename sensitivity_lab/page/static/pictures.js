// The pictures: functions of a width that return an <svg>. Sizes are in pixels of the page, so text
// is as large as the text around it. Roles are classes, colored by page.css: A only in x, B only in
// y, C in both, O in neither; each also has its own shape.

const SVG = "http://www.w3.org/2000/svg";
const pen = document.createElement("canvas").getContext("2d");

/** Make an element of a picture; a child that is no element is text. */
export function draw(name, attributes, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function picture(width, height, title, parts) {
  const size = { width, height, viewBox: `0 0 ${width} ${height}` };
  return draw("svg", { role: "img", ...size }, draw("title", {}, title), ...parts);
}

const line = (kind, x1, y1, x2, y2) => draw("line", { class: kind, x1, y1, x2, y2 });
const path = (kind, points) => draw("polyline", { class: kind, points: points.join(" ") });
const ring = (kind, cx, cy, r, more) => draw("circle", { class: kind, cx, cy, r, ...more });

function widthOf(words) {
  pen.font = "13px system-ui, sans-serif";
  return pen.measureText(words).width + 1;
}

/** Write a text; with a width it is moved to within the picture. */
function text(x, y, words, { anchor = "middle", kind = "", within = 0 } = {}) {
  const half = widthOf(words) / 2;
  if (within) x = Math.max(half, Math.min(within - half, x));
  return draw("text", { x, y, "text-anchor": anchor, class: kind }, words);
}

/** Numbers of few digits, but of as many as tell them apart. */
function labels(values) {
  const short = (value, digits) => {
    const size = Math.abs(value);
    const plain = size === 0 || (size >= 1e-4 && size < 1e6);
    const [front, power] = value.toExponential(digits - 1).split("e");
    return plain ? `${Number(value.toPrecision(digits))}` : `${Number(front)}e${Number(power)}`;
  };
  const tried = [4, 7, 12].map((digits) => values.map((value) => short(value, digits)));
  const found = tried.find((list) => new Set(list).size === values.length) ?? tried[2];
  return found.map((one) => one.replaceAll("-", "−"));
}

/** The round step of at most so many ticks; whole numbers have whole ones. */
export function stepOf(span, most, whole = false) {
  const rough = (span / Math.max(1, most)) * (1 - 1e-9);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 2.5, 5, 10, 20].find((times) => power * times >= rough);
  return whole ? Math.ceil(step) : step;
}

/** Round numbers from low to high; with outside, they begin below low and end above high. */
function ticks(low, high, most, { whole = false, outside = false } = {}) {
  if (!(high > low)) return [low];
  const step = stepOf(high - low, most, whole);
  const [down, up, slack] = outside
    ? [Math.floor, Math.ceil, 1e-9]
    : [Math.ceil, Math.floor, -1e-9];
  const first = down(low / step + slack);
  const length = up(high / step - slack) - first + 1;
  return Array.from({ length }, (_, place) => (first + place) * step);
}

/** A horizontal axis with as many ticks as have room. */
function scale(width, at, low, high, y) {
  const marks = ticks(low, high, Math.max(2, width / 80));
  const written = labels(marks);
  const tick = (mark, place) => [
    line("axis", at(mark), y, at(mark), y + 5),
    text(at(mark), y + 20, written[place], { within: width }),
  ];
  return [line("axis", at(low), y, at(high), y), ...marks.flatMap(tick)];
}

const placed = (low, high, side, width) => (value) =>
  high > low ? side + ((width - 2 * side) * (value - low)) / (high - low) : width / 2;

/**
 * Lines over the distance: values of each distance from `first` on, between low and high; of two
 * lines, the area between. The distance k is marked. Also returns the distance at a place across.
 */
export function chart(width, lines, { first, k, low, high, across, upward, title }) {
  const [height, top, base, right] = [270, 30, 224, width - 14];
  const last = first + lines[0].length - 1;
  const flat = high - low <= 1e-9 * Math.abs(high); // apart by the rounding of their ends alone
  const marks = ticks(low, flat ? low + 1 : high, 5, { outside: true });
  const written = labels(marks);
  const left = Math.max(...written.map(widthOf)) + 12;
  const [from, span, wide] = [marks[0], marks.at(-1) - marks[0], right - left];
  const x = (at) =>
    first === last ? left + wide / 2 : left + (wide * (at - first)) / (last - first);
  const y = (value) => base - ((base - top) * (value - from)) / span;
  const parts = marks.flatMap((mark, place) => [
    line(place ? "grid" : "axis", left, y(mark), right, y(mark)),
    text(left - 7, y(mark) + 4, written[place], { anchor: "end" }),
  ]);
  for (const at of ticks(first, last, wide / 34, { whole: true })) {
    parts.push(line("axis", x(at), base, x(at), base + 5), text(x(at), base + 20, String(at)));
  }
  parts.push(text(left + wide / 2, height - 6, across, { kind: "soft", within: width }));
  parts.push(text(4, 14, upward, { anchor: "start", kind: "soft" }));
  const drawn = lines.map((values) => values.map((value, at) => [x(first + at), y(value)]));
  if (drawn.length === 2) {
    const around = [...drawn[0], ...drawn[1].toReversed()].join(" ");
    const [, middle] = drawn[0][0];
    parts.push(draw("polygon", { class: "fan", points: around }));
    parts.push(line("guide", left, middle, right, middle));
    parts.push(text(right, middle - 6, "f(x)", { anchor: "end", kind: "halo" }));
  }
  parts.push(...drawn.map((points) => path("line", points)));
  for (const [cx, cy] of drawn.flat()) if (cx !== x(k)) parts.push(ring("dot", cx, cy, 4));
  for (const [cx, cy] of drawn.map((points) => points[k - first])) {
    parts.push(line("guide", cx, cy, cx, base), line("guide", left, cy, cx, cy));
    parts.push(ring("chosen", cx, cy, 7));
  }
  const distanceAt = (at) => first + ((at - left) * (last - first)) / wide;
  return { svg: picture(width, height, title, parts), distanceAt };
}

/** The shape of a role at a place: a triangle, a square, a ring. */
export function shape(part, x, y, r = 7) {
  if (part === "C") return ring("C", x, y, r - 1);
  const [l, t, s] = [x - r + 1, y - r + 1, 2 * r - 2];
  if (part === "B") return draw("rect", { class: "B", x: l, y: t, width: s, height: s });
  return draw("polygon", {
    class: "A",
    points: `${l - 1},${t + s} ${l + s + 1},${t + s} ${x},${t}`,
  });
}

/** Runs of records by role: of the records if all are listed, else of the blocks of the universe. */
function runsOf(witness, strip) {
  const lists = { A: witness.only_x, B: witness.only_y, C: [...witness.x] };
  const run = (part, one, two, count) => {
    const [first, last] = [one, two].map(Number);
    return { part, first, last, count };
  };
  if (Object.values(lists).some((list) => list.includes("…")) && strip.length) {
    const had = strip.filter(({ part }) => part !== "O");
    return had.map(({ part, first, last, count }) => run(part, first, last, count));
  }
  for (const one of lists.A) lists.C.splice(lists.C.indexOf(one), 1);
  return Object.entries(lists).flatMap(([part, list]) => {
    const values = [...new Set(list)].filter((one) => one !== "…");
    return values.map((one) => run(part, one, one, list.filter((each) => each === one).length));
  });
}

/** Both datasets as rows of records on one axis, with f(x) and f(y) below their rows. */
export function pair(width, witness, strip, axis, onAxis, title) {
  const runs = runsOf(witness, strip);
  const ends = runs.flatMap(({ first, last }) => [first, last]);
  const low = Math.min(axis?.low ?? Infinity, ...ends);
  const high = Math.max(axis?.high ?? -Infinity, ...ends);
  if (!Number.isFinite(high - low)) return null;
  const at = placed(low, high, 16, width);
  const parts = [];
  const row = (name, only, top) => {
    const base = top + 66;
    const value = witness[`value_${name}`];
    const size = witness[`size_${name}`].toLocaleString("en");
    const words = `${name}: ${size} records, f(${name}) = ${witness[`answer_${name}`]}`;
    parts.push(text(0, top + 15, words, { anchor: "start", kind: "strong" }));
    parts.push(line("grid", at(low), base, at(high), base));
    lane(only, top + 35);
    lane("C", top + 54);
    if (!onAxis || value === null || value < low || value > high) return;
    const [x, y] = [at(value), base + 10];
    const points = `${x - 5},${y} ${x + 5},${y} ${x},${y - 9}`;
    parts.push(draw("polygon", { class: only, points }));
    parts.push(text(x, y + 13, `f(${name})`, { within: width }));
  };
  const lane = (part, y) => {
    const own = runs.filter((run) => run.part === part);
    const taken = own.map(({ first, last }) => [at(first) - 8, at(last) + 8]);
    const isFree = (start, end) =>
      start >= 0 && end <= width && taken.every(([from, to]) => end < from || start > to);
    for (const { first, last, count } of own) {
      const [left, right] = [at(first), at(last)];
      const mark = right - left > 6 ? line(`run ${part}`, left, y, right, y) : null;
      parts.push(mark ?? shape(part, (left + right) / 2, y));
      const words = `× ${count.toLocaleString("en")}`;
      const wide = widthOf(words);
      // Right of the mark, else left of it, else not at all: the words below the picture say it.
      const start = [right + 11, left - 11 - wide].find((one) => isFree(one, one + wide));
      if (count === 1 || start === undefined) continue;
      taken.push([start, start + wide]);
      parts.push(text(start, y + 4, words, { anchor: "start" }));
    }
  };
  row("x", "A", 0);
  row("y", "B", 104);
  return picture(width, 232, title, [...parts, ...scale(width, at, low, high, 202)]);
}

/** Widths of blocks by their records, at least wide enough to be seen; without end: the most. */
function shares(strip, width) {
  const most = Math.max(1, ...strip.map(({ count }) => count ?? 0));
  const sum = (list) => list.reduce((total, one) => total + one, 0);
  const counts = strip.map(({ count }) => count ?? most);
  const least = Math.min(46 / width, 0.9 / strip.length) * sum(counts);
  const raised = counts.map((count) => Math.max(count, least));
  return raised.map((one) => (one / sum(raised)) * width);
}

/** The sorted universe in blocks: the upper half is in x, the lower half in y. */
export function blocks(width, strip, title) {
  const name = widthOf("in y") + 8;
  const wide = shares(strip, width - name - 2);
  const parts = ["in x", "in y"].map((is, row) => text(0, 22 + 28 * row, is, { anchor: "start" }));
  const rows = [];
  let start = name;
  strip.forEach(({ part, count, first, last }, place) => {
    const middle = start + wide[place] / 2;
    const [y, height] = { A: [4, 26], B: [32, 26], C: [4, 54], O: [26, 10] }[part];
    const size = { x: start + 1, y, width: Math.max(1, wide[place] - 2), height };
    parts.push(draw("rect", { class: part, ...size }));
    const many = (count ?? 1).toLocaleString("en", { notation: "compact" });
    const written = part === "O" ? ["O"] : [`${part} ${many}`, part];
    const words = written.find((one) => widthOf(one) + 8 < wide[place]);
    const [at, kind] = part === "O" ? [22, ""] : [y + height / 2 + 5, "on-part"];
    if (words) parts.push(text(middle, at, words, { kind }));
    // What it spans stands below, in the first row that is free there.
    const span = first === last ? first : `${first} to ${last}`;
    const half = widthOf(span) / 2;
    const x = Math.max(half, Math.min(width - half, middle));
    const free = rows.findIndex((end) => x - half > end + 8);
    const row = free < 0 ? rows.length : free;
    if (row < 4) {
      rows[row] = x + half;
      parts.push(text(x, 76 + 17 * row, span));
    }
    start += wide[place];
  });
  return picture(width, 66 + 17 * rows.length, title, parts);
}

/** The densities of the noisy answers on x and on y. */
export function densities(width, witness, b, title) {
  const answers = [witness.value_x, witness.value_y];
  const [low, high] = [Math.min(...answers) - 4 * b, Math.max(...answers) + 4 * b];
  if (!Number.isFinite(high - low)) return null;
  const [base, tall] = [190, 146];
  const at = placed(low, high, 1, width);
  const parts = [];
  answers.forEach((answer, place) => {
    const steps = Array.from({ length: 81 }, (_, step) => (step - 40) / 10);
    const top = (step) => [at(answer + step * b), base - tall * Math.exp(-Math.abs(step))];
    parts.push(path(`density ${"AB"[place]}`, steps.map(top)));
  });
  answers.forEach((answer, place) => {
    const [part, name, y] = ["AB"[place], "xy"[place], 16 + 16 * place];
    const words = `f(${name}) = ${witness[`answer_${name}`]}`;
    const half = widthOf(words) / 2 + 12;
    const x = Math.max(half, Math.min(width - half, at(answer)));
    parts.push(
      line(part, at(answer), y + 4, at(answer), base),
      shape(part, x - half + 6, y - 4, 6),
    );
    parts.push(text(x + 8, y, words, { kind: "halo" }));
  });
  return picture(width, 222, title, [...parts, ...scale(width, at, low, high, base)]);
}

/** The records of x as dots on the axis of the universe; `cursor` is where the keyboard is. */
export function dots(width, counts, { low, high }, cursor, title) {
  const [side, most, base] = [12, 5, 91];
  const at = placed(low, high, side, width);
  const parts = [line("cursor", at(cursor), 4, at(cursor), base)];
  parts.push(...scale(width, at, low, high, base));
  for (const [written, count] of counts) {
    const x = at(Number(written));
    if (!(x >= 0 && x <= width)) continue;
    for (let place = 0; place < Math.min(count, most); place++) {
      parts.push(ring("dot", x, base - 8 - 13 * place, 6, { "data-value": written }));
    }
    if (count > most) parts.push(text(x, 14, `× ${count}`, { within: width, kind: "halo" }));
  }
  const valueAt = (x) => low + ((x - side) * (high - low)) / (width - 2 * side);
  return { svg: picture(width, base + 28, title, parts), valueAt };
}
