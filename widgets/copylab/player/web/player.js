// The player of steps. It makes a player of the static form (<details> for each step) in any page that lets scripts
// run; anywidget calls render().

const KEYS = { ArrowLeft: "previous", ArrowRight: "next", Home: "first", End: "last" };
const BUTTONS = [
  ["first", say("First step"), say("⇤ First")],
  ["previous", say("Previous step"), say("← Back")],
  ["next", say("Next step"), say("Next →")],
  ["last", say("Last step"), say("Last ⇥")],
];

const WORDS_OF_CODE = /("[^"]*"|'[^']*'|#.*|(?<![\w.])[A-Za-z_]\w*)/;
const WRONG = ["error", "syntax", "wrong"];
const MEASURED = 24; // so many of the longest steps are measured
const GAP = 12; // px between the columns
const WORDS_WIDE = 288; // px that a column of words or code needs
const MOST = 400; // px: words that take more scroll

const SWAP = { '"': "`", "`": '"', "<": "~", "~": "<" }; // exchanged where they are written

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** What the static form holds: the lines of each code, and for each step its line, words, outputs and pictures. */
function read(root) {
  const codes = [...root.querySelectorAll(".cl-code")].map((code) => ({
    name: code.dataset.name ?? "",
    lines: [...code.querySelectorAll(".cl-line")].map((line) => line.textContent),
  }));
  const steps = [...root.querySelectorAll("details.cl-step")].map((details) => ({
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
  let names = new Map(); // not an object, which knows a `constructor` before anything is put into it
  [...root.querySelectorAll("details.cl-step")].forEach(({ dataset }, at) => {
    if (dataset.names !== undefined) names = new Map(dataset.names.split(" ").map((pair) => pair.split(":")));
    steps[at].names = names;
  });
  const groups = [...root.querySelectorAll("details.cl-group")].map((details) => ({
    kind: details.dataset.kind,
    code: Number(details.dataset.code ?? 0),
    line: Number(details.dataset.line),
    first: details.dataset.first - 1,
    last: details.dataset.last - 1,
    title: details.querySelector("summary").textContent,
    says: [...details.querySelectorAll(":scope > .cl-says > li")],
  }));
  const packed = root.querySelector(':scope > script[type="application/json"]');
  const pack = packed ? unpack(JSON.parse(packed.textContent)) : null;
  const undrawn = []; // pictures that are no images in the static form
  for (const step of steps) {
    for (const [kind, holder] of step.pictures) {
      const same = holder.dataset.as ? steps[holder.dataset.as - 1].pictures.get(kind) : null;
      const own = same ?? picture(holder, pack);
      if (!same && own.svg && !holder.querySelector("img")) undrawn.push([holder, own.svg]);
      step.pictures.set(kind, own);
    }
  }
  const end = root.querySelector(".cl-end");
  const sizes = Object.fromEntries(["memory", "graph"].map((kind) => [kind, root.dataset[kind]?.split(" ") ?? [0, 0]]));
  return { codes, steps, groups, sizes, undrawn, end: end?.textContent ?? "", cut: "cut" in (end?.dataset ?? {}) };
}

/** The texts in the table of parts: what a text has of the text before it is a stretch of that, [start, count]. */
function unpack({ parts: written, texts }) {
  const parts = written.map((part) => part.replace(/["`<~]/g, (one) => SWAP[one]));
  const made = {};
  for (const [kind, rows] of Object.entries(texts)) {
    let before = [];
    made[kind] = new Map();
    for (const [number, row] of Object.entries(rows)) {
      before = row.flatMap((entry) => (Array.isArray(entry) ? before.slice(entry[0], entry[0] + entry[1]) : [entry]));
      made[kind].set(number, before);
    }
  }
  return (kind, number) => made[kind]?.get(number)?.map((part) => parts[part]).join("") ?? "";
}

/** A picture of the static form: its SVG is in the pack, or in the address of an image, and its words in the pack. */
function picture(holder, pack) {
  const { packed, picture: kind } = holder.dataset;
  if (!packed) return { tokens: () => [], text: () => holder.querySelector("pre").textContent }; // it could not be drawn
  const body = holder.querySelector("img")?.getAttribute("src").split(",")[1];
  const svg = () => (body ? new TextDecoder().decode(Uint8Array.from(atob(body), (c) => c.charCodeAt(0))) : pack(`${kind} svg`, packed));
  const left = say("Not drawn, to keep the page small. After s = steps(...), {where} shows it.", {
    where: `s[${packed - 1}].pictures["${kind}"]`,
  });
  // The pack is cut more finely than the picture is drawn: a style sheet is one token. For a picture of 40 kB this takes
  // 0.1 ms, split(/(?<=>)(?=<)/) takes 0.5 ms.
  const tokens = () => svg().split("><").map((token, at, { length }) => (at ? "<" : "") + token + (at < length - 1 ? ">" : "")).filter(Boolean);
  return { svg, tokens, left, text: () => pack(`${kind} text`, packed) || left };
}

/** Where a line stands, in a sentence. */
function where({ name }, line) {
  return name ? say("in {function}, line {line}", { function: name, line }) : say("on line {line}", { line });
}

/** What can be folded: each loop and each function, with the ways to go through it. */
function choices({ codes, steps, groups }) {
  const heads = groups.filter(({ kind }) => kind === "loop").sort((a, b) => a.code - b.code || a.line - b.line);
  const loops = new Map(heads.map((loop) => [`loop ${loop.code} ${loop.line}`, loop]));
  const functions = new Set(steps.flatMap(({ calls }) => calls));
  return [
    ...[...loops].map(([key, { code, line }]) => ({
      key,
      label: say("Loop {where}", { where: where(codes[code], line) }),
      ways: [["", say("every line")], ["rounds", say("round by round")], ["all", say("in one go")]],
    })),
    ...[...functions].map((name) => ({
      key: `call ${name}`,
      label: `${name}()`,
      ways: [["", say("step into")], ["all", say("step over")]],
    })),
  ];
}

/** Which steps are stops, if loops and calls are gone through in these ways: a Map from key to way. */
function stops({ steps, groups }, ways) {
  const seen = steps.map(({ calls }) => !calls.some((name) => ways.get(`call ${name}`)));
  const pass = ({ first, last }) => seen.fill(false, first, last); // all but its last step
  for (const group of groups) {
    const way = ways.get(`loop ${group.code} ${group.line}`);
    if ((group.kind === "loop" && way === "all") || (group.kind === "round" && way === "rounds")) pass(group);
  }
  for (const group of groups) {
    const inner = seen.slice(group.first + 1, group.last);
    if (group.kind === "call" && inner.length && !inner.includes(true)) pass(group);
  }
  seen[steps.length - 1] = true;
  return seen;
}

class Player {
  constructor(data, { onStep = () => {}, label } = {}) {
    Object.assign(this, data, { onStep, index: -1, ways: new Map(), here: [], names: [] });
    this.seen = stops(this, this.ways);
    const count = this.steps.length;
    this.buttons = new Map(
      BUTTONS.map(([action, name, text]) => {
        const button = element("button", { type: "button", "aria-label": name, title: name, "data-action": action }, text);
        button.addEventListener("click", () => this.act(action));
        return [action, button];
      }),
    );
    this.slider = element("input", { type: "range", min: 1, max: count, step: 1, "aria-label": say("Step") });
    this.slider.addEventListener("input", () => {
      const to = this.slider.value - 1;
      this.show(to > this.index ? this.stop(to, 1) : this.stop(to, -1));
      this.slider.value = this.index + 1;
    });
    this.status = element("p", { class: "cl-status", role: "status", "aria-live": "polite" });
    this.code = element("ol", { class: "cl-listing", "aria-label": say("The code, the line of this step marked") });
    this.rows = this.codes.map(({ name, lines }) => {
      const rows = lines.map((line, at) => element("li", { "data-line": at + 1 }, element("span", { class: "cl-text" }, ...this.words_of(line))));
      this.code.append(...(this.codes.length > 1 ? [element("li", { class: "cl-of" }, name || say("The code"))] : []), ...rows);
      return rows;
    });
    const all = this.codes.flatMap(({ lines }) => lines);
    if (all.length > 12 || all.some((line) => line.length > 50)) this.code.tabIndex = 0; // it may scroll
    this.says = element("ul", { class: "cl-says" });
    this.outputs = element("div", { class: "cl-outputs" });
    this.panes = new Map(["memory", "graph"].map((kind) => [kind, this.pane(kind)]));
    this.ending = element("p", { class: "cl-end" }, this.end);
    const bar = element("div", { class: "cl-bar" }, ...this.buttons.values(), this.slider);
    this.did = element("p", { class: "cl-title" });
    this.happened = element("div", { class: "cl-happened", tabindex: 0, role: "region", "aria-label": say("What happened") }, this.did, this.outputs, this.says);
    this.root = element("div", { class: "cl-panel cl-player", role: "group", tabindex: 0, "data-steps": count });
    this.root.setAttribute("aria-label", say("{label}. Arrow keys left and right go a step back and on, Home and End to the ends.", { label }));
    this.root.append(
      bar,
      ...this.folding(),
      element("div", { class: "cl-line-of-status" }, this.status, element("p", { class: "cl-hint" }, say("Click here for the keys ← → Home End"))),
      (this.stage = element("div", { class: "cl-stage" }, this.code, this.happened, ...[...this.panes.values()].map((pane) => pane.figure))),
      this.ending,
    );
    for (const kind of ["pointerover", "pointerout", "focusin", "focusout"]) this.root.addEventListener(kind, (event) => this.join(event));
    this.root.addEventListener("copylab-key", (event) => this.act(event.detail));
    this.show(0);
    for (const one of [this.stage, this.happened]) new ResizeObserver(() => this.settle()).observe(one);
  }

  /** A line of the code, the names of tensors as elements; not where functions have names of their own. */
  words_of(line) {
    const known = this.codes.length === 1 && !this.steps.some(({ calls }) => calls.length);
    return line.split(known ? WORDS_OF_CODE : /^$/).map((word) => {
      if (!this.steps.some(({ names }) => names.get(word))) return word || "";
      const made = element("span", { class: "cl-name", "data-name": word });
      if (!this.names.some((one) => one.dataset.name === word)) made.tabIndex = 0; // each name can be reached once
      this.names.push(made);
      made.append(word);
      return made;
    });
  }

  /** Show which parts of code and pictures are of one tensor. */
  join(event) {
    const leaves = event.type === "pointerout" || event.type === "focusout";
    const tensor = leaves ? null : event.composedPath().find((one) => one.dataset?.t)?.dataset.t;
    for (const part of [this.root, ...[...this.panes.values()].map(({ shadow }) => shadow)]) {
      for (const one of part.querySelectorAll("[data-t]")) one.classList.toggle("joined", one.dataset.t === tensor);
    }
  }

  /** Make the place of the words as high as the longest of them need, so that nothing below it moves. */
  settle() {
    const { happened, index, stage } = this;
    // Where there is room, in two columns: code above memory, and words above the graph, or that below all.
    const [memory, graph] = [this.sizes.memory[0], this.sizes.graph[0]].map(Number);
    const room = stage.clientWidth - GAP;
    const left = room - Math.max(memory + graph > room ? 0 : graph, WORDS_WIDE);
    stage.classList.toggle("cl-two", left >= Math.max(memory, WORDS_WIDE));
    stage.classList.toggle("cl-below", memory + graph > room);
    stage.style.setProperty("--cl-left", `${left}px`);
    const wide = happened.clientWidth;
    if (!wide || wide === this.wide) return;
    this.wide = wide;
    const length = ({ says, outputs }) => [...says, ...outputs].reduce((sum, one) => sum + 20 + one.textContent.length, 0);
    const stops = [...this.steps.keys()].filter((at) => this.seen[at]).map((at) => this.told(at));
    happened.style.height = "0";
    const longest = stops.sort((a, b) => length(b) - length(a)).slice(0, MEASURED);
    const high = longest.map((told) => (this.words(told), happened.scrollHeight));
    happened.style.height = `${Math.min(Math.max(...high), MOST)}px`;
    this.words(this.told(index));
  }

  /** Put down what a stop did. */
  words(told) {
    this.did.textContent = told.did;
    this.says.replaceChildren(...told.says.map((item) => item.cloneNode(true)));
    this.outputs.replaceChildren(...told.outputs.map((output) => output.cloneNode(true)));
    this.happened.scrollTop = 0;
  }

  /** A choice for each loop and function; folded away itself where they are many. */
  folding() {
    const labels = choices(this).map(({ key, label, ways }) => {
      const select = element("select", {}, ...ways.map(([value, text]) => element("option", { value }, text)));
      select.addEventListener("change", () => this.fold(key, select.value));
      return element("label", { class: "cl-fold" }, label, select);
    });
    if (labels.length <= 4) return labels.length ? [element("div", { class: "cl-folds" }, ...labels)] : [];
    return [element("details", { class: "cl-folds" }, element("summary", {}, say("Loops and calls")), ...labels)];
  }

  /** Go through a loop or function another way; a step that is then no stop gives way to the next one. */
  fold(key, way) {
    this.ways.set(key, way);
    this.seen = stops(this, this.ways);
    this.root.dataset.stops = this.seen.filter(Boolean).length;
    const to = this.stop(this.index, 1);
    this.index = -1;
    this.show(to);
    this.wide = 0; // a stop that stands for many steps may need more room
    this.settle();
  }

  /** The stop that is nearest to a step, in one direction, or else in the other. */
  stop(from, by) {
    const last = this.steps.length - 1;
    for (let at = from; at >= 0 && at <= last; at += by) if (this.seen[at]) return at;
    return by > 0 ? last : this.seen.indexOf(true);
  }

  pane(kind) {
    const title = kind === "memory" ? say("Memory") : say("Graph");
    const told = say("{title} in words", { title });
    const holder = element("div", { class: "cl-holder" });
    const words = element("pre", { tabindex: 0, role: "region", "aria-label": told });
    const details = element("details", { class: "cl-words" }, element("summary", {}, told), words);
    const figure = element("figure", { class: "cl-pane", "data-picture": kind });
    const left = element("p", { class: "cl-left", hidden: "" });
    figure.append(element("figcaption", {}, title), holder, left, details);
    // A shadow root keeps the styles and ids of one picture out of all others; the theme's variables still reach it.
    const pane = { figure, title, holder, left, details, words, shadow: holder.attachShadow({ mode: "open" }), shown: null };
    figure.hidden = !this.steps.some(({ pictures }) => pictures.has(kind));
    reserve(pane, this.sizes[kind]);
    return pane;
  }

  act(action) {
    const last = this.steps.length - 1;
    const ask = { first: [0, 1], previous: [this.index - 1, -1], next: [this.index + 1, 1], last: [last, -1] };
    this.show(this.stop(...ask[action]));
  }

  /** What there is to tell of a stop: its own step, or all steps since the stop before it. */
  told(index) {
    const step = this.steps[index];
    const before = this.seen.lastIndexOf(true, index - 1);
    const first = this.seen[index] && index > 0 ? before + 1 : index;
    if (first === index) return { ...step, did: say("What this step did") };
    const group = this.groups.find((one) => one.first === first && one.last === index);
    const all = this.steps.slice(first, index + 1).flatMap(({ outputs }) => outputs);
    const more = all.length > 20 ? [element("p", {}, say("{count} outputs before these are not shown", { count: all.length - 20 }))] : [];
    const some = { first: first + 1, last: index + 1 };
    const did = say("What steps {first} to {last} did", some);
    const at = step.title.replace(/  \(.*/, "");
    const title = say("{at} ({what}, in one go)", { at, what: group?.title ?? say("steps {first} to {last}", some) });
    return { says: group?.says ?? step.says, outputs: [...more, ...all.slice(-20)], did, title };
  }

  show(index) {
    if (index === this.index || !(index >= 0 && index < this.steps.length)) return;
    this.index = index;
    const step = this.steps[index];
    const count = this.steps.length;
    this.root.dataset.step = index + 1;
    this.root.dataset.line = step.line;
    this.root.dataset.kind = step.kind;
    this.slider.value = index + 1;
    const numbered = say("Step {number} of {count}", { number: index + 1, count });
    this.slider.setAttribute("aria-valuetext", `${numbered}, ${where(this.codes[step.code], step.line)}`);
    // A disabled button would drop the keyboard focus: these say that they are, and keep it.
    for (const [action, button] of this.buttons) {
      const ends = action === "first" || action === "previous" ? this.stop(0, 1) >= index : index === count - 1;
      button.setAttribute("aria-disabled", String(ends));
    }
    for (const row of this.here) {
      row.className = "";
      row.removeAttribute("aria-current");
    }
    const rows = this.rows[step.code];
    this.here = rows.slice(step.line - 1, step.end);
    for (const row of this.here) row.className = WRONG.includes(step.kind) ? "cl-here cl-wrong" : "cl-here";
    this.here[0]?.setAttribute("aria-current", "step");
    this.scrollTo(rows[step.line - 1]);
    for (const one of this.names) {
      const tensor = step.names.get(one.dataset.name);
      one.className = tensor ? `cl-name cl-h${tensor.slice(1) % 6}` : "cl-name";
      if (tensor) one.dataset.t = tensor;
      else delete one.dataset.t;
    }
    const told = this.told(index);
    this.words(told);
    // How it ended is no news before the end, unless something cut it short.
    this.ending.hidden = !this.end;
    this.ending.classList.toggle("cl-away", index < count - 1 && !this.cut);
    for (const [kind, pane] of this.panes) this.draw(pane, step.pictures.get(kind));
    const said = [...told.says, ...told.outputs, ...(this.end && index === count - 1 ? [this.ending] : [])];
    this.status.replaceChildren(
      element("strong", {}, numbered),
      `, ${told.title.replace(say("Step {number}, {title}", { number: index + 1, title: "" }), "")}`,
      element("span", { class: "cl-only-heard" }, ` ${said.map((item) => item.textContent.trim()).join(" ").slice(0, 500)}`),
    );
    for (const pane of this.panes.values()) reveal(pane);
    this.onStep(index);
  }

  /** Scroll the listing, and never the page, so that the line can be seen. */
  scrollTo(row) {
    if (!row) return;
    const { code } = this;
    const top = row.offsetTop - code.offsetTop;
    if (top < code.scrollTop || top + row.offsetHeight > code.scrollTop + code.clientHeight) {
      code.scrollTop = top - code.clientHeight / 2;
    }
  }

  draw(pane, picture) {
    pane.figure.classList.toggle("cl-away", !picture);
    if (!picture || pane.shown === picture) return;
    pane.shown = picture;
    const tokens = picture.tokens();
    tell(pane.words, picture.text());
    pane.holder.hidden = !tokens.length;
    pane.left.hidden = tokens.length || !picture.left;
    pane.left.textContent = picture.left;
    if (tokens.length) draw(pane, tokens);
    if (pane.forced || !tokens.length) pane.details.open = pane.forced = !tokens.length;
  }
}

/** Put a player in the place of the static form `root`; gives the player back. */
function upgrade(root, options = {}) {
  root.dataset.ready = "true";
  const data = read(root);
  const player = new Player(data, { label: root.getAttribute("aria-label") ?? say("Step-through"), ...options });
  const style = root.querySelector(":scope > :is(style, noscript)");
  player.root.form = element("div", { class: "cl-on-paper" }, ...root.childNodes);
  player.root.form.pictures = data.undrawn;
  root.replaceChildren(...(style ? [style] : []), player.root);
  return player;
}

/** On paper nobody steps: there stand all steps, one below the other, with the pictures that are no images, too. */
function onPrint() {
  for (const player of document.querySelectorAll(".cl-player")) {
    for (const details of player.form.querySelectorAll("details")) details.open = true;
    for (const [holder, svg] of player.form.pictures) {
      // In a shadow root, as in the player: the styles of one picture are no other's.
      if (!holder.querySelector(".cl-holder")) holder.append(element("div", { class: "cl-holder" }));
      const place = holder.querySelector(".cl-holder");
      (place.shadowRoot ?? place.attachShadow({ mode: "open" })).innerHTML = svg();
    }
    player.after(player.form);
    window.addEventListener("afterprint", () => player.form.remove(), { once: true });
  }
}

// JupyterLab takes the arrows and Enter, on the document, before any widget sees them. So the player's keys are caught
// one level above it, only while the focus is in a player; all others pass.
function onKey(event) {
  const target = event.composedPath()[0];
  const player = target?.closest?.(".cl-player");
  if (!player || event.ctrlKey || event.altKey || event.metaKey) return;
  const scrolls = target !== player && target.matches("[tabindex]");
  const aside = { ArrowLeft: -96, ArrowRight: 96 }[event.key];
  if (event.shiftKey) {
    if (!scrolls || !aside) return;
    event.stopImmediatePropagation();
    target.scrollLeft += aside;
    return;
  }
  const slider = target.matches("input[type=range]");
  if (slider && /^(Arrow|Home|End|Page)/.test(event.key)) {
    event.stopImmediatePropagation(); // the browser moves the slider itself
  } else if (target.matches("select")) {
    if (event.key !== "Tab") event.stopImmediatePropagation(); // the browser chooses itself
  } else if (scrolls && /^(ArrowUp|ArrowDown|Page)/.test(event.key)) {
    event.stopImmediatePropagation(); // the browser scrolls itself
  } else if (event.key in KEYS) {
    event.stopImmediatePropagation();
    event.preventDefault();
    player.dispatchEvent(new CustomEvent("copylab-key", { detail: KEYS[event.key] }));
  } else if ((event.key === "Enter" || event.key === " ") && target.matches("button, summary")) {
    event.stopImmediatePropagation(); // the browser presses it itself
  }
}

const once = Symbol.for("copylab.player.keys"); // every output carries this script; one listener is enough
if (!window[once]) {
  window[once] = true;
  window.addEventListener("keydown", onKey, true);
  window.addEventListener("beforeprint", onPrint);
}

for (const root of document.querySelectorAll(".copylab-steps:not([data-ready])")) {
  whenSeen(root, () => root.dataset.ready || upgrade(root));
}

/** The live form: the same static form as a trait, and the step as another. */
function render({ model, el }) {
  let player;
  const build = () => {
    el.innerHTML = model.get("form");
    const root = el.querySelector(".copylab-steps");
    const start = model.get("step") - 1;
    player = upgrade(root, {
      onStep(index) {
        if (!player) return;
        model.set("step", index + 1);
        model.save_changes();
      },
    });
    player.show(start);
  };
  const follow = () => player.show(model.get("step") - 1);
  build();
  model.on("change:form", build);
  model.on("change:step", follow);
  return () => {
    model.off("change:form", build);
    model.off("change:step", follow);
  };
}
