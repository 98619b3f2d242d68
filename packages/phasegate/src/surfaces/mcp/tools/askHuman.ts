import { type InputRequiredResult, inputRequired, inputResponse } from '@modelcontextprotocol/server';
import { canonicalJson, isJsonObject, type Json, type JsonObject, own, type RunView } from '@phasegate/core';
import type { Question } from '@phasegate/core/engine';
import { encodeState, encodeSubmitted } from '@phasegate/wire';
import { SESSION_ANSWERS } from '@phasegate/wire/schemas/session';
import { wrongCall } from '../arguments.ts';
import { SESSION } from '../schemas.ts';
import { remember, toldAt, viewOf } from '../session.ts';
import { MCP } from '../spell.ts';
import { type McpTool, MOVING, type ToolCall } from '../tool.ts';

/** `ask_human`: the run waits for answers; where the client has forms, its user is asked at once. */
export const askHuman: McpTool = {
  name: 'ask_human',
  title: 'Ask a human',
  description:
    'Ask one to three questions with two or three options each. The run waits until they are answered. No answer decides a gate.',
  input: {
    session_id: SESSION,
    questions: {
      type: 'array',
      minItems: 1,
      maxItems: 3,
      items: {
        type: 'object',
        properties: {
          text: { type: 'string' },
          options: { type: 'array', items: { type: 'string' }, minItems: 2, maxItems: 3 },
        },
        required: ['text', 'options'],
      },
    },
  },
  required: ['session_id', 'questions'],
  output: SESSION_ANSWERS.ask_human,
  annotations: { ...MOVING, openWorldHint: true },
  async call(args, call) {
    const questions = questionsOf(own(args, 'questions'));
    const view = await viewOf(args, call);
    const { run } = view;
    if (!isAsked(questions, view)) {
      // Answers to what is no longer asked: a human was faster, or nobody ever asked.
      if (call.inputResponses !== undefined) return tell(view, call);
      const submitted = await call.phasegate.submit(run, { kind: 'ask', questions, at: toldAt(call, view) });
      remember(call, submitted.view);
      if (!submitted.verdict.allowed) return { session_id: run, ...encodeSubmitted(submitted, MCP) };
    }
    if (!call.elicits) return tell(await call.phasegate.view(run), call);
    return elicit(questions, run, call);
  },
};

const FORM = 'answers';

/**
 * Asks the client's user, and takes the answers when the call comes back with them. They are recorded as elicited: a
 * hook of the client can give them, so they answer a question and never a gate.
 */
async function elicit(
  questions: readonly Question[],
  run: string,
  call: ToolCall,
): Promise<JsonObject | InputRequiredResult> {
  const { phasegate, inputResponses } = call;
  const response = inputResponse(inputResponses, FORM);
  if (response.kind === 'missing') return formFor(questions);
  if (response.kind === 'elicit' && response.action === 'accept') {
    for (const [index, { options }] of questions.entries()) {
      const text = response.content?.[`answer_${index + 1}`];
      if (typeof text !== 'string' || !options.includes(text)) continue;
      await phasegate.submit(run, { kind: 'answer', question: index + 1, text, elicited: true });
    }
  }
  return tell(await phasegate.view(run), call);
}

function tell(view: RunView, call: ToolCall): JsonObject {
  remember(call, view);
  return encodeState(view, MCP);
}

function formFor(questions: readonly Question[]): InputRequiredResult {
  const properties = Object.fromEntries(
    questions.map(({ text, options }, index) => [
      `answer_${index + 1}`,
      { type: 'string' as const, title: text, enum: [...options] },
    ]),
  );
  const message = questions.map(({ text }) => text).join('\n');
  const requestedSchema = { type: 'object' as const, properties, required: Object.keys(properties) };
  return inputRequired({ inputRequests: { [FORM]: inputRequired.elicit({ message, requestedSchema }) } });
}

function isAsked(questions: readonly Question[], view: RunView): boolean {
  return view.questions.length > 0 && canonicalJson(wire(questions)) === canonicalJson(wire(view.questions));
}

function wire(questions: readonly Question[]): Json {
  return questions.map(({ text, options }) => ({ text, options }));
}

function questionsOf(value: Json | undefined): readonly Question[] {
  const list: readonly Json[] = Array.isArray(value) ? value : value === undefined ? [] : [value];
  return list.map((item, index) => {
    const text = isJsonObject(item) ? (own(item, 'text') ?? own(item, 'question')) : undefined;
    const options = isJsonObject(item) ? own(item, 'options') : undefined;
    if (typeof text === 'string' && isTexts(options)) return { text, options };
    throw wrongCall(`question ${index + 1} is not of the form {"text": "…", "options": ["…", "…"]}`);
  });
}

function isTexts(value: Json | undefined): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}
