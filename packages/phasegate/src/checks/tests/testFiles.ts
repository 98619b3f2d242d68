import type { TestCase } from './testReport.ts';

/** Whether a test is one of a file, as far as its runner says where its tests are. */
export function isOfFile({ file }: Pick<TestCase, 'file'>, path: string): boolean {
  if (file === undefined || file === '') return false;
  const place = file.replaceAll('\\', '/').replace(/^(?:\.\/)+/, '');
  if (place === path || place.endsWith(`/${path}`)) return true;
  // pytest names modules and classes: `tests.test_sum.TestSum`.
  const dotted = path.replace(/\.py$/, '').replaceAll('/', '.');
  if (path.endsWith('.py'))
    return `${place}.`.startsWith(`${dotted}.`) || `.${place}.`.includes(`.${dotted}.`);
  // Go names packages, which are folders.
  if (!path.endsWith('_test.go')) return false;
  const folder = path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '';
  return folder === '' ? !place.includes('.go') : place === folder || place.endsWith(`/${folder}`);
}

/** A path as it is in the tree, and not where a copy of it lies. */
export function inTree(text: string, root: string): string {
  return text.startsWith(`${root}/`) ? text.slice(root.length + 1) : text;
}
