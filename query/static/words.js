// Numbers, times and changes as people read them.

const WHY = {
  "enter inserted": "entered: new",
  "enter moved": "entered: it moved",
  "enter promoted": "entered: its dominator {by} left, moved or expired",
  "move moved": "moved",
  "leave dominated": "left: {by} dominates it",
  "leave moved": "left: it moved and is dominated now",
  "leave deleted": "left: it was deleted",
  "leave expired": "left: it expired",
};

export function inWords(change) {
  const why = WHY[`${change.op} ${change.reason}`] ?? `${change.op}, ${change.reason}`;
  return `${change.key} ${why.replace("{by}", change.by)}`;
}

export function shown(value) {
  const number = Number(value);
  if (!Number.isFinite(number)) return number > 0 ? "∞" : "−∞";
  return Number(number.toPrecision(4)).toLocaleString("en", { maximumSignificantDigits: 4 });
}

export function time(at) {
  const moment = new Date(at);
  if (Number.isNaN(moment.getTime())) return String(at);
  const today = moment.toDateString() === new Date().toDateString();
  return (today ? "" : `${moment.toLocaleDateString("en-CA")} `) + moment.toLocaleTimeString("en-GB");
}

export function count(number, one, many = `${one}s`) {
  return `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
}
