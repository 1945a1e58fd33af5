// The style sheet of a twin is inert while scripts run, until the twin is seen: with a hundred live widgets on a page, a
// hundred copies of it made each change of the page three times as slow.
for (const sheet of document.querySelectorAll("noscript.cl-sheet:not([data-waits])")) {
  sheet.dataset.waits = "true";
  whenSeen(sheet.closest(".copylab-twin"), () => (sheet.outerHTML = sheet.textContent));
}
