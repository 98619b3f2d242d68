import type { CallToolResult } from '@modelcontextprotocol/server';
import type { JsonObject } from '@phasegate/core';
import { fitJson, jsonBytes } from '@phasegate/core/model';
import { ANSWER_LIMIT, boundAnswer } from '../../limits/keptAnswers.ts';
import type { LargeAnswers } from './largeAnswers.ts';

/** For what stands around an answer on the wire. */
const AROUND = 200;
/** An answer is sent as structure and as text, and as text its quotes take twice as much. */
const STRUCTURED = Math.floor(ANSWER_LIMIT / 3) - AROUND;
const TEXT_ALONE = Math.floor(ANSWER_LIMIT / 2) - AROUND;

/** The result of a tool, as structure and as the same text, within the limit of answers. */
export function resultOf(answer: JsonObject, answers: LargeAnswers): CallToolResult {
  const text = JSON.stringify(answer);
  const given = isSmall(text) ? answer : bounded(answer, { text, most: STRUCTURED, answers });
  const content = [{ type: 'text' as const, text: given === answer ? text : JSON.stringify(given) }];
  return { content, structuredContent: { ...given } };
}

/** The result of a tool that has no schema for its answers: text alone. */
export function textResult(answer: JsonObject, answers: LargeAnswers): CallToolResult {
  const text = JSON.stringify(answer);
  const given = bounded(answer, { text, most: TEXT_ALONE, answers });
  return { content: [{ type: 'text', text: given === answer ? text : JSON.stringify(given) }] };
}

/** Whether an answer fits as text and as structure: the text of JSON is as large as the JSON, and larger when quoted. */
function isSmall(text: string): boolean {
  return 2 * jsonBytes(text, ANSWER_LIMIT) <= ANSWER_LIMIT - AROUND;
}

/** A text to read, within the limit. */
export function boundText(text: string): string {
  return String(fitJson({ text }, ANSWER_LIMIT - AROUND).value.text);
}

function bounded(
  answer: JsonObject,
  { answers, ...how }: { readonly text: string; readonly most: number; readonly answers: LargeAnswers },
): JsonObject {
  return boundAnswer(answer, {
    ...how,
    rest: (text) => `read_more(rest_id="${answers.keep(text)}", page=1)`,
  });
}
