import { createPaced } from '../../../limits/paced.ts';

/** Looking for words reads much: each human does it once at a time, with a rest after it. */
export const searches = createPaced({ what: 'searches', waiting: 8 });

/** So much is looked through in one go. */
export const WINDOW = 250;

/** Lets callers who wait be answered before more is looked through. */
export function breathe(): Promise<void> {
  return new Promise((resume) => void setImmediate(resume));
}

/** For a loop over what may be quick or slow to read: gives others their turn once it was at work for some milliseconds. */
export function breathing(now: () => number = () => performance.now()): () => Promise<void> {
  let since = now();
  return async () => {
    if (now() - since < BUSY_MS) return;
    await breathe();
    since = now();
  };
}

const BUSY_MS = 5;
