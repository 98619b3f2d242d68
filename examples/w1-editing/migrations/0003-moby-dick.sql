INSERT INTO books (id, title) VALUES ('moby-dick', 'Moby-Dick; or, The Whale');
INSERT INTO versions (id, book) VALUES ('v1', 'moby-dick');
INSERT INTO chapters (version, number, title, quality) VALUES
  ('v1', 1, 'Loomings', 50),
  ('v1', 2, 'The Carpet-Bag', 50),
  ('v1', 3, 'The Spouter-Inn', 50);
