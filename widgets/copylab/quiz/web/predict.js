// A prediction to fill in. Python makes the form, and after the commit what the run says; here is what happens between.

const drafts = (window[Symbol.for("copylab.predict.drafts")] ??= new Map()); // the task -> answers; see keep()

function render({ model, el }) {
  const root = document.createElement("div");
  root.className = "cl-panel cl-predict";
  root.innerHTML =
    '<div></div><p class="cl-problem" role="alert"></p><div class="cl-only-heard" role="status" aria-live="polite"></div>';
  const [body, problem, status] = root.children;
  let gone = false; // the kernel
  let waiting = false; // for what the run says
  const sent = []; // what was filled in at first, and each time it went to the model

  const fields = () => [...body.querySelectorAll("select, input")];
  const empty = () => fields().filter((field) => !field.value.trim());
  const filled = () =>
    Object.fromEntries(fields().map((field) => [field.name, field.value.trim()]).filter(([, value]) => value));
  const task = () => [...body.querySelectorAll(".cl-program, table")].map((part) => part.textContent).join();
  const heard = (text) => (status.textContent = text);

  function complain(text) {
    problem.textContent = text;
    problem.hidden = !text;
    if (text) waiting = false;
  }

  function tell() {
    const rows = fields().length;
    const left = empty().length;
    if (!rows) return;
    body.querySelector(".cl-count").textContent = left
      ? say("{filled} of {rows} rows filled in", { filled: rows - left, rows })
      : say("Every row is filled in.");
    // Not disabled: a disabled button cannot be found with the keyboard, and cannot say why.
    body.querySelector(".cl-commit").setAttribute("aria-disabled", String(left > 0));
    if (!left) heard(say("Every row is filled in. You can commit."));
  }

  /** From the fields to the model, one change after another. */
  function write() {
    if (gone) return keep();
    sent.push(JSON.stringify(filled()));
    model.set({ answers: filled(), problem: "" });
    model.save_changes();
    tell();
  }

  /** From the model to the fields; what is being typed is left alone, and an echo of what was typed before says nothing. */
  function read() {
    const answers = model.get("answers");
    if (sent.slice(0, -1).includes(JSON.stringify(answers))) return;
    for (const field of fields()) {
      const value = answers[field.name] ?? "";
      if (field.value.trim() !== value) field.value = value;
    }
    tell();
  }

  /** What is filled in where the kernel is gone, for the form that comes when the cell is run again. */
  function keep() {
    if (fields().length) drafts.set(task(), filled());
    tell();
  }

  /** Take over what was filled in before the kernel went. */
  function restore() {
    const draft = drafts.get(task());
    if (!draft || empty().length < fields().length) return;
    drafts.delete(task());
    for (const field of fields()) field.value = draft[field.name] ?? "";
    write();
    heard(say("What you had filled in is here again."));
  }

  function ask(what, more = {}) {
    if (gone) complain(say("The kernel is gone: run the cell again. What you have filled in comes back with it."));
    else model.send({ do: what, ...more });
  }

  function submit() {
    const [first] = empty();
    if (!first) {
      waiting = true;
      // A change of the model may still be held back behind others: the answers go along.
      return ask("commit", { answers: filled() });
    }
    heard("");
    heard(say("Not yet: {count}.", { count: body.querySelector(".cl-count").textContent }));
    first.focus();
  }

  /** The form, or what the run says; whoever committed or starts again is led there. */
  function show() {
    const before = root.dataset.state;
    body.innerHTML = model.get("content");
    sent.splice(0, sent.length, JSON.stringify(model.get("answers")));
    const headline = body.querySelector(".cl-headline");
    root.dataset.state = headline ? "revealed" : "open";
    body.querySelectorAll("pre").forEach((pre) => pre.setAttribute("tabindex", "0"));
    read();
    if (headline && waiting) {
      heard(say("Committed. {result}", { result: headline.textContent }));
      headline.focus();
    } else if (!headline && before === "revealed") {
      heard(say("All rows are empty again."));
      fields()[0].focus();
    }
    if (headline) waiting = false;
  }

  // JupyterLab takes Enter, the arrows and letters for itself unless the very element that has the focus says no.
  root.addEventListener("focusin", (event) => event.target.setAttribute("data-lm-suppress-shortcuts", "true"));
  root.addEventListener("input", write);
  root.addEventListener("click", (event) => event.target.dataset.do && ask(event.target.dataset.do));
  root.addEventListener("keydown", (event) => {
    // An Enter that ends the writing of a Chinese or Korean word is none.
    if (event.key !== "Enter" || event.isComposing || event.target !== fields().at(-1)) return;
    event.preventDefault();
    submit();
  });
  root.addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  model.on("comm_live_update", function () {
    gone = this?.model?.comm_live === false; // `this` is the view
    if (gone) keep();
  });
  const handlers = {
    "change:answers": read,
    "change:content": show,
    "change:problem": () => complain(model.get("problem")),
    "change:says": () => heard(model.get("says")),
  };
  show();
  complain(model.get("problem"));
  el.append(root);
  restore();
  for (const [event, handler] of Object.entries(handlers)) model.on(event, handler);
  return () => {
    for (const [event, handler] of Object.entries(handlers)) model.off(event, handler);
  };
}
