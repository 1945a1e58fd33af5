// The row of a player in which its program is changed: a pill for each other way to copy, the code itself, and the way
// back.

const NEEDS_KERNEL = say("Only a live player runs other code: put .live() behind the call in this cell and run it.");

/** The copies of a program: what each was, what is chosen in its place, and the methods with their labels. */
function listCopies({ own, chosen = own, bare, offered }) {
  return own.map((name, at) => {
    const names = offered.includes(name) ? offered : [name, ...offered];
    // Inside of a larger expression nothing is assigned.
    const methods = names.map((method) => [method, method === "=" && bare.includes(at) ? say("nothing") : method]);
    return { own: name, chosen: chosen[at], methods };
  });
}

/**
 * The pills of a player.
 *
 * pills: as `Pills` in other_copies.py writes them. change: is called with what is asked for, { do: "copy", copies },
 * { do: "edit", code } or { do: "reset" }. has: returns true for copies whose run can be shown.
 */
class PillRow {
  constructor(pills, change, has) {
    Object.assign(this, pills, { change });
    const isChanged = pills.copies.some(({ own, chosen }) => own !== chosen) || pills.edited;
    this.choice = makeElement("select", { "aria-label": say("The copy to change") });
    for (const [at, line] of this.lines.entries()) {
      this.choice.append(makeElement("option", { value: at }, say("line {line} with", { line })));
    }
    this.choice.addEventListener("change", () => this.showCopy(Number(this.choice.value)));
    const head = this.lines.length > 1 ? this.choice : say("line {line} with", { line: this.lines[0] });
    this.groups = this.copies.map((copy, at) => this.makeGroup(copy, at, has));
    const stack = makeElement("div", { class: "cl-stack" }, ...this.groups);
    this.editing = this.makeButton("edit", say("edit"), () => this.openEditor());
    this.reset = this.makeButton("reset", say("as it was"), () => change({ do: "reset" }));
    this.reset.classList.toggle("cl-away", !isChanged);
    this.running = this.makeButton("run", say("Run"), () => this.runCode());
    this.closing = this.makeButton("close", say("Cancel"), () => this.closeEditor());
    this.running.classList.add("cl-primary");
    this.running.title = `${say("Run")} (Shift+Enter)`;
    const group = { class: "cl-pills", role: "group", "aria-label": say("Change the program") };
    const [open, shut] = [1, 2].map(() => makeElement("span", { class: "cl-ways" }));
    open.append(...(this.copies.length ? [makeElement("span", {}, head), stack] : []), this.editing, this.reset);
    shut.append(this.running, this.closing);
    Object.assign(this, { open, shut });
    shut.hidden = true;
    this.root = makeElement("div", group, open, shut);
    if (this.copies.length) this.showCopy(0);
  }

  makeButton(key, text, act) {
    const button = makeElement("button", { type: "button", "data-keep": key }, text);
    button.addEventListener("click", act);
    return button;
  }

  /** The pills of one copy; the pill of what is there is pressed. */
  makeGroup({ own, chosen, methods }, at, has) {
    const line = this.lines[at];
    const labels = Object.fromEntries(methods);
    const pills = methods.map(([name, label]) => {
      const copies = this.copies.map((copy, other) => (other === at ? { ...copy, chosen: name } : copy));
      const pill = this.makeButton(`${at} ${name}`, label, () => name === chosen || this.change({ do: "copy", copies }));
      const values = { new: label, old: labels[own], line };
      const text = name === own ? say("{old} on line {line}", values) : say("{new} instead of {old} on line {line}", values);
      const canShow = has(copies);
      pill.className = "cl-pill";
      pill.setAttribute("aria-pressed", String(name === chosen));
      pill.setAttribute("aria-label", canShow ? text : `${text}. ${NEEDS_KERNEL}`);
      pill.title = pill.getAttribute("aria-label");
      if (!canShow) pill.setAttribute("aria-disabled", "true");
      return pill;
    });
    return makeElement("span", { role: "group", "aria-label": say("line {line}", { line }) }, ...pills);
  }

  /** Show the pills of one copy; those of the others keep their room. */
  showCopy(at) {
    this.choice.value = at;
    for (const [other, group] of this.groups.entries()) group.classList.toggle("cl-away", other !== at);
  }

  /** Show the pills of the copy that a step has reached. */
  follow(steps, index) {
    const at = findCopyOfStep(steps, index, this.lines);
    // One that was chosen stays until the program gets to another.
    if (at !== this.reached && this.groups.length) this.showCopy(at);
    this.reached = at;
  }

  /** Put the code into a field in the place of `listing`; without a kernel, say so. */
  openEditor() {
    if (this.code === undefined) return this.change({ do: "edit" });
    const { listing } = this;
    const attributes = { class: "cl-editor", spellcheck: "false", "aria-label": say("The code") };
    // JupyterLab takes keys for itself unless what has the focus says that it wants them.
    this.editor = makeElement("textarea", { ...attributes, "data-lm-suppress-shortcuts": "true", "data-keep": "editor" });
    this.editor.value = this.code;
    this.editor.style.minHeight = `${Math.max(listing.offsetHeight, 112)}px`;
    this.editor.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key === "Escape") this.closeEditor();
      else if (event.key === "Enter" && (event.shiftKey || event.ctrlKey || event.metaKey)) this.runCode(event);
    });
    listing.hidden = true;
    listing.after(this.editor);
    [this.open.hidden, this.shut.hidden] = [true, false];
    this.editor.focus();
  }

  runCode(event) {
    event?.preventDefault();
    this.change({ do: "edit", code: this.editor.value });
  }

  closeEditor() {
    this.editor.remove();
    this.listing.hidden = false;
    [this.open.hidden, this.shut.hidden] = [false, true];
    this.editing.focus();
  }
}

/** The name of what has the focus in an element, to give the focus to what has that name in another. */
function findFocus(root) {
  const focused = root.getRootNode().activeElement;
  return root.contains(focused) ? focused.dataset.keep : undefined;
}

function restoreFocus(root, name) {
  if (name === undefined) return;
  const named = root.querySelector(`[data-keep="${CSS.escape(name)}"]`);
  const isThere = named?.checkVisibility({ visibilityProperty: true });
  (isThere ? named : (root.querySelector('[data-keep="edit"]') ?? root)).focus({ preventScroll: true });
}
