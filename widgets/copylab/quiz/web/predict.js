// A prediction to fill in. Python makes the form and, after the commit, the result; this script does what is between.

// Answers by the text of their task, where the kernel went before they were committed: see saveDraft().
const drafts = (window[Symbol.for("copylab.predict.drafts")] ??= new Map());
// Whether a new program was asked for: its form, another view below this one, is to get the focus.
const awaited = (window[Symbol.for("copylab.predict.awaited")] ??= { retest: false });

/** The form in the page. Its answers are a trait of the model, and so is its content, made by Python. */
class PredictionForm {
  constructor(model) {
    this.model = model;
    this.root = document.createElement("div");
    this.root.className = "cl-panel cl-predict";
    this.root.innerHTML =
      '<div></div><p class="cl-problem" role="alert"></p>' +
      '<div class="cl-only-heard" role="status" aria-live="polite"></div>';
    [this.body, this.problem, this.status] = this.root.children;
    this.kernelIsGone = false;
    this.awaitsResult = false;
    // As JSON, the first answers and those that were sent to the model since.
    this.sentAnswers = [];
    this.addListeners();
  }

  addListeners() {
    const { root } = this;
    // JupyterLab takes Enter, the arrows and letters for itself unless the very element that has the focus says no.
    root.addEventListener("focusin", ({ target }) => {
      target.setAttribute("data-lm-suppress-shortcuts", "true");
      this.scrollBelowProgram(target.closest("form tr"));
    });
    root.addEventListener("input", () => this.sendAnswers());
    root.addEventListener("click", ({ target: { dataset } }) => {
      awaited.retest = dataset.do === "retest";
      if (dataset.do === "steps") showPlayerBelow(root);
      if (dataset.do) this.sendAction(dataset.do, dataset.misconception ? { misconception: dataset.misconception } : {});
    });
    root.addEventListener("keydown", (event) => {
      // An Enter that ends the writing of a Chinese or Korean word is none.
      if (event.key !== "Enter" || event.isComposing) return;
      // In the last row, or in the one that was corrected when all are filled in.
      const field = event.target;
      if (field === this.fields.at(-1) || (field.matches("input") && !this.emptyFields.length)) this.submit(event);
    });
    root.addEventListener("submit", (event) => this.submit(event));
  }

  /** Scroll a row into view below the program, which stays above it while a field has the focus. */
  scrollBelowProgram(row) {
    if (!row) return;
    row.style.scrollMarginTop = `${this.body.firstElementChild.offsetHeight + 12}px`;
    row.scrollIntoView({ block: "nearest" });
  }

  get fields() {
    return [...this.body.querySelectorAll("select, input")];
  }

  get emptyFields() {
    return this.fields.filter((field) => !field.value.trim());
  }

  /** The answers by the names of their fields, without the empty ones. */
  readAnswers() {
    const entries = this.fields.map((field) => [field.name, field.value.trim()]);
    return Object.fromEntries(entries.filter(([, value]) => value));
  }

  /** A text by which the form of the same task is known after the cell was run again. */
  taskText() {
    return [...this.body.querySelectorAll(".cl-program, table")].map((part) => part.textContent).join();
  }

  announce(text) {
    this.status.textContent = text;
  }

  showProblem(text) {
    this.problem.textContent = text;
    this.problem.hidden = !text;
    if (text) this.awaitsResult = false;
  }

  updateCount() {
    const rows = this.fields.length;
    const left = this.emptyFields.length;
    if (!rows) return;
    let count = say("Every row is filled in.");
    if (left) count = say("{filled} of {rows} rows filled in", { filled: rows - left, rows });
    if (left && rows === 1) count = say("the row is empty");
    this.showCount(count, left > 0);
    this.checkSoon();
  }

  showCount(count, isLacking) {
    this.body.querySelector(".cl-count").textContent = count;
    // Not disabled: a disabled button cannot be found with the keyboard, and cannot say why.
    this.body.querySelector(".cl-commit").setAttribute("aria-disabled", isLacking);
  }

  /** Check the rows a moment after the last letter: `[1,` is on its way to an answer. */
  checkSoon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.checkRows(), 500);
  }

  /** True once Python has looked at what is in the fields, and not at what was there a letter before. */
  get areChecked() {
    return JSON.stringify(this.model.get("checked").answers) === JSON.stringify(this.readAnswers());
  }

  /** Say which rows cannot be read, or that all can be committed, if what is in the fields was looked at. */
  checkRows() {
    const { unreadable = {} } = this.model.get("checked");
    const { fields } = this;
    if (!fields.length || !this.areChecked) return;
    for (const field of fields) field.ariaInvalid = field.name in unreadable;
    const problems = Object.values(unreadable).join(" ");
    // Said once: after a commit it is below the form already.
    if (problems) this.showCount(this.problem.textContent ? say("Not yet: see below.") : problems, true);
    if (problems || !this.emptyFields.length) this.announce(problems || say("Every row is filled in. You can commit."));
  }

  /** Send the answers from the fields to the model. */
  sendAnswers() {
    if (this.kernelIsGone) return this.saveDraft();
    const answers = this.readAnswers();
    this.sentAnswers.push(JSON.stringify(answers));
    this.showProblem("");
    this.model.set({ answers, problem: "" });
    this.model.save_changes();
    this.updateCount();
  }

  /** Put the answers of the model into the fields. */
  showAnswers() {
    const answers = this.model.get("answers");
    // An echo of earlier answers would undo what was typed since.
    if (this.sentAnswers.slice(0, -1).includes(JSON.stringify(answers))) return;
    for (const field of this.fields) {
      const value = answers[field.name] ?? "";
      if (field.value.trim() !== value) field.value = value;
    }
    this.updateCount();
  }

  /** Save the answers where the kernel is gone, for the form that comes when the cell is run again. */
  saveDraft() {
    if (this.fields.length) drafts.set(this.taskText(), this.readAnswers());
    this.updateCount();
  }

  /** Take over the answers from before the kernel went, into a form that is empty. */
  restoreDraft() {
    const task = this.taskText();
    const draft = drafts.get(task);
    const fields = this.fields;
    if (!draft || this.emptyFields.length < fields.length) return;
    drafts.delete(task);
    for (const field of fields) field.value = draft[field.name] ?? "";
    this.sendAnswers();
    this.announce(say("What you had filled in is here again."));
  }

  sendAction(action, values = {}) {
    // With what to do, which is said above the form, too: of a long one that is off the screen.
    if (this.kernelIsGone) this.showProblem(say("The kernel is gone: run the imports at the top, then this cell. What you filled in comes back."));
    else this.model.send({ do: action, ...values });
  }

  /** Commit, or go to the first row that is empty. */
  submit(event) {
    event.preventDefault();
    this.checkRows();
    const [first] = this.emptyFields;
    const { textContent: count } = this.body.querySelector(".cl-count");
    // What was marked before the last letter may be readable now: then Python says so after the commit.
    const problem = this.areChecked && this.fields.find((field) => field.ariaInvalid === "true");
    if (!first && problem) {
      this.showProblem(count);
      // Said once.
      this.showCount(say("Not yet: see below."), true);
      return problem.focus();
    }
    if (!first) {
      this.awaitsResult = true;
      // A change of the model may still be held back behind others: the answers go along.
      this.sendAction("commit", { answers: this.readAnswers() });
      return;
    }
    // A screen reader says the same text again only if it was another in between.
    this.announce("");
    this.announce(say("Not yet: {count}.", { count }));
    first.focus();
  }

  /** Show the form or the result; the focus follows a commit and a start from anew. */
  showContent() {
    const before = this.root.dataset.state;
    this.body.innerHTML = this.model.get("content");
    this.sentAnswers = [JSON.stringify(this.model.get("answers"))];
    const headline = this.body.querySelector(".cl-headline");
    this.root.dataset.state = headline ? "revealed" : "open";
    for (const listing of this.body.querySelectorAll("pre")) listing.tabIndex = 0;
    this.showAnswers();
    if (headline && this.awaitsResult) {
      this.announce(say("Committed. {result}", { result: headline.textContent }));
      headline.focus();
    } else if (!headline && before === "revealed") {
      const areAllEmpty = this.emptyFields.length === this.fields.length;
      this.announce(areAllEmpty ? say("All rows are empty again.") : say("The rows that were wrong are empty again."));
      this.emptyFields[0]?.focus();
    }
    if (headline) this.awaitsResult = false;
  }
}

/** Go to the first field of a form once it is laid out, with all of the form in view: it may lie below a player. */
function focusWhenShown(form) {
  awaited.retest = false;
  whenLaidOut(form.root, () => {
    form.root.scrollIntoView({ block: "nearest" });
    form.emptyFields[0]?.focus();
  });
}

function whenLaidOut(element, act) {
  new ResizeObserver((_, observer) => {
    observer.disconnect();
    act();
  }).observe(element);
}

/** Scroll to the player that is put below a form, as soon as it is there and laid out, and let it have the keys. */
function showPlayerBelow(root) {
  const box = root.closest(".widget-vbox");
  const scroll = () => {
    // Not that of a new program.
    const player = [...box.querySelectorAll(".cl-player")].find((each) => each.closest(".widget-vbox") === box);
    if (!player) return false;
    whenLaidOut(player, () => {
      player.scrollIntoView({ block: "nearest" });
      player.focus({ preventScroll: true });
    });
    return true;
  };
  if (!box || scroll()) return;
  new MutationObserver((_, observer) => scroll() && observer.disconnect()).observe(box, {
    childList: true,
    subtree: true,
  });
}

function render({ model, el }) {
  const form = new PredictionForm(model);
  const handlers = {
    "change:answers": () => form.showAnswers(),
    "change:content": () => form.showContent(),
    "change:checked": () => form.checkSoon(),
    "change:problem": () => form.showProblem(model.get("problem")),
    "change:says": () => form.announce(model.get("says")),
  };
  model.on("comm_live_update", function () {
    // `this` is the view.
    form.kernelIsGone = this?.model?.comm_live === false;
    if (form.kernelIsGone) form.saveDraft();
  });
  form.showContent();
  form.showProblem(model.get("problem"));
  el.append(form.root);
  form.restoreDraft();
  if (awaited.retest) focusWhenShown(form);
  const setHandlers = (action) => Object.entries(handlers).forEach(([event, handler]) => model[action](event, handler));
  setHandlers("on");
  return () => setHandlers("off");
}
