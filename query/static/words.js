// Numbers, times and changes as people read them.

const WHY = {
  "enter inserted": "entered: new",
  "enter moved": "entered: it moved",
  "enter promoted": "entered: its dominator {by} {did}",
  "move moved": "moved",
  "leave dominated": "left: {by} dominates it",
  "leave moved": "left: it moved and is dominated now",
  "leave deleted": "left: it was deleted",
  "leave expired": "left: it expired",
};
const DID = { deleted: "was deleted", expired: "expired", moved: "moved", dominated: "was dominated itself" };
const DIGITS = 4;
const LONGEST = 60; // letters of a key within a sentence

// `cause`: the change of the object that caused this one, in the same update, if it is known.
export function inWords(change, cause) {
  const why = WHY[`${change.op} ${change.reason}`] ?? `${change.op}, ${change.reason}`;
  const did = DID[cause?.reason] ?? "left, moved or expired";
  return `${named(change.key)} ${why.replace("{by}", () => named(change.by)).replace("{did}", did)}`;
}

// A key within a sentence: what is long is cut in its middle, what is blank is made to be seen.
export function named(key) {
  if (!key.trim()) return JSON.stringify(key);
  return key.length > LONGEST ? `${key.slice(0, LONGEST - 20)}…${key.slice(-19)}` : key;
}

// With `decimals`, for columns whose points stand below one another; else as many as four digits need.
export function shown(value, decimals) {
  const number = Number(value);
  if (!Number.isFinite(number)) return number > 0 ? "∞" : "−∞";
  const size = Math.abs(number);
  if (size && (size < 1e-4 || size >= 1e9)) return number.toExponential(2).replace("e+", "e").replace("-", "−");
  const places = decimals ?? decimalsOf(number);
  return number.toLocaleString("en", { minimumFractionDigits: decimals ?? 0, maximumFractionDigits: places }).replace("-", "−");
}

// Decimals that show these values with four digits each, the largest number of them.
export function decimalsFor(values) {
  return values.map(Number).filter(Number.isFinite).reduce((most, value) => Math.max(most, decimalsOf(value)), 0);
}

function decimalsOf(number) {
  const fraction = String(Number(number.toPrecision(DIGITS))).split(".")[1] ?? "";
  return fraction.includes("e") ? 0 : Math.min(fraction.length, 2 * DIGITS);
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
