import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isJsonObject, type JsonObject, own } from '@phasegate/core';
import { reasonOf } from '@phasegate/core/model';
import { readRegularIfAny } from '../../../files/readRegular.ts';
import type { LayoutName } from '../../../templates/index.ts';

/** A command that runs the tests of a project, and the file that says so. */
export interface FoundTests {
  readonly command: string;
  readonly from: string;
  readonly layout: LayoutName;
}

/** Every command with which the files of a project say they are tested, the likeliest first. */
export async function findTests(root: string): Promise<readonly FoundTests[]> {
  const found = await Promise.all([
    fromPackage(root),
    fromPyproject(root),
    fromFile(root, 'go.mod', { command: 'go test ./...', layout: 'go' }),
    fromFile(root, 'Cargo.toml', { command: 'cargo test', layout: 'rust' }),
    fromMakefile(root),
  ]);
  return found.filter((tests) => tests !== null);
}

/** Which kind of project it is, where the command was named by hand. */
export async function layoutOf(root: string): Promise<LayoutName> {
  if ((await textOf(root, 'package.json')) !== null) return nodeKind(root);
  const marks: readonly (readonly [string, LayoutName])[] = [
    ['pyproject.toml', 'python'],
    ['go.mod', 'go'],
    ['Cargo.toml', 'rust'],
  ];
  for (const [file, layout] of marks) if ((await textOf(root, file)) !== null) return layout;
  return 'other';
}

/** Folders of code that are there beside those every project of the kind may have. */
export async function codeFolders(root: string, layout: LayoutName): Promise<readonly string[]> {
  const isNode = layout === 'javascript' || layout === 'typescript';
  if (!isNode && layout !== 'python') return [];
  const entries = await readdir(root, { withFileTypes: true }).catch(() => []);
  const folders = entries.filter((entry) => entry.isDirectory() && /^[A-Za-z]\w*$/u.test(entry.name));
  const found: string[] = [];
  for (const { name } of folders.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    if (/^(?:src|lib|tests?)$/u.test(name)) continue;
    const isCode = isNode ? name === 'app' : await exists(join(root, name, '__init__.py'));
    if (isCode) found.push(name);
  }
  return found;
}

/** What `npm init` writes where nobody named a test. */
const NO_TEST = /no test specified/u;

async function fromPackage(root: string): Promise<FoundTests | null> {
  const text = await textOf(root, 'package.json');
  const script = text === null ? undefined : own(own(jsonOf(text), 'scripts'), 'test');
  if (typeof script !== 'string' || script.trim() === '' || NO_TEST.test(script)) return null;
  return {
    command: `${await packageManager(root)} test`,
    from: 'package.json',
    layout: await nodeKind(root),
  };
}

/**
 * The script of `package.json` that a command line names and that is not in it; null where it is, or where the words may
 * mean another package.
 */
export async function missingScript(root: string, words: readonly string[]): Promise<string | null> {
  const [program = '', verb = '', named] = words;
  if (!['npm', 'pnpm', 'yarn'].includes(program) || words.some((word) => word.startsWith('-'))) return null;
  const script = ['run', 'run-script'].includes(verb) ? named : verb === 'test' ? verb : undefined;
  if (script === undefined) return null;
  const text = await textOf(root, 'package.json');
  // Without one, the package is a folder above, or is to come.
  if (text === null) return null;
  const scripts = own(jsonOf(text), 'scripts');
  return typeof own(scripts, script) === 'string' ? null : script;
}

async function nodeKind(root: string): Promise<LayoutName> {
  return (await exists(join(root, 'tsconfig.json'))) ? 'typescript' : 'javascript';
}

async function packageManager(root: string): Promise<string> {
  if (await exists(join(root, 'pnpm-lock.yaml'))) return 'pnpm';
  return (await exists(join(root, 'yarn.lock'))) ? 'yarn' : 'npm';
}

async function fromPyproject(root: string): Promise<FoundTests | null> {
  const text = await textOf(root, 'pyproject.toml');
  if (text === null) return null;
  const says = (command: string): FoundTests => ({ command, from: 'pyproject.toml', layout: 'python' });
  if (/\bpytest\b/u.test(text)) {
    if (await exists(join(root, 'uv.lock'))) return says('uv run pytest');
    return says((await exists(join(root, 'poetry.lock'))) ? 'poetry run pytest' : 'pytest');
  }
  const hasTests = (await exists(join(root, 'tests'))) || (await exists(join(root, 'test')));
  return hasTests ? says('python3 -m unittest') : null;
}

async function fromMakefile(root: string): Promise<FoundTests | null> {
  const text = await textOf(root, 'Makefile');
  const target = ['test', 'check'].find((name) => new RegExp(`^${name}\\s*:(?!=)`, 'mu').test(text ?? ''));
  if (target === undefined) return null;
  return { command: `make ${target}`, from: 'Makefile', layout: await layoutOf(root) };
}

async function fromFile(
  root: string,
  from: string,
  tests: Pick<FoundTests, 'command' | 'layout'>,
): Promise<FoundTests | null> {
  return (await textOf(root, from)) === null ? null : { ...tests, from };
}

/** Why nothing can be told of `package.json`; null where it can be read, or there is none. */
export async function brokenPackage(root: string): Promise<string | null> {
  const text = await textOf(root, 'package.json');
  const read = text === null ? {} : parsed(text);
  return typeof read === 'string' ? `\`package.json\` cannot be read: ${read}` : null;
}

function jsonOf(text: string): JsonObject {
  const read = parsed(text);
  return typeof read === 'string' ? {} : read;
}

/** The object, or why it is none. */
function parsed(text: string): JsonObject | string {
  try {
    const value: unknown = JSON.parse(text.replace(/^\ufeff/u, ''));
    return isJsonObject(value) ? value : 'it is not a JSON object';
  } catch (error) {
    return `it is not JSON: ${reasonOf(error)}`;
  }
}

/** Larger than any file that says how tests are run. */
const LARGEST_MANIFEST = 4 * 1024 * 1024;

async function textOf(root: string, file: string): Promise<string | null> {
  return (
    readRegularIfAny(join(root, file), { most: LARGEST_MANIFEST, links: 'follow' })?.toString('utf8') ?? null
  );
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}
