// A prediction to fill in. Python makes the form and, after the commit, the result; this script handles what is between.

// Answers by the text of their task, where the kernel went before they were committed: see saveDraft().
const drafts = (window[Symbol.for("copylab.predict.drafts")] ??= new Map());

function render({ model, el }) {
  const root = document.createElement("div");
  root.className = "cl-panel cl-predict";
  root.innerHTML =
    '<div></div><p class="cl-problem" role="alert"></p><div class="cl-only-heard" role="status" aria-live="polite"></div>';
  const [body, problem, status] = root.children;
  let kernelIsGone = false;
  let awaitsResult = false;
  const sentAnswers = []; // as JSON, the first and those that went to the model since

  const fields = () => [...body.querySelectorAll("select, input")];
  const emptyFields = () => fields().filter((field) => !field.value.trim());
  const fieldValues = () =>
    Object.fromEntries(fields().map((field) => [field.name, field.value.trim()]).filter(([, value]) => value));
  const taskText = () => [...body.querySelectorAll(".cl-program, table")].map((part) => part.textContent).join();
  const announce = (text) => (status.textContent = text);

  function showProblem(text) {
    problem.textContent = text;
    problem.hidden = !text;
    if (text) awaitsResult = false;
  }

  function updateCount() {
    const rows = fields().length;
    const left = emptyFields().length;
    if (!rows) return;
    body.querySelector(".cl-count").textContent = left
      ? say("{filled} of {rows} rows filled in", { filled: rows - left, rows })
      : say("Every row is filled in.");
    // Not disabled: a disabled button cannot be found with the keyboard, and cannot say why.
    body.querySelector(".cl-commit").setAttribute("aria-disabled", String(left > 0));
    if (!left) announce(say("Every row is filled in. You can commit."));
  }

  /** From the fields to the model, one change after another. */
  function sendAnswers() {
    if (kernelIsGone) return saveDraft();
    sentAnswers.push(JSON.stringify(fieldValues()));
    model.set({ answers: fieldValues(), problem: "" });
    model.save_changes();
    updateCount();
  }

  /** From the model to the fields. An echo of earlier answers is ignored: it would undo what was typed since. */
  function takeAnswers() {
    const answers = model.get("answers");
    if (sentAnswers.slice(0, -1).includes(JSON.stringify(answers))) return;
    for (const field of fields()) {
      const value = answers[field.name] ?? "";
      if (field.value.trim() !== value) field.value = value;
    }
    updateCount();
  }

  /** Save the answers where the kernel is gone, for the form that comes when the cell is run again. */
  function saveDraft() {
    if (fields().length) drafts.set(taskText(), fieldValues());
    updateCount();
  }

  /** Take over the answers from before the kernel went. */
  function restoreDraft() {
    const draft = drafts.get(taskText());
    if (!draft || emptyFields().length < fields().length) return;
    drafts.delete(taskText());
    for (const field of fields()) field.value = draft[field.name] ?? "";
    sendAnswers();
    announce(say("What you had filled in is here again."));
  }

  function sendAction(action, values = {}) {
    if (kernelIsGone) showProblem(say("The kernel is gone: run the cell again. What you have filled in comes back with it."));
    else model.send({ do: action, ...values });
  }

  function submit() {
    const [first] = emptyFields();
    if (!first) {
      awaitsResult = true;
      // A change of the model may still be held back behind others: the answers go along.
      return sendAction("commit", { answers: fieldValues() });
    }
    announce("");
    announce(say("Not yet: {count}.", { count: body.querySelector(".cl-count").textContent }));
    first.focus();
  }

  /** Show the form or the result; the focus follows a commit and a start from anew. */
  function show() {
    const before = root.dataset.state;
    body.innerHTML = model.get("content");
    sentAnswers.splice(0, sentAnswers.length, JSON.stringify(model.get("answers")));
    const headline = body.querySelector(".cl-headline");
    root.dataset.state = headline ? "revealed" : "open";
    body.querySelectorAll("pre").forEach((pre) => pre.setAttribute("tabindex", "0"));
    takeAnswers();
    if (headline && awaitsResult) {
      announce(say("Committed. {result}", { result: headline.textContent }));
      headline.focus();
    } else if (!headline && before === "revealed") {
      announce(say("All rows are empty again."));
      fields()[0].focus();
    }
    if (headline) awaitsResult = false;
  }

  // JupyterLab takes Enter, the arrows and letters for itself unless the very element that has the focus says no.
  root.addEventListener("focusin", (event) => event.target.setAttribute("data-lm-suppress-shortcuts", "true"));
  root.addEventListener("input", sendAnswers);
  root.addEventListener("click", (event) => event.target.dataset.do && sendAction(event.target.dataset.do));
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
    kernelIsGone = this?.model?.comm_live === false; // `this` is the view
    if (kernelIsGone) saveDraft();
  });
  const handlers = {
    "change:answers": takeAnswers,
    "change:content": show,
    "change:problem": () => showProblem(model.get("problem")),
    "change:says": () => announce(model.get("says")),
  };
  show();
  showProblem(model.get("problem"));
  el.append(root);
  restoreDraft();
  for (const [event, handler] of Object.entries(handlers)) model.on(event, handler);
  return () => {
    for (const [event, handler] of Object.entries(handlers)) model.off(event, handler);
  };
}
