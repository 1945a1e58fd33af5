// How a picture stands in the page: made once, then changed where the next one differs. The player's script begins
// with this. A picture's SVG comes as tokens: its text cut between `>` and `<`.

const SHEET = "<style>.sheet{overflow:hidden}svg{display:block}.joined{stroke-width:3.5!important}</style>";
const still = matchMedia("(prefers-reduced-motion: reduce)");
const TALL = 640; // from so many px on it scrolls, so that the line that ran stays in sight
const GROUP = 64;
const MANY = 500; // so many new elements do not fade in
const FADE = 500; // ms; nor does anything fade in while the step before it does, as where a key is held down
const BLOCK = /(?:.*\n){8}|[^]+/g;

// An element takes one token, and some texts two: with a <title>, or empty.
const begins = (token) => token[1] !== "/" && token[2] !== "i"; // <rect, <path, <text, but not <title
const ends = (token) => token.endsWith("/>") || token.endsWith("</text>");

/** The elements that a stretch of tokens makes; null if that is no flat list of them. */
function elements(tokens, from, to) {
  const made = [];
  for (let at = from; at < to; at++) {
    let one = tokens[at];
    if (!one.startsWith("<text") && !one.endsWith("/>")) return null;
    while (!ends(one) && ++at < to) one += tokens[at];
    made.push(one);
  }
  return made;
}

/** The next power of two: were an <svg> to grow with its picture, all texts in it would be laid out anew. */
const roomy = (size) => 2 ** Math.ceil(Math.log2(size));

/** Draw a picture over the one before it: what both have stays in the page, the rest is exchanged. */
function draw(pane, tokens) {
  const [head, style, page] = tokens;
  const body = tokens.slice(3, -1);
  const old = pane.drawn ?? { tokens: [], nodes: [], styles: new Set() };
  const most = Math.min(old.tokens.length, body.length);
  let first = 0;
  while (first < most && old.tokens[first] === body[first]) first++;
  while (first && !ends(body[first - 1])) first--;
  let last = 0;
  while (last < most - first && old.tokens.at(-1 - last) === body.at(-1 - last)) last++;
  while (last && !begins(body.at(-last))) last--;
  const was = elements(old.tokens, first, old.tokens.length - last);
  const now = elements(body, first, body.length - last);
  if (!now || !page?.startsWith("<rect")) {
    pane.drawn = null; // not one of ours
    pane.sheet.innerHTML = tokens.join("");
    return;
  }
  let start = 0;
  for (let at = 0; at < first; at++) if (begins(body[at])) start++;

  const free = new Map(); // what an element says -> the nodes that say so
  was.forEach((one, at) => free.set(one, [...(free.get(one) ?? []), old.nodes[start + at]]));
  const nodes = now.map((one) => free.get(one)?.shift());
  const parsed = document.createElement("template");
  parsed.innerHTML = `${head}${page}${now.filter((_, at) => !nodes[at]).join("")}</svg>`;
  const made = parsed.content.firstChild;
  const drawn = pane.drawn ?? stand(pane, made);
  for (const node of [...free.values()].flat()) take(node);
  drawn.page.replaceWith((drawn.page = made.firstChild));
  let at = start ? after(old.nodes[start - 1]) : drawn.page.nextSibling?.firstChild;
  const fading = performance.now() - pane.when > FADE && !still.matches && nodes.length < MANY;
  nodes.forEach((node, index) => {
    const fades = fading && !node;
    nodes[index] = node ??= made.firstChild;
    if (node === at) at = after(at);
    else put(drawn.svg, node, at);
    if (fades) node.animate([{ opacity: 0 }, { opacity: 1 }], FADE); // in the page: elsewhere time stands still
  });
  drawn.nodes.splice(start, was.length, ...nodes);
  drawn.tokens = body;
  if (!drawn.styles.has(style)) drawn.svg.firstChild.textContent = [...drawn.styles.add(style)].map((one) => one.slice(7, -8)).join("");
  pane.when = performance.now();
  fit(drawn.svg, made);
}

// The elements stand in groups: where one changes, the browser looks through its group and not through all.
const after = (node) => node.nextSibling ?? node.parentNode.nextSibling?.firstChild;

function take(node) {
  const group = node.parentNode;
  node.remove();
  if (!group.firstChild) group.remove();
}

function put(svg, node, at) {
  if (node.parentNode.nodeName === "g") take(node);
  let group = at?.parentNode ?? svg.lastChild;
  if (group.nodeName !== "g" || (!at && group.childElementCount >= GROUP)) {
    group = svg.appendChild(document.createElementNS(svg.namespaceURI, "g"));
  }
  group.insertBefore(node, at ?? null);
}

/** Put an empty picture into a pane. */
function stand(pane, like) {
  const svg = like.cloneNode(false);
  for (const name of ["width", "height"]) svg.removeAttribute(name);
  const page = document.createElementNS(svg.namespaceURI, "rect");
  svg.append(document.createElementNS(svg.namespaceURI, "style"), page);
  pane.sheet.replaceChildren(svg);
  pane.drawn = { svg, page, nodes: [], tokens: [], styles: new Set() };
  return pane.drawn;
}

/** Give a picture its own size: what is too large for its place scrolls there, for smaller it could not be read. */
function fit(svg, like) {
  const { width, height } = like.viewBox.baseVal;
  const [wide, high] = [roomy(width), roomy(height)];
  const set = (name, value) => svg.getAttribute(name) !== value && svg.setAttribute(name, value);
  set("aria-label", like.getAttribute("aria-label"));
  set("viewBox", `0 0 ${wide} ${high}`);
  set("style", `width:${wide}px;height:${high}px`);
}

/** The place of all pictures of a kind: a sheet as large as the largest of them, which keeps its size. */
function reserve(pane, [width, height]) {
  pane.shadow.innerHTML = SHEET;
  pane.sheet = document.createElement("div");
  pane.sheet.className = "sheet";
  pane.sheet.style.cssText = `width:${width}px;height:${height}px`;
  pane.shadow.append(pane.sheet);
  pane.figure.classList.toggle("cl-tall", height > TALL);
}

/** Put a text into its place, in blocks: those that cannot be seen are not laid out. */
function tell(place, text) {
  const blocks = text.match(BLOCK) ?? [];
  blocks.forEach((block, at) => {
    const old = place.children[at] ?? place.appendChild(document.createElement("span"));
    if (old.textContent !== block) old.textContent = block;
  });
  while (place.children.length > blocks.length) place.lastChild.remove();
}

/** Scroll a picture, or a text in place of one, and never the page, to what is new. */
function reveal({ figure, holder, words, drawn, title }) {
  if (figure.classList.contains("cl-away")) return;
  if (holder.hidden) {
    const block = [...words.children].find((one) => /\(new\)|changed:/i.test(one.textContent));
    const go = () => (words.scrollTop += block.getBoundingClientRect().top - words.getBoundingClientRect().top);
    if (!block) return;
    go();
    requestAnimationFrame(() => requestAnimationFrame(go)); // when their heights are known
    return;
  }
  if (holder.scrollHeight <= holder.clientHeight && holder.scrollWidth <= holder.clientWidth) return;
  holder.tabIndex = 0;
  holder.setAttribute("role", "region");
  holder.setAttribute("aria-label", `${title}, the picture. Shift and an arrow key scroll it aside.`);
  const mark = drawn?.svg.querySelector('.fresh, [class^="new"], [class^="bad"]')?.getBoundingClientRect();
  const box = holder.getBoundingClientRect();
  if (!mark) return;
  if (mark.top < box.top || mark.bottom > box.bottom) holder.scrollTop += mark.top - box.top - box.height / 3;
  if (mark.left < box.left || mark.right > box.right) holder.scrollLeft += mark.left - box.left - box.width / 3;
}
