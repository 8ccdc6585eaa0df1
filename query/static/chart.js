// The picture: members, the crowd behind them, a staircase in 2-D, what just entered and left.
/* global Plotly */

import { groupLabel } from "./store.js";
import { shown } from "./words.js";

const COLOURS = ["#1f6feb", "#d9730d", "#1a9c5b", "#b4439f", "#c9a400", "#2aa6b8", "#d64545", "#7a63d9"];
const OPTIONS = { responsive: true, displaylogo: false, modeBarButtonsToRemove: ["select2d", "lasso2d"] };

export function css(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

export class Chart {
  constructor(frame, pulses, onChoose) {
    Object.assign(this, { frame, pulses, onChoose, bound: false, dims: [] });
  }

  // scene: {store, members, crowd, dims, chosen, live}
  async draw(scene) {
    const { dims } = scene;
    const kind = dims.length === 2 ? plane : dims.length === 3 ? space : pairs;
    const changed = dims.join() !== this.dims.join();
    if (changed) Plotly.purge(this.frame);
    this.bound = this.bound && !changed;
    this.dims = dims;
    await Plotly.react(this.frame, kind(scene), layout(scene, kind), OPTIONS);
    if (!this.bound) {
      this.frame.on("plotly_click", (event) => {
        const key = event.points[0]?.customdata;
        if (key) this.onChoose(key);
      });
      this.bound = true;
    }
  }

  // A ring where a member entered or left; in the plane only.
  pulse(change) {
    const { xaxis, yaxis } = this.frame._fullLayout ?? {};
    if (this.dims.length !== 2 || !xaxis || this.pulses.childElementCount > 40) return;
    const [x, y] = this.dims.map((name) => Number(change.point[name]));
    const ring = document.createElement("i");
    ring.className = change.op;
    ring.style.left = `${xaxis._offset + xaxis.d2p(x)}px`;
    ring.style.top = `${yaxis._offset + yaxis.d2p(y)}px`;
    ring.addEventListener("animationend", () => ring.remove());
    this.pulses.append(ring);
  }
}

function column(objects, name) {
  return objects.map((object) => Number(object.point[name]));
}

function label(object, dims) {
  const carried = Object.values(object.carry ?? {}).filter((value) => value !== null);
  const place = [groupLabel(object), ...carried].filter(Boolean).join(" · ");
  const values = dims.map((name) => `${escaped(name)} ${shown(object.point[name])}`).join("<br>");
  return `<b>${escaped(object.key)}</b><br>${place ? `${escaped(place)}<br>` : ""}${values}`;
}

// Plotly reads a little HTML in its texts; what comes from records must not be read so.
function escaped(text) {
  return String(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function cloud(type, objects, scene, name, marker) {
  const { dims, store } = scene;
  const coordinates = type === "splom"
    ? { dimensions: dims.map((dim) => ({ label: escaped(dim), values: column(objects, dim) })), diagonal: { visible: false }, showupperhalf: false }
    : Object.fromEntries(["x", "y", "z"].slice(0, dims.length).map((axis, i) => [axis, column(objects, dims[i])]));
  return {
    type, name: escaped(name), mode: "markers", marker, ...coordinates, showlegend: name !== "",
    customdata: objects.map((object) => object.key),
    text: objects.map((object) => label(object, store.names)), hovertemplate: "%{text}<extra></extra>",
  };
}

function traces(type, scene, size) {
  const { store, members, crowd, chosen } = scene;
  const drawn = [cloud(type, crowd, scene, "others", { color: css("--crowd"), size: size * 0.55, opacity: 0.5 })];
  byGroup(members).forEach(([group, objects], i) => {
    drawn.push(cloud(type, objects, scene, group || "members", { color: COLOURS[i % COLOURS.length], size }));
  });
  if (scene.live) {
    const outline = (colour) => ({ symbol: "circle-open", size: size * 1.7, color: colour, line: { width: 2, color: colour } });
    drawn.push(cloud(type, store.recent("enter"), scene, "entered", outline(css("--good"))));
    drawn.push(cloud(type, store.recent("leave"), scene, "left", outline(css("--bad"))));
  }
  const picked = [...members, ...crowd].filter((object) => object.key === chosen);
  drawn.push(cloud(type, picked, scene, "", { symbol: "circle-open", size: size * 2.2, color: css("--ink"), line: { width: 2 } }));
  return drawn;
}

function byGroup(members) {
  const groups = new Map();
  for (const member of members) {
    const name = groupLabel(member);
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push(member);
  }
  return [...groups].sort(([a], [b]) => a.localeCompare(b));
}

function plane(scene) {
  const stairs = byGroup(scene.members).map(([, objects], i) => staircase(objects, scene, COLOURS[i % COLOURS.length]));
  return [...stairs, ...traces("scatter", scene, 10)];
}

function space(scene) {
  return traces("scatter3d", scene, 5);
}

function pairs(scene) {
  return traces("splom", scene, 6);
}

// The boundary of what the group's members dominate in these two dimensions. Every object is dominated or equalled by
// a member, so the members alone give the boundary of all.
function staircase(objects, scene, colour) {
  const [xName, yName] = scene.dims;
  const [xSign, ySign] = scene.dims.map((name) => (scene.store.definition.dimensions[name] === "min" ? 1 : -1));
  const corners = objects
    .map((object) => [xSign * Number(object.point[xName]), ySign * Number(object.point[yName])])
    .filter(([x, y]) => Number.isFinite(x) && Number.isFinite(y))
    .sort(([x1, y1], [x2, y2]) => x1 - x2 || y1 - y2);
  const line = [];
  let lowest = Infinity;
  for (const [x, y] of corners) {
    if (y >= lowest) continue;
    if (line.length) line.push([x, lowest]);
    line.push([x, y]);
    lowest = y;
  }
  return {
    type: "scatter", mode: "lines", x: line.map(([x]) => x * xSign), y: line.map(([, y]) => y * ySign),
    line: { color: colour, width: 1.5, dash: "dot" }, hoverinfo: "skip", showlegend: false,
  };
}

function layout(scene, kind) {
  const { dims, store } = scene;
  const arrow = (name) => `${escaped(name)} ${store.definition.dimensions[name] === "min" ? "(less is better)" : "(more is better)"}`;
  const axis = (name) => ({ title: { text: kind === pairs ? escaped(name) : arrow(name) }, gridcolor: css("--line"), zerolinecolor: css("--line"), automargin: true });
  const common = {
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { color: css("--ink"), size: 12 },
    margin: { l: 50, r: 10, t: 10, b: 40 }, uirevision: `${store.view} ${dims.join()}`, hovermode: "closest",
    legend: { orientation: "h", y: 1.02, yanchor: "bottom", x: 0 }, dragmode: kind === space ? "orbit" : "zoom",
    hoverlabel: { align: "left" },
  };
  if (kind === plane) return { ...common, xaxis: axis(dims[0]), yaxis: axis(dims[1]) };
  if (kind === space) {
    return { ...common, scene: { xaxis: axis(dims[0]), yaxis: axis(dims[1]), zaxis: axis(dims[2]), uirevision: common.uirevision } };
  }
  const axes = {};
  dims.forEach((name, i) => {
    const suffix = i ? i + 1 : "";
    axes[`xaxis${suffix}`] = axis(name);
    axes[`yaxis${suffix}`] = axis(name);
  });
  return { ...common, ...axes };
}

export function drawSizes(frame, sizes) {
  const line = { color: css("--accent"), width: 1.5, shape: "hv" };
  const trace = { type: "scatter", mode: "lines", x: sizes.map(({ at }) => new Date(at)), y: sizes.map(({ size }) => size), line };
  const grid = { gridcolor: css("--line"), zerolinecolor: css("--line") };
  Plotly.react(frame, [{ ...trace, hovertemplate: "%{y} members<br>%{x}<extra></extra>" }], {
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { color: css("--ink"), size: 11 },
    margin: { l: 40, r: 10, t: 5, b: 25 }, xaxis: grid, yaxis: { ...grid, rangemode: "tozero" },
  }, { responsive: true, displayModeBar: false });
}
