// The table of ways to copy: sort, filter, and in each cell the program that proves it. It reads all it shows from the
// static form. One script, two hosts: the form in any page that lets scripts run, and anywidget, where the source can
// be chosen anew.

const SIGNS = { "cl-yes": "●", "cl-no": "○", "cl-right": "✓", "cl-stops": "■", "cl-bad": "✗" };
const ARROWS = { ascending: " ▲", descending: " ▼", none: "" };

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

function field(label, control, kind = "") {
  return element("label", { class: kind }, ...(kind ? [control, label] : [label, control]));
}

function options(select, pairs, chosen) {
  select.replaceChildren(...pairs.map(([value, text]) => element("option", { value }, text)));
  select.value = pairs.some(([value]) => value === chosen) ? chosen : pairs[0][0];
}

/** What the static form holds: for each way its facts by key. */
function read(root) {
  const ways = [...root.querySelectorAll(".cl-way")].map((way, order) => ({
    order,
    name: way.dataset.method,
    code: way.dataset.code,
    about: way.querySelector(".cl-about"),
    facts: new Map(
      [...way.querySelectorAll(".cl-fact")].map((fact) => [
        fact.dataset.key,
        {
          kind: fact.classList[1],
          name: fact.dataset.name,
          cell: fact.dataset.cell,
          main: "main" in fact.dataset,
          question: fact.querySelector("summary").firstChild.textContent.trim(),
          said: fact.querySelector("strong").textContent,
          proof: fact.querySelector("pre").textContent,
          printed: fact.querySelector(".cl-printed").textContent,
        },
      ]),
    ),
  }));
  return { ways, summary: root.querySelector(".cl-summary"), source: root.querySelector(".cl-source") };
}

/** In which order answers stand: yes, no, then numbers and words. */
function rank(said) {
  const number = parseFloat(said.replaceAll(",", ""));
  return [said === "yes" ? 0 : said === "no" ? 1 : said === "none" ? 2 : 3, Number.isNaN(number) ? 0 : number, said];
}

function order(a, b) {
  for (const [at, left] of rank(a).entries()) {
    const right = rank(b)[at];
    if (left !== right) return left < right ? -1 : 1;
  }
  return 0;
}

class Table {
  constructor(root, data, { kinds = [], kind = "", onKind = () => {} } = {}) {
    Object.assign(this, data, { root, sorted: null, direction: "none", before: null, at: null });
    this.search = element("input", { type: "text", size: 16, placeholder: "clone" });
    this.property = element("select");
    this.answer = element("select");
    this.more = element("input", { type: "checkbox" });
    this.source_kind = kinds.length ? element("select") : null;
    this.status = element("p", { class: "cl-status", role: "status", "aria-live": "polite" });
    this.holder = element("div", { class: "cl-table", tabindex: 0, role: "region", "aria-label": "Ways to copy" });
    this.tools = element(
      "div",
      { class: "cl-tools" },
      ...(this.source_kind ? [field("x is", this.source_kind)] : []),
      field("Ways that contain", this.search),
      field("Only where", this.property),
      field("is", this.answer),
      field("All columns", this.more, "cl-check"),
    );
    const hint = "Each cell opens the program that proves it. Arrow keys go from cell to cell, Enter opens, Esc closes.";
    this.place = element("div");
    root.replaceChildren(this.place, this.tools, element("p", { class: "cl-status" }, hint), this.status, this.holder);
    this.search.addEventListener("input", () => this.filter());
    this.property.addEventListener("change", () => this.offer());
    this.answer.addEventListener("change", () => this.filter());
    this.more.addEventListener("change", () => this.build());
    if (this.source_kind) {
      options(this.source_kind, kinds, kind);
      this.source_kind.addEventListener("change", () => onKind(this.source_kind.value));
    }
    this.holder.addEventListener("keydown", (event) => this.key(event));
    // JupyterLab takes Enter and the arrows for itself unless what has the focus says that it wants them.
    root.addEventListener("focusin", (event) => event.target.setAttribute("data-lm-suppress-shortcuts", "true"));
    this.take(data);
  }

  /** Show this data; what changed since the last is marked. */
  take(data, compare = false) {
    this.before = compare ? new Map(this.ways.map((way) => [way.name, way.facts])) : null;
    Object.assign(this, data);
    this.place.replaceChildren(data.summary, data.source);
    const first = [...(this.ways[0]?.facts ?? [])];
    options(this.property, [["", "(any)"], ...first.map(([key, fact]) => [key, fact.name])], this.property.value);
    this.offer();
    this.build();
    if (compare) {
      const count = this.holder.querySelectorAll(".cl-changed").length;
      this.status.textContent = `${count} answer${count === 1 ? "" : "s"} changed with the source, marked with what they were.`;
    }
  }

  /** Offer the answers that there are to the chosen property. */
  offer() {
    const said = new Set(this.ways.map((way) => way.facts.get(this.property.value)?.said).filter(Boolean));
    options(this.answer, [["", "(any)"], ...[...said].sort(order).map((one) => [one, one])], this.answer.value);
    this.filter();
  }

  build() {
    const focus = this.holder.contains(document.activeElement) ? this.at : null;
    this.keys = [...(this.ways[0]?.facts ?? [])].filter(([, fact]) => this.more.checked || fact.main);
    this.heads = new Map(this.keys.map(([key, fact]) => [key, this.head(key, fact)]));
    this.rows = new Map(this.ways.map((way) => [way, this.row(way)]));
    const heading = element("th", { scope: "col" }, "y is made by");
    this.body = element("tbody", {}, ...this.rows.values());
    const head = element("thead", {}, element("tr", {}, heading, ...this.heads.values()));
    this.holder.replaceChildren(element("table", {}, head, this.body));
    this.open = null;
    this.arrange();
    this.reach(focus ?? this.at ?? { way: this.ways[0]?.name, key: this.keys[0]?.[0] }, Boolean(focus));
  }

  head(key, fact) {
    const button = element("button", { type: "button", title: `${fact.question} Press to sort.` }, fact.name);
    const made = element("th", { scope: "col", "aria-sort": "none", "data-key": key }, button);
    button.addEventListener("click", () => {
      const next = { none: "ascending", ascending: "descending", descending: "none" };
      this.direction = this.sorted === key ? next[this.direction] : "ascending";
      this.sorted = key;
      this.arrange();
      this.tell();
    });
    return made;
  }

  row(way) {
    const cells = this.keys.map(([key]) => {
      const fact = way.facts.get(key);
      const sign = element("span", { class: "cl-sign", "aria-hidden": "true" }, SIGNS[fact.kind] ?? "");
      const about = { type: "button", tabindex: -1, "data-way": way.name, "data-key": key, "aria-expanded": "false" };
      const button = element("button", about, sign, fact.cell);
      button.addEventListener("click", () => this.toggle(way, key, button));
      button.addEventListener("focus", () => this.reach({ way: way.name, key }, false));
      const made = element("td", { class: fact.kind }, button);
      const was = this.before?.get(way.name)?.get(key);
      if (was && was.said !== fact.said) {
        made.classList.add("cl-changed");
        button.append(element("small", {}, `was ${was.cell}`));
      }
      return made;
    });
    const name = element("th", { scope: "row", title: way.code }, element("code", {}, way.name));
    const raises = way.facts.get("raises")?.said;
    if (raises !== "no") name.append(" ", element("small", {}, raises.split(":")[0]));
    return element("tr", { "data-way": way.name }, name, ...cells);
  }

  /** Put the rows in order; they stay the same elements, so the focus stays. */
  arrange() {
    const sign = { ascending: 1, descending: -1, none: 0 }[this.direction];
    const said = (way) => way.facts.get(this.sorted)?.said ?? "";
    const ways = [...this.ways].sort((a, b) => sign * order(said(a), said(b)) || a.order - b.order);
    for (const [key, head] of this.heads) {
      const now = key === this.sorted ? this.direction : "none";
      head.setAttribute("aria-sort", now);
      head.firstChild.textContent = this.keys.find(([one]) => one === key)[1].name + ARROWS[now];
    }
    this.close();
    this.body.append(...ways.map((way) => this.rows.get(way)));
    this.filter();
  }

  filter() {
    if (!this.rows) return;
    const words = this.search.value.toLowerCase();
    for (const [way, row] of this.rows) {
      const found = `${way.name} ${way.code}`.toLowerCase().includes(words);
      const fits = !this.property.value || !this.answer.value || way.facts.get(this.property.value)?.said === this.answer.value;
      row.hidden = !(found && fits);
      if (row.hidden && this.open?.row === row) this.close();
    }
    const shown = [...this.rows.values()].filter((row) => !row.hidden);
    if (shown.length && !shown.some((row) => row.dataset.way === this.at?.way)) {
      this.reach({ way: shown[0].dataset.way, key: this.at?.key ?? this.keys[0][0] }, false);
    }
    this.tell();
  }

  /** How many rows there are, for all to read; the rest for a screen reader, for it stands beside the table anyway. */
  tell(heard = "") {
    const shown = [...this.rows.values()].filter((row) => !row.hidden).length;
    const all = this.rows.size;
    const name = this.direction === "none" ? "" : `, sorted by ${this.ways[0].facts.get(this.sorted).name}`;
    const text = `${shown === all ? `All ${all}` : `${shown} of ${all}`} ways${name}.`;
    this.status.replaceChildren(text, element("span", { class: "cl-only-heard" }, heard));
  }

  cell({ way, key }) {
    return [...this.body.querySelectorAll("td > button[data-key]")].find((b) => b.dataset.way === way && b.dataset.key === key);
  }

  /** One cell of all can be reached with Tab; the arrow keys go on from there. */
  reach(at, focus) {
    const cell = at && (this.cell(at) ?? this.body.querySelector("td > button[data-key]"));
    if (!cell) return;
    for (const other of this.body.querySelectorAll('td > button[tabindex="0"]')) other.tabIndex = -1;
    cell.tabIndex = 0;
    this.at = { way: cell.dataset.way, key: cell.dataset.key };
    if (focus) cell.focus();
  }

  key(event) {
    if (event.key === "Escape" && this.open) {
      const { button } = this.open;
      this.close();
      button.focus();
      return;
    }
    const button = event.target.closest("td > button[data-key]");
    if (!button || event.ctrlKey || event.altKey || event.metaKey) return;
    const rows = [...this.body.querySelectorAll("tr[data-way]")].filter((row) => !row.hidden);
    const cells = (row) => [...row.querySelectorAll("td > button")];
    const y = rows.indexOf(button.closest("tr"));
    const x = cells(rows[y]).indexOf(button);
    const last = cells(rows[y]).length - 1;
    const to = {
      ArrowRight: [y, Math.min(x + 1, last)],
      ArrowLeft: [y, Math.max(x - 1, 0)],
      ArrowDown: [Math.min(y + 1, rows.length - 1), x],
      ArrowUp: [Math.max(y - 1, 0), x],
      Home: [y, 0],
      End: [y, last],
    }[event.key];
    if (!to) return;
    event.preventDefault();
    event.stopPropagation();
    cells(rows[to[0]])[to[1]].focus();
  }

  toggle(way, key, button) {
    const same = this.open?.button === button;
    this.close();
    if (same) return;
    const fact = way.facts.get(key);
    const title = element("p", {}, element("code", {}, way.name), `: ${fact.question} `, element("strong", {}, fact.said));
    const program = element("pre", { tabindex: 0, role: "region", "aria-label": "The program that proves it" }, fact.proof);
    const close = element("button", { type: "button" }, "Close");
    close.addEventListener("click", () => {
      this.close();
      button.focus();
    });
    const inside = element("td", { colspan: this.keys.length + 1 }, title, program);
    inside.append(element("p", {}, fact.printed), way.about.cloneNode(true), close);
    const proof = element("tr", { class: "cl-proof" }, inside);
    const row = this.rows.get(way);
    row.after(proof);
    button.setAttribute("aria-expanded", "true");
    this.open = { row, proof, button };
    this.tell(` ${way.name}: ${fact.question} ${fact.said}. ${fact.printed} The program is shown below the row.`);
  }

  close() {
    this.open?.proof.remove();
    this.open?.button.setAttribute("aria-expanded", "false");
    this.open = null;
  }
}

/** Put the table in the place of the static form `root`. */
function upgrade(root, options) {
  root.dataset.ready = "true";
  const style = root.querySelector(":scope > style");
  const table = new Table(root, read(root), options);
  if (style) root.prepend(style);
  return table;
}

for (const root of document.querySelectorAll(".copylab-compare:not([data-ready])")) upgrade(root);

function render({ model, el }) {
  const made = () => {
    const holder = document.createElement("div");
    holder.innerHTML = model.get("form");
    return holder.firstElementChild;
  };
  const root = made();
  el.append(root);
  const table = upgrade(root, {
    kinds: model.get("kinds"),
    kind: model.get("kind"),
    onKind(kind) {
      model.set("kind", kind);
      model.save_changes();
    },
  });
  const renew = () => table.take(read(made()), true);
  const follow = () => (table.source_kind.value = model.get("kind"));
  model.on("change:form", renew);
  model.on("change:kind", follow);
  return () => {
    model.off("change:form", renew);
    model.off("change:kind", follow);
  };
}
