// What the page knows of one view: its members now, the crowd behind them, the newest changes, sizes over time.

const FEED = 100;
const SIZES = 2000;
const FRESH_MS = 1500;

export class Store {
  constructor(definition) {
    this.view = definition.view;
    this.definition = definition;
    this.names = Object.keys(definition.dimensions);
    this.members = new Map();
    this.crowd = [];
    this.feed = [];
    this.sizes = [];
    this.fresh = new Map(); // key -> {op, member, until}: what just entered or left
    this.stamp = { offset: definition.offset, clock: definition.clock, seq: definition.seq };
  }

  load(answer, changes, sizes) {
    this.members = new Map(answer.members.map((member) => [member.key, member]));
    this.feed = changes.changes.slice(-FEED).reverse();
    this.sizes = sizes.sizes;
    this.#stamped(answer);
  }

  apply(change) {
    const { seq, op, key, at, offset, size } = change;
    if (seq <= this.stamp.seq) return false;
    const member = { key, point: change.point, group: change.group, carry: change.carry };
    if (op === "leave") this.members.delete(key);
    else this.members.set(key, member);
    if (op !== "move") this.fresh.set(key, { op, member, until: performance.now() + FRESH_MS });
    this.feed.unshift(change);
    this.feed.length = Math.min(this.feed.length, FEED);
    this.sizes.push({ at, size });
    if (this.sizes.length > SIZES) this.sizes.splice(0, this.sizes.length - SIZES);
    this.stamp = { offset: Math.max(offset, this.stamp.offset), clock: Math.max(at, this.stamp.clock ?? at), seq };
    return true;
  }

  // Recently entered or left, by op; what has had its time is forgotten.
  recent(op) {
    const now = performance.now();
    for (const [key, entry] of this.fresh) if (entry.until < now) this.fresh.delete(key);
    return [...this.fresh.values()].filter((entry) => entry.op === op).map((entry) => entry.member);
  }

  groups() {
    const labels = new Set();
    for (const member of this.members.values()) labels.add(groupLabel(member));
    return [...labels].sort();
  }

  #stamped({ offset, clock, seq }) {
    this.stamp = { offset, clock, seq };
  }
}

export function groupLabel(member) {
  return member.group ? Object.values(member.group).join(", ") : "";
}
