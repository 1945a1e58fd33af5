// A prediction to fill in: native controls in a table, a commit that waits for every row, and then what the run says.

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== null) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** HTML that Python made and escaped. */
function parsed(tag, attributes, html) {
  const made = element(tag, attributes);
  made.innerHTML = html;
  return made;
}

const views = Symbol.for("copylab.predict.views"); // each widget loads this script for itself: count on the page

const drafts = (window[Symbol.for("copylab.predict.drafts")] ??= new Map()); // task -> answers; see Form.keep

class Form {
  constructor(model) {
    this.model = model;
    window[views] = (window[views] ?? 0) + 1;
    this.id = `cl-predict-${window[views]}`;
    const task = model.get("task");
    this.key = JSON.stringify(task);
    this.gone = false; // the kernel
    this.rows = task.rows;
    this.controls = task.rows.map((row, at) => this.control(row, at));
    this.count = element("span", { class: "cl-count" });
    this.commit = element("button", { type: "submit", class: "cl-commit" }, "Commit");
    this.problem = element("p", { class: "cl-problem", role: "alert" });
    this.status = element("div", { class: "cl-only-heard", role: "status", "aria-live": "polite" });
    this.form = element("form", { "aria-label": task.title, novalidate: "" }, this.table(), this.problem);
    this.form.append(element("div", { class: "cl-bar" }, this.commit, this.count));
    this.heading = element("p", { class: "cl-headline", tabindex: -1, id: `${this.id}-result` });
    this.found = element("div", { class: "cl-found" });
    this.again = element("button", { type: "button" }, "Start again");
    this.steps = element("button", { type: "button" }, "Step through the run");
    this.result = element("div", { role: "group", "aria-labelledby": this.heading.id }, this.heading, this.found);
    this.result.append(element("div", { class: "cl-bar" }, this.steps, this.again));
    this.root = element("div", { class: "cl-panel cl-predict", role: "group" });
    this.root.setAttribute("aria-label", task.title);
    const lines = task.code.map((line) => element("li", {}, element("code", {}, line || " ")));
    this.root.append(
      element("p", { class: "cl-title" }, task.title),
      element("ol", { class: "cl-lines", "aria-label": "The code" }, ...lines),
      element("p", { class: "cl-todo" }, "Do not run it. Fill in every row, then commit."),
      this.form,
      this.result,
      this.status,
    );
    // JupyterLab takes Enter, the arrows and letters for itself unless the very element that has the focus says no.
    this.root.addEventListener("focusin", (event) => event.target.setAttribute("data-lm-suppress-shortcuts", "true"));
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit();
    });
    this.form.addEventListener("input", () => this.write());
    this.again.addEventListener("click", () => this.ask("reset"));
    this.steps.addEventListener("click", () => this.ask("steps"));
  }

  /** A <select> where there are choices, a text field where there are none. */
  control(row, at) {
    const id = `${this.id}-${at}`;
    if (!row.choices) {
      const field = element("input", { type: "text", id, autocomplete: "off", spellcheck: "false", "aria-describedby": `${id}-hint` });
      field.maxLength = 2000;
      return field;
    }
    const options = row.choices.map((choice) => element("option", { value: choice }, choice));
    return element("select", { id }, element("option", { value: "" }, "choose …"), ...options);
  }

  table() {
    const head = ["", "Question", "Your prediction"].map((word) => (word ? element("th", { scope: "col" }, word) : element("td")));
    const rows = this.rows.map((row, at) => {
      const control = this.controls[at];
      const cell = element("div", { class: "cl-answer" }, control);
      if (row.hint) cell.append(element("span", { class: "cl-hint", id: `${control.id}-hint` }, row.hint));
      const asks = element("th", { scope: "row" }, parsed("label", { for: control.id }, row.prompt));
      return element("tr", {}, element("td", {}, String(at + 1)), asks, element("td", {}, cell));
    });
    return element("table", {}, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows));
  }

  filled() {
    const all = this.rows.map((row, at) => [row.name, this.controls[at].value.trim()]);
    return Object.fromEntries(all.filter(([, value]) => value));
  }

  /** From the controls to the model, one change after another. */
  write() {
    if (this.gone) return this.keep();
    this.model.set("answers", this.filled());
    this.model.set("problem", "");
    this.model.save_changes();
    this.tell();
  }

  /** From the model to the controls; what is being typed is left alone. */
  read() {
    const answers = this.model.get("answers");
    this.rows.forEach((row, at) => {
      const control = this.controls[at];
      const value = answers[row.name] ?? "";
      if (control.value.trim() !== value) control.value = value;
    });
    this.tell();
  }

  empty() {
    return this.controls.filter((control) => !control.value.trim());
  }

  tell() {
    const left = this.empty().length;
    const text = left ? `${this.rows.length - left} of ${this.rows.length} rows filled in` : "Every row is filled in.";
    if (this.count.textContent !== text) this.count.textContent = text;
    // Not disabled: a disabled button cannot be found with the keyboard, and cannot say why.
    this.commit.setAttribute("aria-disabled", String(left > 0));
    if (!left && !this.model.get("committed")) this.status.textContent = "Every row is filled in. You can commit.";
  }

  submit() {
    const [first] = this.empty();
    if (first) {
      this.status.textContent = "";
      this.status.textContent = `Not yet: ${this.count.textContent}.`;
      first.focus();
      return;
    }
    this.waiting = true;
    // A change of the model may still be held back behind others: the answers go along.
    this.ask("commit", { answers: this.filled() });
  }

  /** What is filled in where the kernel is gone, for the form that comes when the cell is run again. */
  keep() {
    if (!this.model.get("committed")) drafts.set(this.key, this.filled());
    this.tell();
  }

  /** Take over what was filled in before the kernel went. */
  restore() {
    const draft = drafts.get(this.key);
    if (!draft || this.model.get("committed") || Object.keys(this.filled()).length) return;
    drafts.delete(this.key);
    this.rows.forEach((row, at) => (this.controls[at].value = draft[row.name] ?? ""));
    this.write();
    this.status.textContent = "What you had filled in is here again.";
  }

  ask(what, more = {}) {
    if (this.gone) {
      this.problem.textContent = "The kernel is gone: run the cell again. What you have filled in comes back with it.";
      this.problem.hidden = false;
      return;
    }
    this.model.send({ do: what, ...more });
  }

  show() {
    const done = this.model.get("committed") && this.model.get("reveal") !== "";
    const moved = this.form.hidden !== done;
    this.root.dataset.state = done ? "revealed" : "open";
    this.form.hidden = done;
    this.root.querySelector(".cl-todo").hidden = done;
    this.result.hidden = !done;
    this.heading.textContent = this.model.get("headline");
    if (this.told !== this.model.get("reveal")) {
      this.told = this.model.get("reveal");
      this.found.innerHTML = this.told;
      this.found.querySelectorAll("pre").forEach((pre) => pre.setAttribute("tabindex", "0"));
    }
    if (done && this.waiting) {
      this.status.textContent = `Committed. ${this.model.get("headline")}`;
      this.heading.focus();
    } else if (moved && !done && this.started) {
      this.status.textContent = "All rows are empty again.";
      this.controls[0].focus();
    }
    if (done) this.waiting = false;
    this.started = true;
  }

  complain() {
    this.problem.textContent = this.model.get("problem");
    this.problem.hidden = !this.model.get("problem");
    if (this.model.get("problem")) this.waiting = false;
  }
}

function render({ model, el }) {
  const form = new Form(model);
  model.on("comm_live_update", function () {
    form.gone = this?.model?.comm_live === false; // `this` is the view
    if (form.gone) form.keep();
  });
  const handlers = {
    "change:answers": () => form.read(),
    "change:committed": () => form.show(),
    "change:reveal": () => form.show(),
    "change:problem": () => form.complain(),
    "change:says": () => (form.status.textContent = model.get("says")),
  };
  form.read();
  form.show();
  form.complain();
  el.append(form.root);
  form.restore();
  for (const [event, handler] of Object.entries(handlers)) model.on(event, handler);
  return () => {
    for (const [event, handler] of Object.entries(handlers)) model.off(event, handler);
  };
}
