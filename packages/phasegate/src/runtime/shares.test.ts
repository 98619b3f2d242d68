import { expect, test } from 'vitest';
import { openMemoryProject } from './fixtures/openMemoryProject.ts';
import { working } from './fixtures/workingRun.ts';
import type { ToolImplementation } from './ports.ts';

test('an agent has four starts under way at a time, and no other agent waits for them [adv.O5]', async () => {
  const hanging = gate();
  const { project, parts } = openMemoryProject({ id: 'errand', phases: [{ id: 'GO', name: 'Go' }] });
  const slow = openMemoryProject(
    { id: 'errand', phases: [{ id: 'GO', name: 'Go' }] },
    {
      parts: {
        store: parts.store,
        catalog: { ...parts.catalog, load: (...asked) => hanging.pass(() => parts.catalog.load(...asked)) },
      },
    },
  );
  const start = (of: typeof project, name: string) =>
    of.as({ kind: 'agent', name }).start({ workflow: 'errand' });

  const started = Array.from({ length: 68 }, () => start(slow.project, 'ada'));
  await expect(start(slow.project, 'ada')).rejects.toMatchObject({
    code: 'rate_limited',
    message: '`ada` has too many starts under way',
  });
  expect((await start(project, 'bob')).verdict).toEqual({ allowed: true });

  await expect.poll(hanging.inside).toBe(4);
  hanging.open();
  for (const { verdict } of await Promise.all(started)) expect(verdict).toEqual({ allowed: true });
  expect(hanging.most()).toBe(4);
});

test('a start that is decided keeps no other of the same agent from being decided while it is written', async () => {
  const hanging = gate();
  const { parts } = openMemoryProject({ id: 'errand', phases: [{ id: 'GO', name: 'Go' }] });
  const { store } = parts;
  const { project } = openMemoryProject(
    { id: 'errand', phases: [{ id: 'GO', name: 'Go' }] },
    {
      parts: {
        store: {
          ...store,
          countHeld: async () => 988,
          create: (...asked) => hanging.pass(() => store.create(...asked)),
        },
      },
    },
  );
  const ada = project.as({ kind: 'agent', name: 'ada' });

  const started = Array.from({ length: 12 }, () => ada.start({ workflow: 'errand' }));
  await expect.poll(hanging.inside).toBe(12);
  // They count as if they were there.
  await expect(ada.start({ workflow: 'errand' })).rejects.toMatchObject({ code: 'rate_limited' });
  hanging.open();
  for (const { verdict } of await Promise.all(started)) expect(verdict).toEqual({ allowed: true });
});

test('an agent has eight tool calls under way at a time [adv.O5]', async () => {
  const hanging = gate();
  const slow: ToolImplementation = {
    name: 'mcp:own/slow',
    description: 'takes its time',
    input: { type: 'object' },
    run: () => hanging.pass(async () => ({ ok: true, output: 'done' })),
  };
  const { execute } = await working({ allowedTools: ['mcp:own/*'] }, [slow]);
  const call = () => execute([{ tool: slow.name, input: {} }]);

  const called = Array.from({ length: 72 }, call);
  await expect(call()).rejects.toMatchObject({
    code: 'rate_limited',
    message: '`ada` has too many tool calls under way',
  });

  await expect.poll(hanging.inside).toBe(8);
  hanging.open();
  for (const [done] of await Promise.all(called)) expect(done?.result).toMatchObject({ ok: true });
  expect(hanging.most()).toBe(8);
});

/** Holds up whatever comes until it is opened, and counts. */
function gate() {
  const opened = Promise.withResolvers<void>();
  let inside = 0;
  let most = 0;
  return {
    inside: () => inside,
    most: () => most,
    open: () => opened.resolve(),
    async pass<T>(act: () => Promise<T>): Promise<T> {
      inside += 1;
      most = Math.max(most, inside);
      await opened.promise;
      try {
        return await act();
      } finally {
        inside -= 1;
      }
    },
  };
}
