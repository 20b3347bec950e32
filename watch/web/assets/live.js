"use strict";
// The live page: it shows what the server says, and holds nothing that it needs.

const $ = id => document.getElementById(id);
const put = (id, ...children) => $(id).replaceChildren(...children.flat().filter(c => c !== null && c !== undefined && c !== "" && c !== false));
let hello = {}, progress = null, now = null, runs = null, source = null, asked = "", quiet = false, counted = {};
const ticked = new Set();

const clock = t => new Date(t).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const when = t => new Date(t).toLocaleString([], { year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit" });

function table(id, caption, head, rows) {
  return el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
    el("table", { id }, el("caption", {}, caption), el("thead", {}, el("tr", {}, ...head.map(([text, num]) => el("th", { scope: "col", class: num && "num" }, text)))),
      el("tbody", {}, ...rows)));
}

// ---- now ----

function showNow() {
  const n = now, running = n && n.stage;
  $("now").hidden = false;
  let doing = "Nothing is being measured.";
  if (n && n.waiting) doing = n.waiting[0].toUpperCase() + n.waiting.slice(1) + ".";
  else if (running) doing = `${n.place} · ${n.cell.layout}: ${n.family && progress?.families.length > 1 ? n.family + ", " : ""}${n.stage}`;
  else if (n) doing = "Between two trials.";
  else if (quiet && progress?.state === "running") doing = "Filewise does not answer; its last report is below.";
  else if (progress?.state === "running") doing = `Run ${progress.run} is being measured by a process that this page cannot reach; its stored trials are below.`;
  else if (progress?.state === "interrupted") doing = `Nothing is being measured. “filewise resume ${progress.run}” goes on with this run.`;
  if (n && n.stopping) doing = "Stopping: " + doing;
  if ($("doing").textContent !== doing) put("doing", doing);
  put("rate", running && n.throughput ? [sig(n.throughput), el("small", {}, ` ${n.unit || "operations"}/s now, ${sig(Math.round(n.trial_seconds))} s into the trial`)] : []);
  showButtons();
  showCourse(running ? n : null);
  showCounters();
  markRunning();
  document.title = n ? (n.waiting ? "Paused" : `${n.place || "Filewise"} · ${n.cell.layout}`) + " – Filewise" : "Filewise";
}

function showButtons() {
  $("buttons").hidden = !now;
  if (!now) return;
  const able = { pause: !now.pausing && !now.stopping, resume: now.pausing && !now.stopping, stop: !now.stopping };
  for (const b of document.querySelectorAll("[data-do]")) b.disabled = !hello.buttons || !able[b.dataset.do];
  let said = asked;
  if (now.stopping) said = "Stopping. “filewise resume” continues later.";
  else if (now.pausing) said = now.waiting ? "Paused." : "Pausing after this trial.";
  else if (!hello.buttons) said = "The buttons need the token, above.";
  if ($("said").textContent !== said) put("said", said);
}

function showCourse(n) {
  const any = n && ((n.course && n.course.per_second) || n.earlier);
  $("course").hidden = !any;
  if (!any) return;
  const open = $("course-table")?.open, focused = document.activeElement?.closest("#course-table");
  const details = courseTable(n);
  details.open = !!open;
  put("course", courseChart(n), el("figcaption", {}, courseWords(n) + ` In ${n.unit || "operations"} per second.`), details);
  if (focused) details.querySelector("summary").focus();
}

// ---- waits and I/O ----

const rowOf = (cells, head = 0) => el("tr", {}, ...cells.map((c, i) => i === head ? el("th", { scope: "row", class: "words" }, c) : el("td", { class: i > head ? "num" : "" }, c)));

function bar(share) {
  return svg("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" }, svg("rect", { class: "bar", width: Math.max(.5, 100 * share), height: 10 }));
}

function showCounters() {
  const key = now && now.stage ? now.cell.layout + now.cell.block + now.family + now.cell.attempt : "";
  if (now?.counters) counted = { key, list: now.counters, seconds: now.counters_seconds, what: `${now.place} · ${now.cell.layout}`, live: true };
  else if (counted.list && key !== counted.key && counted.live) counted.live = false;
  if (!counted.list) return put("counters", el("p", { class: "note" }, now ? "They are read in the measured window, once a second at most." : "They are shown while a trial is measured; those of finished trials are in the report."));
  if (counted.shown === counted.seconds + counted.what + counted.live) return;
  counted.shown = counted.seconds + counted.what + counted.live;
  const opened = $("more-counters")?.open;
  const waits = counted.list.filter(c => c.class), files = counted.list.filter(c => c.file && !c.class), rest = counted.list.filter(c => !c.class && !c.file);
  put("counters", el("p", { class: "note" }, `${counted.live ? "Of" : "Last of"} ${counted.what}, in the first ${sig(counted.seconds)} s of its window.`),
    waitTables(waits), fileTable(files), restTable(rest));
  if ($("more-counters")) $("more-counters").open = opened ?? !(waits.length || files.length);
}

// behind tells of waits of the server's own processes, for which no session waits.
const behind = c => c.probe === "background waits";

function waitTables(waits) {
  const times = waits.filter(c => c.unit === "s").sort((a, b) => b.value - a.value);
  if (!times.length) return [];
  const classes = new Map();
  for (const c of times) if (!behind(c)) classes.set(c.class, (classes.get(c.class) || 0) + c.per_second);
  const sorted = [...classes].sort((a, b) => b[1] - a[1]), most = sorted[0]?.[1];
  const number = c => waits.find(w => w.name === c.name && w.probe === c.probe && w.unit !== "s");
  return [sorted.length > 0 && table("wait-classes", "Waits by class: sessions waiting at a time, on average", [["class"], ["sessions", true], [el("span", { class: "unseen" }, "against the most")]],
    sorted.map(([name, x]) => el("tr", {}, el("th", { scope: "row" }, name), el("td", { class: "num" }, sig(x)), el("td", {}, bar(x / most))))),
  table("wait-events", "The longest waits", [["event"], ["class"], ["sessions", true], ["waits/s", true], ["mean", true]],
    times.slice(0, 8).map(c => { const n = number(c);
      return el("tr", {}, el("th", { scope: "row", class: "words" }, c.name + (behind(c) ? " (in the background)" : "")), el("td", {}, c.class), el("td", { class: "num" }, sig(c.per_second)), el("td", { class: "num" }, n ? sig(n.per_second) : "—"), el("td", { class: "num" }, n && n.value ? sig(c.value / n.value * 1000) + " ms" : "—")); }))];
}

const fileRows = 32;

// commonDirectory is the one in which all paths lie, with its last stroke; empty: none.
function commonDirectory(paths) {
  let common = paths.length > 1 ? paths[0] : "";
  for (const p of paths) while (!p.startsWith(common)) common = common.slice(0, -1);
  return common.slice(0, Math.max(common.lastIndexOf("/"), common.lastIndexOf("\\")) + 1);
}

function fileTable(files) {
  if (!files.length) return [];
  const by = new Map();
  for (const c of files) by.set(c.file, { ...by.get(c.file), [c.name]: c });
  const all = [...by].sort((a, b) => (b[1]["bytes written"]?.value || 0) - (a[1]["bytes written"]?.value || 0) || a[0].localeCompare(b[0]));
  const inside = commonDirectory(all.map(([path]) => path));
  const rate = (c, scale = 1) => c ? sig(c.per_second / scale) : "—";
  const mean = (time, count) => time && count && count.value ? sig(time.value / count.value * 1000) + " ms" : "—";
  const columns = [["written MB/s", c => rate(c["bytes written"], 1e6)], ["writes/s", c => rate(c.writes)], ["a write", c => mean(c["write time"], c.writes)],
    ["read MB/s", c => rate(c["bytes read"], 1e6)], ["reads/s", c => rate(c.reads)], ["a read", c => mean(c["read time"], c.reads)], ["syncs/s", c => rate(c.syncs)], ["a sync", c => mean(c["sync time"], c.syncs)],
    ["grown MB/s", c => rate(c["bytes grown"], 1e6)], ["rows/s", c => rate(c["rows written"])]].filter(([, write]) => all.some(([, c]) => write(c) !== "—")); // what the server does not tell has no column
  return [table("files", `I/O by file${all.length > fileRows ? `: the busiest ${fileRows} of ${all.length}` : ""}${inside ? ", in " + inside : ""}`, [["file"], ...columns.map(([name]) => [name, true])],
    all.slice(0, fileRows).map(([path, c]) => rowOf([path.slice(inside.length), ...columns.map(([, write]) => write(c))])))];
}

function restTable(rest) {
  if (!rest.length) return [];
  return [el("details", { id: "more-counters" }, el("summary", {}, "All other counters"),
    table("rest", "Counters of this machine and of the server", [["counter"], ["probe"], ["so far", true], ["per second", true]],
      rest.map(c => { const bytes = c.unit === "B" || c.unit === "bytes", scale = bytes ? 1e6 : 1;
        return el("tr", {}, el("th", { scope: "row", class: "words" }, c.name), el("td", {}, c.probe), el("td", { class: "num" }, sig(c.value / scale) + " " + (bytes ? "MB" : c.unit)), el("td", { class: "num" }, c.per_second === undefined ? "mean" : sig(c.per_second / scale))); })))];
}

// ---- progress ----

function showProgress() {
  const p = progress;
  put("run", `Run ${p.run}: ${p.scenario} on ${p.engine}, durability ${p.durability}, seed ${p.seed}; ${p.state}`);
  put("h-verdict", p.ended ? "Verdict" : "Verdict so far");
  put("headline", p.headline);
  put("loss", p.latency_loss);
  put("relevance", p.relevance);
  put("sentences", (p.sentences || []).filter(s => s !== p.headline).map(s => el("li", {}, s)));
  put("charts", p.charts.flatMap(reportChart));
  const tables = p.families.map(f => layoutTable(p, p.families.length > 1 ? f.name + ": " + f.headline : "Layouts", f.layouts));
  put("tables", tables);
  put("left", p.left ? p.left[0].toUpperCase() + p.left.slice(1) + "." : "");
  showPlan(p.plan);
  $("warnings").hidden = !p.warnings?.length;
  put("warned", (p.warnings || []).map(w => el("li", {}, el("p", {}, w.message), w.remedy && el("p", {}, "Remedy: " + w.remedy))));
  showLog(p.log || []);
}

function layoutTable(p, caption, layouts) {
  const more = [["write amplification", l => l.bytes_written_per_byte], ["checkpoint cycles in a window", l => l.checkpoint_cycles]].filter(([, of]) => layouts.some(l => of(l) !== undefined));
  return table(null, caption, [["layout"], ["trials", true], [layouts.find(l => l.unit)?.unit || "throughput", true], [`against ${p.baseline} (${sig(100 * p.confidence)} %)`], ["result"], ...more.map(([name]) => [name, true])],
    layouts.map(l => el("tr", {}, el("th", { scope: "row" }, l.name), el("td", { class: "num" }, l.trials_failed ? `${l.trials_done} of ${l.trials_done + l.trials_failed}` : String(l.trials_done)),
      el("td", { class: "num" }, l.typical === null ? "—" : sig(l.typical)), el("td", {}, l.difference), el("td", { class: "mark " + markClass(l.mark) }, l.mark),
      ...more.map(([, of]) => el("td", { class: "num" }, of(l) === undefined ? "—" : sig(of(l)))))));
}

const signs = { done: "✓", failed: "✗", todo: "·" };

function showPlan(plan) {
  put("cells", el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "layout"), ...(plan.blocks || []).map(b => el("th", { scope: "col" }, b ? String(b) : "pilot")), plan.more > 0 && el("th", { scope: "col" }, `… ${plan.more} more at most`))),
    el("tbody", {}, ...(plan.rows || []).map(r => el("tr", {}, el("th", { scope: "row" }, r.layout), ...r.cells.map((c, i) =>
      el("td", { class: c.state, "data-cell": r.layout + "#" + plan.blocks[i], title: c.outcome || false },
        el("span", { "aria-hidden": "true" }, signs[c.state] || ""), el("span", { class: "unseen" }, c.state === "todo" ? "to do" : c.state),
        c.order ? el("small", {}, String(c.order)) : "", c.failed && c.state === "done" ? el("small", { class: "failed" }, `✗${c.failed}`) : ""))))));
  markRunning();
}

function markRunning() {
  const at = now && now.stage ? now.cell.layout + "#" + now.cell.block : null;
  for (const td of document.querySelectorAll("#cells td")) {
    const is = td.dataset.cell === at;
    if (td.classList.contains("run") === is) continue;
    td.classList.toggle("run", is);
    const [sign, words] = td.children, state = [...td.classList].find(c => c !== "run") || "";
    sign.textContent = is ? "▶" : signs[state] || "";
    words.textContent = is ? "running" : state === "todo" ? "to do" : state;
  }
}

function showLog(lines) {
  const list = $("lines"), end = list.scrollHeight - list.scrollTop - list.clientHeight < 30;
  put("lines", lines.map(l => el("li", { class: l.bad && "bad" }, el("time", { datetime: l.at }, clock(l.at)), el("span", {}, l.text))));
  if (end) list.scrollTop = list.scrollHeight;
  const last = lines.at(-1)?.text || "";
  if ($("announce").textContent !== last) put("announce", last);
}

// ---- history ----

const page = 100; // runs that the server lists at a time
const listed = new Map(); // runs by number: the newest, which the server tells, and older ones, which are asked for
let allListed = false;

function showRuns() {
  runs.forEach(r => listed.set(r.id, r));
  const all = [...listed.values()].sort((a, b) => a.id - b.id);
  $("older").hidden = allListed || runs.length < page;
  $("none").hidden = runs.length > 0;
  $("compare").hidden = runs.length === 0;
  const focused = document.activeElement?.id;
  put("history", el("thead", {}, el("tr", {}, ...["", "run", "started", "state", "what", "trials", "verdict"].map(t => el("th", { scope: "col" }, t || el("span", { class: "unseen" }, "compare"))))),
    el("tbody", {}, ...all.reverse().map(r => {
      const tick = el("input", { type: "checkbox", id: "tick-" + r.id, value: r.id, "aria-label": "compare run " + r.id });
      tick.checked = ticked.has(r.id);
      return el("tr", {}, el("td", {}, tick), el("th", { scope: "row" }, el("a", { href: "/runs/" + r.id }, `Report ${r.id}`)), el("td", {}, when(r.started)), el("td", {}, r.state),
        el("td", { class: "words" }, `${r.scenario} on ${r.engine}, ${r.layouts.join(" · ")}`), el("td", { class: "num" }, String(r.trials)), el("td", { class: "words" }, r.verdict || ""));
    })));
  if (focused?.startsWith("tick-")) $(focused)?.focus();
}

$("older").addEventListener("click", async () => {
  const r = await fetch(`/api/runs?before=${Math.min(...listed.keys())}`, asOwner());
  if (!r.ok) return put("compare-said", await r.text());
  const more = await r.json();
  more.forEach(run => listed.set(run.id, run));
  allListed = more.length < page;
  showRuns();
});

$("history").addEventListener("change", e => {
  const id = Number(e.target.value);
  if (e.target.checked) ticked.add(id); else ticked.delete(id);
});

$("compare").addEventListener("submit", async e => {
  e.preventDefault();
  const two = [...ticked].sort((a, b) => a - b);
  if (two.length !== 2) return put("compare-said", "Tick two runs.");
  put("compare-said", "");
  const r = await fetch(`/api/compare?before=${two[0]}&after=${two[1]}`, asOwner());
  if (!r.ok) return put("comparison", el("p", { class: "notice" }, await r.text()));
  const c = await r.json();
  put("comparison", el("h3", {}, `Run ${c.after} against run ${c.before}`),
    c.families.map(f => table(null, f.family || "Throughput", [["layout"], ["change"]], f.layouts.map(l => el("tr", {}, el("th", { scope: "row" }, l.layout), el("td", { class: "words" }, l.text))))),
    c.layouts_not_in_both.map(n => el("p", {}, `${n} is in one of the runs only.`)),
    c.differences.map(d => el("p", {}, `${d.kind === "warned" ? "Warning: the runs also differ in" : "Changed"} ${d.what}: “${d.before}”, then “${d.after}”.`)),
    el("p", { class: "note" }, "These changes include whatever else happened to the machine between the runs."));
  $("comparison").focus();
});

// ---- campaigns ----

// showFleet has one table for each experiment of a campaign, with its hosts side by side.
function showFleet(f) {
  $("fleet").hidden = document.querySelector("nav a[href='#fleet']").hidden = false;
  $("fleet-problem").hidden = !f.problem;
  put("fleet-problem", f.problem);
  const by = new Map();
  for (const o of f.orders || []) { const key = o.campaign + ": " + o.experiment; by.set(key, [...by.get(key) || [], o]); }
  put("orders", by.size ? [...by].map(([key, orders]) => table(null, key, [["host"], ["state"], ["trials", true], ["what it does, and has found"], ["layouts, so far"]],
    orders.map(o => el("tr", {}, el("th", { scope: "row" }, o.host), el("td", { class: "mark " + (o.condition === "lost" || o.condition === "failed" ? "worse" : "") }, o.condition), el("td", { class: "num" }, String(o.trials - (o.beside || 0))),
      el("td", { class: "words" }, [o.doing, o.verdict, o.error].filter(Boolean).map(t => el("div", {}, t))),
      el("td", { class: "words" }, (o.layouts || []).map(l => el("div", {}, `${l.layout}: ${l.difference} `, el("span", { class: "mark " + markClass(l.mark) }, l.mark)))))))) : el("p", {}, "No campaigns yet. “filewise campaign” begins one."));
  put("hosts", (f.hosts || []).length > 0 && table(null, "Hosts", [["host"], ["labels"], ["worker"]],
    f.hosts.map(h => el("tr", {}, el("th", { scope: "row" }, h.host), el("td", { class: "words" }, (h.labels || []).join(", ")), el("td", {}, h.working ? "there" : "not there")))));
}

// ---- buttons and token ----

// asOwner adds the session, which the token has opened. It is of this tab and of the Filewise that gave it: whoever listens
// at this port later has no use for it.
const asOwner = (options = {}) => {
  const session = sessionStorage.getItem("filewise-session");
  return session ? { ...options, headers: { Authorization: "Bearer " + session } } : options;
};

// A link has no header: it gets a ticket, which opens one page once.
$("history").addEventListener("click", async e => {
  const a = e.target.closest("a");
  if (!a || hello.open || !sessionStorage.getItem("filewise-session")) return;
  e.preventDefault();
  const apart = e.ctrlKey || e.metaKey || e.shiftKey ? window.open("about:blank") : null;
  const r = await fetch("/api/link", asOwner({ method: "POST" })).catch(() => null);
  if (!r || !r.ok) { apart?.close(); $("login").hidden = false; return; }
  (apart || window).location.assign(`${a.pathname}?once=${(await r.json()).once}`);
});

async function act(action) {
  if (action === "stop" && !confirm("Stop the run? Its running trial ends and is not recorded; “filewise resume” continues later.")) return;
  asked = "";
  try {
    const r = await fetch("/api/do/" + action, asOwner({ method: "POST" }));
    if (!r.ok) asked = await r.text();
    if (r.status === 401) { hello.buttons = false; $("login").hidden = false; }
  } catch { asked = "Filewise does not answer."; }
  showButtons();
}

for (const b of document.querySelectorAll("[data-do]")) b.addEventListener("click", () => act(b.dataset.do));

async function login(given) {
  const r = await fetch("/login", { method: "POST", body: new URLSearchParams(given) });
  put("login-said", r.ok ? "" : "That is not the token.");
  if (r.ok) sessionStorage.setItem("filewise-session", (await r.json()).session);
  return r.ok;
}

$("login").addEventListener("submit", async e => {
  e.preventDefault();
  if (await login({ token: $("token").value })) { $("token").value = ""; connect(); }
});

// ---- the line to Filewise ----

function line(text, how) {
  if ($("line").textContent !== text) put("line", text);
  $("line").className = how;
}

const ended = "Filewise has ended; “filewise serve” shows this page again";

const events = {
  hello(h) { hello = h; asked = ""; quiet = false; if (!h.buttons) sessionStorage.removeItem("filewise-session"); $("login").hidden = h.buttons; $("content").hidden = false; put("about", `Filewise ${h.version}; store ${h.store}`); line("Live", "live"); },
  runs(r) { runs = r; showRuns(); },
  progress(p) { progress = p; showProgress(); showNow(); },
  now(n) { now = n; showNow(); },
  fleet(f) { showFleet(f); },
  problem(text) { $("problem").hidden = !text; put("problem", text); },
  leaving() { now = null; quiet = true; showNow(); line(ended, "lost"); },
};

addEventListener("resize", () => { if (progress) showProgress(); if (now) showNow(); });

let again = 0;

// connect opens the stream, and opens it again when it breaks.
async function connect() {
  source?.abort();
  clearTimeout(again);
  const mine = source = new AbortController();
  let status = 0;
  try {
    const r = await fetch("/api/events", asOwner({ signal: mine.signal }));
    status = r.status;
    if (r.ok) await listen(r.body.getReader());
  } catch { /* it broke */ }
  if (mine.signal.aborted) return;
  if ($("line").className !== "lost") line("Filewise does not answer; trying again", "lost");
  if (!quiet && $("line").textContent !== ended) { quiet = true; now = null; showNow(); }
  if (status === 401) { sessionStorage.removeItem("filewise-session"); $("login").hidden = false; line("The token is needed", "lost"); return; }
  again = setTimeout(connect, 2000);
}

// listen hands on what comes, until it ends: events as browsers' EventSource reads them, which sends no header.
async function listen(reader) {
  const decoder = new TextDecoder();
  for (let text = ""; ;) {
    const { value, done } = await reader.read();
    if (done) return;
    text += decoder.decode(value, { stream: true });
    const whole = text.split("\n\n");
    text = whole.pop();
    for (const one of whole) {
      const field = name => one.split("\n").filter(l => l.startsWith(name + ": ")).map(l => l.slice(name.length + 2)).join("\n");
      events[field("event")]?.(JSON.parse(field("data") || "null"));
    }
  }
}

(async () => {
  const given = new URLSearchParams(location.hash.slice(1));
  if (given.get("token") || given.get("once")) {
    history.replaceState(null, "", location.pathname); // it is in no bookmark and over no shoulder
    await login(given).catch(() => {});
  }
  connect();
})();
