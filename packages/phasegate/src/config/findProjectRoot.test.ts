import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findProjectRoot } from './findProjectRoot.ts';

test.each(['phasegate.config.json', 'phasegate.config.yaml', 'agent_workflow.yaml'])(
  'the nearest folder upward with %s is the project',
  (mark) => {
    const { root, deep } = tree();
    writeFileSync(join(root, mark), '');

    expect(findProjectRoot(deep)).toBe(root);
  },
);

test('the nearest project wins over one further up', () => {
  const { root, deep } = tree();
  writeFileSync(join(root, 'agent_workflow.yaml'), '');
  mkdirSync(join(root, 'a', '.phasegate'));

  expect(findProjectRoot(deep)).toBe(join(root, 'a'));
});

test('where there is none, the folder itself is the project', () => {
  const { deep } = tree();

  expect(findProjectRoot(deep)).toBe(deep);
});

function tree(): { readonly root: string; readonly deep: string } {
  const root = mkdtempSync(join(realpathSync(tmpdir()), 'phasegate-root-'));
  const deep = join(root, 'a', 'b');
  mkdirSync(deep, { recursive: true });
  return { root, deep };
}
