// A prediction on a page without a kernel: what the kernel does elsewhere is done here. Answers are read as answers.py
// reads them, and are never run.

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
const words = (text) => plain(text).replace(/^grad_fn\s*=\s*| object at \w+|\w+::|[`'"<>]/g, "").trim().split(/\s+/).join(" ").toLowerCase();

/** A number, a list or a text in quotes as Python writes it, by way of JSON; undefined for anything else. */
function literal(text) {
  const known = { "(": "[", ")": "]", "[": "[", "]": "]", True: "true", False: "false", None: "null" };
  const json = text.replace(/"[^"]*"|'[^']*'|[[\]()]|[^\s,[\]()]+/g, (piece) => {
    if (/^["']/.test(piece)) return JSON.stringify(piece.slice(1, -1));
    return /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(piece) ? Number(piece) : known[piece];
  });
  try {
    const found = JSON.parse(`[${json.replace(/,\s*(?=\]|$)/g, "")}]`);
    return found.length === 1 ? found[0] : found; // (2) is 2; so is (2,) to who compares
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
  if (row.choices) return given.toLowerCase() === String(right).toLowerCase();
  if (row.kind === "names") return String(names(given)) === String(Array.isArray(right) ? right : names(right));
  if (row.kind === "text") return NOTHING.has(bare(right)) ? value(given) === null : words(given) === words(right);
  return equal(value(given), typeof right === "string" ? value(right) : right, row.near);
}

function readable(given, row) {
  if (row.like) return value(given) === null || new RegExp(`^(?:${row.like})$`).test(words(given)) || row.names.includes(words(given));
  if (row.kind === "names") return names(given).every((name) => row.names.includes(name));
  return row.kind !== "value" || typeof value(given) !== "string" || value(given) === row.right;
}

/** What the run says to the answers: of the page that has every row wrong, those that are right are made so. */
function result({ revealed, rows, texts, all }, given) {
  const page = document.createElement("template");
  page.innerHTML = revealed;
  const lines = page.content.querySelectorAll("tbody tr");
  let right = 0;
  for (const [at, row] of rows.entries()) {
    const [line, below] = [lines[2 * at], lines[2 * at + 1]];
    line.cells[2].textContent = row.choices?.[given[at]] ?? given[at];
    if (same(given[at], row.right, row)) {
      right++;
      below.remove();
      for (const cell of line.cells) cell.classList.replace("cl-wrong", "cl-right");
      line.cells[4].textContent = say("✔ right");
    } else {
      const told = row.no.find(([key]) => same(given[at], key, row))?.[1] ?? row.other;
      below.cells[0].innerHTML = told.map((one) => `<p>${texts[one]}</p>`).join("");
    }
  }
  const count = rows.length;
  const some = say("{right} of {count} right. A row that turned out wrong is one you can learn from.", { right, count });
  const headline = page.content.querySelector(".cl-headline");
  headline.textContent = right === count ? all : some;
  headline.parentElement.ariaLabel = headline.textContent;
  return page.innerHTML;
}

/** What a form is given in place of a model of the kernel's. */
function judging(program, told) {
  const form = told.form.replaceAll('"cl-0', `"cl-${Math.random().toString(36).slice(2)}`); // ids of its own
  const state = { answers: {}, page: program + form, problem: "", says: "" };
  const heard = {};
  const change = (name, to) => {
    state[name] = to;
    heard[`change:${name}`]?.();
  };
  function commit(answers) {
    const given = told.rows.map((row) => answers[row.name]);
    const at = told.rows.findIndex((row, index) => !readable(given[index], row));
    if (at < 0) return change("page", program + result(told, given));
    const { takes } = told.rows[at];
    change("problem", say("Row {number}: “{given}” cannot be read. Write it as {takes}.", { number: at + 1, given: given[at], takes }));
  }
  return {
    get: (name) => state[name],
    set: (some) => Object.assign(state, some),
    save_changes() {},
    send({ do: what, answers }) {
      if (what === "commit") return commit(answers);
      state.answers = {};
      change("page", program + form);
    },
    on: (event, handler) => (heard[event] = handler),
    off() {},
  };
}

for (const el of document.querySelectorAll(".cl-page[data-told]")) {
  const bytes = Uint8Array.from(atob(el.dataset.told), (sign) => sign.charCodeAt(0));
  delete el.dataset.told;
  whenSeen(el, () => {
    const task = el.querySelector(".copylab-predict");
    task.remove();
    render({ model: judging(task.firstElementChild.outerHTML, JSON.parse(new TextDecoder().decode(bytes))), el });
  });
}
