// The lists beside the picture: members best first, the change feed, the explanation of one object.

import { count, inWords, shown, time } from "./words.js";

const ROWS = 200;
const element = (id) => document.getElementById(id);

export function make(tag, text = "", properties = {}) {
  return Object.assign(document.createElement(tag), { textContent: text, ...properties });
}

// Rows are kept and moved, not made again, and stand still under a pointer or the focus: a click must find its row.
export function showRanking(store, members, chosen, onChoose) {
  const table = element("ranking").querySelector("table");
  const extra = [...store.definition.group_by, ...store.definition.carry];
  const columns = ["Key", ...store.names, ...extra].join("\n");
  const body = table.tBodies[0];
  if (table.dataset.columns !== `${store.view}\n${columns}`) {
    const head = make("tr");
    head.append(make("th", "Key"), ...store.names.map((name) => make("th", name, { className: "number" })), ...extra.map((name) => make("th", name)));
    table.tHead.replaceChildren(head);
    table.dataset.columns = `${store.view}\n${columns}`;
    body.replaceChildren();
  }
  const rows = new Map([...body.rows].map((row) => [row.dataset.key, row]));
  for (const [key, row] of rows) row.className = key === chosen ? "chosen" : "";
  if (body.matches(":hover") || body.matches(":focus-within")) return;
  const shownMembers = members.slice(0, ROWS);
  const wanted = shownMembers.map((member) => rankingRow(store, member, rows.get(member.key), chosen, onChoose));
  if (wanted.length !== body.rows.length || wanted.some((row, i) => row !== body.rows[i])) body.replaceChildren(...wanted);
  element("ranking").querySelector("h2").textContent =
    members.length > ROWS ? `Members, the best ${ROWS} of ${members.length.toLocaleString("en")}` : "Members, best first";
}

function rankingRow(store, member, row, chosen, onChoose) {
  const fields = { ...member.group, ...member.carry };
  const extra = [...store.definition.group_by, ...store.definition.carry];
  const texts = [...store.names.map((name) => shown(member.point[name])), ...extra.map((name) => plain(fields[name]))];
  if (row) {
    texts.forEach((text, i) => {
      const place = row.cells[i + 1];
      if (place.textContent !== text) place.textContent = text;
    });
    return row;
  }
  const fresh = make("tr", "", { className: member.key === chosen ? "chosen" : "" });
  fresh.dataset.key = member.key;
  const first = make("td");
  first.append(make("button", member.key, { type: "button", onclick: () => onChoose(member.key) }));
  fresh.append(first, ...texts.map((text, i) => make("td", text, { className: i < store.names.length ? "number" : "" })));
  return fresh;
}

function plain(value) {
  if (value === null || value === undefined) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

export function showFeed(store) {
  const lines = store.feed.map((change) => {
    const line = make("li");
    line.append(make("time", time(change.at)), make("span", inWords(change), { className: change.op }));
    return line;
  });
  element("feed").querySelector("ol").replaceChildren(...lines);
}

export function showExplanation(store, key, object, problem) {
  const panel = element("explanation");
  if (!object) {
    panel.replaceChildren(make("h2", key), make("p", problem, { className: "hint" }));
    return;
  }
  const parts = [make("h2", key), make("p", verdict(object), { className: object.member ? "enter" : "leave" }), values(store, object)];
  if (object.to_enter?.length) {
    parts.push(make("p", "A single change would make it a member:"));
    parts.push(list(object.to_enter.map((step) => `${step.dimension} ${step.past ? "past" : "to"} ${shown(step.to)} (${step.change > 0 ? "+" : ""}${shown(step.change)})`)));
  }
  if (object.valid_until !== null) parts.push(make("p", `Valid until ${time(object.valid_until)}.`, { className: "hint" }));
  if (object.history?.length) {
    parts.push(make("p", "It was a member:"));
    parts.push(list(object.history.slice(0, 8).map((stay) => `${time(stay.from)} to ${stay.until === null ? "now" : time(stay.until)}${stay.left ? `, ${stay.left.reason}` : ""}`)));
  }
  panel.replaceChildren(...parts);
}

function verdict(object) {
  if (object.member) return "A member: nothing beats it in every respect.";
  if (object.state === "waiting") return `It waits: valid from ${time(object.valid_from)}.`;
  const others = object.dominated_by.count - 1;
  const layer = object.layer === null ? `deeper than layer ${object.deeper_than}` : `in layer ${object.layer}`;
  const more = others > 0 ? ` and ${count(others, "other member")}` : "";
  return `Not a member: ${object.dominated_by.members[0]?.key ?? "?"}${more} dominate${others > 0 ? "" : "s"} it; ${layer}.`;
}

function values(store, object) {
  const nearest = object.dominated_by?.members[0];
  const table = make("table");
  const head = table.createTHead().insertRow();
  head.append(make("th", ""), make("th", "this", { className: "number" }));
  if (nearest) head.append(make("th", nearest.key, { className: "number" }), make("th", "better by", { className: "number" }));
  const body = table.createTBody();
  for (const name of store.names) {
    const row = body.insertRow();
    row.append(make("td", name), make("td", shown(object.point[name]), { className: "number" }));
    if (nearest) row.append(make("td", shown(nearest.point[name]), { className: "number" }), make("td", shown(nearest.better_by[name]), { className: "number" }));
  }
  return table;
}

function list(lines) {
  const ul = make("ul");
  ul.append(...lines.map((line) => make("li", line)));
  return ul;
}
