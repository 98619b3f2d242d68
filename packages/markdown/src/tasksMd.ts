// Parsers of sources: `tasks.md` files become phases and tasks.

export { createSourceParsers } from './sources/sourceParsers.ts';
