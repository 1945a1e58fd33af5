// What is written in the cells below a card goes along with Check, which asks whether they ran as they are. Where the
// page is not one of JupyterLab's, as in VS Code, or an editor keeps its text elsewhere, nothing does.

/** The code cells between a card and the next one: the number of the last run of each, and its text. */
function readCellsBelow(card) {
  const cells = [];
  const isNextCard = (cell) => cell.querySelector(".cl-card");
  let above = card.closest(".jp-Cell");
  for (let cell = above?.nextElementSibling; cell && !isNextCard(cell); cell = cell.nextElementSibling) {
    // A page may leave out cells that are not in view.
    if (cell.dataset.windowedListIndex - above.dataset.windowedListIndex > 1) break;
    above = cell;
    const number = parseInt(cell.querySelector(".jp-InputPrompt")?.textContent.slice(1));
    const editor = cell.querySelector(".cm-content");
    // CodeMirror has its view under one of two names: the lines in the page are those in view alone.
    const text = (editor?.cmTile ?? editor?.cmView)?.view?.state?.doc?.toString();
    if (number && text !== undefined) cells.push([number, text]);
  }
  return cells;
}

const readsCells = Symbol.for("copylab.exercise.cells");
if (!window[readsCells]) {
  window[readsCells] = true;
  // Before the panel, which sends what the button says.
  window.addEventListener(
    "click",
    ({ target }) => {
      const card = target.closest?.(".cl-card");
      if (card && target.dataset.do === "check") target.dataset.cells = JSON.stringify(readCellsBelow(card));
    },
    true,
  );
}
