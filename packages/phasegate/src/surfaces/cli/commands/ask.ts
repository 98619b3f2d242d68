import { isJsonObject, type Json } from '@phasegate/core';
import type { Question } from '@phasegate/core/engine';
import type { CliCommand } from '../command.ts';
import { readJson } from '../evidence.ts';
import { reportRun } from '../reportSubmitted.ts';
import { runOf } from '../runOf.ts';
import { agentOf } from '../unlockHuman.ts';
import { usageError } from '../usage.ts';
import { workedAt } from '../workedAt.ts';

/** `phasegate ask`: an agent's questions to a human. */
export const ask: CliCommand = {
  usage: ['ask [RUN] [FILE|-]'],
  details:
    'Reads one to three questions as JSON, each with two or three options: [{"text": "…", "options": ["…", "…"]}].',
  examples: [
    'echo \'[{"text":"Which database?","options":["SQLite","PostgreSQL"]}]\' | phasegate ask RUN -',
    'phasegate ask RUN questions.json',
  ],
  options: {},
  positionals: ['RUN', '[FILE|-]'],
  runFromEnvironment: true,
  runByDefault: true,
  server: 'used',
  async run(invocation) {
    const { args, out } = invocation;
    const [, source = '-'] = args.positionals as [string, string?];
    const questions = questionsOf(await readJson(source, () => invocation.stdin));
    const agent = await agentOf(invocation);
    const runId = await runOf(invocation, agent, 'held');
    const at = workedAt(invocation.env, runId);
    const gate = (await invocation.reach()).as(agent);
    const submitted = await gate.submit(runId, { kind: 'ask', questions, ...at });
    return reportRun(out, submitted);
  },
};

function questionsOf(value: Json): readonly Question[] {
  const list: readonly Json[] = Array.isArray(value) ? value : [value];
  return list.map((item, index) => {
    const question = isJsonObject(item) ? item : {};
    const { text, options } = question;
    if (typeof text !== 'string' || !isTexts(options)) {
      throw usageError(
        `question ${index + 1} is not of the form \`{"text": "…", "options": ["…", "…"]}\``,
        'see `phasegate ask --help`',
      );
    }
    return { text, options };
  });
}

function isTexts(value: Json | undefined): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}
