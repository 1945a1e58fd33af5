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
  if (row.like) return value(given) === null || new RegExp(`^(?:${row.like})$`).test(words(given)) || row.names.includes(words(given));
  if (row.kind === "names") return names(given).every((name) => row.names.includes(name));
  return row.kind !== "value" || typeof value(given) !== "string" || value(given) === row.right;
}

/** The task as a form: a menu or a field in each row, as Python makes it for a live view. */
function form(task, rows) {
  const made = task.cloneNode(true);
  const [program, asked] = made.children;
  const form = Object.assign(document.createElement("form"), { noValidate: true });
  form.setAttribute("aria-label", program.firstElementChild.textContent.trim());
  form.append(...asked.childNodes);
  const own = Math.random().toString(36).slice(2);
  form.querySelectorAll("tbody tr").forEach(({ cells: [, asks, answer] }, at) => {
    const { name, choices } = rows[at];
    const id = `cl-${own}-${at}`;
    const field = document.createElement(choices ? "select" : "input");
    const label = document.createElement("label");
    const place = Object.assign(document.createElement("div"), { className: "cl-answer" });
    Object.assign(field, { id, name, autocomplete: "off" }, choices ? {} : { maxLength: 2000, spellcheck: false });
    Object.assign(label, { htmlFor: id }).append(...asks.childNodes);
    if (choices) field.append(...[["", say("choose …")], ...choices].map(([value, said]) => new Option(said, value)));
    place.append(field);
    if (!choices) {
      const hint = Object.assign(document.createElement("span"), { id: `${id}-hint`, className: "cl-hint" });
      hint.innerHTML = answer.innerHTML.replace(/: …$/, "");
      field.type = "text";
      field.setAttribute("aria-describedby", hint.id);
      place.append(hint);
    }
    asks.replaceChildren(label);
    answer.replaceChildren(place);
  });
  const bar = `<div class="cl-bar"><button class="cl-commit">${say("Commit")}</button><span class="cl-count"></span></div>`;
  form.insertAdjacentHTML("beforeend", bar);
  asked.replaceWith(form);
  return made.innerHTML;
}

const escaped = (text) => Object.assign(document.createElement("i"), { textContent: text }).innerHTML;
const marked = (text) => escaped(text).replace(/`([^`]+)`/g, "<code>$1</code>");

/** What the run says to the answers, as reveal.py has it. */
function result(task, { rows, texts, all }, given) {
  let right = 0;
  const questions = [...task.querySelectorAll('th[scope="row"]')].map((asks) => asks.innerHTML);
  const lines = rows.map((row, at) => {
    const wrote = given[at];
    const fits = same(wrote, row.right, row);
    const kind = fits ? "cl-right" : "cl-wrong";
    const cell = (inside, more = "", label = "") => `<td class="${kind}${more}"${label}>${inside}</td>`;
    const told = row.no.find(([key]) => same(wrote, key, row))?.[1] ?? row.other;
    const against = fits ? "" : told.map((one) => `<p>${texts[one]}</p>`).join("");
    right += fits;
    return [
      `<tr>${cell(at + 1, " cl-number")}<th scope="row" class="${kind}">${questions[at]}</th>`,
      cell(marked(row.choices?.find(([value]) => value === wrote)[1] ?? wrote), "", ` data-label="${say("You wrote")}"`),
      cell(row.shown, "", ` data-label="${say("The run says")}"`),
      cell(fits ? say("✔ right") : say("✖ not so"), " cl-verdict"),
      fits ? "</tr>" : `</tr><tr><td class="cl-against" colspan="5">${against}</td></tr>`,
    ].join("");
  });
  const count = rows.length;
  const some = say("{right} of {count} right. A row that turned out wrong is one you can learn from.", { right, count });
  const headline = right === count ? all : some;
  const head = [say("Question"), say("You wrote"), say("The run says"), say("Verdict")];
  return [
    task.firstElementChild.outerHTML,
    `<div role="group" aria-label="${headline}"><p class="cl-headline" tabindex="-1">${headline}</p>`,
    `<table class="cl-reveal"><thead><tr><td></td><th scope="col">${head.join('</th><th scope="col">')}</th></tr></thead><tbody>${lines.join("")}</tbody></table>`,
    `<div class="cl-bar"><button type="button" data-do="reset">${say("Start again")}</button></div></div>`,
  ].join("");
}

/** What a form is given in place of a model of the kernel's. */
function judging(task, told) {
  const open = form(task, told.rows);
  const state = { answers: {}, page: open, problem: "", says: "" };
  const heard = {};
  const change = (name, to) => {
    state[name] = to;
    heard[`change:${name}`]?.();
  };
  function commit(answers) {
    const given = told.rows.map((row) => answers[row.name]);
    const at = told.rows.findIndex((row, index) => !readable(given[index], row));
    if (at < 0) return change("page", result(task, told, given));
    const takes = task.querySelectorAll("tbody tr")[at].cells[2].textContent.replace(/: …$/, "");
    change("problem", say("Row {number}: “{given}” cannot be read. Write it as {takes}.", { number: at + 1, given: given[at], takes }));
  }
  return {
    get: (name) => state[name],
    set: (some) => Object.assign(state, some),
    save_changes() {},
    send({ do: what, answers }) {
      if (what === "commit") return commit(answers);
      state.answers = {};
      change("page", open);
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
    render({ model: judging(task, JSON.parse(new TextDecoder().decode(bytes))), el });
  });
}
