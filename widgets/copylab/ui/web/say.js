// FROM_PYTHON, { language, words }, is declared above all scripts of a page: see `read_web_files` in ui/theme.py.
/** A text in the reader's language; `{name}` in it stands for the value of that name. */
const say = (text, values = {}) =>
  (FROM_PYTHON.words[text] ?? text).replace(/\{(\w+)\}/g, (hole, name) => values[name] ?? hole);
