// The pictures: functions of a width that return an <svg>. Sizes are in pixels of the page, so text
// is as large as the text around it. Roles are classes, colored by page.css: A only in x, B only in
// y, C in both, O in neither; each also has its own shape.

const SVG = "http://www.w3.org/2000/svg";
const pen = document.createElement("canvas").getContext("2d");

/** Make an element of a picture; a child that is no element is text. */
export function draw(name, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function picture(width, height, title, parts) {
  const size = { width, height, viewBox: `0 0 ${width} ${height}` };
  return draw("svg", { role: "img", ...size }, draw("title", {}, title), ...parts);
}

function widthOf(text) {
  pen.font = "13px system-ui, sans-serif";
  return pen.measureText(text).width + 1;
}

const line = (kind, x1, y1, x2, y2) => draw("line", { class: kind, x1, y1, x2, y2 });

const path = (kind, points) => draw("polyline", { class: kind, points: points.join(" ") });

/** Write a text; with a width it is kept within the picture. */
function text(x, y, words, { anchor = "middle", kind = "", within = 0 } = {}) {
  if (within) {
    const half = widthOf(words) / 2;
    x = Math.max(half, Math.min(within - half, x));
  }
  return draw("text", { x, y, "text-anchor": anchor, class: kind }, words);
}

/** The number that a text of an answer has; NaN if it has none. */
export function numberOf(written) {
  const [top, bottom = "1"] = written.split("/");
  return Number(top) / Number(bottom);
}

function short(value, digits) {
  const size = Math.abs(value);
  if (size >= 1e6 || (size > 0 && size < 1e-4)) {
    const [front, power] = value.toExponential(digits - 1).split("e");
    return `${Number(front)}e${Number(power)}`.replace("-", "−");
  }
  return String(Number(value.toPrecision(digits))).replace("-", "−");
}

/** Numbers of few digits, but of as many as tell them apart. */
function labels(values) {
  for (const digits of [4, 7, 12]) {
    const found = values.map((value) => short(value, digits));
    if (new Set(found).size === values.length) return found;
  }
  return values.map(String);
}

/** The step of about so many round ticks; whole numbers have whole ones. */
export function stepOf(span, most, whole = false) {
  const rough = span / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 2.5, 5, 10].find((times) => power * times >= rough * (1 - 1e-9));
  return whole ? Math.max(1, Math.ceil(step)) : step;
}

/** Round numbers from low to high; with outside, they begin below low and end above high. */
function ticks(low, high, most, { whole = false, outside = false } = {}) {
  if (!(high > low)) return [low];
  const step = stepOf(high - low, most, whole);
  const [down, up] = outside ? [Math.floor, Math.ceil] : [Math.ceil, Math.floor];
  const first = down(low / step + (outside ? 1e-9 : -1e-9));
  const last = up(high / step + (outside ? -1e-9 : 1e-9));
  return Array.from({ length: last - first + 1 }, (_, place) => (first + place) * step);
}

/** The axes of a picture over distances, and where a point stands in it. */
function frame(width, [first, last], low, high, across, upward) {
  const height = 270;
  const [top, base, right] = [30, height - 46, width - 14];
  const marks = ticks(low, high > low ? high : low + 1, 5, { outside: true });
  const written = labels(marks);
  const left = Math.max(...written.map(widthOf)) + 12;
  const [from, to] = [marks[0], marks.at(-1)];
  const x = (k) =>
    first === last ? (left + right) / 2 : left + ((right - left) * (k - first)) / (last - first);
  const y = (value) => base - ((base - top) * (value - from)) / (to - from);
  const parts = marks.flatMap((mark, place) => [
    line(place ? "grid" : "axis", left, y(mark), right, y(mark)),
    text(left - 7, y(mark) + 4, written[place], { anchor: "end" }),
  ]);
  for (const k of ticks(first, last, (right - left) / 34, { whole: true })) {
    parts.push(line("axis", x(k), base, x(k), base + 5), text(x(k), base + 20, String(k)));
  }
  parts.push(
    text((left + right) / 2, height - 6, across, { kind: "soft", within: width }),
    text(4, 14, upward, { anchor: "start", kind: "soft" }),
  );
  return {
    x,
    y,
    base,
    left,
    parts,
    height,
    distanceAt: (at) => first + ((at - left) * (last - first)) / (right - left),
  };
}

/** The sensitivity over k, with the current k marked; also returns the k at a place across. */
export function curve(width, points, k, title) {
  const top = Math.max(...points.map((point) => point.value));
  const ends = [points[0].k, points.at(-1).k];
  const { x, y, base, left, parts, height, distanceAt } = frame(
    width,
    ends,
    0,
    top,
    "distance k (at most)",
    "sensitivity",
  );
  parts.push(
    path(
      "line",
      points.map((point) => [x(point.k), y(point.value)]),
    ),
  );
  for (const point of points) {
    const [cx, cy] = [x(point.k), y(point.value)];
    if (point.k === k) {
      parts.push(line("guide", cx, cy, cx, base), line("guide", left, cy, cx, cy));
    }
    parts.push(
      draw("circle", { class: point.k === k ? "chosen" : "dot", cx, cy, r: point.k === k ? 7 : 4 }),
    );
  }
  return { svg: picture(width, height, title, parts), distanceAt };
}

/** The least and the greatest answer within each distance of x. */
export function fan(width, { lower, upper }, k, title) {
  const last = lower.length - 1;
  const { x, y, parts, height } = frame(
    width,
    [0, last],
    lower[last],
    upper[last],
    "distance from x (at most)",
    "answer",
  );
  const [above, below] = [upper, lower].map((ends) => ends.map((value, at) => [x(at), y(value)]));
  const around = [...above, ...below.toReversed()].join(" ");
  const middle = y(lower[0]);
  parts.push(
    draw("polygon", { class: "fan", points: around }),
    line("guide", x(0), middle, x(last), middle),
    text(x(last), middle - 6, "f(x)", { anchor: "end", kind: "halo" }),
    path("line", above),
    path("line", below),
  );
  for (const ends of [above, below]) {
    ends.forEach(([cx, cy], at) => {
      parts.push(
        draw("circle", { class: at === k ? "chosen" : "dot", cx, cy, r: at === k ? 7 : 3 }),
      );
    });
  }
  return picture(width, height, title, parts);
}

/** The shape of a role at a place: a triangle, a square, a ring, a hollow block. */
export function shape(part, x, y, r = 7) {
  if (part === "A")
    return draw("polygon", {
      class: "A",
      points: `${x - r},${y + r} ${x + r},${y + r} ${x},${y - r}`,
    });
  if (part === "C") return draw("circle", { class: "C", cx: x, cy: y, r: r - 1 });
  return draw("rect", {
    class: part,
    x: x - r + 1,
    y: y - r + 1,
    width: 2 * r - 2,
    height: 2 * r - 2,
  });
}

/** Records as [first, last, count] by role; from the records if all are listed, else from blocks. */
function runsOf(witness, strip) {
  const lists = { A: witness.only_x, B: witness.only_y, C: [...witness.x] };
  if (Object.values(lists).some((list) => list.includes("…")) && strip.length) {
    return strip
      .filter(({ part }) => part !== "O")
      .map(({ part, first, last, count }) => ({
        part,
        first: numberOf(first),
        last: numberOf(last),
        count,
      }));
  }
  for (const one of lists.A) lists.C.splice(lists.C.indexOf(one), 1);
  return Object.entries(lists).flatMap(([part, list]) => {
    const counts = new Map();
    for (const one of list) if (one !== "…") counts.set(one, (counts.get(one) ?? 0) + 1);
    return [...counts].map(([one, count]) => ({
      part,
      first: numberOf(one),
      last: numberOf(one),
      count,
    }));
  });
}

/** Both datasets as rows of records on one axis, with f(x) and f(y) below their rows. */
export function pair(width, witness, strip, axis, onAxis, title) {
  const runs = runsOf(witness, strip);
  const ends = runs.flatMap(({ first, last }) => [first, last]);
  const low = Math.min(axis?.low ?? Infinity, ...ends);
  const high = Math.max(axis?.high ?? -Infinity, ...ends);
  if (!Number.isFinite(high - low)) return null;
  const side = 16;
  const at = (value) =>
    high > low ? side + ((width - 2 * side) * (value - low)) / (high - low) : width / 2;
  const parts = [];
  [
    ["x", "A", 0, witness.value_x],
    ["y", "B", 104, witness.value_y],
  ].forEach(([name, only, top, value]) => {
    const base = top + 66;
    parts.push(
      text(
        0,
        top + 15,
        `${name}: ${witness[`size_${name}`].toLocaleString("en")} records, f(${name}) = ${witness[`answer_${name}`]}`,
        { anchor: "start", kind: "strong" },
      ),
    );
    parts.push(line("grid", side, base, width - side, base));
    for (const [part, y] of [
      [only, top + 35],
      ["C", top + 54],
    ]) {
      const lane = runs
        .filter((run) => run.part === part)
        .sort((one, other) => one.first - other.first);
      const taken = lane.map(({ first, last }) => [at(first) - 8, at(last) + 8]);
      for (const { first, last, count } of lane) {
        const [left, right] = [at(first), at(last)];
        parts.push(
          right - left > 6 ? line("C", left, y, right, y) : shape(part, (left + right) / 2, y),
        );
        const written = `× ${count.toLocaleString("en")}`;
        const wide = widthOf(written);
        // To the right of the mark, else to its left, else not at all: the words below say it, too.
        const free = [right + 11, left - 11 - wide].find(
          (start) =>
            start >= 0 &&
            start + wide <= width &&
            taken.every(([from, to]) => start + wide < from || start > to),
        );
        if (count > 1 && free !== undefined) {
          taken.push([free, free + wide]);
          parts.push(text(free, y + 4, written, { anchor: "start" }));
        }
      }
    }
    if (onAxis && value !== null && value >= low && value <= high) {
      const x = at(value);
      parts.push(
        draw("polygon", {
          class: only,
          points: `${x - 5},${base + 10} ${x + 5},${base + 10} ${x},${base + 1}`,
        }),
      );
      parts.push(text(x, base + 23, `f(${name})`, { within: width }));
    }
  });
  return picture(width, 232, title, [...parts, ...scale(width, at, low, high, 202)]);
}

/** A horizontal axis with as many ticks as have room. */
function scale(width, at, low, high, y) {
  const marks = ticks(low, high, Math.max(2, width / 80));
  const written = labels(marks);
  return [
    line("axis", at(low), y, at(high), y),
    ...marks.flatMap((mark, place) => [
      line("axis", at(mark), y, at(mark), y + 5),
      text(at(mark), y + 20, written[place], { within: width }),
    ]),
  ];
}

/** Widths of blocks by their records, but at least wide enough to be seen; without end: the most. */
function shares(strip, width) {
  const most = Math.max(1, ...strip.map(({ count }) => count ?? 0));
  const counts = strip.map(({ count }) => count ?? most);
  const all = counts.reduce((sum, count) => sum + count, 0);
  const least = Math.min(30 / width, 0.9 / strip.length) * all;
  const raised = counts.map((count) => Math.max(count, least));
  const sum = raised.reduce((total, one) => total + one, 0);
  return {
    wide: raised.map((one) => (one / sum) * width),
    exact: raised.every((one, at) => one === strip[at].count),
  };
}

/** The sorted universe in blocks: the upper half is in x, the lower half in y. */
export function blocks(width, strip, title) {
  const name = widthOf("in y") + 8;
  const { wide, exact } = shares(strip, width - name - 2);
  const parts = [
    text(0, 22, "in x", { anchor: "start" }),
    text(0, 50, "in y", { anchor: "start" }),
  ];
  const rows = [];
  let start = name;
  strip.forEach(({ part, count, first, last }, place) => {
    const middle = start + wide[place] / 2;
    const [y, height] = { A: [4, 26], B: [32, 26], C: [4, 54], O: [26, 10] }[part];
    parts.push(
      draw("rect", { class: part, x: start + 1, y, width: Math.max(1, wide[place] - 2), height }),
    );
    const written =
      part === "O" ? part : `${part} ${(count ?? 1).toLocaleString("en", { notation: "compact" })}`;
    const fitting = [written, part].find((words) => widthOf(words) + 8 < wide[place]);
    if (fitting && part !== "O")
      parts.push(text(middle, y + height / 2 + 5, fitting, { kind: "on-part" }));
    if (fitting && part === "O") parts.push(text(middle, 22, part));
    const span = first === last ? first : `${first} to ${last}`;
    const half = widthOf(span) / 2;
    const at = Math.max(half, Math.min(width - half, middle));
    const row = rows.findIndex((end) => at - half > end + 8);
    const free = row < 0 ? rows.length : row;
    if (free < 4) {
      rows[free] = at + half;
      parts.push(text(at, 76 + 17 * free, span));
    }
    start += wide[place];
  });
  return { svg: picture(width, 66 + 17 * rows.length, title, parts), exact };
}

/** The densities of the noisy answers on x and on y. */
export function densities(width, witness, b, title) {
  const answers = [witness.value_x, witness.value_y];
  const [low, high] = [Math.min(...answers) - 4 * b, Math.max(...answers) + 4 * b];
  if (!(b > 0) || !Number.isFinite(high - low)) return null;
  const [base, tall] = [190, 146];
  const at = (value) => ((width - 2) * (value - low)) / (high - low) + 1;
  const parts = [];
  answers.forEach((answer, place) => {
    const part = "AB"[place];
    const points = Array.from({ length: 81 }, (_, step) => (step - 40) / 10).map(
      (step) => `${at(answer + step * b)},${base - tall * Math.exp(-Math.abs(step))}`,
    );
    parts.push(
      draw("path", {
        class: `density ${part}`,
        d: `M${at(answer - 4 * b)},${base} L${points.join(" L")} L${at(answer + 4 * b)},${base}`,
      }),
    );
  });
  answers.forEach((answer, place) => {
    const [part, name] = ["AB"[place], "xy"[place]];
    const y = 16 + 16 * place;
    const words = `f(${name}) = ${witness[`answer_${name}`]}`;
    const half = widthOf(words) / 2 + 12;
    const x = Math.max(half, Math.min(width - half, at(answer)));
    parts.push(
      line(part, at(answer), y + 4, at(answer), base),
      shape(part, x - half + 6, y - 4, 6),
      text(x + 8, y, words, { kind: "halo" }),
    );
  });
  return picture(width, 222, title, [...parts, ...scale(width, at, low, high, base)]);
}

/** The records of x as dots on the axis of the universe; `cursor` is where the keyboard is. */
export function dots(width, counts, axis, cursor, title) {
  const side = 12;
  const { low, high } = axis;
  const at = (value) =>
    high > low ? side + ((width - 2 * side) * (value - low)) / (high - low) : width / 2;
  const most = 5;
  const base = 26 + 13 * most;
  const parts = [
    line("cursor", at(cursor), 4, at(cursor), base),
    ...scale(width, at, low, high, base),
  ];
  for (const [written, count] of counts) {
    const x = at(numberOf(written));
    if (!(x >= 0 && x <= width)) continue;
    for (let place = 0; place < Math.min(count, most); place++) {
      parts.push(
        draw("circle", {
          class: "dot",
          cx: x,
          cy: base - 8 - 13 * place,
          r: 6,
          "data-value": written,
        }),
      );
    }
    if (count > most) parts.push(text(x, 14, `× ${count}`, { within: width, kind: "halo" }));
  }
  const valueAt = (x) => low + ((x - side) * (high - low)) / (width - 2 * side);
  return { svg: picture(width, base + 28, title, parts), valueAt };
}
