import { PhasegateError } from '@phasegate/core';
import { expect, test } from 'vitest';
import { openWith } from './fixtures/agentsAtWork.ts';

const AGENT = { kind: 'agent', name: 'local' } as const;

test('what is refused as it stands takes no turn on the author’s database, whatever else is at work on it', async () => {
  const begun: string[] = [];
  const nothing = async () => undefined;
  const none = async (): Promise<never> => expect.fail('nobody asked for that');
  const it = openWith(
    [{ id: 'WORK', work: { kind: 'handler', ref: 'steps/0' }, fields: [{ name: 'row', type: 'str' }] }],
    {
      workflow: { code: 'c', module: 'm.ts', database: { file: 'books.db' } },
      parts: {
        databases: {
          async begin({ run }) {
            begun.push(run);
            throw new PhasegateError('database_busy', 'another step is at work on it');
          },
          waiting: none,
          drop: nothing,
          recover: nothing,
          backup: none,
          restore: none,
          migrate: none,
          protect: nothing,
          protection: async () => () => false,
        },
      },
    },
  );
  const { view } = await it.project.as(AGENT).start({ workflow: 'tested' });
  const run = view?.run ?? expect.fail('it was not started');
  const submit = (evidence: Record<string, string>) =>
    it.project.as(AGENT).submit(run, { kind: 'complete', phase: 'WORK', evidence });

  expect((await submit({ row: 'x', stranger: 'y' })).verdict).toMatchObject({
    blockers: [{ code: 'undeclared_evidence' }],
  });
  expect((await submit({})).verdict).toMatchObject({ blockers: [{ code: 'incomplete_checkpoint' }] });
  expect(begun).toEqual([]);
  await expect(submit({ row: 'x' })).rejects.toMatchObject({ code: 'database_busy' });
  expect(begun).toEqual([run]);
});
