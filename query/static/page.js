// The live page: loads a view, follows its changes, draws at most four times a second.

import { address, getJson, getMembers } from "./api.js";
import { Chart, drawSizes } from "./chart.js";
import { showExplanation, showFeed, showHint, showProblem, showRanking } from "./panels.js";
import { Question } from "./question.js";
import { groupLabel, Store } from "./store.js";
import { Stream } from "./stream.js";
import { count, time } from "./words.js";

const DRAW_MS = 250;
const SLOW_DRAW_MS = 1500; // 3-D, pairs and thousands of members: a picture takes a good part of a second
const MANY = 1000;
const ASK_MS = 300;
const REFRESH_MS = 5000;
const CROWD = 1500;
const MOST = 10000; // members that are loaded and drawn
const element = (id) => document.getElementById(id);

class Page {
  constructor() {
    this.chart = new Chart(element("chart"), element("pulses"), (key) => this.choose(key));
    this.stream = null;
    this.store = null;
    this.question = null;
    this.answer = null; // what the service said to a question that the stream does not answer
    this.chosen = null;
    this.dirty = this.drawing = false;
    this.drawnAt = 0;
    this.asked = null;
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.redraw());
    setInterval(() => this.#draw(), DRAW_MS);
    setInterval(() => document.hidden || this.#refresh(), REFRESH_MS);
    addEventListener("hashchange", () => this.open(viewInAddress()));
    element("find").onsubmit = (event) => {
      event.preventDefault();
      this.choose(element("key").value);
    };
  }

  async start() {
    const { views } = await this.#untilAnswered(() => getJson("/views"), () => true);
    const select = element("view");
    select.replaceChildren(...views.map(({ view }) => new Option(view, view)));
    select.onchange = () => {
      location.hash = encodeURIComponent(select.value);
    };
    await this.open(viewInAddress() || views[0].view);
  }

  async open(view) {
    this.opened = view;
    this.stream?.end();
    this.question = this.store = null;
    element("view").value = view;
    element("key").value = "";
    document.title = `${view} · Skyline`;
    showHint();
    const definition = await this.#untilAnswered(() => getJson(address(view, "")), () => this.opened === view);
    if (!definition) return;
    const store = new Store(definition);
    Object.assign(this, { store, answer: null, chosen: null });
    this.question = new Question(store, () => this.ask(), () => this.redraw());
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
    if (!this.store) return;
    this.chosen = element("key").value = key;
    this.redraw();
    await this.#explain(key);
    element("explanation").scrollIntoView({ block: "nearest" });
  }

  async #explain(key) {
    const { store } = this;
    try {
      const object = await getJson(address(store.view, "/objects", [["key", key]]));
      if (this.chosen === key) showExplanation(store, object);
    } catch (problem) {
      if (this.chosen === key) showProblem(key, problem);
    }
  }

  async #load(store) {
    const [answer, changes, sizes] = await Promise.all([
      getMembers(address(store.view, "/skyline", [["limit", MOST]])),
      getJson(address(store.view, "/changes", [["limit", 100]])),
      getJson(address(store.view, "/sizes", [["points", 500]])),
    ]);
    const seq = store.load(answer, changes, sizes);
    await this.#refresh();
    return address(store.view, "/changes", [["after", seq]]);
  }

  #take(store, change) {
    if (store !== this.store) return;
    const isNews = store.apply(change);
    if (isNews && this.question.isLive && change.op !== "move" && this.#inGroup(change)) this.chart.pulse(change);
    this.redraw();
  }

  // What no stream tells: the crowd, answers to questions, explanations. It also notices a connection that died silently.
  async #refresh() {
    const { store, question, chosen } = this;
    if (!store) return;
    try {
      const sample = await getJson(address(store.view, "/objects", [["sample", CROWD]]));
      store.crowd = sample.objects;
    } catch (problem) {
      if (problem.status) this.#problem(problem.message);
      else this.stream?.lost(problem.message);
      return;
    }
    question.span([...store.crowd, ...store.members.values()]);
    if (!question.isLive && question.asOf === null) await this.#ask(store, question);
    if (chosen !== null && chosen === this.chosen) await this.#explain(chosen);
    this.redraw();
  }

  async #ask(store, question) {
    let answer = null;
    try {
      if (!question.isLive) answer = await getMembers(address(store.view, "/skyline", [...question.parameters(), ["limit", MOST]]));
    } catch (problem) {
      this.#problem(problem.message);
      return;
    }
    if (question !== this.question || question.isLive !== (answer === null)) return;
    this.answer = answer;
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
    const members = (this.answer?.members ?? [...store.members.values()]).filter(inGroup);
    const scores = new Map(members.map((member) => [member.key, question.score(member)]));
    members.sort((a, b) => scores.get(a.key) - scores.get(b.key));
    const known = new Set(members.map((member) => member.key));
    const crowd = question.asOf === null ? store.crowd.filter((object) => inGroup(object) && !known.has(object.key)) : [];
    question.showGroups();
    const hasInfinite = [...members, ...crowd].some(({ point }) => question.dims.some((name) => typeof point[name] === "string"));
    this.#tellState(members.length, hasInfinite);
    showRanking(store, members, this.chosen, (key) => this.choose(key));
    showFeed(store);
    drawSizes(element("sizes-chart"), store, question.asOf);
    const dims = question.dims.length === 1 ? [question.dims[0], question.dims[0]] : question.dims;
    const picture = `${store.view} ${dims}`;
    const isSlow = dims.length > 2 || members.length > MANY;
    if (isSlow && picture === this.picture && performance.now() - this.drawnAt < SLOW_DRAW_MS) {
      this.dirty = true;
      return;
    }
    Object.assign(this, { drawing: true, picture });
    const ranges = new Map(dims.map((name) => [name, question.range(name)]));
    const note = members.length + crowd.length ? "" : store.stamp.clock === null ? "No update has come yet" : "No object to draw";
    try {
      await this.chart.draw({ store, members, crowd, dims, ranges, chosen: this.chosen, live: this.answer === null, note });
    } finally {
      Object.assign(this, { drawing: false, drawnAt: performance.now() });
    }
  }

  #tellState(drawn, hasInfinite) {
    const { store, question, answer } = this;
    const isWhole = answer?.complete ?? store.isWhole;
    const total = answer || question.group ? "more" : store.size.toLocaleString("en");
    const members = isWhole ? count(drawn, "member") : `${drawn.toLocaleString("en")} of ${total} members`;
    const parts = [members, answer?.as_of === undefined ? "" : `as of ${time(answer.as_of)}`, hasInfinite ? "±∞ drawn at the edge" : ""];
    element("count").textContent = parts.filter(Boolean).join(", ");
    element("request").href = address(store.view, "/skyline", question.request());
    const { offset, clock, seq } = store.stamp;
    element("stamp").textContent = clock === null ? "no update yet" : `change ${seq.toLocaleString("en")} · offset ${offset.toLocaleString("en")} · ${time(clock)}`;
  }

  #link(state, text) {
    element("link").dataset.state = document.body.dataset.state = state;
    element("link").textContent = text;
    if (state === "live") this.#problem("");
  }

  #problem(text) {
    element("problem").hidden = !text;
    element("problem").textContent = text;
  }

  // Asks again until the service answers, for it may be starting or away; gives nothing once that is no longer wanted.
  async #untilAnswered(request, isWanted) {
    while (isWanted()) {
      try {
        return await request();
      } catch (problem) {
        if (!isWanted()) break;
        this.#link("broken", problem.status === 404 ? "no such view" : `waiting: ${problem.message}`);
        if (problem.status === 404) {
          this.#problem(`${problem.message}: choose another one above`);
          break;
        }
        await new Promise((resolve) => setTimeout(resolve, 1000));
      }
    }
    return null;
  }
}

function viewInAddress() {
  const text = location.hash.slice(1);
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // no name of a view has a percent sign
  }
}

addEventListener("DOMContentLoaded", () => new Page().start());
