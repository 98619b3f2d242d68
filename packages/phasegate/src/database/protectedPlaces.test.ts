import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openLocalProject } from '../localProject.ts';

const BOOKS = `workflow: books
database: { file: data/book.db, migrations: db/migrations }
phases:
  WRITE: { command: "true" }
`;

const NOTES = `workflow: notes
phases:
  NOTE: { allowed_tools: [write_files], writes: ["**"] }
`;

const PROTECTED = [
  'data/book.db',
  'data/book.db-wal',
  'data/book.db-journal',
  'data/Book.DB',
  'data/backups/book-20261116T120000000Z.db',
  'db/migrations/0002-planted.sql',
];

describe.each(['strict', 'permissive'])('in %s mode', (mode) => {
  test.each(PROTECTED)(
    'the agent of another workflow cannot write %s, whatever its scope says [adv.Q5]',
    async (path) => {
      const { root, check, write } = await openNotes(mode);

      expect(await check('notes/a.sql')).toEqual({ allowed: true });
      expect(await check(`./${path}`)).toMatchObject({
        [mode === 'strict' ? 'blockers' : 'wouldRefuse']: [
          { code: 'outside_write_scope', message: expect.stringContaining('database of a workflow') },
        ],
      });
      expect(await write('notes/a.sql')).toBe(true);
      expect(await write(path)).toBe(false);

      expect(existsSync(join(root, path))).toBe(false);
    },
  );
});

/** A run of `notes`, beside one of `books`, and what its agent may write. */
async function openNotes(mode: string) {
  const base = mkdtempSync(join(realpathSync(tmpdir()), 'phasegate-protected-'));
  const root = join(base, 'project');
  mkdirSync(join(root, 'db/migrations'), { recursive: true });
  writeFileSync(join(root, 'books.workflow.yaml'), BOOKS);
  writeFileSync(join(root, 'notes.workflow.yaml'), `${NOTES}enforcement: { mode: ${mode} }\n`);
  const project = await openLocalProject({
    projectDir: root,
    env: { HOME: base, XDG_STATE_HOME: join(base, 'state') },
  });
  const open = await project.open();
  onTestFinished(async () => {
    await open.close();
    rmSync(base, { recursive: true, force: true });
  });
  const ada = { kind: 'agent', name: 'ada' } as const;
  await open.as(ada).start({ workflow: 'books', queue: true });
  await open.as(ada).start({ workflow: 'notes', queue: true, priority: 1 });
  const token = (await open.claims.claim(ada, []))?.token ?? expect.fail('there is nothing to claim');
  const admitted = await open.claims.admit(token);
  const call = (path: string) => ({ tool: 'write_files', input: { path, content: 'text' } });
  return {
    root,
    check: (path: string) => open.toolbox.check(admitted, call(path)),
    async write(path: string) {
      const [done] = await open.toolbox.execute(admitted, [call(path)]);
      return done?.result?.ok ?? false;
    },
  };
}
