// A prediction on a page without a kernel: what the kernel does elsewhere is done here. Answers are read by the rules
// of answers.py, and are never run. standalone.py says what the page's data are.

const NONE_WORDS = /^(none|nothing|neither|-|no gradient|no value|无|無|没有|沒有|都没有|없음|없다|없습니다)$/;
const NUMBER_WORDS = [
  "zero one two three four five six seven eight nine ten",
  "零 一 二 三 四 五 六 七 八 九 十",
  "영 하나 둘 셋 넷 다섯 여섯 일곱 여덟 아홉 열",
  "영 일 이 삼 사 오 육 칠 팔 구 십",
  "零 一 俩 仨",
  "零 一 两",
  "영 한 두 세 네",
].map((words) => words.split(" "));
// In an answer and, behind a stroke, all names: of two, `both` means all.
const ALL_WORDS = /^\s*((all( of them)?|全部|所有|都是|모두|전부)\.?\s*\||(both|两个都是|둘 ?다)\|[^,]*,[^,]*$)/i;
const COUNTER = /\s*([个個块种次개번]|가지)$|\s+(cell|node|name|tensor|storage|counter)s?$/;
const CONJUNCTIONS = /以及|和|与|跟|及|都|只有|그리고|하고|둘 다|(?<=[a-z0-9_\]])[와과]/gi;
const DOUBT = /[!~?\u00ac\uff01\uff1f\uff5e]/;
const FILLER_WORDS = /^(and|und|et|only|both|just)$/;
const EULER = /(?<![\w.])(?:(?:math|torch)\.)?e(?:(?:\*\*|\^)(-?\d\d?))?(?![\w.(*^])/g;
const PUNCTUATION = { "、": ",", "。": ".", "【": "[", "】": "]", "\u2212": "-" };
const NODE_DECORATION = /^grad_fn\s*=\s*| object at \w+|\w+::|[`'"<>]|(?<=backward)0\b/gi;

/** An answer in plain signs: those of full width, from a Chinese keyboard, in ASCII, and no backticks around it. */
function normalizeSigns(text) {
  const signs = text.slice(0, 2000).normalize("NFKC").replace(/[、。【】\u2212]/g, (sign) => PUNCTUATION[sign]);
  return signs.replace(/^[\s`]+|[\s`]+$/g, "");
}

/** An answer in words: in small letters, without what is printed around the name of a node. */
function normalizeText(text) {
  return normalizeSigns(text).replace(NODE_DECORATION, "").trim().split(/\s+/).join(" ").toLowerCase();
}

const bareWord = (text) => text.toLowerCase().replace(/\.+$/, "");
const meansNone = (text) => NONE_WORDS.test(bareWord(text));

/** A number or a list as Python writes it, by way of JSON; undefined for anything else, as for a text in quotes. */
function parseLiteral(text) {
  const inJson = { "(": "[", ")": "]", "[": "[", "]": "]", True: "true", False: "false", None: "null",
    // JSON has no such numbers: they are compared as texts.
    nan: '"nan"', inf: '"inf"', "-inf": '"-inf"' };
  const isNumber = /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i;
  const json = text.replace(/[[\]()]|[^\s,[\]()]+/g, (piece) => (isNumber.test(piece) ? Number(piece) : inJson[piece]));
  try {
    const values = JSON.parse(`[${json.replace(/,\s*(?=\]|$)/g, "")}]`);
    // (2) is 2; so is (2,) where values are compared.
    if (values.length !== 1) return values.length ? values : undefined;
    return values[0];
  } catch {
    return undefined;
  }
}

/** The value that a text means; the text itself, tidied, if it means none. */
function parseValue(answer) {
  let text = normalizeSigns(answer);
  const word = bareWord(text);
  if (NONE_WORDS.test(word)) return null;
  const number = word.replace(COUNTER, "");
  for (const words of NUMBER_WORDS) if (words.includes(number)) return words.indexOf(number);
  const plainNumber = number.match(/^(?:v|version )?([0-9]+)$/);
  if (plainNumber) return Number(plainNumber[1]);
  const tensor = text.match(/^(?:torch\.)?tensor\(([^]*?)(?:,\s*(?:dtype|device|grad_fn|requires_grad)=[^]*)?\)$/);
  text = (tensor ? tensor[1] : text).replace(CONJUNCTIONS, ",").replaceAll(";", ",").replaceAll(" and ", ", ").replace(EULER, (_, power = 1) => Math.exp(power));
  const withCommas = text.replace(/([\w.])\s+(?=[-+\w.])/g, "$1, ");
  for (const literal of [text, text.replace(/\.+$/, ""), withCommas]) {
    const value = parseLiteral(literal);
    if (value !== undefined) return value;
  }
  return text.split(/\s+/).join(" ");
}

/** The names in an answer, in small letters and in order. */
function parseNames(answer) {
  const text = normalizeSigns(answer);
  if (meansNone(text)) return [];
  const words = text.replace(CONJUNCTIONS, " ").match(/[\p{L}_][\p{L}\p{N}_]*(?:\.[\p{L}\p{N}_]+|\[\d+\])*/gu) ?? [];
  return [...new Set(words.map((word) => word.toLowerCase()))].filter((word) => !FILLER_WORDS.test(word)).sort();
}

/** True if an answer has names, or says that there are none: of `?` no name is left, and `x?` is not `x`. */
function isListOfNames(answer) {
  if (DOUBT.test(answer)) return false;
  if (parseNames(answer).length) return true;
  const value = parseValue(answer);
  return value === null || value === "{}" || (Array.isArray(value) && !value.length);
}

/**
 * True if two values are equal. A list of one value equals that value; decimal numbers have a tolerance, and may be
 * rounded or cut to so many `decimals`; of -1 they are none.
 */
function equalValues(value, right, decimals) {
  const [isList, rightIsList] = [Array.isArray(value), Array.isArray(right)];
  if (isList && rightIsList && value.length === right.length) {
    return value.every((item, index) => equalValues(item, right[index], decimals));
  }
  if (rightIsList && !isList) return right.length === 1 && equalValues(value, right[0], decimals);
  if (isList) return value.length === 1 && equalValues(value[0], right, decimals);
  if (typeof value !== "number" || typeof right !== "number") return value === right;
  if (decimals < 0) return value === right;
  const [size, rightSize] = [value, right].map(Math.abs);
  const extra = (size - rightSize) * 10 ** decimals;
  const isShort = decimals > 0 && value * right > 0 && extra < 0.500001 && extra > -0.999999;
  return isShort || Math.abs(value - right) <= Math.max(1e-3 * size, 1e-3 * rightSize, 5e-5);
}

/** True if an answer to a row means `right`. */
function isSameAnswer(answer, right, row) {
  if (row.choices) return answer.toLowerCase() === String(right).toLowerCase();
  if (row.kind === "names") {
    const names = Array.isArray(right) ? right : parseNames(right);
    return isListOfNames(answer) && String(parseNames(answer)) === String(names);
  }
  if (row.kind === "text") {
    return meansNone(right) ? parseValue(answer) === null : normalizeText(answer) === normalizeText(right);
  }
  const written = normalizeSigns(answer).match(/\.\d+/g) ?? [];
  // Of one decimal nothing tells it from a guess.
  const decimals = row.isDecimal ? Math.max(...written.map((one) => one.length > 2 && one.length - 1), 0) : -1;
  return equalValues(parseValue(answer), typeof right === "string" ? parseValue(right) : right, decimals);
}

const countNumbers = (value) => [value].flat(Infinity).length;
const isOneOfSeveral = (answer, { kind, right }) => kind === "value" && countNumbers(right) > 1 && typeof parseValue(answer) === "number";
const hasDecimalComma = (answer, { kind, right }) => kind === "value" && countNumbers(right) === 1 && /^[-+]?[0-9]+,[0-9]+$/.test(normalizeSigns(answer));

// The right answer with one decimal, and no more; 0.7 for 0.7311 may be a guess.
const lacksDecimals = (answer, row, text = normalizeSigns(answer)) => row.isDecimal && /\d\.\d/.test(text) && !/\.\d\d|(^|[^\d.])0?\.\d/.test(text) && equalValues(parseValue(answer), row.right, 1);

const findRefutation = (answer, row) => row.refutations?.find(([wrong]) => wrong.some((each) => isSameAnswer(answer, each, row)));

/** True if an answer to a row can be judged; any other is asked for again. */
function isReadable(answer, row) {
  if (isSameAnswer(answer, row.right, row) || findRefutation(answer, row)) return true;
  if (isOneOfSeveral(answer, row) || hasDecimalComma(answer, row) || lacksDecimals(answer, row)) return false;
  const value = parseValue(answer);
  if (row.pattern) {
    const text = normalizeText(answer);
    return value === null || new RegExp(`^(?:${row.pattern})$`).test(text) || row.names?.includes(text);
  }
  if (row.kind === "names") return isListOfNames(answer) && parseNames(answer).every((name) => row.names?.includes(name));
  const isText = typeof value === "string" && !/^-?(nan|inf)$/.test(value);
  // True and False are a value only where the right answer has one of them.
  const hasTruth = (one) => /true|false/.test(one);
  return row.kind !== "value" || (!isText && (hasTruth(row.right) || !hasTruth(value)));
}

/** Why an answer is neither right nor wrong, and how to write it. */
function askAgain(details, row) {
  if (isOneOfSeveral(details.given, row)) return say("Row {number}: “{given}” is one number, and there are several. Write all, in their shape.", details);
  if (hasDecimalComma(details.given, row)) return say("Row {number}: “{given}” is two numbers, and there is one. A decimal has a point.", details);
  if (lacksDecimals(details.given, row)) return say("Row {number}: “{given}” has too few decimals. Write two at least.", details);
  return say("Row {number}: “{given}” cannot be read. Write it as {takes}.", details);
}

/** A part of a page, to be changed and written again. */
function parseHTML(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  return template;
}

/** The result for some answers. It comes with every row wrong: here those that are right are marked so. */
function renderResult(data, answers) {
  const { revealed, rows, allRight } = data;
  const template = parseHTML(revealed);
  // Two lines for each row: the answer, and below it the reason or what speaks against it.
  const lines = template.content.querySelectorAll("tbody tr");
  const [explained, speakers] = [new Set(), {}];
  let right = 0;
  rows.forEach((row, index) => {
    const [line, below] = [lines[2 * index], lines[2 * index + 1]];
    const sayOnce = (html) => leaveOutSaid(html, index + 1, data, speakers);
    const answer = answers[index];
    line.cells[2].textContent = row.choices?.[answer] ?? answer;
    if (isSameAnswer(answer, row.right, row)) {
      right++;
      for (const cell of line.cells) cell.classList.replace("cl-wrong", "cl-right");
      line.cells[4].textContent = say("✔ right");
      below.cells[0].className = "cl-because";
      below.cells[0].innerHTML = sayOnce(renderSentences(row.because, data));
      if (!row.because.length) below.remove();
    } else {
      below.cells[0].innerHTML = sayOnce(refuteAnswer(answers, index, data, explained));
    }
  });
  const count = rows.length;
  const headline = template.content.querySelector(".cl-headline");
  headline.textContent =
    right === count
      ? allRight
      : say("{right} of {count} right.", { right, count });
  headline.parentElement.ariaLabel = headline.textContent;
  if (right === count) template.content.querySelector("[data-do=retry]")?.remove();
  return template.innerHTML;
}

const renderSentences = (indices, { sentences }) => indices.map((index) => `<p>${sentences[index]}</p>`).join("");

/** The words of a row without those that one above it said: `speakers` has the first row of each part. */
function leaveOutSaid(html, number, { saidOnce }, speakers) {
  saidOnce.forEach((part, at) => {
    if (!html.includes(part)) return;
    speakers[at] ??= number;
    if (speakers[at] !== number) html = html.replace(part, say("Row {number} says which write did that.", { number: speakers[at] }));
  });
  return html;
}

/** What speaks against a wrong answer: its own refutation if it has one, otherwise the facts of its row. */
function refuteAnswer(answers, index, data, explained) {
  const { rows, denials } = data;
  const row = rows[index];
  // A row with choices has no facts, and needs none: each of its wrong answers is among the refutations.
  const [, first, misconception, again] = findRefutation(answers[index], row) ?? ["", row.facts];
  const isDenied = denials[misconception]?.some(
    ([at, denying]) => at !== index && denying.some((each) => isSameAnswer(answers[at], each, rows[at])),
  );
  // The belief, which both have in one place, is left out, and the facts and the argument stay.
  const place = again?.length - 1;
  const isBelief = (_, at) => !isDenied || at !== place;
  const isKnown = explained.has(misconception);
  const name = misconception ?? data.tested;
  const html = renderSentences((isKnown ? again : first).filter(isBelief), data);
  if (misconception) explained.add(misconception);
  if (isKnown || !name) return html;
  if (!data.retests[name]) return data.tested ? html + `<p>${say("A new program on this point needs Python: run the cell.")}</p>` : html;
  const button = document.createElement("button");
  button.type = "button";
  Object.assign(button.dataset, { do: "retest", misconception: name });
  button.textContent = data.retestButton;
  return html + button.outerHTML;
}

/** The data of a retest: its one row in the tables of the prediction that it belongs to. */
function makeRetestData(data, name) {
  const retest = data.retests[name];
  const [form, revealed] = [parseHTML(data.form), parseHTML(data.revealed)];
  const [fields, lines] = [form, revealed].map(({ content }) => content.querySelector("tbody"));
  const [first, below] = lines.rows;
  fields.replaceChildren(fields.rows[0]);
  lines.replaceChildren(first, below);
  fields.rows[0].cells[1].innerHTML = retest.label;
  fields.rows[0].cells[2].innerHTML = retest.field;
  first.cells[1].innerHTML = fields.rows[0].cells[1].firstChild.innerHTML;
  first.cells[3].textContent = retest.right;
  // It is answered once: after that its right answer is on the page.
  for (const button of revealed.content.querySelectorAll("[data-do]")) button.remove();
  const { row, allRight } = retest;
  return { ...data, form: form.innerHTML, revealed: revealed.innerHTML, rows: [row], allRight, tested: name, retests: {}, committed: null, saidOnce: [], denials: {} };
}

/** The program of a retest, in the place of another one. */
function makeRetestProgram(html, { title, program }) {
  const template = parseHTML(html);
  template.content.querySelector(".cl-title strong").textContent = title;
  template.content.querySelector("pre").outerHTML = program;
  return template.innerHTML;
}

/** A model for `render` in predict.js, in place of that of a kernel. */
function makeModel(program, data, el) {
  // Two copies of a page in one document need different ids.
  const form = data.form.replaceAll('"cl-0', `"cl-${Math.random().toString(36).slice(2)}`);
  const answersOf = (answersByName) => data.rows.map((row) => answersByName[row.name]);
  // What was committed while a kernel ran is shown as it was then.
  let committed = data.committed ?? {};
  const below = data.committed ? renderResult(data, answersOf(committed)) : form;
  const state = { answers: { ...committed }, content: program + below, problem: "", says: "", checked: {} };
  const handlers = {};
  const change = (name, value) => {
    state[name] = value;
    handlers[`change:${name}`]?.();
  };
  /** The answers, those that mean all names as these names. */
  function readAll(answers) {
    const read = { ...answers };
    for (const { name, all } of data.rows) if (all && ALL_WORDS.test(`${answers[name]}|${all}`)) read[name] = all;
    return read;
  }
  /** How to write what cannot be read, by the names of rows. */
  function findUnreadable(answers) {
    const problems = data.rows.map((row, at) => {
      const given = answers[row.name];
      return given && !isReadable(given, row) && [row.name, askAgain({ number: at + 1, given, takes: row.format }, row)];
    });
    return Object.fromEntries(problems.filter(Boolean));
  }
  function commit() {
    const problems = Object.values(findUnreadable(committed)).join(" ");
    change("problem", problems);
    if (!problems) change("content", program + renderResult(data, answersOf(committed)));
  }
  return {
    get: (name) => state[name],
    set: ({ answers, problem }) => {
      Object.assign(state, { answers, problem });
      change("checked", { answers, unreadable: findUnreadable(readAll(answers)) });
    },
    save_changes() {},
    send({ do: action, answers, misconception }) {
      if (action === "retest") return showRetest(el, program, data, misconception);
      if (action === "commit") {
        committed = readAll(answers);
        return commit();
      }
      for (const place of el.querySelectorAll(":scope > .cl-retest")) place.remove();
      // To start from anew, or to keep what was right.
      const isKept = (row) => action === "retry" && isSameAnswer(committed[row.name], row.right, row);
      state.answers = Object.fromEntries(data.rows.filter(isKept).map((row) => [row.name, committed[row.name]]));
      change("content", program + form);
    },
    on: (event, handler) => (handlers[event] = handler),
    off() {},
  };
}

/** Show a new program on a misconception below a prediction, once, and go to its field. */
function showRetest(el, program, data, name) {
  let place = [...el.querySelectorAll(":scope > .cl-retest")].find(({ dataset }) => dataset.misconception === name);
  if (!place) {
    place = document.createElement("div");
    place.className = "cl-retest";
    place.dataset.misconception = name;
    el.append(place);
    const model = makeModel(makeRetestProgram(program, data.retests[name]), makeRetestData(data, name), place);
    render({ model, el: place });
  }
  place.querySelector("select, input, .cl-headline").focus();
}

for (const el of document.querySelectorAll(".cl-page[data-prediction]")) {
  // Not in plain sight: the right answers are in it.
  const bytes = Uint8Array.from(atob(el.dataset.prediction), (letter) => letter.charCodeAt(0));
  delete el.dataset.prediction;
  whenSeen(el, () => {
    const task = el.querySelector(".copylab-predict");
    task.remove();
    const data = JSON.parse(new TextDecoder().decode(bytes));
    render({ model: makeModel(task.firstElementChild.outerHTML, data, el), el });
  });
}
