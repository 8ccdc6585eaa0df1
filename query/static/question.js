// What the reader asks: dimensions drawn, group, constraints, weights, a time in the past, the newest n.

import { shown, time } from "./words.js";

const STEPS = 1000;
const HUGE = 1e300;
const element = (id) => document.getElementById(id);

export class Question {
  constructor(store, onAsk, onDraw) {
    Object.assign(this, { store, onAsk, onDraw });
    this.dims = store.names.slice(0, 2);
    this.group = "";
    this.limits = new Map(); // dimension -> bound
    this.weights = new Map(store.names.map((name) => [name, 1]));
    this.asOf = null;
    this.last = null;
    this.ranges = new Map();
    this.#buildDims();
    this.#buildSliders();
    this.#wireTime();
  }

  // Whether the members that the stream keeps current are the answer, but for a filter by group.
  get isLive() {
    return this.asOf === null && this.last === null && this.limits.size === 0;
  }

  // A time in the past, the newest n and constraints do not go together: the first of these that is set counts.
  parameters() {
    if (this.asOf !== null) return [["as_of", this.asOf]];
    if (this.last !== null) return [["last", this.last]];
    return [...this.limits].map(([name, bound]) => ["where", `${name}${this.#better(name)}${bound}`]);
  }

  // The request behind the picture and the list, for people who want it in a program.
  request() {
    const rank = [...this.weights].filter(([, weight]) => weight > 0).map(([name, weight]) => `${name}:${+(weight / this.#width(name)).toPrecision(4)}`);
    const list = this.parameters();
    for (const [name, value] of Object.entries(this.store.groups().get(this.group) ?? {})) list.push(["group", `${name}:${value}`]);
    if (rank.length) list.push(["rank", rank.join(",")]);
    return list;
  }

  score(member) {
    let sum = 0;
    for (const [name, weight] of this.weights) {
      const value = Math.max(-HUGE, Math.min(HUGE, Number(member.point[name]))); // inf - inf has no place in an order
      if (weight) sum += ((this.#sign(name) * value) / this.#width(name)) * weight;
    }
    return sum;
  }

  // Sliders span what has been seen; the span only grows, so that a slider does not move under the finger.
  span(objects) {
    for (const name of this.store.names) {
      const [low, high] = this.ranges.get(name) ?? [Infinity, -Infinity];
      const values = objects.map((object) => Number(object.point[name])).filter(Number.isFinite);
      this.ranges.set(name, [Math.min(low, ...values), Math.max(high, ...values)]);
    }
  }

  // The span of a dimension: what has been seen of it.
  range(name) {
    const [low, high] = this.ranges.get(name) ?? [0, 1];
    return low <= high ? [low, high] : [0, 1];
  }

  showGroups() {
    const select = element("group");
    const wanted = ["", ...this.store.groups().keys()];
    element("group-choice").hidden = this.store.definition.group_by.length === 0;
    if (wanted.join("\n") === [...select.options].map((option) => option.value).join("\n")) return;
    select.replaceChildren(...wanted.map((name) => new Option(name || "all", name, false, name === this.group)));
    select.onchange = () => {
      this.group = select.value;
      this.onDraw();
    };
  }

  #better(name) {
    return this.store.definition.dimensions[name] === "min" ? "<=" : ">=";
  }

  #sign(name) {
    return this.store.definition.dimensions[name] === "min" ? 1 : -1;
  }

  #width(name) {
    const [low, high] = this.range(name);
    return high > low ? high - low : 1;
  }

  #buildDims() {
    const boxes = this.store.names.map((name) => {
      const box = Object.assign(document.createElement("input"), { type: "checkbox", value: name, checked: this.dims.includes(name) });
      box.onchange = () => this.#chooseDims(box, boxes);
      return box;
    });
    const labels = boxes.map((box) => {
      const label = document.createElement("label");
      label.append(box, ` ${box.value} ${this.store.arrow(box.value)}`);
      label.title = this.store.meaning(box.value);
      return label;
    });
    const all = button("all pairs", () => this.#chooseAll(boxes, true));
    const two = button("first two", () => this.#chooseAll(boxes, false));
    element("dims").replaceChildren(element("dims").firstElementChild, ...labels, ...(boxes.length > 3 ? [two, all] : []));
  }

  #chooseDims(box, boxes) {
    const chosen = boxes.filter((other) => other.checked).map((other) => other.value);
    if (chosen.length < Math.min(2, boxes.length)) {
      box.checked = true; // a picture has two dimensions at least
      return;
    }
    this.dims = chosen;
    this.onDraw();
  }

  #chooseAll(boxes, isAll) {
    boxes.forEach((box, i) => {
      box.checked = isAll || i < 2;
    });
    this.#chooseDims(null, boxes);
  }

  #buildSliders() {
    element("sliders").tBodies[0].replaceChildren(...this.store.names.map((name) => this.#sliderRow(name)));
    element("reset").onclick = () => {
      this.limits.clear();
      for (const name of this.store.names) this.weights.set(name, 1);
      this.#buildSliders();
      this.#rest();
      this.onAsk();
    };
  }

  #sliderRow(name) {
    const row = document.createElement("tr");
    const minimised = this.store.definition.dimensions[name] === "min";
    const limit = slider(`${name} at ${minimised ? "most" : "least"}`, minimised ? STEPS : 0, STEPS, (value) => {
      const [low, high] = this.range(name);
      const open = value === (minimised ? STEPS : 0);
      const bound = Number((low + ((high - low) * value) / STEPS).toPrecision(6));
      if (open) this.limits.delete(name);
      else this.limits.set(name, bound);
      tell(limit, open ? "any" : `${minimised ? "≤" : "≥"} ${shown(bound)}`);
      this.onAsk();
    });
    limit.firstElementChild.className = "limit";
    tell(limit, "any");
    const weight = slider(`weight of ${name}`, 10, 20, (value) => {
      this.weights.set(name, value / 10);
      tell(weight, (value / 10).toFixed(1));
      this.onDraw();
    });
    tell(weight, "1.0");
    const head = document.createElement("th");
    Object.assign(head, { scope: "row", title: this.store.meaning(name), textContent: `${name} ${this.store.arrow(name)}` });
    row.append(head, cell(limit), cell(weight));
    return row;
  }

  #wireTime() {
    const { window: frame, history } = this.store.definition;
    const pastSlider = element("as-of"), newest = element("last");
    element("newest").hidden = !frame;
    pastSlider.value = newest.value = STEPS;
    this.#rest();
    const settle = () => {
      element("now").disabled = this.asOf === null;
      say(pastSlider, element("as-of-text"), this.asOf === null ? "now" : time(this.asOf));
      this.#rest();
      this.onAsk();
    };
    pastSlider.oninput = () => {
      const oldest = this.store.sizes[0]?.at ?? history.oldest, clock = this.store.stamp.clock;
      const atEnd = Number(pastSlider.value) === STEPS || oldest === null;
      this.asOf = atEnd ? null : Math.round(oldest + ((clock - oldest) * pastSlider.value) / STEPS);
      settle();
    };
    element("now").onclick = () => {
      pastSlider.value = STEPS;
      this.asOf = null;
      settle();
    };
    element("now").disabled = true;
    say(pastSlider, element("as-of-text"), "now");
    if (frame) this.#wireNewest(newest, frame.size ?? frame.span, frame.size === null);
  }

  // Sliders rest while they do not count.
  #rest() {
    const isPast = this.asOf !== null;
    element("last").disabled = isPast;
    for (const input of element("sliders").querySelectorAll("input.limit")) input.disabled = isPast || this.last !== null;
    element("rests").hidden = !isPast && this.last === null;
    element("rests").textContent = isPast ? "Constraints are about now, not about the past." : "Constraints are about all that is in the window.";
  }

  #wireNewest(newest, most, isSpan) {
    say(newest, element("last-text"), "all");
    newest.oninput = () => {
      const value = Math.max(1, Math.round(most ** (newest.value / STEPS)));
      this.last = Number(newest.value) === STEPS ? null : isSpan ? `${value}ms` : value;
      say(newest, element("last-text"), this.last === null ? "all" : isSpan ? `${shown(value / 1000)} s` : shown(value));
      this.#rest();
      this.onAsk();
    };
  }
}

function slider(name, value, most, onInput) {
  const span = document.createElement("span");
  const input = Object.assign(document.createElement("input"), { type: "range", min: 0, max: most, step: 1, value });
  input.setAttribute("aria-label", name);
  input.oninput = () => onInput(Number(input.value));
  span.append(input, document.createElement("output"));
  return span;
}

function tell(span, text) {
  say(span.querySelector("input"), span.querySelector("output"), text);
}

// What a slider stands at, for the eye and for a screen reader.
function say(input, output, text) {
  output.textContent = text;
  input.setAttribute("aria-valuetext", text);
}

function button(text, onclick) {
  return Object.assign(document.createElement("button"), { type: "button", textContent: text, onclick });
}

function cell(content) {
  const td = document.createElement("td");
  td.append(content);
  return td;
}
