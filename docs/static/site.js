const WORDS = {
  en: {
    copy: "Copy",
    copied: "Copied",
    link: "copy link",
    tooLong: "The address is too long to be read. Ask for the program itself.",
    needsKernel: "This program is not among the runs that are stored here: it needs a kernel. Paste it into a notebook where copylab is installed.",
    beware: "It came with the address, from whoever made that. Read it before you run it.",
  },
  zh: {
    copy: "复制",
    copied: "已复制",
    link: "复制链接",
    tooLong: "这个地址太长，无法读取。请向对方索取程序本身。",
    needsKernel: "这里没有保存这个程序的运行，需要内核才能运行。请把它粘贴到装有 copylab 的笔记本里。",
    beware: "这段程序来自地址，由制作地址的人写成。运行之前请先读一遍。",
  },
  ko: {
    copy: "복사",
    copied: "복사됨",
    link: "링크 복사",
    tooLong: "주소가 너무 길어 읽을 수 없습니다. 프로그램 자체를 보내 달라고 하세요.",
    needsKernel: "이 프로그램의 실행은 여기에 저장되어 있지 않아 커널이 필요합니다. copylab이 설치된 노트북에 붙여 넣으세요.",
    beware: "주소를 만든 사람이 넣은 프로그램입니다. 실행하기 전에 읽어 보세요.",
  },
};
const words = WORDS[document.documentElement.lang.slice(0, 2)] ?? WORDS.en;

// What the theme leaves out for those who use a keyboard or a screen reader.
document.addEventListener("DOMContentLoaded", () => {
  for (const caption of document.querySelectorAll('[role="heading"]:not([aria-level])')) caption.ariaLevel = "2";
  document.querySelector("aside.sidebar-drawer")?.setAttribute("aria-labelledby", "copylab-brand");
  document.querySelector(".sidebar-brand-text")?.setAttribute("id", "copylab-brand");
  // The page of the search has none.
  if (!document.querySelector("h1")) {
    const heading = document.createElement("h1");
    heading.textContent = document.title.split(" - ")[0];
    document.querySelector("[role=main]")?.prepend(heading);
  }
  const boxes = "pre, .cl-listing, .table-wrapper";
  for (const box of document.querySelectorAll(boxes)) if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
  for (const box of document.querySelectorAll(".cl-holder, .output > div:has(> img)")) box.tabIndex = 0; // drawn later
});

/** Several players of a page have regions of the same name: number them, for a list of all regions. */
function numberRegions() {
  const counts = new Map();
  for (const region of document.querySelectorAll(':is(form, [role="region"])[aria-label]')) {
    const name = region.ariaLabel.replace(/ \(\d+\)$/, "");
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    const numbered = count > 1 ? `${name} (${count})` : name;
    // Not in vain: what sees the change calls this again.
    if (numbered !== region.ariaLabel) region.ariaLabel = numbered;
  }
}

/** A button that copies what `read` returns. A page from plain HTTP has no clipboard, and no buttons. */
function makeCopyButton(label, className, read) {
  const button = document.createElement("button");
  button.className = className;
  button.type = "button";
  button.textContent = label;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(read());
    button.textContent = words.copied;
    setTimeout(() => (button.textContent = label), 2000);
  });
  return button;
}

/** A button on a block of code that somebody may want to run. */
function addCopyButton(block) {
  if (!navigator.clipboard) return;
  block.append(makeCopyButton(words.copy, "site-copy", () => block.querySelector("pre").textContent.trimEnd()));
}

document.addEventListener("DOMContentLoaded", () => {
  // Not on what a cell printed.
  for (const block of document.querySelectorAll("div.highlight")) if (!block.closest(".cell_output")) addCopyButton(block);
});

// -- a link that carries a run ---------------------------------------------------------
// Program, step and an exchanged copy stand behind the # of an address, which no server gets to see. The page `run` leads
// on to the page that has stored the player, or shows the program. An address is anybody's: what stands in it is compared
// and shown as text, and never run or read as HTML.

const LONGEST_ADDRESS = 8000; // `LONGEST_LINK` in player.py
/** The program of each player of this page, by the element that holds its form. */
const programs = new Map();

/** What the address carries: a program, and perhaps a step and a pill; null if it carries none. */
function readRun() {
  const run = new URLSearchParams(location.hash.slice(1));
  return run.has("program") ? run : null;
}

/** The form of a player becomes a player when it is first seen; a changed program has another player. */
function watchPlayers(root) {
  const line = root.querySelector(".cl-code") ? ".cl-line" : ".cl-text";
  const code = root.querySelector(".cl-code, .cl-listing");
  programs.set(root, [...code.querySelectorAll(line)].map(({ textContent }) => textContent).join("\n"));
  new MutationObserver(() => addLinkButton(root)).observe(root, { childList: true });
  addLinkButton(root);
  // Of a program that ends with the message above it, that step is of interest.
  if (root.closest(".tag_remove-input")) whenPlayer(root).then((player) => goToStep(player, player.dataset.steps));
}

/** Go to a step; the slider keeps to those that there are. */
function goToStep(player, step) {
  const slider = player.querySelector("input[type=range]");
  slider.value = step;
  slider.dispatchEvent(new Event("input"));
}

/** Put a button beside the pills, or in their place. */
function addLinkButton(root) {
  const player = root.querySelector(":scope > .cl-player");
  if (!navigator.clipboard || !player || player.querySelector(".site-link")) return;
  root.pressedAtFirst ??= listPressed(player);
  // What is longer could not be read where it is opened.
  if (writeLink(root, player).length > LONGEST_ADDRESS) return;
  const button = makeCopyButton(words.link, "site-link", () => writeLink(root, player));
  const row = player.querySelector(".cl-pills .cl-ways");
  if (row) return row.append(button);
  const place = document.createElement("div");
  place.className = "cl-pills";
  place.append(button);
  player.querySelector(".cl-bar").after(place);
}

const listPressed = (player) => [...player.querySelectorAll('.cl-pill[aria-pressed="true"]')].map(({ dataset }) => dataset.keep);

function writeLink(root, player) {
  const run = new URLSearchParams({ program: programs.get(root), step: player.dataset.step });
  const pill = listPressed(player).find((name) => !root.pressedAtFirst.includes(name));
  if (pill) run.set("pill", pill);
  return new URL(`${document.documentElement.dataset.content_root ?? ""}run.html#${run}`, location.href).href;
}

/** Wait until a form has become a player other than `before`. */
function whenPlayer(root, before) {
  return new Promise((resolve) => {
    const look = () => {
      const player = root.querySelector(":scope > .cl-player");
      if (player && player !== before) resolve(player);
      return player;
    };
    new MutationObserver(look).observe(root, { childList: true });
    look();
  });
}

/** Open the player that the address names, if it is on this page, at its step. */
async function openRun() {
  const run = readRun();
  const [root] = [...programs].find(([, program]) => program === run?.get("program")) ?? [];
  if (!root) return;
  for (let fold = root.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  root.scrollIntoView();
  let player = await whenPlayer(root);
  const pill = [...player.querySelectorAll(".cl-pill")].find(({ dataset }) => dataset.keep === run.get("pill"));
  if (pill?.ariaPressed === "false" && pill.ariaDisabled !== "true") {
    const changed = whenPlayer(root, player);
    pill.click();
    player = await changed;
  }
  goToStep(player, run.get("step"));
  player.focus({ preventScroll: true });
}

/** On the page `run`: lead on to where the run is stored, or show the program and say what it needs. */
function showRun(place) {
  if (location.hash.length > LONGEST_ADDRESS) return place.replaceChildren(makeParagraph(words.tooLong));
  const run = readRun();
  if (!run) return;
  const program = run.get("program");
  const page = new Map(globalThis.STORED_RUNS).get(program);
  if (page) return location.replace(page + location.hash);
  const code = program.replaceAll("\\", "\\\\").replaceAll('"""', '\\"\\"\\"');
  const block = document.createElement("div");
  block.className = "highlight";
  block.append(document.createElement("pre"));
  block.firstChild.textContent = `from copylab import steps\n\nsteps("""\n${code}\n""")`;
  block.firstChild.tabIndex = 0;
  addCopyButton(block);
  place.replaceChildren(makeParagraph(words.needsKernel), makeParagraph(words.beware), block);
}

function makeParagraph(text) {
  const paragraph = document.createElement("p");
  paragraph.textContent = text;
  return paragraph;
}

document.addEventListener("DOMContentLoaded", () => {
  for (const root of document.querySelectorAll(".copylab-steps:not(.cl-everything *)")) watchPlayers(root);
  numberRegions();
  new MutationObserver(numberRegions).observe(document.body, { subtree: true, attributeFilter: ["role", "aria-label"] });
  const place = document.querySelector("#site-run");
  const open = place ? () => showRun(place) : openRun;
  window.addEventListener("hashchange", open);
  open();
});
