// The table of ways to copy: sort, filter, and in each cell the program that proves it. The static form is the table:
// its cells become buttons here, and a program is shown below its row. One script, two hosts: the form in any page that
// lets scripts run, and anywidget, where the source can be chosen anew.

const CELL = "td > button[aria-expanded]";

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

function options(select, pairs) {
  const chosen = select.value;
  select.replaceChildren(...pairs.map(([value, text]) => element("option", { value }, text)));
  select.value = pairs.some(([value]) => value === chosen) ? chosen : pairs[0][0];
}

/** In which order answers stand: yes, no, numbers and words, and none at all. */
const RANKS = new Map([[say("yes"), 0], ["-", 2]]);
function order(a, b) {
  const [left, right] = [a, b].map((said) => said.replaceAll(",", ""));
  return (RANKS.get(a) ?? 1) - (RANKS.get(b) ?? 1) || left.localeCompare(right, undefined, { numeric: true });
}

const name = (row) => row.querySelector("code").textContent;
const answer = (row, column) => row.cells[column]?.dataset.said ?? "";
const visible = (one) => one.getClientRects().length > 0;

class Table {
  constructor(root, kinds = []) {
    root.dataset.ready = "true";
    this.sorted = 0;
    this.direction = "none";
    this.kind = element("select");
    this.search = element("input", { type: "text", size: 16, placeholder: "clone" });
    this.property = element("select");
    this.answer = element("select");
    this.more = element("input", { type: "checkbox" });
    this.status = element("p", { class: "cl-status", role: "status", "aria-live": "polite" });
    this.about = element("div");
    this.holder = element("div", { class: "cl-table", tabindex: 0, role: "region", "aria-label": say("Ways to copy") });
    const fields = [
      [say("x is"), this.kind],
      [say("Ways that contain"), this.search],
      [say("Only where"), this.property],
      [say("is"), this.answer],
      [say("All columns"), this.more],
    ].map((field) => element("label", {}, ...field));
    const tools = element("div", { class: "cl-tools" }, ...(kinds.length ? fields : fields.slice(1)));
    if (kinds.length) options(this.kind, kinds);
    const hint = say("Each cell opens the program that proves it. Arrow keys go from cell to cell, Enter opens, Esc closes.");
    this.take(root);
    root.replaceChildren(this.about, tools, element("p", { class: "cl-status" }, hint), this.status, this.holder);
    this.search.addEventListener("input", () => this.filter());
    this.property.addEventListener("change", () => this.offer());
    this.answer.addEventListener("change", () => this.filter());
    this.more.addEventListener("change", () => this.widen());
    this.holder.addEventListener("click", (event) => this.press(event.target.closest("button")));
    this.holder.addEventListener("keydown", (event) => this.key(event));
    root.addEventListener("focusin", ({ target }) => {
      // JupyterLab takes Enter and the arrows for itself unless what has the focus says that it wants them.
      target.setAttribute("data-lm-suppress-shortcuts", "true");
      if (target.matches(CELL)) this.reach(target);
    });
  }

  /** Take the table of a static form; in place of another, the answers that differ from it are marked. */
  take(form) {
    const before = this.rows;
    const [y, x] = before ? [before.indexOf(this.at.closest("tr")), this.at.parentElement.cellIndex] : [0, 1];
    const focus = before && document.activeElement === this.at;
    const table = form.querySelector("table");
    this.about.replaceChildren(...form.querySelectorAll(".cl-summary, .cl-source"));
    this.ways = [...form.querySelectorAll(".cl-way")];
    this.heads = [...table.tHead.rows[0].cells];
    this.body = table.tBodies[0];
    this.rows = [...this.body.rows];
    options(this.property, [["", say("(any)")], ...this.heads.slice(1).map((head) => [`${head.cellIndex}`, head.textContent])]);
    for (const head of this.heads.slice(1)) head.replaceChildren(element("button", { type: "button" }, head.textContent));
    for (const [at, row] of this.rows.entries()) {
      for (const cell of [...row.cells].slice(1)) this.open(cell, before && answer(before[at], cell.cellIndex));
    }
    this.holder.replaceChildren(table);
    this.shown = null;
    this.reach(this.rows[y].cells[x].firstElementChild);
    this.widen();
    this.offer();
    this.arrange();
    if (focus) this.at.focus();
  }

  /** Make a button of a cell. */
  open(cell, was) {
    const said = cell.textContent;
    cell.dataset.said = said;
    cell.dataset.label = this.heads[cell.cellIndex].textContent;
    const button = element("button", { type: "button", tabindex: -1, "aria-expanded": "false" });
    const [first, ...rest] = said.split(/(?=Backward)/); // where the name of a node may break
    button.append(first, ...rest.flatMap((part) => [element("wbr"), part]));
    cell.replaceChildren(button);
    if (was === undefined || was === said) return;
    cell.classList.add("cl-changed");
    button.append(element("small", {}, say("was {answer}", { answer: was })));
  }

  /** Show all columns, or the main ones. */
  widen() {
    this.close();
    this.holder.classList.toggle("cl-all", this.more.checked);
    this.settle();
  }

  /** Offer the answers that there are to the chosen property. */
  offer() {
    const said = this.property.value ? new Set(this.rows.map((row) => answer(row, this.property.value))) : [];
    options(this.answer, [["", say("(any)")], ...[...said].sort(order).map((one) => [one, one])]);
    this.filter();
  }

  filter() {
    const words = this.search.value.toLowerCase();
    for (const row of this.rows) {
      const found = `${name(row)} ${row.cells[0].title}`.toLowerCase().includes(words);
      row.hidden = !found || ![answer(row, this.property.value), ""].includes(this.answer.value);
    }
    if (this.shown?.button.closest("tr").hidden) this.close();
    this.settle();
    this.tell();
  }

  /** Put the rows in order; they stay the same elements, so the focus stays. */
  arrange() {
    const sign = { ascending: 1, descending: -1, none: 0 }[this.direction];
    const rows = [...this.rows].sort((a, b) => sign * order(answer(a, this.sorted), answer(b, this.sorted)));
    for (const head of this.heads.slice(1)) {
      head.setAttribute("aria-sort", head.cellIndex === this.sorted ? this.direction : "none");
    }
    this.close();
    this.body.append(...rows);
    this.tell();
  }

  /** How many rows there are, for all to read; the rest for a screen reader, for it stands beside the table anyway. */
  tell(heard = "") {
    const [shown, all] = [this.rows.filter((row) => !row.hidden).length, this.rows.length];
    const rows = shown === all ? say("All {all} ways.", { all }) : say("{shown} of {all} ways.", { shown, all });
    const sorted = say("Sorted by {column}.", { column: this.heads[this.sorted].textContent });
    const { value: property, selectedOptions } = this.property;
    const idle = say("Choose an answer to filter by “{column}”.", { column: selectedOptions[0].textContent });
    const told = [rows, this.direction !== "none" && sorted, property && !this.answer.value && idle].filter(Boolean).join(" ");
    this.status.replaceChildren(told, element("span", { class: "cl-only-heard" }, heard));
  }

  /** One cell of all can be reached with Tab; the arrow keys go on from there. */
  reach(cell) {
    if (this.at) this.at.tabIndex = -1;
    cell.tabIndex = 0;
    this.at = cell;
  }

  /** If that one is no longer shown, take the first that is. */
  settle() {
    const first = [...this.body.querySelectorAll(CELL)].find(visible);
    if (first && !visible(this.at)) this.reach(first);
  }

  key(event) {
    if (event.key === "Escape" && this.shown) return this.close(true);
    if (!event.target.matches(CELL) || event.ctrlKey || event.altKey || event.metaKey) return;
    const rows = [...this.body.querySelectorAll("tr:not([hidden], .cl-proof)")];
    const row = event.target.closest("tr");
    const columns = [...row.cells].slice(1).filter(visible);
    const y = rows.indexOf(row);
    const x = columns.indexOf(event.target.parentElement);
    const to = {
      ArrowRight: [y, x + 1],
      ArrowLeft: [y, x - 1],
      ArrowDown: [y + 1, x],
      ArrowUp: [y - 1, x],
      Home: [y, 0],
      End: [y, columns.length - 1],
    }[event.key];
    if (!to) return;
    event.preventDefault();
    event.stopPropagation();
    rows[to[0]]?.cells[columns[to[1]]?.cellIndex]?.firstElementChild.focus();
  }

  press(button) {
    const head = button?.closest("thead th");
    if (head) {
      const next = { none: "ascending", ascending: "descending", descending: "none" };
      this.direction = this.sorted === head.cellIndex ? next[this.direction] : "ascending";
      this.sorted = head.cellIndex;
      this.arrange();
    } else if (button?.matches(CELL)) {
      this.toggle(button);
    } else if (button) {
      this.close(true);
    }
  }

  toggle(button) {
    const again = this.shown?.button === button;
    this.close();
    if (again) return;
    const row = button.closest("tr");
    const way = this.ways[this.rows.indexOf(row)];
    const fact = way.querySelectorAll(".cl-fact")[button.parentElement.cellIndex - 1].cloneNode(true);
    const [question, program, printed] = fact.children;
    const title = element("p", {}, element("code", {}, name(row)), ": ", ...question.childNodes);
    const label = { tabindex: 0, role: "region", "aria-label": say("The program that proves it") };
    for (const [key, value] of Object.entries(label)) program.setAttribute(key, value);
    const about = way.querySelector(".cl-about").cloneNode(true);
    const close = element("button", { type: "button" }, say("Close"));
    const colspan = this.heads.filter(visible).length;
    const proof = element("tr", { class: "cl-proof" }, element("td", { colspan }, title, program, printed, about, close));
    row.after(proof);
    button.setAttribute("aria-expanded", "true");
    this.shown = { proof, button };
    proof.scrollIntoView({ block: "nearest" });
    const where = say("The program is shown below the row.");
    this.tell(` ${title.textContent}. ${printed.textContent} ${where}`);
  }

  close(focus = false) {
    const { proof, button } = this.shown ?? {};
    this.shown = null;
    proof?.remove();
    button?.setAttribute("aria-expanded", "false");
    if (focus) button?.focus();
  }
}

for (const root of document.querySelectorAll(".copylab-compare:not([data-ready])")) new Table(root);

function render({ model, el }) {
  const form = () => element("div", {}, document.createRange().createContextualFragment(model.get("form")));
  const root = form().firstElementChild;
  el.append(root);
  const table = new Table(root, model.get("kinds"));
  const follow = () => (table.kind.value = model.get("kind"));
  const renew = () => {
    table.take(form());
    const number = table.body.querySelectorAll(".cl-changed").length;
    table.status.textContent =
      number === 1
        ? say("1 answer changed with the source, marked with what it was.")
        : say("{number} answers changed with the source, marked with what they were.", { number });
  };
  follow();
  table.kind.addEventListener("change", () => {
    model.set("kind", table.kind.value);
    model.save_changes();
  });
  model.on("change:form", renew);
  model.on("change:kind", follow);
  return () => {
    model.off("change:form", renew);
    model.off("change:kind", follow);
  };
}
