// The picture: members, the crowd behind them, a staircase in 2-D, what just entered and left.
/* global Plotly */

import { groupLabel } from "./store.js";
import { shown } from "./words.js";

const COLOURS = ["#1f6feb", "#d9730d", "#1a9c5b", "#b4439f", "#b08800", "#2aa6b8", "#d64545", "#7a63d9"];
const MANY = 3000; // points from which on WebGL draws the plane: one by one they would take a second
const NARROW = 600; // pixels: a narrower picture has no room for words behind the names
const LONGEST = 32; // letters of a name in the picture
const CROWDED = 6; // dimensions: the names of more do not fit beside their rows
const EDGE = 0.06; // share of the span by which an infinite value is drawn beyond all finite ones

export function css(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

export class Chart {
  constructor(frame, pulses, onChoose) {
    Object.assign(this, { frame, pulses, onChoose, bound: false, kind: "", scene: null });
    this.options = {
      responsive: true, displaylogo: false, plotlyServerURL: "", // nothing leaves for anyone's cloud
      modeBarButtonsToRemove: ["select2d", "lasso2d", "sendChartToCloud"],
      displayModeBar: matchMedia("(hover: hover)").matches ? "hover" : false,
    };
  }

  // scene: {store, members, crowd, dims, ranges, chosen, live, note}
  async draw(scene) {
    const draw = scene.dims.length === 2 ? plane : scene.dims.length === 3 ? space : pairs;
    const kind = `${scene.store.view} ${scene.dims} ${isLarge(scene)}`;
    if (kind !== this.kind) {
      Plotly.purge(this.frame);
      this.bound = false;
    }
    Object.assign(this, { kind, scene });
    await Plotly.react(this.frame, draw(scene), layout(scene, draw, this.frame.clientWidth < NARROW), this.options);
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
    if (this.scene?.dims.length !== 2 || !xaxis || this.pulses.childElementCount > 40) return;
    const [x, y] = this.scene.dims.map((name) => coordinate(change, name, this.scene));
    const ring = document.createElement("i");
    ring.className = change.op;
    ring.style.left = `${xaxis._offset + xaxis.d2p(x)}px`;
    ring.style.top = `${yaxis._offset + yaxis.d2p(y)}px`;
    ring.addEventListener("animationend", () => ring.remove());
    this.pulses.append(ring);
  }
}

function isLarge({ members, crowd }) {
  return members.length + crowd.length > MANY;
}

// Where a value is drawn; an infinite one at the edge, for there is no other place for it.
function coordinate(object, name, { ranges }) {
  const value = Number(object.point[name]);
  if (Number.isFinite(value)) return value;
  const [low, high] = ranges.get(name);
  const beyond = EDGE * (high - low || 1);
  return value > 0 ? high + beyond : low - beyond;
}

function label(object, store) {
  const carried = Object.values(object.carry ?? {}).filter((value) => value !== null);
  const place = [groupLabel(object), ...carried].filter(Boolean).join(" · ");
  const values = store.names.map((name) => `${escaped(name)} ${shown(object.point[name])}`).join("<br>");
  return `<b>${escaped(object.key)}</b><br>${place ? `${escaped(place)}<br>` : ""}${values}`;
}

// Plotly reads a little HTML in its texts; what comes from records must not be read so.
function escaped(text) {
  return String(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function shortened(name) {
  return escaped(name.length > LONGEST ? `${name.slice(0, LONGEST - 1)}…` : name);
}

function cloud(type, objects, scene, name, marker) {
  const { dims, store } = scene;
  const column = (dim) => objects.map((object) => coordinate(object, dim, scene));
  const coordinates = type === "splom"
    ? { dimensions: dims.map((dim) => ({ label: escaped(dim), values: column(dim) })), diagonal: { visible: false }, showupperhalf: false }
    : Object.fromEntries(["x", "y", "z"].slice(0, dims.length).map((axis, i) => [axis, column(dims[i])]));
  return {
    type, name: escaped(name), mode: "markers", marker, ...coordinates, showlegend: name !== "" && objects.length > 0,
    customdata: objects.map((object) => object.key),
    text: objects.map((object) => label(object, store)), hovertemplate: "%{text}<extra></extra>",
  };
}

// `between`: what lies over the crowd and under the members.
function traces(type, scene, largest, between = []) {
  const { store, members, crowd, chosen } = scene;
  const size = Math.max(largest / 3, Math.min(largest, (largest * 22) / Math.sqrt(Math.max(1, members.length))));
  const opacity = members.length > 1000 ? 0.6 : 0.9;
  const drawn = [cloud(type, crowd, scene, "others", { color: css("--crowd"), size: largest / 2, opacity: 0.5 }), ...between];
  byGroup(members).forEach(([group, objects], i) => {
    drawn.push(cloud(type, objects, scene, group || "members", { color: COLOURS[i % COLOURS.length], size, opacity }));
  });
  const outline = (colour, times) => ({ symbol: "circle-open", size: largest * times, color: colour, line: { width: 2, color: colour } });
  if (scene.live) {
    drawn.push(cloud(type, store.recent("enter"), scene, "entered", outline(css("--good"), 1.5)));
    drawn.push(cloud(type, store.recent("leave"), scene, "left", outline(css("--bad"), 1.5)));
  }
  const picked = [...members, ...crowd].filter((object) => object.key === chosen);
  drawn.push(cloud(type, picked, scene, "", outline(css("--ink"), 2)));
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
  return traces(isLarge(scene) ? "scattergl" : "scatter", scene, 10, stairs);
}

function space(scene) {
  return traces("scatter3d", scene, 5);
}

function pairs(scene) {
  return traces("splom", scene, scene.dims.length > CROWDED ? 4 : 6);
}

// The boundary of what the group's members dominate in these two dimensions. Every object is dominated or equalled by
// a member, so the members alone give the boundary of all.
function staircase(objects, scene, colour) {
  const [xSign, ySign] = scene.dims.map((name) => (scene.store.definition.dimensions[name] === "min" ? 1 : -1));
  const [xName, yName] = scene.dims;
  const corners = objects
    .map((object) => [xSign * coordinate(object, xName, scene), ySign * coordinate(object, yName, scene)])
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
    line: { color: colour, width: 1.5 }, opacity: 0.75, hoverinfo: "skip", showlegend: false,
  };
}

function layout(scene, draw, isNarrow) {
  const { dims, store, note } = scene;
  const brief = (name) => `${shortened(name)} ${store.arrow(name)}`;
  const title = (name) => (draw === plane && !isNarrow ? `${shortened(name)} (${store.meaning(name)})` : brief(name));
  const isEmpty = scene.members.length + scene.crowd.length === 0;
  const axis = (name) => ({
    title: { text: title(name) }, gridcolor: css("--line"), zerolinecolor: css("--line"), automargin: true,
    ...(isEmpty ? { showticklabels: false } : {}),
  });
  const common = {
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { color: css("--ink"), size: 12 },
    margin: { l: 50, r: 10, t: 10, b: 40 }, uirevision: `${store.view} ${dims.join()}`, hovermode: "closest",
    legend: { orientation: "h", y: 1.02, yanchor: "bottom", x: 0, itemsizing: "constant" },
    dragmode: draw === space ? "orbit" : "zoom", hoverlabel: { align: "left" },
    modebar: { bgcolor: "rgba(0,0,0,0)", color: css("--soft"), activecolor: css("--accent") },
    annotations: note ? [{ text: note, showarrow: false, xref: "paper", yref: "paper", x: 0.5, y: 0.5, font: { size: 15, color: css("--soft") } }] : [],
  };
  if (draw === plane) return { ...common, xaxis: axis(dims[0]), yaxis: axis(dims[1]) };
  if (draw === space) {
    const camera = { eye: { x: 1.55, y: 1.55, z: 0.9 }, center: { x: 0, y: 0, z: -0.12 } };
    const axes = { xaxis: axis(dims[0]), yaxis: axis(dims[1]), zaxis: axis(dims[2]) };
    return { ...common, margin: { l: 0, r: 0, t: 10, b: 0 }, scene: { ...axes, camera, uirevision: common.uirevision } };
  }
  const axes = {}, isCrowded = dims.length > CROWDED;
  dims.forEach((name, i) => {
    const small = isCrowded ? { showticklabels: false, title: { text: "" } } : {};
    for (const side of ["x", "y"]) axes[`${side}axis${i ? i + 1 : ""}`] = { ...axis(name), ...small, ...(isCrowded ? { domain: cell(side, i, dims.length) } : {}) };
  });
  if (!isCrowded) return { ...common, ...axes };
  // each name stands where its row and its column meet: the pictures end there, and the space to the right is free
  const names = dims.map((name, i) => ({
    text: brief(name), showarrow: false, xref: "paper", yref: "paper", xanchor: "left", yanchor: "middle", font: { size: 10 },
    x: cell("x", i, dims.length)[0], y: cell("y", i, dims.length).reduce((a, b) => (a + b) / 2),
  }));
  return { ...common, ...axes, margin: { ...common.margin, l: 10, r: 90, b: 10 }, annotations: [...common.annotations, ...names] };
}

// The share of the picture that the i-th of n rows (from above) or columns has.
function cell(side, i, n) {
  const ends = [i / n, (i + 0.92) / n];
  return side === "x" ? ends : ends.map((end) => 1 - end).reverse();
}

// Members over time up to the view's clock, with a mark at the time that is looked at.
export function drawSizes(frame, { sizes, stamp }, asOf) {
  const line = { color: css("--accent"), width: 1.5, shape: "hv" };
  const settled = sizes.filter(({ at }, i) => at !== sizes[i + 1]?.at); // between the changes of one update it is no size
  const points = settled.length ? [...settled, { at: Math.max(stamp.clock, settled.at(-1).at), size: settled.at(-1).size }] : [];
  const trace = { type: "scatter", mode: "lines", x: points.map(({ at }) => new Date(at)), y: points.map(({ size }) => size), line };
  const grid = { gridcolor: css("--line"), zerolinecolor: css("--line"), automargin: true, showticklabels: points.length > 0 };
  const mark = { type: "line", xref: "x", yref: "paper", x0: new Date(asOf), x1: new Date(asOf), y0: 0, y1: 1, line: { color: css("--warn"), width: 2 } };
  Plotly.react(frame, [{ ...trace, hovertemplate: "%{y} members<br>%{x}<extra></extra>" }], {
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { color: css("--ink"), size: 11 },
    margin: { l: 40, r: 10, t: 5, b: 36 }, xaxis: { ...grid, type: "date", fixedrange: true }, shapes: asOf === null ? [] : [mark],
    yaxis: { ...grid, rangemode: "tozero", fixedrange: true },
  }, { responsive: true, displayModeBar: false });
}
