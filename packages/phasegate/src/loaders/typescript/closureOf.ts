import { createHash } from 'node:crypto';
import { isBuiltin } from 'node:module';
import { relative, resolve, sep } from 'node:path';
import { canonicalJson, type Problem } from '@phasegate/core';
import { readSource, resolveInside } from '../readSource.ts';
import { type AstNode, childOf, nodesOf, type ParsedModule, parseModule } from './parseModule.ts';
import { resolveImport } from './resolveImport.ts';

/** One file of a closure. */
export interface ClosureFile {
  /** Relative to the project, with forward slashes. */
  readonly path: string;
  /** Where it really is. */
  readonly real: string;
  readonly sha256: string;
}

/** A module and every file of the project it imports, directly or not. */
export interface Closure {
  readonly files: readonly ClosureFile[];
  /** SHA-256 over the sorted list of paths and hashes. */
  readonly code: string;
  /** The module itself, where its syntax is right. */
  readonly module: (ParsedModule & { readonly ok: true }) | null;
  readonly problems: readonly Problem[];
}

const MAX_FILES = 500;
const OUR_PACKAGES = ['@phasegate/sdk', '@phasegate/core'];

/** Finds a module's closure by reading, never by running. */
export async function closureOf(root: string, path: string): Promise<Closure> {
  const files: ClosureFile[] = [];
  const problems: Problem[] = [];
  let module: Closure['module'] = null;
  const open = [path];
  const seen = new Set(open);
  for (let next = open.shift(); next !== undefined; next = open.shift()) {
    const [source, inside] = await Promise.all([readSource(root, next), resolveInside(root, next)]);
    if (!source.ok || !inside.ok) {
      if (!source.ok) problems.push({ file: next, severity: 'error', ...source });
      continue;
    }
    files.push({ path: next, real: inside.real, sha256: source.sha256 });
    if (!/\.[mc]?[jt]s$/i.test(next)) continue;
    const parsed = parseModule(next, source.text);
    if (!parsed.ok) {
      const { line, column, message } = parsed;
      problems.push({ file: next, line, column, code: 'syntax', message, severity: 'error' });
      continue;
    }
    if (next === path) module = parsed;
    for (const found of importsOf(parsed.program)) {
      const outcome = judgeImport(root, next, found.specifier);
      if ('code' in outcome) problems.push({ file: next, ...parsed.lines.at(found.at), ...outcome });
      else if (outcome.path !== null && !seen.has(outcome.path) && seen.size < MAX_FILES) {
        seen.add(outcome.path);
        open.push(outcome.path);
      }
    }
  }
  if (seen.size >= MAX_FILES) {
    const message = `\`${path}\` imports more than ${MAX_FILES} files`;
    problems.push({ file: path, line: 1, column: 1, code: 'too_large', message, severity: 'error' });
  }
  files.sort((a, b) => (a.path < b.path ? -1 : 1));
  return { files, code: codeOf(files), module, problems };
}

/** The hash a run remembers the code by. */
export function codeOf(files: readonly { readonly path: string; readonly sha256: string }[]): string {
  const list = files.map((file) => [file.path, file.sha256]);
  return createHash('sha256').update(canonicalJson(list)).digest('hex');
}

/** Every import of a module; one whose name is computed has no specifier. */
function* importsOf(program: AstNode): Generator<{ readonly specifier: string | null; readonly at: number }> {
  for (const node of nodesOf(program)) {
    const isRequire =
      node.type === 'CallExpression' &&
      (childOf(node, 'callee') as { name?: string } | undefined)?.name === 'require';
    if (
      !isRequire &&
      !/^(?:Import(?:Declaration|Expression)|Export(?:All|Named)Declaration)$/.test(node.type)
    )
      continue;
    const argument = isRequire ? (node.arguments as readonly AstNode[])[0] : childOf(node, 'source');
    if (argument === undefined) continue;
    yield { specifier: literalText(argument), at: argument.start };
  }
}

function literalText(node: AstNode): string | null {
  if (node.type === 'Literal' && typeof node.value === 'string') return node.value;
  const quasis = node.quasis as readonly { readonly value: { readonly cooked: string } }[] | undefined;
  return node.type === 'TemplateLiteral' && quasis?.length === 1 ? (quasis[0]?.value.cooked ?? null) : null;
}

type Judged = { readonly path: string | null } | Pick<Problem, 'code' | 'message' | 'severity'>;

/** The file an import leads to, null for what needs no hashing, or what is wrong with it. */
function judgeImport(root: string, importer: string, specifier: string | null): Judged {
  const wrong = (code: string, message: string): Judged => ({ code, message, severity: 'error' });
  if (specifier === null) {
    return wrong(
      'dynamic_import',
      'the name of an import must be plain text, so that its file can be hashed',
    );
  }
  if (/^\.\.?(?:\/|$)/.test(specifier)) {
    const file = resolveImport(resolve(root, importer), specifier);
    if (file === undefined) return wrong('import_unresolved', `\`${specifier}\` is not there`);
    const path = relative(root, file).split(sep).join('/');
    return path.startsWith('../') ? wrong('path_outside', `\`${specifier}\` leaves the project`) : { path };
  }
  if (isBuiltin(specifier) || OUR_PACKAGES.includes(specifier)) return { path: null };
  if (specifier.startsWith('/') || /^[a-z]+:/i.test(specifier)) {
    return wrong('path_outside', `\`${specifier}\` leaves the project; import by a relative path`);
  }
  if (specifier.startsWith('#')) {
    return wrong('import_unresolved', `\`${specifier}\` is an alias; import by a relative path`);
  }
  const message = `\`${specifier}\` is a package; what it does is not part of what a human accepts`;
  return { code: 'package_import', message, severity: 'note' };
}
