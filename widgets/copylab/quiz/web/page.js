// A prediction on a page without a kernel: what the kernel does elsewhere is done here. Answers are read as answers.py
// reads them, and are never run.

const GIVEN = "\ue000";
const NOTHING = new Set(["none", "nothing", "neither", "-", "no gradient", "no value", "无", "無", "没有", "沒有", "都没有", "없음", "없다", "없습니다"]);
const COUNTED = [
  "zero one two three four five six seven eight nine ten",
  "零 一 二 三 四 五 六 七 八 九 十",
  "영 하나 둘 셋 넷 다섯 여섯 일곱 여덟 아홉 열",
].map((words) => words.split(" "));
const JOINED = /以及|和|与|跟|及|都|只有|그리고|하고|둘 다|(?<=[a-z0-9_\]])[와과]/gi;
const GLUE = new Set(["and", "und", "et", "only", "both", "just"]);
const MARKS = { "、": ",", "。": ".", "【": "[", "】": "]", "\u2212": "-" };

const plain = (text) =>
  text.slice(0, 2000).normalize("NFKC").replace(/[、。【】\u2212]/g, (mark) => MARKS[mark]).replace(/^[\s`]+|[\s`]+$/g, "");
const bare = (text) => text.toLowerCase().replace(/\.+$/, "");
const words = (text) => plain(text).replace(/^grad_fn\s*=\s*| object at \w+|[`'"<>]/g, "").trim().split(/\s+/).join(" ").toLowerCase();

/** A number, a list or a text in quotes as Python writes it; undefined for anything else. */
function literal(text) {
  const sign = /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i;
  const known = { True: true, False: false, None: null };
  const pieces = text.match(/[[\](),]|"[^"]*"|'[^']*'|[^\s[\](),]+/g) ?? [];
  let at = 0;
  function one() {
    const piece = pieces[at++];
    if (piece === "[" || piece === "(") return many(piece === "[" ? "]" : ")");
    if (sign.test(piece)) return Number(piece);
    if (/^["']/.test(piece)) return piece.slice(1, -1);
    if (Object.hasOwn(known, piece)) return known[piece];
    throw new SyntaxError();
  }
  function many(end) {
    const found = [];
    let comma = true;
    while (pieces[at] !== end) {
      if (at >= pieces.length || !comma) throw new SyntaxError();
      found.push(one());
      comma = pieces[at] === ",";
      if (comma) at++;
    }
    at++;
    return end === ")" && found.length === 1 && pieces[at - 2] !== "," ? found[0] : found;
  }
  try {
    pieces.push(undefined);
    const found = many(undefined);
    return found.length === 1 && pieces[at - 2] !== "," ? found[0] : found.length ? found : undefined;
  } catch {
    return undefined;
  }
}

/** The value that a text stands for; the text itself, tidied, if it stands for none. */
function value(given) {
  let text = plain(given);
  if (NOTHING.has(bare(text))) return null;
  for (const counted of COUNTED) if (counted.includes(bare(text))) return counted.indexOf(bare(text));
  const inner = text.match(/^(?:torch\.)?tensor\(([^]*?)(?:,\s*(?:dtype|device|grad_fn|requires_grad)=[^]*)?\)$/);
  text = (inner ? inner[1] : text).replace(JOINED, ",").replaceAll(";", ",").replaceAll(" and ", ", ");
  for (const attempt of [text, text.replace(/\.+$/, ""), text.replace(/([\w.])\s+(?=[-+\w.])/g, "$1, ")]) {
    const found = literal(attempt);
    if (found !== undefined) return found;
  }
  return text.split(/\s+/).join(" ");
}

function names(given) {
  const text = plain(given);
  if (NOTHING.has(bare(text))) return [];
  const found = text.replace(JOINED, " ").match(/[\p{L}_][\p{L}\p{N}_]*(?:\.[\p{L}\p{N}_]+|\[\d+\])*/gu) ?? [];
  return [...new Set(found.map((name) => name.toLowerCase()))].filter((name) => !GLUE.has(name)).sort();
}

function equal(given, right, near) {
  if (Array.isArray(right) && Array.isArray(given) && given.length === right.length)
    return given.every((one, at) => equal(one, right[at], near));
  if (Array.isArray(right) && !Array.isArray(given)) return right.length === 1 && equal(given, right[0], near);
  if (Array.isArray(given)) return given.length === 1 && equal(given[0], right, near);
  if (typeof given !== "number" || typeof right !== "number") return given === right;
  return given === right || (near && Math.abs(given - right) <= Math.max(1e-3 * Math.max(Math.abs(given), Math.abs(right)), 5e-5));
}

/** Whether `given` means the answer `right` in a row. */
function same(given, right, row) {
  if (row.kind === "choice") return given.toLowerCase() === String(right).toLowerCase();
  if (row.kind === "names") return String(names(given)) === String(Array.isArray(right) ? right : names(right));
  if (row.kind === "text") return NOTHING.has(bare(right)) ? value(given) === null : words(given) === words(right);
  return equal(value(given), typeof right === "string" ? value(right) : right, row.near);
}

function readable(given, row) {
  if (row.kind === "names") return names(given).every((name) => row.names.includes(name));
  return row.kind !== "value" || typeof value(given) !== "string" || value(given) === row.right;
}

/** What a form is given in place of a model of the kernel's. */
function judging(told) {
  const state = { answers: {}, page: told.form, problem: "", says: "" };
  const heard = {};
  const change = (name, to) => {
    state[name] = to;
    heard[`change:${name}`]?.();
  };
  function commit(answers) {
    const given = told.rows.map((row) => answers[row.name]);
    const at = told.rows.findIndex((row, index) => !readable(given[index], row));
    if (at >= 0) {
      const parts = { number: at + 1, given: given[at], takes: told.rows[at].takes };
      return change("problem", say("Row {number}: “{given}” cannot be read. Write it as {takes}.", parts));
    }
    const escaped = (text) => Object.assign(document.createElement("i"), { textContent: text }).innerHTML;
    let right = 0;
    const rows = told.rows.map((row, index) => {
      const fits = same(given[index], row.right, row);
      right += fits;
      const listed = row.no.find(([key]) => same(given[index], key, row));
      return (fits ? row.yes : listed ? listed[1] : row.other).replaceAll(GIVEN, () => escaped(given[index]));
    });
    const made = Object.assign(document.createElement("div"), { innerHTML: told.result });
    const headline = right === rows.length ? told.all : told.some.replace(GIVEN, right);
    made.querySelector(".cl-headline").textContent = headline;
    made.querySelector('[role="group"]').setAttribute("aria-label", headline);
    made.querySelector(".cl-reveal tbody").innerHTML = rows.join("");
    made.querySelector('[data-do="steps"]').remove();
    change("page", made.innerHTML);
  }
  return {
    get: (name) => state[name],
    set: (some) => Object.assign(state, some),
    save_changes() {},
    send({ do: what, answers }) {
      if (what === "commit") return commit(answers);
      state.answers = {};
      change("page", told.form);
    },
    on: (event, handler) => (heard[event] = handler),
    off() {},
  };
}

for (const el of document.querySelectorAll(".cl-page[data-told]")) {
  const bytes = Uint8Array.from(atob(el.dataset.told), (sign) => sign.charCodeAt(0));
  delete el.dataset.told;
  el.replaceChildren();
  render({ model: judging(JSON.parse(new TextDecoder().decode(bytes))), el });
}
