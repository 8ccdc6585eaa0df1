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
    this.size = definition.members;
    this.isWhole = true; // whether `members` are all of them
    this.crowd = [];
    this.feed = []; // newest first
    this.sizes = [];
    this.fresh = new Map(); // key -> {op, member, until}: what just entered or left
    this.stamp = { offset: definition.offset, clock: definition.clock, seq: definition.seq };
  }

  // The three answers may speak for different states; gives the change from which on the stream tells the rest to all.
  load(answer, changes, sizes) {
    this.members = new Map(answer.members.map((member) => [member.key, member]));
    this.feed = changes.changes.slice(-FEED).reverse();
    this.sizes = sizes.sizes;
    this.sizesSeq = sizes.seq;
    this.isWhole = answer.complete;
    this.size = answer.complete ? answer.count : (this.feed[0]?.size ?? answer.count);
    this.stamp = { offset: answer.offset, clock: answer.clock, seq: answer.seq };
    return Math.min(answer.seq, changes.next, sizes.seq);
  }

  // Takes in a change; whether it changed the members.
  apply(change) {
    const { seq, op, key, at, offset, size } = change;
    if (seq > (this.feed[0]?.seq ?? 0)) {
      this.feed.unshift(change);
      this.feed.length = Math.min(this.feed.length, FEED);
    }
    if (seq > this.sizesSeq) {
      this.sizes.push({ at, size });
      if (this.sizes.length > SIZES) this.sizes.splice(0, this.sizes.length - SIZES);
    }
    if (seq <= this.stamp.seq) return false;
    const member = { key, point: change.point, group: change.group, carry: change.carry };
    if (op === "leave") this.members.delete(key);
    else this.members.set(key, member);
    if (op !== "move") this.fresh.set(key, { op, member, until: performance.now() + FRESH_MS });
    this.size = size;
    this.stamp = { offset: Math.max(offset, this.stamp.offset), clock: Math.max(at, this.stamp.clock ?? at), seq };
    return true;
  }

  // The change of the object that caused a change, by the same update.
  cause(place) {
    const { by, offset, key } = this.feed[place];
    for (let i = place + 1; key !== by && this.feed[i]?.offset === offset; i++) if (this.feed[i].key === by) return this.feed[i];
    return undefined;
  }

  // Recently entered or left, by op; what has had its time is forgotten.
  recent(op) {
    const now = performance.now();
    for (const [key, entry] of this.fresh) if (entry.until < now) this.fresh.delete(key);
    return [...this.fresh.values()].filter((entry) => entry.op === op).map((entry) => entry.member);
  }

  arrow(name) {
    return this.definition.dimensions[name] === "min" ? "↓" : "↑";
  }

  meaning(name) {
    return this.definition.dimensions[name] === "min" ? "less is better" : "more is better";
  }

  // Groups that have members: label -> fields.
  groups() {
    const labels = [...this.members.values()].filter(({ group }) => group).map((member) => [groupLabel(member), member.group]);
    return new Map(labels.sort(([a], [b]) => a.localeCompare(b)));
  }
}

export function groupLabel(member) {
  return member.group ? Object.values(member.group).map((value) => (value === "" ? "(none)" : value)).join(", ") : "";
}
