"""One module for each library: `start(threads)` says what runs, `case(name)` gives the action of a case or None."""
