// The lists beside the picture: members best first, the change feed, the explanation of one object.

import { count, decimalsFor, inWords, named, shown, time } from "./words.js";

const ROWS = 200;
const STAYS = 8; // stretches among the members that are listed
const HINT = "Choose a point, or a member below, or name any object: why is it in the skyline, or why not?";
const canHover = matchMedia("(hover: hover)");
const element = (id) => document.getElementById(id);

export function make(tag, text = "", properties = {}) {
  return Object.assign(document.createElement(tag), { textContent: text, ...properties });
}

// Rows are kept and moved, not made again, and stand still under a pointer or a keyboard's focus: a click must find its row.
export function showRanking(store, members, chosen, onChoose) {
  const table = element("ranking").querySelector("table");
  const body = table.tBodies[0];
  if (table.dataset.view !== store.view) {
    table.dataset.view = store.view;
    table.tHead.replaceChildren(rankingHead(store));
    body.replaceChildren();
  }
  const rows = new Map([...body.rows].map((row) => [row.dataset.key, row]));
  for (const [key, row] of rows) mark(row, key === chosen);
  const isHeld = (canHover.matches && body.matches(":hover")) || body.querySelector(":focus-visible") !== null;
  const many = members.length > ROWS ? `Members, the best ${ROWS} of ${members.length.toLocaleString("en")}` : "Members, best first";
  element("ranking").querySelector("h2").textContent = isHeld ? `${many} (held still while you choose)` : many;
  if (isHeld && body.rows.length) return;
  const best = members.slice(0, ROWS);
  const decimals = store.names.map((name) => decimalsFor(best.map((member) => member.point[name])));
  best.forEach((member, place) => {
    const row = rankingRow(store, member, rows.get(member.key), decimals, onChoose);
    mark(row, member.key === chosen);
    if (body.rows[place] !== row) body.insertBefore(row, body.rows[place] ?? null);
  });
  while (body.rows.length > best.length) body.lastElementChild.remove();
  if (!best.length) {
    const row = body.insertRow();
    row.append(make("td", "No object satisfies this, or there is none yet.", { className: "hint", colSpan: table.tHead.rows[0].cells.length }));
  }
}

function mark(row, isChosen) {
  row.className = isChosen ? "chosen" : "";
  if (isChosen) row.setAttribute("aria-current", "true");
  else row.removeAttribute("aria-current");
}

function rankingHead(store) {
  const head = make("tr");
  const extra = [...store.definition.group_by, ...store.definition.carry];
  const dims = store.names.map((name) => make("th", `${name} ${store.arrow(name)}`, { className: "number", title: store.meaning(name) }));
  head.append(make("th", "Key"), ...dims, ...extra.map((name) => make("th", name)));
  for (const cell of head.cells) cell.scope = "col";
  return head;
}

function rankingRow(store, member, known, decimals, onChoose) {
  const fields = { ...member.group, ...member.carry };
  const extra = [...store.definition.group_by, ...store.definition.carry];
  const texts = [...store.names.map((name, i) => shown(member.point[name], decimals[i])), ...extra.map((name) => plain(fields[name]))];
  const row = known ?? emptyRow(member.key, texts.map((_, i) => (i < store.names.length ? "number" : "")), onChoose);
  texts.forEach((text, i) => {
    const place = row.cells[i + 1];
    if (place.textContent !== text) Object.assign(place, { textContent: text, title: text });
  });
  return row;
}

function emptyRow(key, classes, onChoose) {
  const row = make("tr");
  row.dataset.key = key;
  const first = make("td");
  first.append(make("button", key.trim() ? key : named(key), { type: "button", title: key, onclick: () => onChoose(key) }));
  row.append(first, ...classes.map((className) => make("td", "", { className })));
  return row;
}

function plain(value) {
  if (value === null || value === undefined) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

// Lines are added in front, so that a reader who has scrolled down keeps the place.
export function showFeed(store) {
  const list = element("feed").querySelector("ol");
  const isOther = list.dataset.view !== store.view;
  if (isOther) list.replaceChildren();
  list.dataset.view = store.view;
  const newest = Number(list.querySelector("li[data-seq]")?.dataset.seq ?? 0);
  const fresh = store.feed.flatMap((change, place) => (change.seq > newest ? [feedLine(change, store.cause(place))] : []));
  if (fresh.length) list.querySelector(".hint")?.remove();
  list.prepend(...fresh);
  while (list.childElementCount > Math.max(1, store.feed.length)) list.lastElementChild.remove();
  if (!list.childElementCount) list.append(make("li", "Nothing has changed yet.", { className: "hint" }));
}

function feedLine(change, cause) {
  const line = make("li");
  line.dataset.seq = change.seq;
  line.append(make("time", time(change.at), { dateTime: isoTime(change.at) }), make("span", inWords(change, cause), { className: change.op }));
  return line;
}

function isoTime(at) {
  const moment = new Date(at);
  return Number.isNaN(moment.getTime()) ? "" : moment.toISOString();
}

export function showHint() {
  element("why").replaceChildren(make("p", HINT, { className: "hint" }));
}

// An object that is not there has a history all the same.
export function showProblem(key, { message, document: { history } }) {
  replace([make("h2", key), make("p", message, { className: "hint" }), ...stays(history, false)]);
}

export function showExplanation(store, object) {
  const parts = [make("h2", object.key), make("p", verdict(object), { className: object.member ? "enter" : object.state === "waiting" ? "move" : "leave" }), values(store, object)];
  const about = Object.entries({ ...object.group, ...object.carry }).filter(([, value]) => value !== null);
  if (about.length) parts.splice(1, 0, make("p", about.map(([name, value]) => `${name}: ${plain(value)}`).join(" · "), { className: "hint" }));
  if (object.to_enter?.length) {
    parts.push(make("p", "A single change would make it a member:"));
    parts.push(list(object.to_enter.map(step)));
  } else if (object.state === "dominated") {
    parts.push(make("p", "No change in a single dimension would make it a member."));
  }
  if (object.valid_until !== null) parts.push(make("p", `Valid until ${time(object.valid_until)}.`, { className: "hint" }));
  replace([...parts, ...stays(object.history, object.member)]);
}

function stays(history, isMember) {
  if (!history?.length) return [];
  const more = history.length > STAYS ? [`and ${history.length - STAYS} times before`] : [];
  return [make("p", isMember ? "It is a member:" : "It was a member:"), list([...history.slice(0, STAYS).map(stay), ...more])];
}

// Only what differs is written: the panel is read aloud when it changes.
function replace(parts) {
  const panel = element("why"), next = make("div");
  next.append(...parts);
  if (panel.innerHTML !== next.innerHTML) panel.replaceChildren(...next.childNodes);
}

function step({ dimension, to, past, change }) {
  const by = Number(change) === 0 ? "however little" : `${Number(change) > 0 ? "+" : ""}${shown(change)}`;
  return `${dimension} ${past ? "past" : "to"} ${shown(to)} (${by})`;
}

function stay({ from, until, left }) {
  const began = from === null ? "from before the oldest change held" : `from ${time(from)}`;
  return `${began} ${until === null ? "on" : `to ${time(until)}`}${left ? `, ${left.reason}` : ""}`;
}

function verdict(object) {
  if (object.member) return "A member: nothing beats it in every respect.";
  if (object.state === "waiting") return `It waits: valid from ${time(object.valid_from)}.`;
  const others = object.dominated_by.count - 1;
  const layer = object.layer === null ? `deeper than layer ${object.deeper_than}` : `in layer ${object.layer}`;
  const more = others > 0 ? ` and ${count(others, "other member")}` : "";
  return `Not a member: ${named(object.dominated_by.members[0].key)}${more} dominate${others > 0 ? "" : "s"} it; ${layer}.`;
}

function values(store, object) {
  const nearest = object.dominated_by?.members[0];
  const table = make("table");
  const head = table.createTHead().insertRow();
  head.append(make("th", ""), make("th", "this", { className: "number" }));
  if (nearest) head.append(make("th", named(nearest.key), { className: "number", title: nearest.key }), make("th", "better by", { className: "number" }));
  for (const cell of head.cells) cell.scope = "col";
  const body = table.createTBody();
  for (const name of store.names) {
    const numbers = [object.point[name], ...(nearest ? [nearest.point[name], nearest.better_by[name]] : [])];
    const decimals = decimalsFor(numbers);
    const row = body.insertRow();
    row.append(make("th", `${name} ${store.arrow(name)}`, { scope: "row", title: store.meaning(name) }));
    row.append(...numbers.map((value) => make("td", shown(value, decimals), { className: "number" })));
  }
  return table;
}

function list(lines) {
  const ul = make("ul");
  ul.append(...lines.map((line) => make("li", line)));
  return ul;
}
