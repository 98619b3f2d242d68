import type { JsonObject } from '@phasegate/core';
import { fitJson, jsonBytes } from '@phasegate/core/model';
import type { KeptAnswers } from '../runtime/ports.ts';

/** The most an agent is given in one answer, in bytes, texts and structure together. */
export const ANSWER_LIMIT = 100_000;

/** Keeps answers in memory: a few of each agent, and not more than fit in all; the oldest make room. */
export function createKeptAnswers(newId: () => string): KeptAnswers {
  // In the order they were kept.
  const kept = new Map<string, { readonly agent: string; readonly text: string }>();

  function makeRoom(agent: string, length: number): void {
    const own = [...kept].filter(([, answer]) => answer.agent === agent);
    let ofAgent = own.reduce((sum, [, { text }]) => sum + text.length, length);
    for (const [index, [id, { text }]] of own.entries()) {
      if (own.length - index < MOST_OF_AGENT && ofAgent <= LARGEST_OF_AGENT) break;
      kept.delete(id);
      ofAgent -= text.length;
    }
    let all = [...kept.values()].reduce((sum, { text }) => sum + text.length, length);
    for (const [id, { text }] of kept) {
      if (all <= LARGEST_OF_ALL) break;
      kept.delete(id);
      all -= text.length;
    }
  }

  return {
    keep(agent, text) {
      makeRoom(agent, text.length);
      const id = newId();
      kept.set(id, { agent, text });
      return id;
    },
    page(agent, id, page) {
      const found = kept.get(id);
      if (found === undefined || found.agent !== agent) return null;
      const pages = Math.ceil(found.text.length / PAGE);
      if (!Number.isInteger(page) || page < 1 || page > pages) return null;
      return { page, pages, text: found.text.slice((page - 1) * PAGE, page * PAGE) };
    },
  };
}

/** Characters of a page. Quotes and letters that take several bytes may make six times as much of it on the wire. */
const PAGE = 16_000;
const MOST_OF_AGENT = 4;
const LARGEST_OF_AGENT = 16 * 1024 * 1024;
const LARGEST_OF_ALL = 64 * 1024 * 1024;
/** For what is said about what was cut. */
const TOLD = 4000;

/**
 * An answer to an agent, whose JSON is `text`, cut where it is too large: `truncated` is true, `truncated_parts` names what was cut, and
 * `rest` is the call that gives all of it, page by page.
 */
export function boundAnswer(
  answer: JsonObject,
  { text, most, rest }: { readonly text: string; readonly most: number; rest(text: string): string },
): JsonObject {
  if (text.length * 3 <= most || jsonBytes(answer, most) <= most) return answer;
  const { value, cut } = fitJson(answer, most - TOLD);
  return { ...value, truncated: true, truncated_parts: cut, rest: rest(text) };
}
