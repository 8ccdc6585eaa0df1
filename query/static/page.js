// The live page: loads a view, follows its changes, draws at most four times a second.

import { address, getJson } from "./api.js";
import { Chart, drawSizes } from "./chart.js";
import { make, showExplanation, showFeed, showRanking } from "./panels.js";
import { Question } from "./question.js";
import { groupLabel, Store } from "./store.js";
import { Stream } from "./stream.js";
import { count, time } from "./words.js";

const DRAW_MS = 250;
const SLOW_DRAW_MS = 1500; // 3-D and pairs: without a graphics card a picture takes a good part of a second
const ASK_MS = 300;
const CROWD_MS = 5000;
const CROWD = 1500;
const element = (id) => document.getElementById(id);

class Page {
  constructor() {
    this.chart = new Chart(element("chart"), element("pulses"), (key) => this.choose(key));
    this.stream = null;
    this.store = null;
    this.answer = null; // members of a question that the stream does not answer
    this.chosen = null;
    this.dirty = this.drawing = false;
    this.drawnAt = 0;
    this.asked = null;
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.redraw());
    setInterval(() => this.#draw(), DRAW_MS);
    setInterval(() => this.#refresh(), CROWD_MS);
    addEventListener("hashchange", () => this.open(decodeURIComponent(location.hash.slice(1))));
  }

  async start() {
    const { views } = await this.#untilAnswered(() => getJson("/views"));
    const select = element("view");
    select.replaceChildren(...views.map(({ view }) => new Option(view, view)));
    select.onchange = () => {
      location.hash = encodeURIComponent(select.value);
    };
    await this.open(decodeURIComponent(location.hash.slice(1)) || views[0].view);
  }

  async open(view) {
    this.stream?.end();
    element("view").value = view;
    this.question = null;
    const definition = await this.#untilAnswered(() => getJson(address(view, "")));
    const store = new Store(definition);
    Object.assign(this, { store, answer: null, chosen: null });
    this.question = new Question(store, () => this.ask(), () => this.redraw());
    element("explanation").replaceChildren(make("p", "Choose a point, or a member, to see why it is or is not in the skyline.", { className: "hint" }));
    this.stream = new Stream(() => this.#load(store), (change) => this.#take(store, change), (state, text) => this.#link(state, text));
  }

  // Asks the service what the stream does not tell; soon, once, and only the newest question counts.
  ask() {
    clearTimeout(this.asked);
    this.asked = setTimeout(() => this.#ask(this.store, this.question), ASK_MS);
  }

  redraw() {
    this.dirty = true;
  }

  async choose(key) {
    this.chosen = key;
    this.redraw();
    const { store } = this;
    try {
      showExplanation(store, key, await getJson(address(store.view, `/objects/${encodeURIComponent(key)}`)));
    } catch (problem) {
      showExplanation(store, key, null, problem.message);
    }
  }

  async #load(store) {
    const [answer, changes, sizes] = await Promise.all([
      getJson(address(store.view, "/skyline")),
      getJson(address(store.view, "/changes", [["limit", 100]])),
      getJson(address(store.view, "/sizes", [["points", 500]])),
    ]);
    store.load(answer, changes, sizes);
    await this.#refresh();
    this.redraw();
    return address(store.view, "/changes", [["after", answer.seq]]);
  }

  #take(store, change) {
    if (store !== this.store || !store.apply(change)) return;
    if (this.question.isLive && change.op !== "move" && this.#inGroup(change)) this.chart.pulse(change);
    this.redraw();
  }

  async #refresh() {
    const { store, question } = this;
    if (!store) return;
    try {
      const sample = await getJson(address(store.view, "/objects", [["sample", CROWD]]));
      store.crowd = sample.objects;
      if (!question.isLive && question.asOf === null) await this.#ask(store, question);
    } catch (problem) {
      this.#problem(problem.message);
      return;
    }
    question.span([...store.crowd, ...store.members.values()]);
    this.redraw();
  }

  async #ask(store, question) {
    if (question.isLive) {
      this.answer = null;
    } else {
      try {
        const answer = await getJson(address(store.view, "/skyline", question.parameters()));
        if (question === this.question && !question.isLive) this.answer = answer.members;
      } catch (problem) {
        this.#problem(problem.message);
        return;
      }
    }
    this.#problem("");
    this.redraw();
  }

  #inGroup(object) {
    return !this.question.group || groupLabel(object) === this.question.group;
  }

  async #draw() {
    const { store, question } = this;
    if (!question || document.hidden || this.drawing || !(this.dirty || store.fresh.size)) return;
    this.dirty = false;
    const inGroup = (object) => this.#inGroup(object);
    const members = (this.answer ?? [...store.members.values()]).filter(inGroup);
    const scores = new Map(members.map((member) => [member.key, question.score(member)]));
    members.sort((a, b) => scores.get(a.key) - scores.get(b.key));
    const known = new Set(members.map((member) => member.key));
    const crowd = question.asOf === null ? store.crowd.filter((object) => inGroup(object) && !known.has(object.key)) : [];
    question.showGroups(store.groups());
    element("count").textContent = `${count(members.length, "member")}${question.asOf === null ? "" : `, as of ${time(question.asOf)}`}`;
    element("request").href = address(store.view, "/skyline", question.request());
    const { offset, clock, seq } = store.stamp;
    element("stamp").textContent = clock === null ? "no update yet" : `change ${seq.toLocaleString("en")} · offset ${offset.toLocaleString("en")} · ${time(clock)}`;
    showRanking(store, members, this.chosen, (key) => this.choose(key));
    showFeed(store);
    const dims = question.dims.length === 1 ? [question.dims[0], question.dims[0]] : question.dims;
    drawSizes(element("sizes-chart"), store.sizes);
    const key = `${store.view} ${dims}`;
    const now = performance.now();
    if (dims.length > 2 && key === this.drawn && now - this.drawnAt < SLOW_DRAW_MS) {
      this.dirty = true;
      return;
    }
    Object.assign(this, { drawing: true, drawn: key });
    try {
      await this.chart.draw({ store, members, crowd, dims, chosen: this.chosen, live: this.answer === null });
    } finally {
      Object.assign(this, { drawing: false, drawnAt: performance.now() });
    }
  }

  #link(state, text) {
    element("link").dataset.state = state;
    element("link").textContent = text;
    if (state === "live") this.#problem("");
  }

  #problem(text) {
    element("problem").hidden = !text;
    element("problem").textContent = text;
  }

  // Asks again until the service answers: it may be starting, or away.
  async #untilAnswered(request) {
    for (;;) {
      try {
        return await request();
      } catch (problem) {
        if (problem.status && problem.status < 500) this.#problem(problem.message);
        this.#link("broken", `waiting: ${problem.message}`);
        await new Promise((resolve) => setTimeout(resolve, 1000));
      }
    }
  }
}

addEventListener("DOMContentLoaded", () => new Page().start());
