import { expect, test } from 'vitest';
import { ADA, AGENT, complete, phases, started, submit, workflowOf } from './fixtures/walks.ts';
import { over, withCompletion } from './history.ts';
import type { Completion, Run } from './run.ts';
import { checkpointOf } from './scope.ts';
import { artifactsOf, completedPhases, viewFor } from './viewFor.ts';

test('what is told of a run on its way is what is told of one that was just read', () => {
  let run = started(workflowOf(phases(4)));
  for (const count of [21, 22, 23]) {
    const view = viewFor(run, AGENT);
    run = submit(run, complete(run, { function_count: count, ast_command: `python -m ast ${count}` })).run;
    expect(view.completedPhases.length).toBe(completedPhases(run).length - 1);
    const read = JSON.parse(JSON.stringify(run)) as Run;
    expect(viewFor(run, ADA)).toEqual(viewFor(read, ADA));
    expect(artifactsOf(run)).toEqual(artifactsOf(read));
    expect(checkpointOf(run)).toEqual(checkpointOf(read));
  }
});

test('a second view of a run looks at none of its completions, and one after a step at none of those before', () => {
  const run = [1, 2, 3].reduce<Run>(
    (before) => submit(before, complete(before)).run,
    started(workflowOf(phases(9))),
  );
  let looks = 0;
  const get = (list: readonly Completion[], key: string | symbol) => {
    if (/^\d+$/.test(String(key))) looks += 1;
    return Reflect.get(list, key) as unknown;
  };
  const watched = (list: readonly Completion[]) => new Proxy(list, { get });
  const long = { ...run, completions: watched(run.completions) };
  const view = viewFor(long, AGENT);
  expect(looks).toBeGreaterThan(2);

  looks = 0;
  expect(viewFor(long, AGENT)).toEqual(view);
  expect(looks).toBe(0);

  const next = submit(long, complete(long)).run;
  const last = next.completions.length - 1;
  const older = next.completions.map((one, index) => {
    if (index === last) return one;
    return new Proxy(one, { get: (_, key) => expect.fail(`looked at ${String(key)} of ${index}`) });
  });
  // The list is the one that the values are kept with; its parts are those that must not be looked at.
  (next.completions as Completion[]).splice(0, older.length, ...older);
  expect(viewFor(next, AGENT).progress.completed).toBe(4);
});

test('a value over a long history is made once, and carried on without looking at all of it again', () => {
  let looks = 0;
  const count = over<number[]>({
    begin: (like = []) => [...like],
    add(visits, { visit }) {
      looks += 1;
      visits.push(visit);
    },
  });
  const first = started(workflowOf(phases(2)));
  const at = (visit: number) =>
    ({ phase: 1, visit, at: 't', by: 'a', outcome: 'ok', evidence: {} }) as Completion;
  let run: Run = { ...first, completions: [at(1), at(2), at(3)] };
  expect([count(run), count(run), looks]).toEqual([[1, 2, 3], [1, 2, 3], 3]);

  const [one, other] = [withCompletion(run, at(4)), withCompletion(run, at(5))];
  expect([count({ ...run, completions: one }), count({ ...run, completions: other })]).toEqual([
    [1, 2, 3, 4],
    [1, 2, 3, 5],
  ]);
  expect([count(run), looks]).toEqual([[1, 2, 3], 5]);

  run = { ...run, completions: one, workflow: { ...run.workflow } };
  expect([count(run), looks]).toEqual([[1, 2, 3, 4], 9]);
});
