// What the player computes without a page. test_stops.py runs this with `node --test`.
import assert from "node:assert/strict";
import test from "node:test";

globalThis.say = (text, values = {}) => text.replace(/\{(\w+)\}/g, (hole, name) => values[name] ?? hole);
const { unpackTexts, listChoices, findStops, findNearestStop, stepsOfStop, findCopyOfStep, numberOfRun } = await import(
  process.env.STOPS_JS
);

// for i in range(2): f(i)   each round: the head, the call, a step inside of f, the line done; at last the loop is over
const step = (calls = []) => ({ calls });
const steps = [step(), step(), step(["f"]), step(), step(), step(), step(["f"]), step(), step()];
const groups = [
  { kind: "loop", code: 0, line: 1, first: 0, last: 8 },
  { kind: "round", code: 0, line: 1, first: 0, last: 3 },
  { kind: "call", code: 0, line: 2, first: 1, last: 3 },
  { kind: "round", code: 0, line: 1, first: 4, last: 7 },
  { kind: "call", code: 0, line: 2, first: 5, last: 7 },
];
const stopsIn = (...ways) => findStops({ steps, groups }, new Map(ways)).flatMap((stop, at) => (stop ? [at] : []));

test("every step is a stop at first", () => {
  assert.deepEqual(stopsIn(), [0, 1, 2, 3, 4, 5, 6, 7, 8]);
});

test("a loop is gone through round by round or in one go", () => {
  assert.deepEqual(stopsIn(["loop 0 1", "rounds"]), [3, 7, 8]);
  assert.deepEqual(stopsIn(["loop 0 1", "all"]), [8]);
});

test("a call that is stepped over is one stop", () => {
  assert.deepEqual(stopsIn(["call f", "all"]), [0, 3, 4, 7, 8]);
});

test("the last step is always a stop", () => {
  const last = findStops({ steps: [step(), step(["f"])], groups: [] }, new Map([["call f", "all"]]));
  assert.deepEqual(last, [true, true]);
});

test("each loop and function is a choice, in the order of the lines", () => {
  const inner = { kind: "loop", code: 0, line: 3, first: 1, last: 2 };
  const choices = listChoices({ codes: [{ name: "" }], steps, groups: [inner, ...groups] });
  assert.deepEqual(choices.map(({ key }) => key), ["loop 0 1", "loop 0 3", "call f"]);
  assert.deepEqual(choices.map(({ label }) => label), ["Loop on line 1", "Loop on line 3", "f()"]);
  const named = listChoices({ codes: [{ name: "Net.forward" }], steps: [], groups: [inner] });
  assert.equal(named[0].label, "Loop in Net.forward, line 3");
});

test("the nearest stop, and the steps that a stop stands for", () => {
  const isStop = [true, false, false, true, false];
  assert.equal(findNearestStop(isStop, 1, 1), 3);
  assert.equal(findNearestStop(isStop, 2, -1), 0);
  assert.equal(findNearestStop(isStop, 4, 1), 4);
  assert.equal(findNearestStop([false, true], 0, -1), 1);
  assert.deepEqual(stepsOfStop(isStop, 3), [1, 3]);
  assert.deepEqual(stepsOfStop(isStop, 0), [0, 0]);
  assert.deepEqual(stepsOfStop(isStop, 2), [2, 2]);
});

test("the copy that a step has reached, and the number of a stored run", () => {
  const lines = [2, 4];
  const ran = [1, 2, 3, 4, 1].map((line, at) => ({ code: at === 4 ? 1 : 0, line, end: line }));
  assert.deepEqual(ran.map((_, at) => findCopyOfStep(ran, at, lines)), [0, 0, 0, 1, 1]);
  const copy = (chosen) => ({ own: "clone", chosen, methods: [["=", "="], ["clone", "clone"], [".data", ".data"]] });
  assert.equal(numberOfRun([copy("clone"), copy("clone")]), 0);
  assert.equal(numberOfRun([copy("clone"), copy(".data")]), 103);
  assert.equal(numberOfRun([copy("="), copy(".data")]), null);
});

test("a text is parts and stretches of the text before it", () => {
  const pack = unpackTexts({
    parts: ["~a`", "b", "c>"],
    texts: { "memory svg": { 1: [0, 1, 2], 4: [1, [0, 2]], 5: [[1, 2]] } },
  });
  assert.equal(pack("memory svg", "1"), '<a"bc>');
  assert.equal(pack("memory svg", "4"), 'b<a"b');
  assert.equal(pack("memory svg", "5"), '<a"b');
  assert.equal(pack("memory svg", "2"), "");
  assert.equal(pack("graph svg", "1"), "");
});

test("a pack that Python wrote is read back", () => {
  const { pack, texts } = JSON.parse(process.env.PACK);
  const unpack = unpackTexts(pack);
  for (const [kind, byNumber] of Object.entries(texts)) {
    for (const [number, text] of Object.entries(byNumber)) assert.equal(unpack(kind, number), text);
  }
});
