"use strict";
// Small drawings, each beside a table that says the same.

const SVG = "http://www.w3.org/2000/svg";

// make builds an element; text never becomes markup.
function make(ns, tag, attributes, children) {
  const e = ns ? document.createElementNS(ns, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value !== undefined && value !== null && value !== false) e.setAttribute(name, value === true ? "" : value);
  }
  e.append(...children.flat().filter(c => c !== null && c !== undefined && c !== "" && c !== false));
  return e;
}
const el = (tag, attributes, ...children) => make(null, tag, attributes, children);
const svg = (tag, attributes, ...children) => make(SVG, tag, attributes, children);

// sig writes a number with three digits: 20,100 or 0.0123.
function sig(x) {
  if (!Number.isFinite(x)) return "—";
  if (x === 0) return "0";
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(x))));
  return Number(x.toPrecision(3)).toLocaleString("en-US", { maximumFractionDigits: Math.min(digits, 20) });
}

// room is the width of drawings, so that their letters have the page's size.
const room = () => Math.max(300, Math.min(900, document.getElementById("content").clientWidth || 720));

// courseChart draws the throughput within this trial over that of earlier ones.
function courseChart(now) {
  const all = [...(now.earlier || []), now.course].filter(c => c && c.per_second);
  const width = room(), height = 250, left = 58, right = 8, top = 28, bottom = 42;
  const most = Math.max(...all.flatMap(c => c.per_second), 1);
  const long = Math.max(...all.map(c => c.per_second.length * c.step_seconds), 0.001);
  const x = s => left + (width - left - right) * s / long;
  const y = v => top + (height - top - bottom) * (1 - v / most);
  const path = c => c.per_second.map((v, i) => (i ? "L" : "M") + x((i + .5) * c.step_seconds).toFixed(1) + " " + y(v).toFixed(1)).join("");
  const drawing = svg("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": courseWords(now) });
  const window = all.find(c => c.window_seconds && c.window_seconds[1] > 0)?.window_seconds;
  if (window && window[0] > 0) {
    drawing.append(svg("rect", { class: "band", x: left, y: top, width: Math.max(0, x(window[0]) - left), height: height - top - bottom }),
      svg("text", { x: left + 4, y: height - bottom - 6 }, "warm-up"));
  }
  for (const v of [0, most / 2, most]) {
    drawing.append(svg("line", { class: v ? "tick" : "axis", x1: left, x2: width - right, y1: y(v), y2: y(v) }),
      svg("text", { x: left - 8, y: y(v) + 4, "text-anchor": "end" }, sig(v)));
  }
  drawing.append(svg("text", { x: 0, y: 12 }, `throughput, ${now.unit || "operations"}/s`), svg("text", { x: width - right, y: height - 6, "text-anchor": "end" }, "since the warm-up began"));
  for (const s of [0, long / 2, long]) {
    drawing.append(svg("text", { x: x(s), y: height - 24, "text-anchor": s === 0 ? "start" : s === long ? "end" : "middle" }, sig(s) + " s"));
  }
  for (const c of now.earlier || []) drawing.append(svg("path", { class: "then", d: path(c) }));
  if (now.course?.per_second?.length) drawing.append(svg("path", { class: "this", d: path(now.course) }));
  return drawing;
}

// meanOf is the mean throughput of a course's window, or of what there is of it.
function meanOf(c) {
  const [from, to] = c.window_seconds && c.window_seconds[1] > 0 ? c.window_seconds : [0, Infinity];
  const in_ = (c.per_second || []).filter((_, i) => (i + 1) * c.step_seconds > from && i * c.step_seconds < to);
  return in_.length ? in_.reduce((a, b) => a + b, 0) / in_.length : NaN;
}

function courseWords(now) {
  const n = (now.earlier || []).length;
  return `Throughput within this trial of ${now.cell.layout}` + (n ? `, over those of its last ${n} trials` : "") + ".";
}

function courseTable(now) {
  const rows = (now.earlier || []).map(c => [`block ${c.block}`, c]).concat([["this one, so far", now.course]]).filter(([, c]) => c?.per_second);
  const unit = (now.unit || "operations") + "/s";
  return el("details", { id: "course-table" }, el("summary", {}, "As a table"),
    el("table", {}, el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "trial"), el("th", { scope: "col", class: "num" }, "mean " + unit), el("th", { scope: "col", class: "num" }, "lowest"), el("th", { scope: "col", class: "num" }, "highest"))),
      el("tbody", {}, ...rows.map(([name, c]) => el("tr", {}, el("th", { scope: "row" }, name), el("td", { class: "num" }, sig(meanOf(c))),
        el("td", { class: "num" }, sig(Math.min(...c.per_second))), el("td", { class: "num" }, sig(Math.max(...c.per_second))))))));
}

const markClass = mark => ({ best: "best", better: "good", "within the margin": "same", baseline: "same", "not the best": "same", worse: "worse" })[mark] || "open";

// reportChart is a drawing that Filewise has made, with all texts in it escaped.
function reportChart(c) {
  const drawn = new DOMParser().parseFromString(c.svg, "text/html").body;
  if (!c.name) return [...drawn.childNodes]; // the shapes
  return el("figure", {}, el("h3", {}, c.name), [...drawn.childNodes], c.caption && el("figcaption", {}, c.caption));
}
