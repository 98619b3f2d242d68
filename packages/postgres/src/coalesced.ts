import { isOfOneQuestion } from './faults.ts';

/**
 * Asks for many keys at a time. Those that are asked for while a question is on its way wait for the next one, so that
 * an answer is never older than its question, and a thousand agents at once are a few statements.
 */
export function coalesced<Key, Value>(
  fetch: (keys: readonly Key[]) => Promise<(key: Key) => Value>,
): (key: Key) => Promise<Value> {
  let waiting: Waiting<Key, Value>[] = [];
  let under = 0;

  /** INVARIANT: a key that the database refuses fails nobody who asked for another. */
  async function answerAll(asked: readonly Waiting<Key, Value>[]): Promise<void> {
    try {
      const answer = await fetch(asked.map(({ key }) => key));
      for (const { key, resolve } of asked) resolve(answer(key));
    } catch (error) {
      if (asked.length > 1 && isOfOneQuestion(error)) {
        const half = asked.length >> 1;
        await answerAll(asked.slice(0, half));
        await answerAll(asked.slice(half));
        return;
      }
      for (const { reject } of asked) reject(error);
    }
  }

  async function askAll(asked: readonly Waiting<Key, Value>[]): Promise<void> {
    under += 1;
    await answerAll(asked);
    under -= 1;
    askNext();
  }

  function askNext(): void {
    if (under >= AT_ONCE || waiting.length === 0) return;
    const asked = waiting.slice(0, MOST);
    waiting = waiting.slice(MOST);
    void askAll(asked);
    askNext();
  }

  return (key) =>
    new Promise<Value>((resolve, reject) => {
      waiting.push({ key, resolve, reject });
      if (waiting.length === 1) queueMicrotask(askNext);
    });
}

/** Two, so that one is under way while the next is filled. */
const AT_ONCE = 2;
const MOST = 500;

interface Waiting<Key, Value> {
  readonly key: Key;
  readonly resolve: (value: Value) => void;
  readonly reject: (error: unknown) => void;
}
