// Pictures and their words in the page: made once, then changed where the next one differs. The player's scripts begin
// with this one. A picture's SVG comes as tokens: its text cut between `>` and `<`.

const SHEET_STYLE = "<style>.sheet{overflow:hidden}svg{display:block}.joined{stroke-width:3.5!important}</style>";
const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");
// Maximum number of elements of one <g>.
const GROUP_SIZE = 64;
// A picture with so many new elements does not fade in.
const MANY_ELEMENTS = 500;
// In ms. Nothing fades in within this time of the step before: a key may be held down.
const FADE_TIME = 500;
// A block is eight lines.
const TEXT_BLOCK = /(?:.*\n){8}|[^]+/g;

// An element takes one token, and some texts two: with a <title>, or empty.
// <rect, <path, <text, but not <title.
const beginsElement = (token) => token[1] !== "/" && token[2] !== "i";
const endsElement = (token) => token.endsWith("/>") || token.endsWith("</text>");

/** The elements that a stretch of tokens makes; null if they are no flat list of elements. */
function splitElements(tokens, from, to) {
  const elements = [];
  for (let at = from; at < to; at++) {
    let element = tokens[at];
    if (!element.startsWith("<text") && !element.endsWith("/>")) return null;
    while (!endsElement(element) && ++at < to) element += tokens[at];
    elements.push(element);
  }
  return elements;
}

/** How many tokens at the beginning and at the end two pictures have in common, whole elements only. */
function countCommonTokens(oldTokens, newTokens) {
  const shorter = Math.min(oldTokens.length, newTokens.length);
  let first = 0;
  while (first < shorter && oldTokens[first] === newTokens[first]) first++;
  while (first && !endsElement(newTokens[first - 1])) first--;
  let last = 0;
  while (last < shorter - first && oldTokens.at(-1 - last) === newTokens.at(-1 - last)) last++;
  while (last && !beginsElement(newTokens.at(-last))) last--;
  return [first, last];
}

/** Draw a picture over the one before it: what both have stays in the page, the rest is exchanged. */
function drawPicture(pane, tokens) {
  const [head, style, page] = tokens;
  const body = tokens.slice(3, -1);
  const old = pane.drawn ?? { tokens: [], nodes: [], styles: new Set() };
  const [first, last] = countCommonTokens(old.tokens, body);
  const oldElements = splitElements(old.tokens, first, old.tokens.length - last);
  const newElements = splitElements(body, first, body.length - last);
  if (!newElements || !page?.startsWith("<rect")) {
    // Not one of ours.
    pane.drawn = null;
    pane.sheet.innerHTML = tokens.join("");
    return;
  }
  // The index of the first node that is exchanged.
  let start = 0;
  for (let at = 0; at < first; at++) if (beginsElement(body[at])) start++;

  // The text of an element -> the nodes that were made of it.
  const reusable = new Map();
  oldElements.forEach((element, at) => {
    reusable.set(element, [...(reusable.get(element) ?? []), old.nodes[start + at]]);
  });
  const nodes = newElements.map((element) => reusable.get(element)?.shift());
  const template = document.createElement("template");
  template.innerHTML = `${head}${page}${newElements.filter((_, at) => !nodes[at]).join("")}</svg>`;
  const parsed = template.content.firstChild;
  const drawn = pane.drawn ?? placeEmptyPicture(pane, parsed);
  for (const node of [...reusable.values()].flat()) removeNode(node);
  drawn.page.replaceWith((drawn.page = parsed.firstChild));
  let next = start ? nodeAfter(old.nodes[start - 1]) : drawn.page.nextSibling?.firstChild;
  const mayFade = performance.now() - pane.when > FADE_TIME && !reducedMotion.matches && nodes.length < MANY_ELEMENTS;
  nodes.forEach((node, index) => {
    const isNew = !node;
    nodes[index] = node ??= parsed.firstChild;
    if (node === next) next = nodeAfter(next);
    else insertNode(drawn.svg, node, next);
    // Only now: an animation of an element outside the page does not run.
    if (isNew && mayFade) node.animate([{ opacity: 0 }, { opacity: 1 }], FADE_TIME);
  });
  drawn.nodes.splice(start, oldElements.length, ...nodes);
  drawn.tokens = body;
  if (!drawn.styles.has(style)) {
    drawn.styles.add(style);
    const rules = [...drawn.styles].map((sheet) => sheet.slice("<style>".length, -"</style>".length));
    drawn.svg.firstChild.textContent = rules.join("");
  }
  pane.when = performance.now();
  resizePicture(drawn.svg, parsed);
}

// The elements are in groups: where one changes, the browser looks through its group and not through all of them.
const nodeAfter = (node) => node.nextSibling ?? node.parentNode.nextSibling?.firstChild;

function removeNode(node) {
  const group = node.parentNode;
  node.remove();
  if (!group.firstChild) group.remove();
}

function insertNode(svg, node, next) {
  if (node.parentNode.nodeName === "g") removeNode(node);
  let group = next?.parentNode ?? svg.lastChild;
  if (group.nodeName !== "g" || (!next && group.childElementCount >= GROUP_SIZE)) {
    group = svg.appendChild(document.createElementNS(svg.namespaceURI, "g"));
  }
  group.insertBefore(node, next ?? null);
}

/** Put an empty picture into a pane. */
function placeEmptyPicture(pane, model) {
  const svg = model.cloneNode(false);
  for (const name of ["width", "height"]) svg.removeAttribute(name);
  const page = document.createElementNS(svg.namespaceURI, "rect");
  svg.append(document.createElementNS(svg.namespaceURI, "style"), page);
  pane.sheet.replaceChildren(svg);
  pane.drawn = { svg, page, nodes: [], tokens: [], styles: new Set() };
  return pane.drawn;
}

/** The next power of two: were an <svg> to grow with its picture, all texts in it would be laid out anew. */
const roundUpSize = (size) => 2 ** Math.ceil(Math.log2(size));

/** Give a picture its own size. One that is too large for its place scrolls there: smaller, it could not be read. */
function resizePicture(svg, model) {
  const box = model.viewBox.baseVal;
  const [width, height] = [roundUpSize(box.width), roundUpSize(box.height)];
  const set = (name, value) => svg.getAttribute(name) !== value && svg.setAttribute(name, value);
  set("aria-label", model.getAttribute("aria-label"));
  set("viewBox", `0 0 ${width} ${height}`);
  set("style", `width:${width}px;height:${height}px`);
}

/** Make the place of all pictures of a kind: a sheet as large as the largest of them, which keeps its size. */
function reserveSheet(pane, [width, height]) {
  pane.shadow.innerHTML = `${SHEET_STYLE}<div class="sheet" style="width:${width}px;height:${height}px"></div>`;
  pane.sheet = pane.shadow.lastChild;
}

/** Put a text into its place, in blocks: those that cannot be seen are not laid out. */
function showText(place, text) {
  const blocks = text.match(TEXT_BLOCK) ?? [];
  blocks.forEach((block, at) => {
    const span = place.children[at] ?? place.appendChild(document.createElement("span"));
    if (span.textContent !== block) span.textContent = block;
  });
  while (place.children.length > blocks.length) place.lastChild.remove();
}

/** Scroll a picture, or a text in place of one, and never the page, to what is new. */
function scrollToNews({ figure, holder, words, drawn, title }) {
  if (figure.classList.contains("cl-away")) return;
  if (holder.hidden) {
    scrollToNewBlock(words);
    return;
  }
  if (holder.scrollHeight <= holder.clientHeight && holder.scrollWidth <= holder.clientWidth) return;
  holder.tabIndex = 0;
  holder.setAttribute("role", "region");
  holder.setAttribute("aria-label", say("{title}, the picture. Shift and an arrow key scroll it aside.", { title }));
  const box = holder.getBoundingClientRect();
  const mark = findNews(drawn, box)?.getBoundingClientRect();
  if (!mark) return;
  if (mark.top < box.top || mark.bottom > box.bottom) holder.scrollTop += mark.top - box.top - box.height / 3;
  if (mark.left < box.left || mark.right > box.right) holder.scrollLeft += mark.left - box.left - box.width / 3;
}

/** What is new in a picture, or else what is wrong there; where nothing is, and nothing of it is in its window, the first box. */
function findNews(drawn, box) {
  const find = (selector) => drawn?.svg.querySelector(selector);
  // What is wrong may be so since many steps.
  const news = find('.fresh, [class^="new"]') ?? find('[class^="bad"]');
  if (news || !drawn) return news;
  const boxes = [...drawn.svg.querySelectorAll("rect:not(.page)")];
  const isSeen = (one) => {
    const { left, right, top, bottom } = one.getBoundingClientRect();
    return bottom > box.top && top < box.bottom && right > box.left && left < box.right;
  };
  return boxes.some(isSeen) ? null : boxes[0];
}

function scrollToNewBlock(words) {
  const block = [...words.children].find((span) => /\(new\)|changed:/i.test(span.textContent));
  if (!block) return;
  const scroll = () => (words.scrollTop += block.getBoundingClientRect().top - words.getBoundingClientRect().top);
  scroll();
  // Again when the heights of the blocks above are known: only those that are seen are laid out.
  requestAnimationFrame(() => requestAnimationFrame(scroll));
}
