const WORDS = {};
/** A text in the reader's language; `{name}` in it stands for the value of that name. */
const say = (text, values = {}) => (WORDS[text] ?? text).replace(/\{(\w+)\}/g, (hole, name) => values[name] ?? hole);
