// What the theme leaves out for those who use a keyboard or a screen reader.
document.addEventListener("DOMContentLoaded", () => {
  for (const caption of document.querySelectorAll('[role="heading"]:not([aria-level])')) caption.ariaLevel = "2";
  document.querySelector("aside.sidebar-drawer")?.setAttribute("aria-labelledby", "copylab-brand");
  document.querySelector(".sidebar-brand-text")?.setAttribute("id", "copylab-brand");
  for (const box of document.querySelectorAll("pre, .cl-listing")) if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
  for (const box of document.querySelectorAll(".cl-holder, .output > div:has(> img)")) box.tabIndex = 0; // drawn later
});

// A button on each block of code that somebody may want to run. A page from plain HTTP has no clipboard, and no buttons.
const COPY_WORDS = { en: ["Copy", "Copied"], zh: ["复制", "已复制"], ko: ["복사", "복사됨"] };

function addCopyButton(block) {
  const [copy, copied] = COPY_WORDS[document.documentElement.lang.slice(0, 2)] ?? COPY_WORDS.en;
  const button = document.createElement("button");
  button.className = "site-copy";
  button.type = "button";
  button.textContent = copy;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(block.querySelector("pre").textContent.trimEnd());
    button.textContent = copied;
    setTimeout(() => (button.textContent = copy), 2000);
  });
  block.append(button);
}

document.addEventListener("DOMContentLoaded", () => {
  if (!navigator.clipboard) return;
  // Not on what a cell printed.
  for (const block of document.querySelectorAll("div.highlight")) if (!block.closest(".cell_output")) addCopyButton(block);
});
