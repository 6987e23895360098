// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes a report explorable: charts that answer to the mouse, tables that sort, and a look at every
// policy. Everything essential stands in the page already. Names from files are shown as text only,
// never as markup.
"use strict";

(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const root = document.documentElement;

  // --- small things -----------------------------------------------------------------------------

  const SVG = "http://www.w3.org/2000/svg";

  function fill(node, attributes, children) {
    for (const [key, value] of Object.entries(attributes)) {
      if (value === null || value === undefined || value === false) continue;
      if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
      else node.setAttribute(key, value === true ? "" : String(value));
    }
    node.append(...children.filter((child) => child !== null && child !== undefined));
    return node;
  }
  const el = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
  const svg = (tag, attributes = {}, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);
  const named = (text) => el("bdi", {}, text);
  const find = (selector, within = document) => within.querySelector(selector);
  const colour = (name) => getComputedStyle(root).getPropertyValue(name).trim();

  const NARROW = "\u202f";
  const grouped = (n) => String(n).replace(/\B(?=(\d{3})+(?!\d))/g, NARROW);
  function figure(x, digits = 4) {
    if (x === null || x === undefined) return "–";
    if (x === 0) return "0";
    const size = Math.abs(x);
    const text = size >= 1e-4 && size < 1e7 ? String(Number(x.toPrecision(digits))) : x.toExponential(digits - 2);
    return text.replace("-", "−").replace("e+", "e");
  }
  function percent(share) {
    if (share > 0 && share < 1e-4) return "< 0.01\u00a0%";
    return (share * 100).toFixed(share < 0.1 && share > 0 ? 2 : 1).replace(/\.?0+$/, "") + "\u00a0%";
  }
  const ofTenThousand = (n) => percent(n / 10000);
  function tickLabel(x) {
    for (const [unit, letter] of [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]]) {
      if (Math.abs(x) >= unit) return Number((x / unit).toPrecision(6)) + letter;
    }
    if (x !== 0 && Math.abs(x) < 1e-4) return x.toExponential(0).replace("-", "−").replace("e-", "e−");
    return String(Number(x.toPrecision(6))).replace("-", "−");
  }
  const argmax = (list) => list.reduce((best, x, i) => (x > list[best] ? i : best), 0);

  // --- charts -----------------------------------------------------------------------------------

  const charts = [];  // functions that draw one anew

  function logTicks(low, high) {
    const decades = Math.log10(high / low);
    const every = decades > 14 ? 4 : decades > 7 ? 2 : 1;
    const factors = decades < 1 ? [1, 1.5, 2, 3, 5, 7] : decades < 2.5 ? [1, 2, 5] : [1];
    const ticks = [];
    for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); ++e) {
      if (e % every !== 0) continue;
      for (const factor of factors) {
        const tick = Number(factor + "e" + e);
        if (tick >= low * 0.999999 && tick <= high * 1.000001) ticks.push(tick);
      }
    }
    return ticks;
  }

  function axis(logarithmic, label, size) {
    const settings = {
      stroke: () => colour("--muted"),
      font: "12px system-ui, sans-serif",
      labelFont: "12px system-ui, sans-serif",
      label,
      labelSize: 20,
      size,
      grid: { stroke: () => colour("--grid"), width: 1 },
      ticks: { stroke: () => colour("--grid"), width: 1, size: 4 },
      values: (u, ticks) => ticks.map((tick) => (tick === null ? "" : tickLabel(tick))),
    };
    if (logarithmic) {
      settings.splits = (u, i, low, high) => logTicks(low, high);
      settings.filter = (u, ticks) => ticks;
    }
    return settings;
  }

  function logRange(u, low, high) {
    if (low === null || !(low > 0)) return [0.1, 10];
    if (!(high > low * 1.000001)) return [low / 3, high * 3];
    const room = 1 + 0.06 * Math.min(Math.log(high / low), 4);
    return [low / room, high * room];
  }
  const exactRange = (u, low, high) => (low === null ? [1, 10] : high > low ? [low, high] : [low / 3, high * 3]);

  const DASHES = { dashed: [7, 4], dotted: [2, 3], guide: [4, 4] };

  function seriesOf(line) {
    return {
      label: line.name,
      stroke: () => colour(line.colour) + (line.thin ? "55" : ""),
      width: line.thin || line.dash === "guide" ? 1 : 2,
      dash: DASHES[line.dash],
      points: { show: line.values.filter((y) => y !== null).length === 1, size: 7 },
      spanGaps: true,
      value: (u, y) => (y === null || y === undefined ? "–" : figure(y)),
    };
  }

  /// The key of one line: a button that shows and hides it.
  function legendItem(line, toggle) {
    const path = svg("path", { class: "line " + line.style, d: "M1 5L21 5" });
    const button = el("button", { type: "button", "aria-pressed": "true" },
      svg("svg", { width: 22, height: 10, "aria-hidden": "true" }, path), named(line.name));
    button.addEventListener("click", () => {
      const shown = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(shown));
      toggle(shown);
    });
    return el("li", {}, button);
  }

  function readoutText(u, lines) {
    const at = u.cursor.idx;
    if (at === null || at === undefined) return "";
    const parts = [`${grouped(u.data[0][at])} ${data.xLabel}`];
    lines.forEach((line, i) => {
      const y = u.data[i + 1][at];
      if (line.name && u.series[i + 1].show && y !== null && y !== undefined) parts.push(`${line.name}: ${figure(y)}`);
    });
    return parts.slice(0, 9).join(" · ");
  }

  /// Puts a chart that answers to the mouse in the place of the drawn one.
  function liveChart(host, chart) {
    if (!host || chart.x.length < 2 || chart.lines.length === 0) return;
    const canvas = el("div", { class: "canvas", "aria-hidden": "true" });
    const readout = el("p", { class: "readout", "aria-live": "off" });
    const hidden = new Set();
    let plot = null;
    const legend = el("ul", { class: "legend" });
    chart.lines.forEach((line, i) => {
      if (!line.name) return;
      legend.append(legendItem(line, (shown) => {
        const group = chart.lines.map((other, j) => j).filter((j) => j === i || (line.group !== undefined && chart.lines[j].group === line.group));
        for (const j of group) {
          if (shown) hidden.delete(j);
          else hidden.add(j);
          plot.setSeries(j + 1, { show: shown });
        }
      }));
    });
    host.append(el("div", { class: "live" }, canvas, readout, legend));
    host.classList.add("has-live");
    const size = () => ({ width: Math.max(host.clientWidth, 240), height: host.clientWidth < 520 ? 270 : 340 });
    const draw = () => {
      if (plot) plot.destroy();
      plot = new uPlot({
        ...size(),
        legend: { show: false },
        cursor: { drag: { x: false, y: false }, points: { show: false } },
        scales: { x: { time: false, distr: 3, range: exactRange }, y: chart.logY ? { distr: 3, range: logRange } : {} },
        axes: [axis(true, chart.xLabel, 34), axis(chart.logY, chart.yLabel, 58)],
        bands: (chart.bands || []).map((band) => ({ series: band.series, fill: () => colour(band.colour) + "30" })),
        series: [{}, ...chart.lines.map(seriesOf)],
        hooks: { setCursor: [(u) => { readout.textContent = readoutText(u, chart.lines); }] },
      }, [chart.x, ...chart.lines.map((line) => line.values)], canvas);
      for (const j of hidden) plot.setSeries(j + 1, { show: false });
      host.dataset.points = String(chart.x.length);
    };
    draw();
    charts.push(draw);
    let width = host.clientWidth;
    new ResizeObserver(() => {
      if (host.clientWidth === width || host.clientWidth === 0) return;
      width = host.clientWidth;
      plot.setSize(size());
    }).observe(host);
  }

  /// On logarithmic axes only what is positive has a place.
  const positive = (list) => list.map((y) => (y > 0 ? y : null));

  function pickRows(curve) {
    return curve.x.map((x, i) => i).filter((i) => curve.x[i] > 0);
  }

  function gapChart(curve) {
    const rows = pickRows(curve);
    const x = rows.map((i) => curve.x[i]);
    const of = (list) => positive(rows.map((i) => list[i]));
    const lines = [];
    const add = (name, list, c, dash) =>
      lines.push({ name, values: list, colour: c === null ? "--muted" : `--c${c}`, dash, style: c === null ? "guide" : `c${c} ${dash || ""}` });
    const within = curve.upper ? of(curve.upper).filter((y) => y !== null) : [];
    const all = within.concat(curve.lower ? of(curve.lower) : [], curve.bound ? of(curve.bound) : []).filter((y) => y !== null);
    if (curve.guide && all.length > 0) {
      const low = Math.min(...all);
      const high = Math.max(...all);
      const guide = x.map((k) => curve.guide / Math.sqrt(k)).map((y) => (y >= low / 1.2 && y <= high * 1.2 ? y : null));
      add("∝ 1/√" + data.xLabel, guide, null, "guide");
    }
    if (curve.bound) add(curve.boundLabel, of(curve.bound), 2, "dotted");
    if (curve.lower) add("at least", of(curve.lower), 1, "dashed");
    if (curve.upper) add(curve.upperLabel, of(curve.upper), 0);
    return { x, lines: all.length > 0 ? lines : [], logY: true };
  }

  function valueChart(curve) {
    const rows = pickRows(curve);
    const lines = curve.series.map((series, j) => ({
      name: series.name, values: rows.map((i) => series.y[i]), colour: `--c${j % 8}`, dash: j >= 8 ? "dashed" : undefined,
      style: `c${j % 8} ${j >= 8 ? "dashed" : ""}`,
    }));
    return { x: rows.map((i) => curve.x[i]), lines: lines.filter((line) => line.values.some((y) => y !== null)), logY: false };
  }

  /// All runs on one axis: thin lines first, then the bands and means of their groups.
  function groupChart() {
    const tables = [];
    const lines = [];
    const bands = [];
    const add = (x, y, line) => {
      tables.push([data.xs[x], positive(y)]);
      lines.push(line);
    };
    data.groups.forEach((group, g) => {
      const alone = group.mid === undefined;
      const look = { colour: `--c${g % 8}`, style: `c${g % 8}`, group: g };
      for (const run of group.runs) {
        if (run.y.length > 0) add(run.x, run.y, { ...look, name: alone && run === group.runs[0] ? group.name : "", thin: !alone });
      }
    });
    data.groups.forEach((group, g) => {
      if (group.mid === undefined) return;
      const look = { colour: `--c${g % 8}`, style: `c${g % 8}`, group: g };
      bands.push({ series: [lines.length + 1, lines.length + 2], colour: look.colour });
      add(group.x, group.high, { ...look, name: "", edge: true, thin: true });
      add(group.x, group.low, { ...look, name: "", edge: true, thin: true });
      add(group.x, group.mid, { ...look, name: group.name });
    });
    if (tables.length === 0) return { x: [], lines: [] };
    const joined = uPlot.join(tables);
    lines.forEach((line, i) => { line.values = joined[i + 1]; });
    return { x: joined[0], lines, bands, logY: true };
  }

  function drawCharts() {
    const { xLabel } = data;
    if (data.groups) {
      liveChart(find("[data-chart=groups]"), { ...groupChart(), xLabel, yLabel: "gap" });
      return;
    }
    liveChart(find("[data-chart=gap]"), { ...gapChart(data.curve), xLabel, yLabel: "gap" });
    liveChart(find("[data-chart=value]"), { ...valueChart(data.curve), xLabel, yLabel: "estimate" });
  }

  // --- theme, printing, copying -----------------------------------------------------------------

  function themeButton() {
    const themes = ["auto", "light", "dark"];
    let at = 0;
    const button = el("button", { type: "button", id: "theme" }, "Theme: auto");
    const redraw = () => charts.forEach((draw) => draw());
    button.addEventListener("click", () => {
      at = (at + 1) % themes.length;
      if (themes[at] === "auto") delete root.dataset.theme;
      else root.dataset.theme = themes[at];
      button.textContent = "Theme: " + themes[at];
      redraw();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
    find("#tools").append(button);
  }

  /// On paper everything is open; afterwards as it was.
  function openForPrint() {
    let closed = [];
    const open = () => {
      if (closed.length > 0) return;
      closed = [...document.querySelectorAll("details:not([open])")];
      closed.forEach((details) => { details.open = true; });
    };
    const restore = () => {
      closed.forEach((details) => { details.open = false; });
      closed = [];
    };
    addEventListener("beforeprint", open);
    addEventListener("afterprint", restore);
    matchMedia("print").addEventListener("change", (event) => (event.matches ? open() : restore()));
  }

  async function copyText(box) {
    const text = find("code", box).textContent;
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      // Not allowed here: what is selected can be copied by hand, and often by this old command.
      const range = document.createRange();
      range.selectNodeContents(find("code", box));
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      return document.execCommand("copy");
    }
  }

  function copyButtons() {
    for (const box of document.querySelectorAll(".command")) {
      const button = el("button", { type: "button" }, "Copy");
      button.addEventListener("click", async () => {
        button.textContent = (await copyText(box)) ? "Copied" : "Selected";
        setTimeout(() => { button.textContent = "Copy"; }, 1500);
      });
      box.classList.add("copyable");
      box.append(button);
    }
  }

  // --- choosing ---------------------------------------------------------------------------------

  function choice(label, options, value, change) {
    const select = el("select", {});
    const refill = (list, now) => {
      select.replaceChildren(...list.map(([key, text]) => el("option", { value: key }, text)));
      select.value = String(now);
    };
    refill(options, value);
    select.addEventListener("change", () => change(Number(select.value)));
    return { node: el("label", {}, label, select), select, refill };
  }

  /// Shapes of a picture become buttons: one of them is in the tab order, arrows lead to the others.
  function makePicks(picture, selector, pick) {
    const shapes = picture ? [...picture.querySelectorAll(selector)] : [];
    if (shapes.length === 0) return;
    picture.setAttribute("role", "group");
    const keys = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };
    const centre = (shape) => {
      const box = shape.getBBox();
      return [box.x + box.width / 2, box.y + box.height / 2];
    };
    const next = (from, [dx, dy]) => {
      const [x, y] = centre(from);
      let best = null;
      let least = Infinity;
      for (const shape of shapes) {
        const [a, b] = centre(shape);
        const along = (a - x) * dx + (b - y) * dy;
        const across = Math.abs((a - x) * dy) + Math.abs((b - y) * dx);
        if (along > 0.5 && along + 3 * across < least) {
          least = along + 3 * across;
          best = shape;
        }
      }
      return best;
    };
    const choose = (shape) => pick(Number(shape.dataset.h), Number(shape.dataset.s));
    shapes.forEach((shape, i) => {
      shape.classList.add("pick");
      shape.setAttribute("role", "button");
      shape.setAttribute("tabindex", i === 0 ? "0" : "-1");
      const title = find("title", shape);
      shape.setAttribute("aria-label", title ? title.textContent : `step ${Number(shape.dataset.h) + 1}, state ${Number(shape.dataset.s) + 1}`);
      shape.addEventListener("click", () => choose(shape));
      shape.addEventListener("keydown", (event) => {
        if (event.key === "Enter" || event.key === " ") {
          event.preventDefault();
          choose(shape);
        } else if (keys[event.key]) {
          event.preventDefault();
          const to = next(shape, keys[event.key]);
          if (!to) return;
          shape.setAttribute("tabindex", "-1");
          to.setAttribute("tabindex", "0");
          to.focus();
        }
      });
    });
  }

  // --- where something could be gained -------------------------------------------------------------

  const actionsOf = (cell) => data.lists[cell.a];

  function witnessText(cell) {
    const actions = actionsOf(cell);
    if (!cell.w) return "–";
    if (data.target !== "ce") return actions[cell.w[0]] ?? "–";
    const changed = cell.w.map((b, a) => [a, b]).filter(([a, b]) => a !== b && cell.avg[a] >= 5);
    return changed.length ? changed.map(([a, b]) => `${actions[a]} → ${actions[b]}`).join(", ") : "follows";
  }

  /// As it is, and in percent of the player's gap.
  function shareText(share, gap) {
    if (share === undefined) return "–";
    if (!(gap > 0) || Math.abs(share) < 1e-9 * gap) return figure(gap > 0 ? 0 : share, 3);
    return `${figure(share, 3)} (${percent(share / gap)})`;
  }
  /// What is left where two numbers that agree are subtracted is no gain.
  const gainOf = (at) => (at.g !== undefined && Math.abs(at.g) <= 1e-13 * (Math.abs(at.v) + Math.abs(at.d)) ? 0 : at.g);

  function witnessRows() {
    const rows = [];
    for (const cell of data.cells) {
      cell.players.forEach((at, i) => {
        if (!at.w && at.d === undefined) return;
        const most = argmax(at.avg);
        rows.push({
          player: i, name: data.shown[i][1], step: cell.h + 1, state: cell.name,
          recommended: at.avg.length ? `${actionsOf(at)[most]} (${ofTenThousand(at.avg[most])})` : "–",
          witness: witnessText(at), gain: gainOf(at), share: at.share, gap: data.shown[i][2], reach: cell.reach, h: cell.h, s: cell.s,
        });
      });
    }
    return rows;
  }

  const WITNESS_COLUMNS = [
    ["name", "player"], ["step", "step", true], ["state", "state"], ["recommended", "recommended most"], ["witness", "the witness plays"],
    ["gain", "gain from here on", true], ["share", "share of the gap", true], ["reach", "reached", true],
  ];
  const SHOWN_ROWS = 15;

  function compare(a, b) {
    if (a === undefined || b === undefined) return (a === undefined) - (b === undefined);
    return typeof a === "number" ? b - a : String(a).localeCompare(String(b));
  }

  function witnessTable() {
    const host = find("#witness");
    const rows = host && data.cells ? witnessRows() : [];
    if (rows.length === 0) return;
    const state = { player: -1, key: rows.some((row) => row.share !== undefined) ? "share" : "gain", reverse: false, all: false };
    const body = el("tbody");
    const heads = WITNESS_COLUMNS.map(([key, title, number]) => {
      const button = el("button", { type: "button" }, title);
      const head = el("th", { scope: "col", class: number ? "n" : null }, button);
      button.addEventListener("click", () => {
        state.reverse = state.key === key ? !state.reverse : false;
        state.key = key;
        show();
      });
      return head;
    });
    const caption = el("caption");
    const more = el("button", { type: "button", id: "witness-more" });
    more.addEventListener("click", () => {
      state.all = !state.all;
      show();
    });
    const cellOf = (row, key, number) => {
      if (key === "reach") return el("td", { class: "n" }, row.reach === undefined ? "–" : percent(row.reach));
      if (key === "share") return el("td", { class: "n" }, shareText(row.share, row.gap));
      if (key === "step") return el("td", { class: "n" }, String(row.step));
      if (number) return el("td", { class: "n" }, figure(row[key], 3));
      return key === "name" ? el("th", { scope: "row" }, named(row.name)) : el("td", {}, named(row[key]));
    };
    function show() {
      const chosen = rows.filter((row) => state.player < 0 || row.player === state.player);
      chosen.sort((a, b) => compare(a[state.key], b[state.key]) * (state.reverse ? -1 : 1));
      const shown = state.all ? chosen : chosen.slice(0, SHOWN_ROWS);
      body.replaceChildren(...shown.map((row) => el("tr", {}, ...WITNESS_COLUMNS.map(([key, , number]) => cellOf(row, key, number)))));
      caption.textContent = `${shown.length} of ${chosen.length} places`;
      more.textContent = state.all ? "Show fewer" : `Show all ${chosen.length}`;
      more.hidden = chosen.length <= SHOWN_ROWS;
      heads.forEach((head, i) => {
        const numeric = WITNESS_COLUMNS[i][2];
        if (WITNESS_COLUMNS[i][0] !== state.key) head.removeAttribute("aria-sort");
        else head.setAttribute("aria-sort", Boolean(numeric) !== state.reverse ? "descending" : "ascending");
      });
    }
    const players = data.shown.map(([, name], i) => [i, name]);
    const chooser = choice("Player", [[-1, "all"], ...players], -1, (value) => {
      state.player = value;
      show();
    });
    chooser.select.id = "witness-player";
    show();
    const table = el("table", {}, caption, el("thead", {}, el("tr", {}, ...heads)), body);
    const scroll = scrolling("Where something could be gained", table);
    const live = el("div", { class: "live" }, data.shown.length > 1 ? el("div", { class: "controls" }, chooser.node) : null, scroll, more);
    const drawn = el("div", { class: "static" }, ...host.childNodes);
    host.classList.add("has-live");
    host.replaceChildren(drawn, live);
  }

  // --- the explorer ---------------------------------------------------------------------------------

  const BAR = 46;
  function barCell(n, kind) {
    if (n === undefined) return el("td", { class: "n" }, "–");
    return el("td", {}, el("div", { class: "bar-cell" },
      svg("svg", { width: BAR, height: 12, "aria-hidden": "true" },
        svg("rect", { class: "track", width: BAR, height: 12, rx: 2 }),
        svg("rect", { class: "bar " + kind, width: (BAR * n) / 10000, height: 12, rx: 2 })),
      el("span", {}, ofTenThousand(n))));
  }

  const swatch = (a) => svg("svg", { width: 10, height: 10, "aria-hidden": "true" }, svg("rect", { class: "p" + (a % 8), width: 10, height: 10, rx: 2 }));
  const scrolling = (label, table) => el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": label }, table);

  function policyTable(at) {
    const kinds = [["avg", "averaged"], ["last", "last"], ["played", "played"]].filter(([key]) => at[key] && at[key].length);
    const rows = actionsOf(at).map((name, a) =>
      el("tr", {}, el("th", { scope: "row" }, swatch(a), named(name)), ...kinds.map(([key]) => barCell(at[key][a], key))));
    return scrolling("Chances of each action", el("table", { id: "policy-bars" },
      el("caption", {}, "Chances of each action: averaged, at the last visit, as played"),
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "action"), ...kinds.map(([, title]) => el("th", { scope: "col" }, title)))),
      el("tbody", {}, ...rows)));
  }

  function valueLine(at) {
    const parts = [];
    if (at.v !== undefined) parts.push(`following is worth ${figure(at.v)}`);
    if (at.d !== undefined) parts.push(`the best deviation at most ${figure(at.d)}` + (at.g === undefined ? "" : ` (gain ${figure(gainOf(at), 3)})`));
    if (parts.length === 0 && !at.w) return null;
    return el("p", { class: "note" }, parts.length ? `From here on, ${parts.join(", ")}. ` : null, at.w ? "The witness: " : null, at.w ? named(witnessText(at)) : null);
  }

  /// A policy as one bar of parts.
  function stripe(policy, actions) {
    const WIDTH = 120;
    let x = 0;
    const parts = policy.map((n, a) => {
      const part = svg("rect", { class: "p" + (a % 8), x, width: (WIDTH * n) / 10000, height: 12 },
        svg("title", {}, `${actions[a]} ${ofTenThousand(n)}`));
      x += (WIDTH * n) / 10000;
      return part;
    });
    const words = policy.map((n, a) => [n, a]).filter(([n]) => n >= 50).sort((p, q) => q[0] - p[0]).slice(0, 4);
    const text = words.map(([n, a]) => `${actions[a]} ${ofTenThousand(n)}`).join(", ");
    return svg("svg", { width: WIDTH, height: 12, role: "img", "aria-label": text }, ...parts);
  }

  /// What the lines of a mixture are.
  function mixtureWords(cell) {
    if (!cell.mix[0].k) return cell.mix.length === 1 ? "One policy, whatever is drawn." : "Executions draw one of these parts.";
    const all = `Executions draw one of ${grouped(cell.counted)} past policies, by their weights; ${figure(cell.parts, 3)} equal ones would be as concentrated.`;
    return cell.counted > cell.mix.length ? all + " Each line stands for an equal share of the weight." : all;
  }

  function mixtureTable(cell, i) {
    if (cell.mix.length === 0) return null;
    const learned = cell.mix[0].k > 0;
    const actions = actionsOf(cell.players[i]);
    const rows = cell.mix.map((part) => el("tr", {},
      el("td", { class: "n" }, grouped(part.n)), learned ? el("td", { class: "n" }, grouped(part.k)) : null,
      el("td", { class: "n" }, percent(part.w)), el("td", {}, part.p[i] ? stripe(part.p[i], actions) : "–")));
    const heads = [[learned ? "visit" : "part", true], learned ? ["episode", true] : null, ["stands for", true], ["policy", false]].filter(Boolean);
    return el("div", {},
      el("h3", {}, "The mixture"),
      el("p", { class: "note" }, mixtureWords(cell)),
      scrolling("The mixture", el("table", { id: "mixture" },
        el("caption", {}, learned ? "What was played, from the oldest visit to the newest" : "Parts with the largest weights"),
        el("thead", {}, el("tr", {}, ...heads.map(([title, number]) => el("th", { scope: "col", class: number ? "n" : null }, title)))),
        el("tbody", {}, ...rows))));
  }

  /// Joint chances of a pair, and what they would be for independent players.
  function pairChances(chances, rows, columns) {
    const total = chances.reduce((sum, c) => sum + c, 0) || 1;
    const joint = chances.map((c) => c / total);
    const first = rows.map((_, a) => columns.reduce((sum, __, b) => sum + joint[a * columns.length + b], 0));
    const second = columns.map((_, b) => rows.reduce((sum, __, a) => sum + joint[a * columns.length + b], 0));
    return { joint, products: joint.map((_, at) => first[Math.floor(at / columns.length)] * second[at % columns.length]) };
  }

  function togetherWords(bits) {
    if (!data.correlates) return "They draw independently of each other.";
    return bits < 5e-4 ? "Mutual information: less than 0.0005 bits." : `Mutual information: ${figure(bits, 3)} bits.`;
  }

  function cut(text, length) {
    const letters = [...text];
    return letters.length > length ? letters.slice(0, length).join("") + "…" : text;
  }

  function heatMap(rows, columns, numbers, difference, title) {
    const LEFT = 92;
    const width = Math.max(26, Math.min(72, 380 / columns.length));
    const height = Math.max(20, Math.min(40, 300 / rows.length));
    const largest = Math.max(...numbers.map(Math.abs), 1e-9);
    const level = (x) => {
      if (difference) return largest < 5e-5 ? 5 : 5 + Math.round((x / largest) * 5);
      return Math.min(11, Math.floor((x / largest) * 12));
    };
    const dark = (q) => (difference ? q < 2 || q > 8 : q < 5);
    const parts = [svg("title", {}, title)];
    columns.forEach((name, b) => parts.push(svg("text", { class: "label muted middle", x: LEFT + width * (b + 0.5), y: 14 },
      svg("title", {}, name), cut(name, Math.max(2, Math.floor(width / 8))))));
    rows.forEach((name, a) => {
      parts.push(svg("text", { class: "label muted end", x: LEFT - 8, y: 22 + height * (a + 0.5) + 4 }, svg("title", {}, name), cut(name, 12)));
      columns.forEach((other, b) => {
        const x = numbers[a * columns.length + b];
        const q = level(x);
        const sign = difference && x > 0 ? "+" : "";
        const text = sign + (x * 100).toFixed(Math.abs(x) < 0.0995 && width > 40 ? 1 : 0).replace("-", "−");
        parts.push(svg("g", {},
          svg("title", {}, `${name}, ${other}: ${sign}${(x * 100).toFixed(2)} %`),
          svg("rect", { class: (difference ? "d" : "q") + q, x: LEFT + width * b, y: 22 + height * a, width: width - 1, height: height - 1 }),
          width >= 30 ? svg("text", { class: "label middle " + (dark(q) ? "on-dark" : "on-light"), x: LEFT + width * (b + 0.5), y: 22 + height * (a + 0.5) + 4 }, text) : null));
      });
    });
    return svg("svg", { role: "img", "aria-label": title, width: LEFT + width * columns.length + 2, height: 24 + height * rows.length }, ...parts);
  }

  function boardPicture(s) {
    const board = data.board;
    const position = board && board.at[s];
    if (!position) return null;
    const SIDE = 40;
    const middle = (n) => 1 + n * SIDE + SIDE / 2;
    const parts = [];
    for (let r = 0; r < board.rows; ++r) {
      for (let c = 0; c < board.columns; ++c) {
        parts.push(svg("rect", { class: (r + c) % 2 ? "square odd" : "square", x: 1 + c * SIDE, y: 1 + r * SIDE, width: SIDE, height: SIDE }));
      }
    }
    for (const [r, c, label] of board.marks) parts.push(svg("text", { class: "label muted", x: 5 + c * SIDE, y: 14 + r * SIDE }, cut(label, 3)));
    position.p.forEach(([r, c], i) => {
      const sharing = position.p.filter(([a, b]) => a === r && b === c).length;
      const before = position.p.slice(0, i).filter(([a, b]) => a === r && b === c).length;
      const x = middle(c) + (sharing > 1 ? (before - (sharing - 1) / 2) * 14 : 0);
      parts.push(svg("circle", { class: "piece p" + (i % 8), cx: x, cy: middle(r) + 2, r: sharing > 1 ? 9 : 12 }));
      parts.push(svg("text", { class: "label middle inside", x, y: middle(r) + 6 }, String(i + 1)));
      if (position.ball === i) parts.push(svg("circle", { class: "ball", cx: x + 10, cy: middle(r) - 9, r: 4.5 }));
    });
    const words = position.p.map(([r, c], i) => `player ${i + 1} at row ${r + 1}, column ${c + 1}`).join("; ") || "the game is over";
    if (position.p.length === 0) parts.push(svg("text", { class: "label middle", x: (board.columns * SIDE) / 2, y: (board.rows * SIDE) / 2 }, words));
    return svg("svg", { id: "explorer-board", role: "img", "aria-label": words, width: board.columns * SIDE + 2, height: board.rows * SIDE + 2 }, ...parts);
  }

  function explorer() {
    const host = find("#explorer");
    if (!host || !data.cells || data.cells.length === 0 || data.shown.length === 0) return;
    const index = new Map(data.cells.map((cell, i) => [`${cell.h},${cell.s}`, i]));
    const busiest = data.cells.reduce((best, cell) => (cell.h === data.cells[0].h && cell.visits > best.visits ? cell : best), data.cells[0]);
    const state = { player: 0, other: data.shown.length > 1 ? 1 : 0, cell: busiest, difference: false };
    const steps = [...new Set(data.cells.map((cell) => cell.h))];
    const statesOf = (h) => data.cells.filter((cell) => cell.h === h).map((cell) => [cell.s, cell.name || `state ${cell.s + 1}`]);
    const players = data.shown.map(([, name], i) => [i, name]);
    const others = () => players.filter(([i]) => i !== state.player);

    const player = choice("Player", players, state.player, (value) => {
      if (state.other === value) state.other = state.player;
      state.player = value;
      show();
    });
    const step = choice("Step", steps.map((h) => [h, String(h + 1)]), state.cell.h, (h) => {
      state.cell = data.cells.find((cell) => cell.h === h && cell.s === state.cell.s) || data.cells.find((cell) => cell.h === h);
      show();
    });
    const place = choice("State", statesOf(state.cell.h), state.cell.s, (s) => {
      state.cell = data.cells[index.get(`${state.cell.h},${s}`)];
      show();
    });
    const other = choice("Together with", others(), state.other, (value) => {
      state.other = value;
      show();
    });
    const toggle = el("button", { type: "button", id: "difference", "aria-pressed": "false" }, "Difference from independent play");
    toggle.addEventListener("click", () => {
      state.difference = !state.difference;
      toggle.setAttribute("aria-pressed", String(state.difference));
      show();
    });
    player.select.id = "explorer-player";
    step.select.id = "explorer-step";
    place.select.id = "explorer-state";
    other.select.id = "explorer-other";

    const where = el("p", { class: "where", id: "where", "aria-live": "polite" });
    const left = el("div");
    const right = el("div");
    // A small map has room beside the mixture.
    const wide = data.cells.some((cell) => cell.players.some((at) => at.avg.length > 5));
    const picture = el("div", { class: "scroll", id: "correlation", tabindex: "0", role: "group", "aria-label": "Joint chances" });
    const strength = el("p", { class: "note", id: "strength" });
    const pairBox = el("div", { class: wide ? "full" : null }, el("h3", {}, "What two players do together"),
      el("div", { class: "controls" }, other.node, toggle), strength, picture);

    function showPair() {
      const [i, j] = [Math.min(state.player, state.other), Math.max(state.player, state.other)];
      const pair = state.cell.pairs.find((p) => p.i === data.shown[i][0] && p.j === data.shown[j][0]);
      pairBox.hidden = data.shown.length < 2 || (state.cell.pairs.length === 0 && !data.cells.some((cell) => cell.pairs.length > 0));
      if (pairBox.hidden) return;
      toggle.disabled = !pair;
      if (!pair) {
        strength.textContent = "Not kept for this place.";
        picture.replaceChildren();
        return;
      }
      const rows = actionsOf(state.cell.players[i]);
      const columns = actionsOf(state.cell.players[j]);
      const { joint, products } = pairChances(pair.c, rows, columns);
      const numbers = state.difference ? joint.map((p, at) => p - products[at]) : joint;
      const what = state.difference ? "joint chances less the product of the marginals" : "joint chances";
      strength.replaceChildren(
        "Rows are ", named(data.shown[i][1]), ", columns ", named(data.shown[j][1]), `: ${what}, in percent. `,
        togetherWords(pair.bits));
      picture.replaceChildren(heatMap(rows, columns, numbers, state.difference, `${what} of ${data.shown[i][1]} and ${data.shown[j][1]}`));
    }

    function markChosen() {
      for (const shape of document.querySelectorAll("#graph .node, #visits-map .cell")) {
        shape.classList.toggle("chosen", Number(shape.dataset.h) === state.cell.h && Number(shape.dataset.s) === state.cell.s);
      }
    }

    function show() {
      const cell = state.cell;
      const at = cell.players[state.player];
      player.select.value = String(state.player);
      step.select.value = String(cell.h);
      place.refill(statesOf(cell.h), cell.s);
      other.refill(others(), state.other);
      const facts = [`step ${cell.h + 1}, `, named(cell.name || `state ${cell.s + 1}`)];
      if (data.cells.some((one) => one.visits > 0)) facts.push(` · ${grouped(cell.visits)} visits`);
      if (cell.reach !== undefined) facts.push(` · reached by ${percent(cell.reach)} of executions`);
      where.replaceChildren(named(data.shown[state.player][1]), " at ", ...facts);
      const board = boardPicture(cell.s);
      left.replaceChildren(...[at ? policyTable(at) : null, at ? valueLine(at) : null, board].filter(Boolean));
      right.replaceChildren(...[at ? mixtureTable(cell, state.player) : null].filter(Boolean));
      showPair();
      markChosen();
    }

    const controls = el("div", { class: "controls" }, player.node, step.node, place.node);
    host.append(controls, where, el("div", { class: "explorer-grid" }, wide ? left : el("div", {}, left, pairBox), right, wide ? pairBox : null));
    show();
    const pick = (h, s) => {
      const at = index.get(`${h},${s}`);
      if (at === undefined) {
        where.textContent = `step ${h + 1}, state ${s + 1}: its policies are not in this page.`;
      } else {
        state.cell = data.cells[at];
        show();
      }
      find("#policies").scrollIntoView({ block: "start" });
    };
    makePicks(find("#graph"), ".node", pick);
    makePicks(find("#visits-map"), ".cell", pick);
    const table = find("#policy-table");
    if (table) table.open = false;
  }

  // --- all of it ------------------------------------------------------------------------------------

  themeButton();
  openForPrint();
  copyButtons();
  drawCharts();
  witnessTable();
  explorer();
  // uPlot draws in a microtask of its own; two frames later everything is on the screen.
  requestAnimationFrame(() => requestAnimationFrame(() => { root.dataset.drawn = String(Math.round(performance.now())); }));
})();
