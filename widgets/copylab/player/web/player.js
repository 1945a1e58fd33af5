// The player of steps. It makes a player of the static form (<details> for each step) in any page that lets scripts
// run; anywidget calls render().

const ACTION_OF_KEY = { ArrowLeft: "previous", ArrowRight: "next", Home: "first", End: "last" };
const BUTTONS = [
  ["first", say("First step"), "⇤", "Home"],
  ["previous", say("Previous step"), "←", "←"],
  ["next", say("Next step"), say("Next →"), "→"],
  ["last", say("Last step"), "⇥", "End"],
];

const WORDS_OF_CODE = /("[^"]*"|'[^']*'|#.*|(?<![\w.])[A-Za-z_]\w*)/;
const WRONG_KINDS = ["error", "syntax", "wrong"];
// How many of the longest stops are measured for the height of the words.
const MEASURED_STOPS = 24;
// All below is in px. Between the columns, and between the rows.
const GAP = 8;
// Of the stage: in a narrower one everything is in one column.
const NARROW = 600;
// Of the column with code and words, at least and at most.
const PROGRAM_WIDTH = [264, 416];
// Of a letter of the code, and of what stands before a line and behind it.
const [LETTER_WIDTH, MARGIN_OF_LINE] = [7.9, 72];
// Of the player: what fits into the first is never scrolled, and only what is higher than the second is.
const HEIGHTS = [560, 700];
// Code that scrolls is cut between two lines: a line has 20.15 px, and above the first there are 6.
const roundToLines = (y) => y - ((y - 6) % 20.15);
// Of the code, at least: what is longer scrolls in it, so that the sentences beside it can be seen whole.
const LEAST_CODE = 112;
// Memory is so much larger where there is room and no graph. Words are not: they would change with the program.
const MEMORY_SCALES = [1.5, 1.25, 1.12];
// Of words and of a picture in one column; more scrolls.
const [MAX_WORDS_HEIGHT, TALL_PICTURE] = [400, 640];
// On a telephone a picture is made so much smaller, to be seen whole; its text has 11 px then.
const LEAST_SCALE = 11 / 12;
// Maximum number of outputs of a stop that stands for several steps.
const MAX_OUTPUTS = 20;

function makeElement(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** Read the static form: the lines of each code, each step's line, words, outputs and pictures, and how it ended. */
function readForm(root, pack = readPack(root)) {
  // Another form, see `makePlayer`.
  const fold = root.querySelector(":scope > .cl-everything");
  fold?.remove();
  const codes = [...root.querySelectorAll(".cl-code")].map((code) => ({
    name: code.dataset.name ?? "",
    above: Number(code.dataset.above ?? 0),
    lines: [...code.querySelectorAll(".cl-line")].map((line) => line.textContent),
  }));
  const steps = readSteps(root);
  const undrawn = readPictures(root, steps, pack);
  const end = root.querySelector(".cl-end");
  const sizes = Object.fromEntries(["memory", "graph"].map((kind) => [kind, root.dataset[kind]?.split(" ") ?? [0, 0]]));
  const ending = { end: end?.textContent ?? "", cut: end?.matches("[data-cut]") };
  const [pills, ways] = ["pills", "ways"].map((name) => JSON.parse(root.dataset[name] ?? "null"));
  const groups = readGroups(root, pack);
  const whole = fold && readForm(fold.querySelector(".copylab-steps"));
  return { codes, steps, groups, sizes, undrawn, pack, pills, ways, whole, ...ending };
}

function readPack(root) {
  const packed = root.querySelector(':scope > script[type="application/json"]');
  return packed ? unpackTexts(JSON.parse(packed.textContent)) : null;
}

function readSteps(root) {
  const all = [...root.querySelectorAll("details.cl-step")];
  const steps = all.map((details) => ({
    code: Number(details.dataset.code ?? 0),
    line: Number(details.dataset.line),
    end: Number(details.dataset.end),
    kind: details.dataset.kind,
    calls: details.dataset.calls?.split(" ") ?? [],
    title: details.querySelector("summary").textContent,
    says: [...details.querySelectorAll(".cl-says > li")],
    outputs: [...details.querySelectorAll(":scope > :is(.cl-alarm, .cl-out)")],
    pictures: new Map([...details.querySelectorAll(".cl-picture")].map((p) => [p.dataset.picture, p])),
  }));
  // Not an object, which knows a `constructor` before anything is put into it.
  let names = new Map();
  all.forEach(({ dataset }, at) => {
    // A step without `data-names` has the same names as the step before it.
    if (dataset.names !== undefined) names = new Map(dataset.names.split(" ").map((pair) => pair.split(":")));
    steps[at].names = names;
  });
  return steps;
}

function readGroups(root, pack) {
  // Memory as it is in the end, compared with what was there before the first step.
  const readMemory = (holder) => holder && makePicture(holder, pack);
  return [...root.querySelectorAll("details.cl-group")].map((details) => {
    const { kind, code = 0, line, first, last } = details.dataset;
    const numbers = { code: Number(code), line: Number(line), first: first - 1, last: last - 1 };
    const title = details.querySelector("summary").textContent;
    const says = [...details.querySelectorAll(":scope > .cl-says > li")];
    return { kind, title, says, ...numbers, memory: readMemory(details.querySelector(":scope > .cl-of-group")) };
  });
}

/** Exchange the places of pictures in `steps` for the pictures. Returns those that are no images, each with its place. */
function readPictures(root, steps, pack) {
  const undrawn = [];
  for (const step of steps) {
    for (const [kind, holder] of step.pictures) {
      const same = holder.dataset.as && steps[holder.dataset.as - 1].pictures.get(kind);
      const own = same ?? makePicture(holder, pack);
      if (!same && own.svg && !holder.querySelector("img")) undrawn.push([holder, own.svg]);
      step.pictures.set(kind, own);
    }
  }
  return undrawn;
}

/** A picture of the static form: its SVG is in the pack, or in the address of an image, and its words in the pack. */
function makePicture(holder, pack) {
  const { packed, picture: kind } = holder.dataset;
  // It could not be drawn.
  if (!packed) return { tokens: () => [], text: () => holder.querySelector("pre").textContent };
  const body = holder.querySelector("img")?.getAttribute("src").split(",")[1];
  const decode = () => new TextDecoder().decode(Uint8Array.from(atob(body), (letter) => letter.charCodeAt(0)));
  const svg = () => (body ? decode() : pack(`${kind} svg`, packed));
  const left = say("Not drawn, to keep the page small. After s = steps(...), {where} shows it.", {
    where: `s[${packed - 1}].pictures["${kind}"]`,
  });
  // The pack is cut more finely than the picture is drawn: a style sheet is one token. For a picture of 40 kB this takes
  // 0.1 ms, split(/(?<=>)(?=<)/) takes 0.5 ms.
  const cut = (token, at, { length }) => (at ? "<" : "") + token + (at < length - 1 ? ">" : "");
  const tokens = () => svg().split("><").map(cut).filter(Boolean);
  return { svg, tokens, left, text: () => pack(`${kind} text`, packed) || left };
}

/** The player in the page: it shows one step at a time, `index`, of the steps that are stops. */
class Player {
  constructor(data, { onStep = () => {}, change, home, label } = {}) {
    Object.assign(this, data, { onStep, home: home ?? this, index: -1, ways: new Map(data.ways), here: [], names: [] });
    this.isStop = findStops(this, this.ways);
    this.makeControls();
    this.makeListing();
    this.makeWords();
    this.panes = new Map(["memory", "graph"].map((kind) => [kind, this.makePane(kind)]));
    if (this.pills) this.makePills(change);
    this.makeRoot(label);
    this.showStep(this.isStop.indexOf(true));
    new ResizeObserver(() => this.layOut()).observe(this.stage);
  }

  makeControls() {
    this.buttons = new Map(
      BUTTONS.map(([action, name, text, key]) => {
        const title = `${name} (${key})`;
        const attributes = { type: "button", "aria-label": name, title, "data-action": action };
        const button = makeElement("button", attributes, text);
        button.addEventListener("click", () => this.goTo(action));
        return [action, button];
      }),
    );
    const range = { type: "range", min: 1, max: this.steps.length, step: 1, "aria-label": say("Step") };
    this.slider = makeElement("input", range);
    this.slider.addEventListener("input", () => {
      const to = this.slider.value - 1;
      this.showStep(findNearestStop(this.isStop, to, to > this.index ? 1 : -1));
      this.slider.value = this.index + 1;
    });
    // The status says it to screen readers.
    this.count = makeElement("span", { class: "cl-count", "aria-hidden": "true" });
  }

  makeListing() {
    this.code = makeElement("ol", { class: "cl-listing", "aria-label": say("The code, the line of this step marked") });
    const listTensors = ({ names }) => [...names.keys()].filter((name) => names.get(name));
    this.tensorNames = new Set(this.steps.flatMap(listTensors));
    this.rows = this.codes.map(({ name, above, lines }) => {
      if (this.codes.length > 1) this.code.append(makeElement("li", { class: "cl-of" }, name || say("The code")));
      const rows = lines.map((line, at) => {
        const text = makeElement("span", { class: "cl-text" }, ...this.markNames(line));
        return makeElement("li", { "data-line": above + at + 1 }, text);
      });
      this.code.append(...rows);
      return rows;
    });
    this.longestLine = Math.max(0, ...this.codes.flatMap(({ lines }) => lines.map((line) => line.length)));
    this.findFirstRuns();
  }

  /** Note of each line the first step that ran it; a line that never runs goes with the one before it. */
  findFirstRuns() {
    this.steps.forEach((step, at) => {
      for (const row of this.listRows(step)) row.firstRun ??= at;
    });
    for (const rows of this.rows) {
      let latest = 0;
      for (const row of rows) row.firstRun = latest = row.firstRun ?? latest;
    }
  }

  /** The rows of the code that a step ran. */
  listRows({ code, line, end }) {
    const { above } = this.codes[code];
    return this.rows[code].slice(line - 1 - above, end - above);
  }

  makeWords() {
    this.status = makeElement("p", { class: "cl-status cl-only-heard", role: "status", "aria-live": "polite" });
    this.alarms = makeElement("div", { class: "cl-alarms" });
    this.says = makeElement("ul", { class: "cl-says" });
    this.more = makeElement("details", { class: "cl-more" }, makeElement("summary"), makeElement("ul", { class: "cl-says" }));
    this.outputs = makeElement("div", { class: "cl-outputs" });
    this.ending = makeElement("p", { class: "cl-end" }, this.end);
    this.did = makeElement("p", { class: "cl-did" });
    this.changed = makeElement("p", { class: "cl-changed", hidden: "" });
    const region = { class: "cl-happened", tabindex: 0, role: "region", "aria-label": say("What happened") };
    this.happened = makeElement("div", region, this.changed, this.did, this.alarms, this.says, this.outputs, this.more, this.ending);
  }

  /** The row in which the program is changed. change: asks the kernel; without it there are the stored runs alone. */
  makePills(change) {
    const show = (request) => (request.do === "edit" ? this.showNote(NEEDS_KERNEL) : this.showStored(request));
    const has = (copies) => change || this.home.hasRun(copies);
    this.pillRow = new PillRow(this.pills, (request) => (change ? change(request, this) : show(request)), has);
    this.pillRow.listing = this.code;
  }

  /** Say above the words of a step what a change of the program did, or why it cannot be made. */
  showNote(text) {
    this.changed.textContent = text;
    this.changed.hidden = !text;
  }

  /** The kernel has run a change: where that was none, the form is as before. */
  endChange(problem) {
    if (problem) this.showNote(problem);
    else this.showWords(this.describeStop(this.index));
    if (!problem && this.pillRow.editor?.isConnected) this.pillRow.closeEditor();
  }

  hasRun(copies) {
    const number = numberOfRun(copies);
    return number === 0 || Boolean(number && this.pack("form", String(number - 1)));
  }

  /** Show the stored run of a program with other copies, or the program as it was. */
  showStored({ copies }) {
    const { home } = this;
    const number = copies ? numberOfRun(copies) : 0;
    if (copies && !home.hasRun(copies)) this.showNote(NEEDS_KERNEL);
    else exchangePlayers(this, number ? home.makeOther(number, copies) : home);
  }

  /** The player of a stored run, whose form has only what differs from this one's pills. */
  makeOther(number, copies) {
    this.others ??= new Map();
    if (!this.others.has(number)) {
      const holder = makeElement("div");
      holder.innerHTML = this.pack("form", String(number - 1));
      this.others.set(number, makePlayer(holder.firstChild, { home: this, copies, onStep: this.onStep }));
    }
    return this.others.get(number);
  }

  makeRoot(label) {
    const figures = [...this.panes.values()].map((pane) => pane.figure);
    const program = makeElement("div", { class: "cl-program" }, this.code, this.happened);
    this.stage = makeElement("div", { class: "cl-stage" }, program, ...figures);
    const keys = say("{label}. Arrow keys left and right go a step back and on, Home and End to the ends.", { label });
    this.root = makeElement(
      "div",
      { class: "cl-panel cl-player", role: "group", tabindex: 0, "aria-label": keys, "data-steps": this.steps.length },
      makeElement("div", { class: "cl-bar" }, ...this.buttons.values(), this.slider, this.count),
      ...this.makeChoices(),
      ...(this.pillRow ? [this.pillRow.root] : []),
      this.status,
      this.stage,
    );
    for (const type of ["pointerover", "pointerout", "focusin", "focusout"]) {
      this.root.addEventListener(type, (event) => this.highlightTensor(event));
    }
    this.root.addEventListener("copylab-key", (event) => this.goTo(event.detail));
  }

  /** A line of the code, the names of tensors as elements; not where functions have names of their own. */
  markNames(line) {
    const hasOneScope = this.codes.length === 1 && !this.steps.some(({ calls }) => calls.length);
    return line.split(hasOneScope ? WORDS_OF_CODE : /^$/).map((word) => {
      if (!this.tensorNames.has(word)) return word || "";
      const name = makeElement("span", { class: "cl-name", "data-name": word }, word);
      // Each name can be reached once.
      if (!this.names.some((other) => other.word === word)) name.tabIndex = 0;
      // What is read at each step is no attribute: to ask the page for these takes longer.
      name.word = word;
      this.names.push(name);
      return name;
    });
  }

  /** Show which parts of code and pictures are of one tensor. */
  highlightTensor(event) {
    const tensor = event.type.endsWith("out") ? null : event.composedPath().find((element) => element.dataset?.t)?.dataset.t;
    for (const part of [this.root, ...[...this.panes.values()].map(({ shadow }) => shadow)]) {
      for (const element of part.querySelectorAll("[data-t]")) {
        element.classList.toggle("joined", element.dataset.t === tensor);
      }
    }
  }

  /**
   * Choose where the parts of the stage are, and give each a size that it keeps at all steps.
   *
   * Where there is room code and words are beside the pictures, in the way in which least is cut or too high.
   */
  layOut() {
    const width = this.stage.clientWidth;
    if (!width || width === this.laidOutWidth) return;
    this.laidOutWidth = width;
    this.stage.style.height = this.code.style.maxHeight = "";
    // Words grow to the height of an earlier layout, and would be measured as that high.
    this.stage.style.removeProperty("--cl-beside");
    const rest = this.root.offsetHeight - this.stage.offsetHeight;
    const heights = HEIGHTS.map((height) => height - rest);
    const forms = width < NARROW ? [] : this.listForms();
    this.wordsHeights = new Map();
    let best = null;
    for (const name of forms) {
      // Where nothing is cut, only both pictures side by side may be lower, and that takes room.
      if (best && !best.cost && !(name === "row" && this.hasRoomForRow(width))) break;
      const form = this.measureForm(name, width, heights);
      const isLower = form.cost === best?.cost && form.height < best.height;
      if (!best || form.cost < best.cost || isLower) best = form;
    }
    if (best) this.useForm(best);
    else this.useOneColumn(width);
    this.showWords(this.describeStop(this.index));
    const { code } = this;
    const height = code.clientHeight;
    if (code.scrollHeight > height) {
      code.tabIndex = 0;
      code.style.maxHeight = `${roundToLines(height)}px`;
    } else code.removeAttribute("tabindex");
    this.scrollToStep();
  }

  /** The names of the forms that the stage can have; none without pictures. */
  listForms() {
    const count = [...this.panes.values()].filter(({ figure }) => !figure.hidden).length;
    // The graph below memory; beside it; below all.
    return [[], ["beside"], ["beside", "row", "below"]][count];
  }

  /** Whether code, memory and graph fit beside each other. */
  hasRoomForRow(width) {
    return [...this.panes.values()].reduce((sum, { size }) => sum + GAP + size[0], PROGRAM_WIDTH[0]) <= width;
  }

  /** What a form of the stage takes, in px, and its `cost`: how many of them are cut, or more than there should be. */
  measureForm(name, width, [room, most]) {
    const [least, largest] = PROGRAM_WIDTH;
    const sizes = [...this.panes.values()].map((pane) => (pane.figure.hidden ? [0, 0] : [pane.size[0], measurePane(pane)]));
    const [[memoryWidth, memory], [graphWidth, graph]] = sizes;
    const columns = { beside: [Math.max(memoryWidth, graphWidth)], row: [memoryWidth, graphWidth], below: [memoryWidth] }[name];
    const left = width - columns.reduce((sum, column) => sum + GAP + column, 0);
    const wanted = Math.min(this.longestLine * LETTER_WIDTH + MARGIN_OF_LINE, largest);
    const program = Math.max(Math.min(left, wanted), least);
    const isBelow = name === "below";
    const hidden = Math.max(program - left, 0) + (isBelow ? Math.max(graphWidth - width, 0) : 0);
    const [memoryHeight, graphHeight] = limitHeights(name, memory, graph, most);
    const gap = memory && graph ? GAP : 0;
    const below = isBelow ? gap + graphHeight : 0;
    const pictures = name === "beside" ? memoryHeight + gap + graphHeight : Math.max(memoryHeight, isBelow ? 0 : graphHeight);
    const [code, [words, calmWords]] = [this.measureCode(program), this.measureWords(program)];
    // With the two borders of their box.
    const texts = Math.max(Math.min(code + words + 2, room - below), Math.min(code, LEAST_CODE) + words + 2);
    const height = Math.min(Math.max(texts, pictures) + below, most);
    const roomForWords = height - below - Math.min(code, LEAST_CODE) - 2;
    const cut = memory - memoryHeight + graph - graphHeight + Math.max(words - roomForWords, 0);
    // To scroll aside is worse than to scroll down.
    const cost = 2 * hidden + cut + Math.max(height - room, 0);
    const grown = [height, Math.min(words, roomForWords), height - below];
    const isTight = cut || code + words + 2 + below > height;
    // As high as the words before anything goes wrong need, beside pictures of some height.
    const limit = (most, under) => {
      const beside = Math.max(code + calmWords + 2, most);
      return isTight ? grown : [beside + under, calmWords, beside];
    };
    const [calm, early] = [limit(pictures, below), limit(memoryHeight, 0)];
    return { name, width, program, memoryWidth, memoryHeight, graphHeight, height, grown, calm, early, cost };
  }

  /** How much larger memory can be where it is alone, and the stage stays as high; 1 where anything is cut. */
  enlargeMemory({ width, program, calm: [height], cost }) {
    const { memory, graph } = Object.fromEntries(this.panes);
    // The title of a graph is in its picture, beside its words: it would grow into these.
    if (cost || !graph.figure.hidden) return 1;
    const fits = (scale) => scale * memory.size[0] <= width - program - GAP && measurePane(memory, scale) <= height;
    return MEMORY_SCALES.find(fits) ?? 1;
  }

  /** The height of all lines, where code and words have a width. */
  measureCode(width) {
    this.stage.dataset.form = "beside";
    this.stage.style.setProperty("--cl-program", `${width}px`);
    return this.code.scrollHeight;
  }

  /** The height of the longest words of a stop, where code and words have a width; and of one without an alarm or error. */
  measureWords(width) {
    if (!this.wordsHeights.has(width)) {
      const addLength = (sum, { textContent }) => sum + 20 + textContent.length;
      const length = ({ says, outputs }) => [...says, ...outputs].reduce(addLength, 0);
      const stops = [...this.steps.keys()].filter((at) => this.isStop[at]).map((at) => this.describeStop(at));
      const longest = stops.sort((a, b) => length(b) - length(a)).slice(0, MEASURED_STOPS);
      this.happened.style.height = "0";
      longest.push(this.describeStop(this.steps.length - 1));
      const copies = longest.map((stop) => {
        this.showWords(stop);
        return this.happened.cloneNode(true);
      });
      // All at once, out of sight: the page is laid out once, and not for each stop.
      const place = `position: absolute; visibility: hidden; height: 0; width: ${this.happened.getBoundingClientRect().width}px`;
      for (const copy of copies) copy.style.cssText = `${place}; box-sizing: border-box`;
      this.happened.after(...copies);
      const heights = copies.map((copy) => copy.scrollHeight);
      for (const copy of copies) copy.remove();
      const calm = heights.filter((_, at) => !longest[at].outputs.some(isLoud));
      // And the line above them.
      this.wordsHeights.set(width, [Math.max(...heights) + 1, Math.max(0, ...calm) + 1]);
    }
    return this.wordsHeights.get(width);
  }

  /** Put the stage into a form, as `measureForm` has it. */
  useForm(form) {
    const { name, program, memoryWidth, memoryHeight, graphHeight } = form;
    const { stage, panes } = this;
    const zoom = this.enlargeMemory(form);
    stage.dataset.form = name;
    const sizes = { program, memory: memoryWidth };
    for (const [part, size] of Object.entries(sizes)) stage.style.setProperty(`--cl-${part}`, `${size}px`);
    this.form = form;
    this.setHeight();
    const { memory, graph } = Object.fromEntries(panes);
    memory.figure.style.maxHeight = `${zoom > 1 ? measurePane(memory, zoom) : memoryHeight}px`;
    graph.figure.style.maxHeight = `${graphHeight}px`;
    memory.sheet.style.zoom = zoom;
    graph.sheet.style.zoom = 1;
  }

  /**
   * Give the stage the height of what is seen before there is a graph, or anything goes wrong; once one of these is
   * shown, room for it, too, for good.
   *
   * With that room from the start, half of it was empty, and looked as if something were missing.
   */
  setHeight() {
    const { stage, happened, form, isGrown, hasGraph } = this;
    stage.toggleAttribute("data-early", !hasGraph);
    if (!form) return;
    const [height, words, beside] = form[isGrown ? "grown" : hasGraph ? "calm" : "early"];
    stage.style.height = `${height}px`;
    stage.style.setProperty("--cl-beside", `${beside}px`);
    happened.style.height = `${words}px`;
  }

  /** Put all parts of the stage below each other. */
  useOneColumn(width) {
    const { stage, happened, panes } = this;
    this.form = null;
    delete stage.dataset.form;
    stage.style.setProperty("--cl-program", "100%");
    happened.style.height = `${Math.min(this.measureWords(width)[0], MAX_WORDS_HEIGHT)}px`;
    for (const { figure, size, sheet } of panes.values()) {
      figure.style.maxHeight = size[1] > TALL_PICTURE ? "60vh" : "";
      sheet.style.zoom = Math.max(LEAST_SCALE, Math.min(1, width / size[0]));
    }
  }

  /** Show what a stop did; see `describeStop`. */
  showWords(stop) {
    const { says = "", ends = says } = this.pills ?? {};
    // What another copy changed in the end is no news before it, and may be what somebody steps for.
    this.showNote(stop.isLast ? ends : says);
    this.did.textContent = stop.did ?? "";
    this.did.hidden = !stop.did;
    const copy = (elements) => elements.map((element) => element.cloneNode(true));
    const isRest = (item) => item.matches(".cl-rest");
    // What went wrong comes first.
    this.alarms.replaceChildren(...copy(stop.outputs.filter(isLoud)));
    this.says.replaceChildren(...copy(stop.says.filter((item) => !isRest(item))));
    const rest = [...takeDetails(this.alarms), ...copy(stop.says.filter(isRest))];
    this.more.hidden = !rest.length;
    this.more.firstChild.textContent = say("More details ({count})", { count: rest.length });
    this.more.lastChild.replaceChildren(...rest);
    this.outputs.replaceChildren(...copy(stop.outputs.filter(isQuiet)));
    // The words of an error name no line and no variable, so they come behind what explains them.
    this.alarms.after(this.says);
    this.alarms.querySelector(".cl-error > pre")?.before(this.says);
    // How it ended is no news before the end, unless something cut it short.
    this.ending.hidden = !(this.end && (stop.isLast || this.cut));
    // An error has it as its title: a line less, so that all of both is in view.
    const title = stop.isLast && this.end && this.alarms.querySelector(".cl-error > strong");
    if (title) title.replaceWith(this.ending);
    else this.happened.append(this.ending);
  }

  /** A choice for each loop and function; folded away itself where they are many. */
  makeChoices() {
    const folds = listChoices(this).map(({ key, label, ways }) => {
      const select = makeElement("select", {}, ...ways.map(([value, text]) => makeElement("option", { value }, text)));
      select.value = this.ways.get(key) ?? "";
      select.addEventListener("change", () => this.chooseWay(key, select.value));
      return makeElement("label", { class: "cl-fold" }, label, select);
    });
    // A stored run with other copies has no such form: its box is away, and the row stays.
    const labels = this.home.whole ? [...folds, this.makeChoiceOfLevel()] : folds;
    if (labels.length <= 4) return labels.length ? [makeElement("div", { class: "cl-folds" }, ...labels)] : [];
    const summary = makeElement("summary", {}, say("Loops and calls"));
    return [makeElement("details", { class: "cl-folds" }, summary, ...labels)];
  }

  /** A box to tick for whoever wants to see more than a lesson has explained so far. */
  makeChoiceOfLevel() {
    const box = makeElement("input", { type: "checkbox" });
    const choose = ({ steps, groups, sizes }) => ({ steps, groups, sizes });
    const [part, whole] = [this, this.whole ?? this].map(choose);
    box.addEventListener("change", () => {
      Object.assign(this, box.checked ? whole : part);
      for (const [kind, { figure }] of this.panes) {
        const pane = this.makePane(kind);
        figure.replaceWith(pane.figure);
        this.panes.set(kind, pane);
      }
      this.showAgain();
    });
    return makeElement("label", { class: this.whole ? "cl-fold" : "cl-fold cl-away" }, box, say("show everything"));
  }

  /** Go through a loop or function another way; a step that is then no stop gives way to the next one. */
  chooseWay(key, way) {
    this.ways.set(key, way);
    this.isStop = findStops(this, this.ways);
    this.root.dataset.stops = this.isStop.filter(Boolean).length;
    this.showAgain();
  }

  /** Show the stop of a step, or the one behind it, after a change of what there is to show. */
  showAgain() {
    const to = findNearestStop(this.isStop, this.index, 1);
    this.index = -1;
    this.showStep(to);
    // It may need more room than what was shown before.
    this.laidOutWidth = 0;
    this.layOut();
  }

  makePane(kind) {
    const [title, none] = {
      memory: [say("Memory"), say("No tensors at this step.")],
      graph: [say("Graph"), say("No graph at this step.")],
    }[kind];
    const label = { "aria-label": say("{title} in words", { title }) };
    const holder = makeElement("div", { class: "cl-holder" });
    const words = makeElement("pre", { tabindex: 0, role: "region", ...label });
    // Beside the title of a narrow picture there is room for no more: elsewhere the sheet shows the whole label.
    const summary = makeElement("summary", label, makeElement("span", {}, say("in words")));
    const details = makeElement("details", { class: "cl-words" }, summary, words);
    const left = makeElement("p", { class: "cl-left", hidden: "" });
    const figure = makeElement(
      "figure",
      { class: "cl-pane", "data-picture": kind, "data-none": none },
      makeElement("figcaption", {}, title),
      holder,
      left,
      details,
    );
    // A shadow root keeps the styles and ids of one picture out of all others; the theme's variables still reach it.
    const shadow = holder.attachShadow({ mode: "open" });
    const pane = { figure, title, holder, left, details, words, shadow, shown: null };
    figure.hidden = !this.steps.some(({ pictures }) => pictures.has(kind));
    pane.size = this.sizes[kind].map(Number);
    reserveSheet(pane, pane.size);
    return pane;
  }

  goTo(action) {
    const last = this.steps.length - 1;
    const searches = { first: [0, 1], previous: [this.index - 1, -1], next: [this.index + 1, 1], last: [last, -1] };
    this.showStep(findNearestStop(this.isStop, ...searches[action]));
  }

  /** The steps that a stop stands for. */
  listSteps(index) {
    return this.steps.slice(stepsOfStop(this.isStop, index)[0], index + 1);
  }

  /** What a stop did: its own step, or all steps since the stop before it. */
  describeStop(index) {
    const step = this.steps[index];
    const ran = this.listSteps(index);
    const isLast = index === this.steps.length - 1;
    if (!ran[1]) return { ...step, isLast };
    const first = index - ran.length + 1;
    const group = this.groups.find((candidate) => candidate.first === first && candidate.last === index);
    const outputs = ran.flatMap((inner) => inner.outputs);
    const missing = outputs.length - MAX_OUTPUTS;
    if (missing > 0) {
      const note = makeElement("p", {}, say("{count} outputs before these are not shown", { count: missing }));
      outputs.splice(0, missing, note);
    }
    const numbers = { first: first + 1, last: index + 1 };
    const at = step.title.replace(/(  \(|（).*/, "");
    const title = say("{at} ({what}, in one go)", { at, what: group?.title ?? say("steps {first} to {last}", numbers) });
    const pictures = group?.memory?.svg() ? new Map([...step.pictures, ["memory", group.memory]]) : step.pictures;
    return { says: group?.says ?? step.says, outputs, did: say("What steps {first} to {last} did", numbers), title, isLast, pictures };
  }

  showStep(index) {
    if (index === this.index || !(index >= 0 && index < this.steps.length)) return;
    this.index = index;
    const step = this.steps[index];
    const count = this.steps.length;
    const { line, kind } = step;
    Object.assign(this.root.dataset, { step: index + 1, line, kind });
    this.slider.value = index + 1;
    this.count.textContent = `${index + 1} / ${count}`;
    const numbered = say("Step {number} of {count}", { number: index + 1, count });
    const place = describePlace(this.codes[step.code], line);
    this.slider.setAttribute("aria-valuetext", say("{step}, {place}", { step: numbered, place }));
    // A disabled button would drop the keyboard focus: these say that they are, and keep it.
    for (const [action, button] of this.buttons) {
      const isAtEnd = /first|prev/.test(action) ? this.isStop.indexOf(true) >= index : index === count - 1;
      button.setAttribute("aria-disabled", isAtEnd);
    }
    this.markLines(index);
    this.colourNames(step);
    this.pillRow?.follow(this.steps, index);
    const stop = this.describeStop(index);
    this.showWords(stop);
    this.isGrown ||= stop.outputs.some(isLoud);
    this.hasGraph ||= stop.pictures.has("graph");
    this.setHeight();
    for (const [kind, pane] of this.panes) this.showPicture(pane, stop.pictures.get(kind));
    const ending = stop.isLast ? [this.changed, this.ending] : [];
    const heard = [...stop.outputs.filter(isLoud), ...stop.says, ...stop.outputs.filter(isQuiet), ...ending]
      .map((item) => item.dataset.says ?? listHeard(item))
      .filter(Boolean)
      .join(" ");
    const title = stop.title.replace(say("Step {number}, {title}", { number: index + 1, title: "" }), "");
    this.status.replaceChildren(
      makeElement("strong", {}, numbered),
      say("{step}, {place}", { step: "", place: title }),
      makeElement("span", { class: "cl-only-heard" }, ` ${shortenHeard(heard)}`),
    );
    this.scrollToStep();
    this.onStep(index);
  }

  /** Mark the lines of a stop in the code: of a round all that ran, for any of them may have done what is said. */
  markLines(index) {
    this.here[0]?.removeAttribute("aria-current");
    // What has not run yet is pale.
    for (const row of this.rows.flat()) row.className = row.firstRun > index ? "cl-ahead" : "";
    for (const step of this.listSteps(index)) {
      this.here = this.listRows(step);
      for (const row of this.here) row.className = WRONG_KINDS.includes(step.kind) ? "cl-here cl-wrong" : "cl-here";
    }
    this.here[0]?.setAttribute("aria-current", "step");
  }

  /** Give the names in the code the hues of the tensors that they are at a step. */
  colourNames(step) {
    for (const name of this.names) {
      const tensor = step.names.get(name.word);
      // To write what is there already has the page laid out anew.
      if (tensor === name.tensor) continue;
      name.tensor = tensor;
      name.className = tensor ? `cl-name cl-h${tensor.slice(1) % 6}` : "cl-name";
      if (tensor) name.dataset.t = tensor;
      else delete name.dataset.t;
    }
  }

  /** Scroll code, words and pictures to what is new. After all changes: to ask for places lays out the page. */
  scrollToStep() {
    this.scrollToRow(this.here[0]);
    this.happened.scrollTop = 0;
    for (const pane of this.panes.values()) scrollToNews(pane);
  }

  /** Scroll the listing, and never the page, so that the line can be seen. */
  scrollToRow(row) {
    if (!row) return;
    const { code } = this;
    const top = row.offsetTop - code.offsetTop;
    if (top < code.scrollTop || top + row.offsetHeight > code.scrollTop + code.clientHeight) {
      code.scrollTop = roundToLines(top - code.clientHeight / 2);
    }
  }

  showPicture(pane, picture) {
    pane.figure.classList.toggle("cl-away", !picture);
    if (!picture || pane.shown === picture) return;
    pane.shown = picture;
    const tokens = picture.tokens();
    showText(pane.words, picture.text());
    pane.holder.hidden = !tokens.length;
    pane.left.hidden = tokens.length || !picture.left;
    pane.left.textContent = picture.left;
    if (tokens.length) drawPicture(pane, tokens);
    if (pane.forced || !tokens.length) pane.details.open = pane.forced = !tokens.length;
    pane.details.classList.toggle("cl-instead", !tokens.length);
  }
}

/** What a screen reader is told of an item: between its title and its text, and its sentences, there is nothing in the page. */
function listHeard(item) {
  const parts = item.matches(".cl-out") ? item.children : item.querySelectorAll("p, li");
  if (!parts.length) return item.textContent.trim();
  return Array.from(parts, (part) => part.textContent.trim()).join(item.matches(".cl-out") ? ": " : " ");
}

/** Cut what is heard at the end of a word: a step may say pages, and a screen reader reads on without end. */
function shortenHeard(text) {
  if (text.length <= 500) return text;
  // Chinese has no spaces.
  return `${text.slice(0, Math.max(text.lastIndexOf(" ", 500), 400))} …`;
}

/** What went wrong, or will, comes first. */
const isLoud = (output) => output.matches(".cl-alarm, .cl-error");
const isQuiet = (output) => !isLoud(output);

/** Take out of alarms what can be folded, as items of a list: their details, and the hint of an error of PyTorch's. */
function takeDetails(alarms) {
  const items = [...alarms.querySelectorAll("ul.cl-more > li")];
  for (const list of alarms.querySelectorAll("ul.cl-more")) list.remove();
  for (const text of alarms.querySelectorAll(".cl-error > pre")) {
    const [error, ...hints] = text.textContent.split(/ (?=Hint: )/);
    text.textContent = error;
    items.push(...hints.map((hint) => makeElement("li", {}, hint)));
  }
  return items;
}

/** The height of a pane with the whole of its picture, in px; 0 for one that is not there. */
function measurePane({ figure, holder, size }, scale = 1) {
  return figure.hidden ? 0 : holder.offsetTop + Math.ceil(scale * size[1]);
}

/** The heights that two panes may have in a form of the stage that is at most `most` px high. */
function limitHeights(name, memory, graph, most) {
  if (name === "row") return [Math.min(memory, most), Math.min(graph, most)];
  const room = most - (memory && graph ? GAP : 0);
  // One that is lower than its half leaves the rest to the other; below all, code and words need theirs.
  const ofGraph = Math.min(graph, Math.max(room / 2, name === "below" ? 0 : room - memory));
  return [Math.min(memory, room - ofGraph), ofGraph];
}

/** Put a player in the place of the static form `root`. Returns the player. */
function makePlayer(root, options = {}) {
  root.dataset.ready = "true";
  const data = readForm(root, options.home?.pack);
  // A stored run has of its pills what is not as in the player whose program was changed.
  if (data.pills) data.pills.copies = options.copies ?? listCopies(data.pills);
  const player = new Player(data, { label: root.getAttribute("aria-label") ?? say("Step-through"), ...options });
  const style = root.querySelector(":scope > :is(style, noscript)");
  player.root.form = makeElement("div", { class: "cl-on-paper" }, ...root.childNodes);
  player.root.form.pictures = data.undrawn;
  root.replaceChildren(...(style ? [style] : []), player.root);
  // Before it is first seen, where it has a width already.
  player.layOut();
  return player;
}

/** Put another player of a changed program in the place of one; the step and the focus stay. */
function exchangePlayers(player, other) {
  const focused = findFocus(player.root);
  player.root.replaceWith(other.root);
  showSameStep(other, player.index - player.pills.added);
  other.layOut();
  restoreFocus(other.root, focused);
}

/** Show the step that has a number without the lines that were added above it, and say what the change did. */
function showSameStep(player, index) {
  const { added, says } = player.pills;
  player.showStep(findNearestStop(player.isStop, Math.max(0, Math.min(index + added, player.steps.length - 1)), 1));
  // What is in a live region from the start is not read.
  if (says) requestAnimationFrame(() => player.status.prepend(`${says} `));
}

/** On paper nobody steps: print all steps, one below the other, with the pictures that are no images, too. */
function printAllSteps() {
  for (const player of document.querySelectorAll(".cl-player")) {
    for (const details of player.form.querySelectorAll("details")) details.open = true;
    for (const [holder, svg] of player.form.pictures) {
      // In a shadow root, as in the player: the styles of one picture are no other's.
      if (!holder.querySelector(".cl-holder")) holder.append(makeElement("div", { class: "cl-holder" }));
      const place = holder.querySelector(".cl-holder");
      (place.shadowRoot ?? place.attachShadow({ mode: "open" })).innerHTML = svg();
    }
    player.after(player.form);
    window.addEventListener("afterprint", () => player.form.remove(), { once: true });
  }
}

// JupyterLab takes the arrows and Enter, on the document, before any widget sees them. So the player's keys are caught
// one level above it, only while the focus is in a player; all others pass.
function handleKey(event) {
  const { key } = event;
  const target = event.composedPath()[0];
  const player = target?.closest?.(".cl-player");
  if (!player || target.matches("textarea") || event.ctrlKey || event.altKey || event.metaKey) return;
  const stopHere = () => event.stopImmediatePropagation();
  const scrolls = target !== player && target.matches("[tabindex]");
  // In px.
  const sideways = { ArrowLeft: -96, ArrowRight: 96 }[key];
  if (event.shiftKey) {
    if (!scrolls || !sideways) return;
    stopHere();
    target.scrollLeft += sideways;
    return;
  }
  // What the browser does itself: it moves the slider, chooses, scrolls, presses.
  const isOfBrowser =
    (target.matches("input[type=range]") && /^(Arrow|Home|End|Page)/.test(key)) ||
    (target.matches("select") && key !== "Tab") ||
    (scrolls && /^(ArrowUp|ArrowDown|Page)/.test(key)) ||
    (/^(Enter| )$/.test(key) && target.matches("button, summary"));
  if (isOfBrowser) stopHere();
  else if (key in ACTION_OF_KEY) {
    stopHere();
    event.preventDefault();
    player.dispatchEvent(new CustomEvent("copylab-key", { detail: ACTION_OF_KEY[key] }));
  }
}

// Every output carries this script; one listener is enough.
const once = Symbol.for("copylab.player.keys");
if (!window[once]) {
  window[once] = true;
  window.addEventListener("keydown", handleKey, true);
  window.addEventListener("beforeprint", printAllSteps);
}

for (const root of document.querySelectorAll(".copylab-steps:not([data-ready], .cl-everything *)")) {
  whenSeen(root, () => root.dataset.ready || makePlayer(root));
}

/**
 * The live form: the same static form as a trait, and the step as another. A change of the program goes to the kernel,
 * which sends another form.
 */
function render({ model, el }) {
  let player;
  const build = () => {
    const focused = player && findFocus(player.root);
    el.innerHTML = model.get("form");
    const root = el.querySelector(".copylab-steps");
    const start = model.get("step") - 1;
    const isChanged = Boolean(player);
    player = makePlayer(root, {
      onStep(index) {
        if (!player) return;
        model.set("step", index + 1);
        model.save_changes();
      },
      change(request, { index, pills }) {
        player.showNote(say("The kernel runs it ..."));
        const { do: action, code, copies } = request;
        const chosen = copies?.map((copy) => copy.chosen);
        model.send({ do: action, code, chosen, step: index + 1 - pills.added });
      },
    });
    player.showStep(start);
    if (isChanged && player.pills) showSameStep(player, start - player.pills.added);
    restoreFocus(player.root, focused);
  };
  const handlers = Object.entries({
    "change:form": build,
    "change:step": () => player.showStep(model.get("step") - 1),
    "msg:custom": ({ problem }) => player.endChange(problem),
  });
  build();
  for (const handler of handlers) model.on(...handler);
  return () => {
    for (const handler of handlers) model.off(...handler);
  };
}
