// Draws the charts of a Filewise report from the JSON in the page. Colours are
// CSS variables, so that dark mode and print need no second drawing; widths
// follow the page.
(function () {
  "use strict";
  const data = JSON.parse(document.getElementById("data").textContent);
  const font = getComputedStyle(document.body).fontFamily;
  const css = name => `var(--${name})`;
  const classes = ["best", "good", "same", "worse", "open"];
  const pale = 0.38;

  const config = {
    background: null, font, aria: false, view: { stroke: null }, padding: 2,
    axis: {
      labelFont: font, titleFont: font, labelFontSize: 12, titleFontSize: 12, titleFontWeight: 400, labelColor: css("muted"),
      titleColor: css("muted"), gridColor: css("grid"), domain: false, ticks: false, labelPadding: 6, titlePadding: 8,
    },
    header: { labelFont: font, labelFontSize: 13, labelFontWeight: 600, labelColor: css("text"), title: null },
    text: { font, fontSize: 13, fill: css("text") },
    facet: { spacing: 14 },
  };
  const refuse = () => Promise.reject(new Error("a report loads nothing"));
  const loader = { load: refuse, sanitize: refuse, http: refuse, file: refuse };

  const percentLabel = "(datum.value > 0 ? '+' : datum.value < 0 ? '−' : '') + format(abs(datum.value), '~f') + ' %'";
  const effectScale = (of = data) => of.factor
    ? { type: "log", domain: of.domain, nice: false } : { domain: of.domain, nice: false, zero: false };
  const effectAxis = (title, width, of = data) => of.factor
    ? { title, values: of.ticks, labelExpr: "format(datum.value, '~r') + '×'", labelOverlap: true }
    : { title, labelExpr: percentLabel, tickCount: Math.max(3, Math.round(width / 95)) };
  const even = data.factor ? 1 : 0;
  const colour = { field: "class", type: "nominal", legend: null, scale: { domain: classes, range: classes.map(css) } };

  // Labels near an edge grow away from it.
  function alignment(x, of = data) {
    const f = of.factor ? Math.log : v => v;
    const part = (f(x) - f(of.domain[0])) / (f(of.domain[1]) - f(of.domain[0]));
    return part < 0.28 ? "left" : part > 0.72 ? "right" : "center";
  }
  function estimates(width) {
    const names = data.estimates.map(e => e.layout);
    const x = { field: "x", type: "quantitative", scale: effectScale(), axis: effectAxis(`throughput against ${data.baseline}`, width) };
    const y = { field: "layout", type: "nominal", sort: names, axis: { title: null, grid: false, labelFontSize: 13, labelFontWeight: 600, labelColor: css("text"), labelLimit: Math.min(200, width / 3), labelPadding: 12, labelOffset: 8 } };
    return {
      width, height: 54 * names.length, autosize: { type: "fit-x", contains: "padding" }, data: { values: data.estimates.map(e => ({ ...e, label: width < 520 ? e.short : e.label, align: alignment(e.x) })) },
      layer: [
        { data: { values: [{ a: data.margin[0], b: data.margin[1] }] }, mark: { type: "rect", color: css("band") }, encoding: { x: { field: "a", type: "quantitative" }, x2: { field: "b" } } },
        { data: { values: [{ a: even }] }, mark: { type: "rule", color: css("muted"), strokeWidth: 1 }, encoding: { x: { field: "a", type: "quantitative" } } },
        { transform: [{ filter: "datum.lo !== null" }], mark: { type: "rule", strokeWidth: 8, strokeCap: "round", opacity: pale, yOffset: 8 }, encoding: { x: { field: "lo", type: "quantitative" }, x2: { field: "hi" }, y, color: colour, tooltip: { field: "tip" } } },
        { transform: [{ filter: "datum.raw !== null" }], mark: { type: "tick", thickness: 1.5, size: 18, color: css("muted"), yOffset: 8 }, encoding: { x: { field: "raw", type: "quantitative" }, y } },
        { mark: { type: "point", filled: true, size: 110, opacity: 1, yOffset: 8 }, encoding: { x, y, color: colour, tooltip: { field: "tip" } } },
        ...["left", "center", "right"].map(align => ({ transform: [{ filter: `datum.align === '${align}'` }], mark: { type: "text", align, dy: -10, fontWeight: 500, limit: width * 0.6 }, encoding: { x, y, text: { field: "label" } } })),
      ],
    };
  }

  // What stands on a horizontal or vertical scale of effects: the margin, and no difference.
  const ground = (of, channel) => [
    { data: { values: [{ a: of.margin[0], b: of.margin[1] }] }, mark: { type: "rect", color: css("band") }, encoding: { [channel]: { field: "a", type: "quantitative" }, [channel + "2"]: { field: "b" } } },
    { data: { values: [{ a: of.factor ? 1 : 0 }] }, mark: { type: "rule", color: css("muted"), strokeWidth: 1 }, encoding: { [channel]: { field: "a", type: "quantitative" } } },
  ];

  // One layout's differences, a line for each family.
  function familyDots(layout, width) {
    const of = data.families, rows = of.marks.filter(m => m.layout === layout);
    const x = { field: "x", type: "quantitative", scale: effectScale(of), axis: effectAxis(`throughput against ${data.baseline}`, width, of) };
    const y = { field: "family", type: "nominal", sort: of.order, axis: { title: null, grid: true, labelFontSize: 13, labelColor: css("text"), labelLimit: Math.min(200, width / 3), labelPadding: 12 } };
    return {
      width, height: 34 * rows.length, autosize: { type: "fit-x", contains: "padding" }, data: { values: rows.map(m => ({ ...m, align: alignment(m.x, of) })) },
      layer: [
        ...ground(of, "x"),
        { transform: [{ filter: "datum.lo !== null" }], mark: { type: "rule", strokeWidth: 7, strokeCap: "round", opacity: pale, yOffset: 6 }, encoding: { x: { field: "lo", type: "quantitative" }, x2: { field: "hi" }, y, color: colour, tooltip: { field: "tip" } } },
        { transform: [{ filter: "datum.lo !== null" }], mark: { type: "point", filled: true, size: 80, opacity: 1, yOffset: 6 }, encoding: { x, y, color: colour, tooltip: { field: "tip" } } },
        ...["left", "center", "right"].map(align => ({ transform: [{ filter: `datum.align === '${align}'` }], mark: { type: "text", align, dy: -6, fontSize: 11, color: css("muted"), limit: width * 0.6 }, encoding: { x, y, text: { field: "label" } } })),
      ],
    };
  }

  // One family's differences over the number of files.
  function familyCurve(family, width) {
    const of = data.families, rows = of.marks.filter(m => m.family === family);
    const counts = [...new Set(rows.map(m => m.files))].sort((a, b) => a - b);
    const x = { field: "files", type: "quantitative", scale: { type: "log", base: 2, domain: [counts[0] / 1.2, counts[counts.length - 1] * 1.2], nice: false }, axis: { title: of.over, grid: false, values: counts, format: "d" } };
    const y = f => ({ field: f, type: "quantitative", scale: effectScale(of), axis: { ...effectAxis(`against ${data.baseline}`, 380, of), ...(of.factor ? {} : { tickCount: 4 }), minExtent: 42 } });
    return {
      width, height: 170, autosize: { type: "fit-x", contains: "padding" }, data: { values: rows },
      layer: [
        ...ground(of, "y"),
        { transform: [{ filter: "datum.lo !== null || datum.label === 'baseline'" }], mark: { type: "line", color: css("best"), strokeWidth: 1.5 }, encoding: { x, y: y("x") } },
        { transform: [{ filter: "datum.lo !== null" }], mark: { type: "rule", strokeWidth: 7, strokeCap: "round", opacity: pale }, encoding: { x, y: y("lo"), y2: { field: "hi" }, color: colour, tooltip: { field: "tip" } } },
        { transform: [{ filter: "datum.lo !== null || datum.label === 'baseline'" }], mark: { type: "point", filled: true, size: 70, opacity: 1 }, encoding: { x, y: y("x"), color: colour, tooltip: { field: "tip" } } },
      ],
    };
  }

  const shapes = {
    done: "circle", "down-weighted": "diamond", pilot: "triangle-up",
    failed: "M-0.7-0.7L0.7 0.7M0.7-0.7L-0.7 0.7",
  };
  function trials(width) {
    const kinds = Object.keys(shapes);
    const names = [...new Set(data.trials.map(t => t.layout))];
    const order = data.order.filter(n => names.includes(n));
    const last = data.blocks.length ? data.blocks[data.blocks.length - 1].to : 1;
    const first = data.blocks.length ? data.blocks[0].from : 0;
    const every = Math.ceil(data.blocks.length / Math.max(4, Math.floor(width / 60)));
    const middles = data.blocks.filter((b, i) => i % every === 0 || b.label === "pilots");
    const labels = middles.map(b => `datum.value === ${(b.from + b.to) / 2} ? ${JSON.stringify(b.label)} : `).join("") + "''";
    const x = { field: "n", type: "quantitative", scale: { domain: [first, last], nice: false, zero: false }, axis: { title: "blocks, in the order in which the trials ran", grid: false, values: middles.map(b => (b.from + b.to) / 2), labelExpr: labels, labelOverlap: false } };
    const y = { field: "y", type: "quantitative", scale: { domain: data.deviation, nice: false, zero: false }, axis: { title: null, tickCount: 4, labelExpr: percentLabel } };
    return {
      title: { text: "deviation from the layout’s typical trial", anchor: "start", fontSize: 12, fontWeight: 400, font, color: css("muted"), offset: 4 },
      data: { values: data.trials },
      facet: { row: { field: "layout", type: "nominal", sort: order, header: { labelOrient: "top", labelAnchor: "start", labelPadding: 3, title: null } } },
      spec: {
        width: Math.max(120, width - 62), height: 74,
        layer: [
          { data: { values: data.blocks.filter(b => b.odd) }, mark: { type: "rect", color: css("stripe") }, encoding: { x: { field: "from", type: "quantitative" }, x2: { field: "to" } } },
          { data: { values: [{ z: 0 }] }, mark: { type: "rule", color: css("line") }, encoding: { y: { field: "z", type: "quantitative" } } },
          { transform: [{ filter: "datum.kind === 'done'" }], mark: { type: "line", color: css("best"), strokeWidth: 1, opacity: 0.45 }, encoding: { x, y, order: { field: "n", type: "quantitative" } } },
          { mark: { type: "point", opacity: 1, filled: true }, encoding: {
            x, y, tooltip: { field: "tip" }, size: { condition: { test: "datum.kind === 'failed'", value: 90 }, value: 56 },
            shape: { field: "kind", type: "nominal", legend: null, scale: { domain: kinds, range: kinds.map(k => shapes[k]) } },
            fill: { field: "kind", type: "nominal", legend: null, scale: { domain: kinds, range: [css("best"), css("bg"), css("bg"), "transparent"] } },
            stroke: { field: "kind", type: "nominal", legend: null, scale: { domain: kinds, range: [css("best"), css("worse"), css("same"), css("worse")] } },
            strokeWidth: { condition: [{ test: "datum.kind === 'failed'", value: 2.4 }, { test: "datum.kind !== 'done'", value: 1.7 }], value: 0.5 },
          } },
          ...[["left", 9, true], ["right", -9, false]].map(([align, dx, before]) => ({
            transform: [{ filter: `datum.label !== '' && (datum.n < ${(first + last) / 2}) === ${before}` }],
            mark: { type: "text", align, dx, fontSize: 12, color: css("muted") }, encoding: { x, y, text: { field: "label" } },
          })),
        ],
      },
      resolve: { scale: { x: "shared", y: "shared" } },
    };
  }

  function within(curve, width) {
    const at = i => (i + 0.5) * curve.step;
    const rows = curve.median.map((m, i) => ({ t: at(i), m, ...(curve.bands ? curve.bands[i] : {}) }));
    const single = (curve.lines || []).flatMap((line, k) => line.slice(0, rows.length).map((v, i) => ({ t: at(i), v, k })));
    const end = Math.max(curve.window[1], rows.length * curve.step);
    const shade = [{ a: 0, b: curve.window[0] }, { a: curve.window[1], b: end }].filter(s => s.b > s.a);
    const x = { field: "t", type: "quantitative", scale: { domain: [0, end], nice: false }, axis: { title: "seconds from the start of the warm-up", grid: false, tickCount: 5, labelFlush: false, format: "~f" } };
    const y = f => ({ field: f, type: "quantitative", scale: { zero: true }, axis: { title: data.unit, tickCount: 4, labelExpr: "datum.value === 0 ? '0' : format(datum.value, '~s')", minExtent: 34 } });
    const layer = [{ data: { values: shade }, mark: { type: "rect", color: css("band") }, encoding: { x: { field: "a", type: "quantitative" }, x2: { field: "b" } } }];
    if (curve.bands) {
      layer.push({ mark: { type: "area", color: css("best"), opacity: 0.14 }, encoding: { x, y: y("p10"), y2: { field: "p90" } } });
      layer.push({ mark: { type: "area", color: css("best"), opacity: 0.22 }, encoding: { x, y: y("p25"), y2: { field: "p75" } } });
    } else {
      layer.push({ data: { values: single }, mark: { type: "line", color: css("best"), strokeWidth: 1, opacity: 0.25 }, encoding: { x, y: y("v"), detail: { field: "k" } } });
    }
    layer.push({ mark: { type: "line", color: css("best"), strokeWidth: 2 }, encoding: { x, y: y("m") } });
    return { width, height: 120, autosize: { type: "fit-x", contains: "padding" }, data: { values: rows }, layer };
  }

  function looks(name, width) {
    const rows = data.looks.filter(l => l.layout === name);
    const blocks = [...new Set(data.looks.map(l => l.block))];
    const all = data.looks.flatMap(l => [l.lo, l.hi, l.x]).filter(v => v !== null).concat(data.margin);
    const room = data.factor ? 1.05 : 0.05 * (Math.max(...all) - Math.min(...all));
    const domain = data.factor ? [Math.min(...all) / room, Math.max(...all) * room] : [Math.min(...all) - room, Math.max(...all) + room];
    const x = { field: "block", type: "quantitative", scale: { domain: [blocks[0] - 0.5, blocks[blocks.length - 1] + 0.5], nice: false, zero: false }, axis: { title: "blocks so far", grid: false, values: blocks, format: "d", labelOverlap: true } };
    const y = f => ({ field: f, type: "quantitative", scale: { ...effectScale(), domain }, axis: { ...effectAxis(`against ${data.baseline}`, 380), ...(data.factor ? { values: data.ticks } : { tickCount: 4 }), minExtent: 42 } });
    return {
      width, height: 120, autosize: { type: "fit-x", contains: "padding" }, data: { values: rows },
      layer: [
        { data: { values: [{ a: data.margin[0], b: data.margin[1] }] }, mark: { type: "rect", color: css("band") }, encoding: { y: { field: "a", type: "quantitative" }, y2: { field: "b" } } },
        { data: { values: [{ a: even }] }, mark: { type: "rule", color: css("muted") }, encoding: { y: { field: "a", type: "quantitative" } } },
        { transform: [{ filter: "datum.lo !== null" }], mark: { type: "rule", color: css("best"), strokeWidth: 6, strokeCap: "round", opacity: pale }, encoding: { x, y: y("lo"), y2: { field: "hi" } } },
        { transform: [{ filter: "!datum.frozen" }], mark: { type: "point", filled: true, size: 50, opacity: 1, color: css("best") }, encoding: { x, y: y("x") } },
        { transform: [{ filter: "datum.frozen" }], mark: { type: "point", filled: true, size: 50, opacity: 1, fill: css("bg"), stroke: css("best"), strokeWidth: 1.5 }, encoding: { x, y: y("x") } },
      ],
    };
  }

  // A drawing knows where it is, how it is specified for a width, and its view.
  const drawings = [];
  function add(el, spec, printWidth) { drawings.push({ el, spec, printWidth, view: null, width: 0 }); }
  function draw(d, width) {
    if (width < 40 || Math.abs(width - d.width) < 3) return;
    const compiled = vegaLite.compile(d.spec(width), { config }).spec;
    const view = new vega.View(vega.parse(compiled, null, { ast: true }), {
      expr: vegaInterpreter.expressionInterpreter, renderer: "svg", loader, logLevel: vega.Error, hover: false,
    });
    const fresh = document.createElement("div");
    view.initialize(fresh).run();
    d.el.replaceChildren(fresh);
    if (d.view) d.view.finalize();
    d.view = view;
    d.width = width;
  }
  const drawAll = () => drawings.forEach(d => draw(d, Math.floor(d.el.clientWidth)));

  // Makes one cell of a grid for each layout; titles label the drawings directly.
  function cells(id, names, spec) {
    const grid = document.getElementById(id);
    if (!grid) return;
    grid.replaceChildren();
    for (const name of names) {
      const cell = document.createElement("div"), title = document.createElement("p"), el = document.createElement("div");
      cell.className = "cell";
      title.textContent = name;
      cell.append(title, el);
      grid.append(cell);
      add(el, w => spec(name, w), 320);
    }
  }

  const main = document.getElementById("chart-estimates");
  if (main && data.estimates.length) add(main, estimates, 670);
  const dots = document.getElementById("chart-trials");
  if (dots && data.trials.length) add(dots, trials, 670);
  if (data.families && data.families.curve) cells("chart-families", data.families.order, familyCurve);
  else if (data.families) cells("chart-families", data.families.layouts.filter(n => data.families.marks.some(m => m.layout === n)), familyDots);
  cells("chart-within", data.within.map(c => c.layout), (name, w) => within(data.within.find(c => c.layout === name), w));
  cells("chart-looks", data.order.filter(n => data.looks.some(l => l.layout === n)), looks);

  drawAll();
  let waiting = 0;
  new ResizeObserver(() => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(drawAll);
  }).observe(document.querySelector("main"));

  // Paper has its own width, and what is folded away belongs on it.
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details[data-print]:not([open])")];
    opened.forEach(d => { d.open = true; });
    drawings.forEach(d => draw(d, d.printWidth));
  });
  addEventListener("afterprint", () => {
    opened.forEach(d => { d.open = false; });
    drawAll();
  });
  document.documentElement.dataset.charts = String(drawings.length);
})();
