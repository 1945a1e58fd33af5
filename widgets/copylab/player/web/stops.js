// What the player computes without a page: its texts, and the steps at which it stops. The exports are for the tests
// (stops.test.mjs); in a page the scripts are one module, see `read_web_files`.

// As SWAP in packing.py.
const SWAPPED = { '"': "`", "`": '"', "<": "~", "~": "<" };

/**
 * Read the pack of packing.py. A text is a row of places in the table of parts, and of stretches [start, count] of the
 * text of its kind before it. Returns a function that gives the text of a kind and number, empty if there is none.
 *
 * A row is read when it or a later one is asked for: a page shows its first picture before it has read the others.
 */
export function unpackTexts({ parts, texts }) {
  const kinds = {};
  // Each part is swapped once: most are in many texts.
  const swapped = [];
  const swapPart = (place) => (swapped[place] ??= parts[place].replace(/["`<~]/g, (letter) => SWAPPED[letter]));
  return (kind, number) => {
    const read = (kinds[kind] ??= { rows: Object.entries(texts[kind] ?? {}), places: new Map(), last: [] });
    while (read.rows.length && !read.places.has(number)) {
      const [next, row] = read.rows.shift();
      const { last } = read;
      read.last = row.flatMap((entry) => (Array.isArray(entry) ? last.slice(entry[0], entry[0] + entry[1]) : [entry]));
      read.places.set(next, read.last);
    }
    return (read.places.get(number) ?? []).map(swapPart).join("");
  };
}

/** Where a line is, in a sentence. */
export function describePlace({ name }, line) {
  return name ? say("in {function}, line {line}", { function: name, line }) : say("on line {line}", { line });
}

/** What can be folded: each loop and each function, with the ways to go through it. */
export function listChoices({ codes, steps, groups }) {
  const heads = groups.filter(({ kind }) => kind === "loop").sort((a, b) => a.code - b.code || a.line - b.line);
  const loops = new Map(heads.map((loop) => [`loop ${loop.code} ${loop.line}`, loop]));
  const functions = new Set(steps.flatMap(({ calls }) => calls));
  return [
    ...[...loops].map(([key, { code, line }]) => ({
      key,
      label: say("Loop {where}", { where: describePlace(codes[code], line) }),
      ways: [["", say("every line")], ["rounds", say("round by round")], ["all", say("in one go")]],
    })),
    ...[...functions].map((name) => ({
      key: `call ${name}`,
      label: `${name}()`,
      ways: [["", say("step into")], ["all", say("step over")]],
    })),
  ];
}

/**
 * For each step, true if it is a stop when loops and calls are gone through in these ways.
 *
 * ways: a Map from the key of a choice to the way that was chosen. The last step is always a stop.
 */
export function findStops({ steps, groups }, ways) {
  const isStop = steps.map(({ calls }) => !calls.some((name) => ways.get(`call ${name}`)));
  // All but its last step.
  const skipGroup = ({ first, last }) => isStop.fill(false, first, last);
  for (const group of groups) {
    const way = ways.get(`loop ${group.code} ${group.line}`);
    if ((group.kind === "loop" && way === "all") || (group.kind === "round" && way === "rounds")) skipGroup(group);
  }
  for (const group of groups) {
    // A call none of whose steps is a stop: the line that calls is one stop, not one before and one after the call.
    const inner = isStop.slice(group.first + 1, group.last);
    if (group.kind === "call" && inner.length && !inner.includes(true)) skipGroup(group);
  }
  isStop[steps.length - 1] = true;
  return isStop;
}

/** The stop that is nearest to a step in one direction (1 or -1), or else in the other. */
export function findNearestStop(isStop, from, direction) {
  for (let at = from; at >= 0 && at < isStop.length; at += direction) if (isStop[at]) return at;
  return direction > 0 ? isStop.length - 1 : isStop.indexOf(true);
}

/** The steps that a stop stands for, [first, last]: its own alone, or all since the stop before it. */
export function stepsOfStop(isStop, index) {
  if (!isStop[index] || index === 0) return [index, index];
  return [isStop.lastIndexOf(true, index - 1) + 1, index];
}

/** Which copy the pills at a step are of: the last one that has run, else the first. */
export function findCopyOfStep(steps, index, lines) {
  for (let at = index; at >= 0; at--) {
    const { code, line, end } = steps[at];
    const copy = code ? -1 : lines.findIndex((number) => line <= number && number <= end);
    if (copy >= 0) return copy;
  }
  return 0;
}

/** The number of the stored run in which one copy of the program is exchanged; 0 for none, null for more than one. */
export function numberOfRun(copies) {
  // As list_single_exchanges in other_copies.py counts, and one more.
  const numbers = copies.flatMap(({ own, chosen, methods }, at) =>
    chosen === own ? [] : [100 * at + methods.findIndex(([name]) => name === chosen) + 1],
  );
  return numbers.length > 1 ? null : (numbers[0] ?? 0);
}
