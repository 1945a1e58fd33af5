// What the theme leaves out for those who use a keyboard or a screen reader.
document.addEventListener("DOMContentLoaded", () => {
  for (const caption of document.querySelectorAll('[role="heading"]:not([aria-level])')) caption.ariaLevel = "2";
  document.querySelector("aside.sidebar-drawer")?.setAttribute("aria-labelledby", "copylab-brand");
  document.querySelector(".sidebar-brand-text")?.setAttribute("id", "copylab-brand");
  for (const box of document.querySelectorAll("pre, .cl-listing")) if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
  for (const box of document.querySelectorAll(".cl-holder, .output > div:has(> img)")) box.tabIndex = 0; // drawn later
});
