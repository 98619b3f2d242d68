CREATE TABLE books (
  id TEXT PRIMARY KEY,
  title TEXT NOT NULL
);

CREATE TABLE versions (
  id TEXT PRIMARY KEY,
  book TEXT NOT NULL REFERENCES books (id),
  made_from TEXT REFERENCES versions (id),
  run TEXT
);

-- The text itself is left out: how good a chapter is, in hundredths, is all the scripted commands work on.
CREATE TABLE chapters (
  version TEXT NOT NULL REFERENCES versions (id),
  number INTEGER NOT NULL,
  title TEXT NOT NULL,
  quality INTEGER NOT NULL,
  PRIMARY KEY (version, number)
);
