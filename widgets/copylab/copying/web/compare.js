// The table of ways to copy: sort, filter, and in each cell the program that proves it. The static form is the table:
// its cells become buttons here, and a program is shown below its row. One script, two hosts: the form in any page that
// lets scripts run, and anywidget, where the source can be chosen anew.

const ANSWER_BUTTON = "td > button[aria-expanded]";
const NEXT_DIRECTION = { none: "ascending", ascending: "descending", descending: "none" };
const SIGN_OF_DIRECTION = { ascending: 1, descending: -1, none: 0 };
// So many ways need nothing to filter them by: Python shows the columns in which they differ.
const FEW_WAYS = 5;
// Yes first, then no, numbers and words, then cells without an answer.
const RANK_OF_ANSWER = new Map([[say("yes"), 0], ["-", 2]]);

function makeElement(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** Offer pairs [value, text] in a <select>. The choice stays if its value is still offered. */
function setOptions(select, pairs) {
  const chosen = select.value;
  select.replaceChildren(...pairs.map(([value, text]) => makeElement("option", { value }, text)));
  select.value = pairs.some(([value]) => value === chosen) ? chosen : pairs[0][0];
}

function compareAnswers(a, b) {
  const [rankA, rankB] = [a, b].map((answer) => RANK_OF_ANSWER.get(answer) ?? 1);
  // With its commas, 1,000 would come before 12.
  const [left, right] = [a, b].map((answer) => answer.replaceAll(",", ""));
  return rankA - rankB || left.localeCompare(right, undefined, { numeric: true });
}

const nameOfWay = (row) => row.querySelector("code").textContent;
const answerInColumn = (row, column) => row.cells[column]?.dataset.said ?? "";
const isVisible = (element) => element.getClientRects().length > 0;

/** The table in the page. `kinds` are the sources that can be chosen, as pairs [value, text]; none without a kernel. */
class CompareTable {
  constructor(root, kinds = []) {
    root.dataset.ready = "true";
    this.sortedColumn = 0;
    this.direction = "none";
    this.makeControls(kinds);
    this.readForm(root);
    const hint = makeElement(
      "p",
      { class: "cl-status" },
      say("Each cell opens the program that proves it. Arrow keys go from cell to cell, Enter opens, Esc closes."),
    );
    root.replaceChildren(this.about, this.tools, hint, this.status, this.holder);
    this.addListeners(root);
  }

  makeControls(kinds) {
    this.kind = makeElement("select");
    this.search = makeElement("input", { type: "text", size: 16, placeholder: "clone" });
    this.property = makeElement("select");
    this.answer = makeElement("select");
    this.allColumns = makeElement("input", { type: "checkbox" });
    this.status = makeElement("p", { class: "cl-status", role: "status", "aria-live": "polite" });
    this.about = makeElement("div");
    const region = { class: "cl-table", tabindex: 0, role: "region", "aria-label": say("Ways to copy") };
    this.holder = makeElement("div", region);
    const labels = [
      [say("x is"), this.kind],
      [say("Ways that contain"), this.search],
      [say("Only where"), this.property],
      [say("is"), this.answer],
      [say("All columns"), this.allColumns],
    ].map((field) => makeElement("label", {}, ...field));
    this.tools = makeElement("div", { class: "cl-tools" }, ...(kinds.length ? labels : labels.slice(1)));
    if (kinds.length) setOptions(this.kind, kinds);
  }

  addListeners(root) {
    this.search.addEventListener("input", () => this.filterRows());
    this.property.addEventListener("change", () => this.offerAnswers());
    this.answer.addEventListener("change", () => this.filterRows());
    this.allColumns.addEventListener("change", () => this.showColumns());
    this.holder.addEventListener("click", (event) => this.pressButton(event.target.closest("button")));
    this.holder.addEventListener("keydown", (event) => this.handleKey(event));
    root.addEventListener("focusin", ({ target }) => {
      // JupyterLab takes Enter and the arrows for itself unless what has the focus says that it wants them.
      target.setAttribute("data-lm-suppress-shortcuts", "true");
      if (target.matches(ANSWER_BUTTON)) this.makeReachable(target);
    });
  }

  /** Take the table out of a static form. In place of another table, the answers that differ from it are marked. */
  readForm(form) {
    const oldRows = this.rows;
    const hadFocus = oldRows && document.activeElement === this.reachable;
    // The cell that Tab reaches stays the same one. At first it is the first answer.
    const rowIndex = oldRows ? oldRows.indexOf(this.reachable.closest("tr")) : 0;
    const column = oldRows ? this.reachable.parentElement.cellIndex : 1;
    const table = form.querySelector("table");
    this.about.replaceChildren(...form.querySelectorAll(".cl-summary, .cl-source"));
    this.ways = [...form.querySelectorAll(".cl-way")];
    this.heads = [...table.tHead.rows[0].cells];
    this.body = table.tBodies[0];
    this.rows = [...this.body.rows];
    this.makeHeadButtons();
    this.rows.forEach((row, index) => {
      for (const cell of [...row.cells].slice(1)) {
        this.makeAnswerButton(cell, oldRows && answerInColumn(oldRows[index], cell.cellIndex));
      }
    });
    this.holder.replaceChildren(table);
    for (const field of [this.search, this.property, this.answer]) field.parentElement.hidden = this.rows.length <= FEW_WAYS;
    this.openProof = null;
    this.makeReachable(this.rows[rowIndex].cells[column].firstElementChild);
    this.showColumns();
    this.offerAnswers();
    this.sortRows();
    if (hadFocus) this.reachable.focus();
  }

  makeHeadButtons() {
    const heads = this.heads.slice(1);
    setOptions(this.property, [["", say("(any)")], ...heads.map((head) => [`${head.cellIndex}`, head.textContent])]);
    for (const head of heads) head.replaceChildren(makeElement("button", { type: "button" }, head.textContent));
  }

  /** Make a button of an answer. `oldAnswer` is that for the source before, undefined if there was none. */
  makeAnswerButton(cell, oldAnswer) {
    const answer = cell.textContent;
    cell.dataset.said = answer;
    cell.dataset.label = this.heads[cell.cellIndex].textContent;
    const button = makeElement("button", { type: "button", tabindex: -1, "aria-expanded": "false" });
    // The name of a node may break before each of its words: a longer one leaves the sign alone on its line.
    const [first, ...rest] = answer.split(/(?<=[a-z])(?=[A-Z])(?=\w*Backward)/);
    button.append(first, ...rest.flatMap((part) => [makeElement("wbr"), part]));
    cell.replaceChildren(button);
    if (oldAnswer === undefined || oldAnswer === answer) return;
    cell.classList.add("cl-changed");
    button.append(makeElement("small", {}, say("was {answer}", { answer: oldAnswer })));
  }

  /** Show all columns or the main ones, as the box says. */
  showColumns() {
    this.closeProof();
    this.holder.classList.toggle("cl-all", this.allColumns.checked);
    this.keepOneReachable();
  }

  /** Offer the answers that there are in the chosen column. */
  offerAnswers() {
    const column = this.property.value;
    const answers = column ? [...new Set(this.rows.map((row) => answerInColumn(row, column)))] : [];
    const options = answers.sort(compareAnswers).map((answer) => [answer, answer]);
    setOptions(this.answer, [["", say("(any)")], ...options]);
    this.filterRows();
  }

  filterRows() {
    const words = this.search.value.toLowerCase();
    const wanted = this.answer.value;
    for (const row of this.rows) {
      const isFound = `${nameOfWay(row)} ${row.cells[0].title}`.toLowerCase().includes(words);
      const isWanted = wanted === "" || answerInColumn(row, this.property.value) === wanted;
      row.hidden = !isFound || !isWanted;
    }
    if (this.openProof?.button.closest("tr").hidden) this.closeProof();
    this.keepOneReachable();
    this.describeTable();
  }

  /** Put the rows in order; they stay the same elements, so the focus stays. */
  sortRows() {
    const column = this.sortedColumn;
    const sign = SIGN_OF_DIRECTION[this.direction];
    const compareRows = (a, b) => sign * compareAnswers(answerInColumn(a, column), answerInColumn(b, column));
    const rows = [...this.rows].sort(compareRows);
    for (const head of this.heads.slice(1)) {
      head.setAttribute("aria-sort", head.cellIndex === column ? this.direction : "none");
    }
    this.closeProof();
    this.body.append(...rows);
    this.describeTable();
  }

  /** Say how many rows are shown; `heard` is for a screen reader alone, because all others see it in the table. */
  describeTable(heard = "") {
    const all = this.rows.length;
    const shown = this.rows.filter((row) => !row.hidden).length;
    const count = shown === all ? say("All {all} ways.", { all }) : say("{shown} of {all} ways.", { shown, all });
    // Where nothing can be filtered, that all rows are there says nothing.
    const sentences = all > FEW_WAYS ? [count] : [];
    if (this.direction !== "none") {
      sentences.push(say("Sorted by {column}.", { column: this.heads[this.sortedColumn].textContent }));
    }
    if (this.property.value && !this.answer.value) {
      const column = this.property.selectedOptions[0].textContent;
      sentences.push(say("Choose an answer to filter by “{column}”.", { column }));
    }
    this.status.replaceChildren(sentences.join(" "), makeElement("span", { class: "cl-only-heard" }, heard));
  }

  /** Let Tab reach this answer and no other; the arrow keys go on from it. */
  makeReachable(button) {
    if (this.reachable) this.reachable.tabIndex = -1;
    button.tabIndex = 0;
    this.reachable = button;
  }

  /** If the answer that Tab reaches is hidden now, make it the first one that is shown. */
  keepOneReachable() {
    const first = [...this.body.querySelectorAll(ANSWER_BUTTON)].find(isVisible);
    if (first && !isVisible(this.reachable)) this.makeReachable(first);
  }

  handleKey(event) {
    if (event.key === "Escape" && this.openProof) {
      this.closeProof({ returnsFocus: true });
      return;
    }
    if (!event.target.matches(ANSWER_BUTTON) || event.ctrlKey || event.altKey || event.metaKey) return;
    const rows = [...this.body.querySelectorAll("tr:not([hidden], .cl-proof)")];
    const row = event.target.closest("tr");
    const cells = [...row.cells].slice(1).filter(isVisible);
    const y = rows.indexOf(row);
    const x = cells.indexOf(event.target.parentElement);
    const target = {
      ArrowRight: [y, x + 1],
      ArrowLeft: [y, x - 1],
      ArrowDown: [y + 1, x],
      ArrowUp: [y - 1, x],
      Home: [y, 0],
      End: [y, cells.length - 1],
    }[event.key];
    if (!target) return;
    event.preventDefault();
    event.stopPropagation();
    const [targetRow, targetCell] = [rows[target[0]], cells[target[1]]];
    targetRow?.cells[targetCell?.cellIndex]?.firstElementChild.focus();
  }

  pressButton(button) {
    const head = button?.closest("thead th");
    if (head) this.sortBy(head.cellIndex);
    else if (button?.matches(ANSWER_BUTTON)) this.toggleProof(button);
    else if (button) this.closeProof({ returnsFocus: true });
  }

  /** Sort by a column; pressed again, its order turns round, and then goes. */
  sortBy(column) {
    this.direction = this.sortedColumn === column ? NEXT_DIRECTION[this.direction] : "ascending";
    this.sortedColumn = column;
    this.sortRows();
  }

  /** Show the program that proves an answer below its row, or take it away. */
  toggleProof(button) {
    const wasOpen = this.openProof?.button === button;
    this.closeProof();
    if (wasOpen) return;
    const row = button.closest("tr");
    const way = this.ways[this.rows.indexOf(row)];
    const fact = way.querySelectorAll(".cl-fact")[button.parentElement.cellIndex - 1].cloneNode(true);
    const [question, program, printed] = fact.children;
    const title = makeElement("p", {}, makeElement("code", {}, nameOfWay(row)), ": ", ...question.childNodes);
    program.tabIndex = 0;
    program.setAttribute("role", "region");
    program.setAttribute("aria-label", say("The program that proves it"));
    const about = way.querySelector(".cl-about").cloneNode(true);
    const close = makeElement("button", { type: "button" }, say("Close"));
    const colspan = this.heads.filter(isVisible).length;
    const content = makeElement("td", { colspan }, title, program, printed, about, close);
    const proof = makeElement("tr", { class: "cl-proof" }, content);
    row.after(proof);
    button.setAttribute("aria-expanded", "true");
    this.openProof = { proof, button };
    proof.scrollIntoView({ block: "nearest" });
    const place = say("The program is shown below the row.");
    this.describeTable(` ${title.textContent}. ${printed.textContent} ${place}`);
  }

  /** Take the program away. `returnsFocus`: the focus was in it, and goes back to its answer. */
  closeProof({ returnsFocus = false } = {}) {
    const { proof, button } = this.openProof ?? {};
    this.openProof = null;
    proof?.remove();
    button?.setAttribute("aria-expanded", "false");
    if (returnsFocus) button?.focus();
  }
}

for (const root of document.querySelectorAll(".copylab-compare:not([data-ready])")) new CompareTable(root);

/** The live table: its form is a trait, and the source another, which Python answers with a new form. */
function render({ model, el }) {
  const parseForm = () => makeElement("div", {}, document.createRange().createContextualFragment(model.get("form")));
  const root = parseForm().firstElementChild;
  el.append(root);
  const table = new CompareTable(root, model.get("kinds"));
  const showKind = () => (table.kind.value = model.get("kind"));
  const showForm = () => {
    table.readForm(parseForm());
    table.status.textContent = describeChanges(table.body.querySelectorAll(".cl-changed").length);
  };
  showKind();
  table.kind.addEventListener("change", () => {
    model.set("kind", table.kind.value);
    model.save_changes();
  });
  model.on("change:form", showForm);
  model.on("change:kind", showKind);
  return () => {
    model.off("change:form", showForm);
    model.off("change:kind", showKind);
  };
}

function describeChanges(number) {
  if (number === 1) return say("1 answer changed with the source, marked with what it was.");
  return say("{number} answers changed with the source, marked with what they were.", { number });
}
