import { type Json, type JsonObject, own } from '@phasegate/core';
import type { Question } from '@phasegate/core/engine';
import type { Driving, Step } from './parts.ts';

/** A question with what a human answered; a fresh process knows neither. */
export interface Answered {
  readonly question: string;
  readonly options: readonly string[];
  readonly answer: string;
}

/**
 * The questions asked in this visit of the phase, with their answers, oldest first. The run keeps answers by number;
 * what was asked stands in its history.
 */
export async function answersFor(
  { request, principal }: Driving,
  { run }: Step,
): Promise<readonly Answered[]> {
  if (run.work.answers.length === 0) return [];
  const gate = request.open.as(principal);
  let found: Answered[] = [];
  let asked: readonly Json[] = [];
  for (let after = 0; ; ) {
    const records = await gate.history(run.id, { after, limit: PAGE });
    for (const { event, data } of records) {
      if (event === 'phase_completed') found = [];
      if (event === 'question_asked') asked = listAt(data, 'questions');
      if (event === 'question_answered') found.push(answered(asked, own(data, 'answer')));
    }
    const newest = records.at(-1)?.seq;
    if (records.length < PAGE || newest === undefined) return found;
    after = newest;
  }
}

const PAGE = 1000;

function answered(asked: readonly Json[], answer: Json | undefined): Answered {
  const number = own(answer, 'question');
  const question = typeof number === 'number' ? asked[number - 1] : undefined;
  const text = own(question, 'text');
  return {
    question: typeof text === 'string' ? text : `question ${String(number)}`,
    options: listAt(question, 'options').filter((option) => typeof option === 'string'),
    answer: String(own(answer, 'text') ?? ''),
  };
}

function listAt(value: Json | undefined, key: string): readonly Json[] {
  const list = own(value, key);
  return Array.isArray(list) ? list : [];
}

/** Questions as data, for the one who shows them. */
export function questionsAsData(questions: readonly Question[], run: string): readonly JsonObject[] {
  return questions.map(({ text, options }, index) => ({
    number: index + 1,
    text,
    options,
    how: `phasegate answer ${run} --question ${index + 1} --option LABEL, or --text T`,
  }));
}
