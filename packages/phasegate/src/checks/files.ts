import { realpath } from 'node:fs/promises';
import { isJsonObject, type Json, type JsonObject } from '@phasegate/core';
import { LARGEST_FILE } from '@phasegate/core/contract';
import type { CheckImplementation } from '../runtime/ports.ts';
import { FileFinder, type Match } from '../workspace/findFiles.ts';
import { findBeneath, openBeneath } from '../workspace/openBeneath.ts';

const globs = (description: string): JsonObject => ({
  type: 'array',
  minItems: 1,
  items: { type: 'string', minLength: 1, description: 'A path or glob relative to the workspace' },
  description,
});

/** Looks at files of the workspace. Links are never followed: what a link leads to may lie anywhere. */
export const files: CheckImplementation = {
  name: 'files',
  summary: 'files of the workspace exist, are absent, are not empty or contain a text',
  class: 'verified',
  reads: 'workspace',
  parameters: {
    type: 'object',
    additionalProperties: false,
    anyOf: [
      { required: ['exist'] },
      { required: ['absent'] },
      { required: ['contain'] },
      { required: ['non_empty'] },
    ],
    properties: {
      exist: globs('Each must match at least one file or folder'),
      absent: globs('None may match anything'),
      non_empty: globs('Each must match at least one file, and no file it matches may be empty'),
      contain: {
        type: 'array',
        minItems: 1,
        description: 'Texts that must stand in files',
        items: {
          type: 'object',
          additionalProperties: false,
          required: ['path', 'text'],
          properties: {
            path: { type: 'string', minLength: 1, description: 'Path of the file relative to the workspace' },
            text: { type: 'string', minLength: 1, description: 'Text that must stand in it, exactly' },
          },
        },
      },
    },
  },
  async run({ with: parameters, workspace, signal }) {
    const asked = questionsFrom(parameters);
    const root = await realpath(workspace);
    const finder = new FileFinder(root, signal);
    const problems: string[] = [];
    for (const glob of asked.exist) problems.push(...existProblems(glob, await finder.find(glob)));
    for (const glob of asked.absent) problems.push(...absentProblems(glob, await finder.find(glob)));
    for (const glob of asked.nonEmpty)
      problems.push(...(await emptyProblems(root, glob, await finder.find(glob))));
    for (const { path, text } of asked.contain) problems.push(...(await textProblems(root, path, text)));
    if (problems.length > 0) return { passed: false, reason: problems.join('; ') };
    return { passed: true, reason: 'the files are as they must be' };
  },
};

interface Questions {
  readonly exist: readonly string[];
  readonly absent: readonly string[];
  readonly nonEmpty: readonly string[];
  readonly contain: readonly { readonly path: string; readonly text: string }[];
}

function questionsFrom({ exist, absent, non_empty, contain = [] }: JsonObject): Questions {
  if (!Array.isArray(contain)) throw new TypeError('`contain` must be a list');
  const texts = contain.map((item: Json) => {
    if (
      !isJsonObject(item) ||
      typeof item.path !== 'string' ||
      typeof item.text !== 'string' ||
      item.text === ''
    ) {
      throw new TypeError('`contain` must list `path` and `text`');
    }
    return { path: item.path, text: item.text };
  });
  const asked = {
    exist: stringsFrom('exist', exist),
    absent: stringsFrom('absent', absent),
    nonEmpty: stringsFrom('non_empty', non_empty),
    contain: texts,
  };
  if (Object.values(asked).every((list) => list.length === 0)) throw new TypeError('the check asks nothing');
  return asked;
}

function stringsFrom(name: string, value: Json | undefined): readonly string[] {
  if (value === undefined) return [];
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value;
  throw new TypeError(`\`${name}\` must be a list of globs`);
}

function existProblems(glob: string, matches: readonly Match[]): readonly string[] {
  if (matches.some(({ kind }) => kind !== 'link')) return [];
  const link = matches[0];
  if (link === undefined) return [`nothing matches \`${glob}\``];
  return [`nothing matches \`${glob}\` but the link \`${link.path}\`, which is not followed`];
}

function absentProblems(glob: string, matches: readonly Match[]): readonly string[] {
  if (matches.length === 0) return [];
  const named = matches.slice(0, 5).map(({ path }) => `\`${path}\``);
  const more = matches.length > 5 ? ` and ${matches.length - 5} more` : '';
  return [`\`${glob}\` must match nothing, but matches ${named.join(', ')}${more}`];
}

async function emptyProblems(
  root: string,
  glob: string,
  matches: readonly Match[],
): Promise<readonly string[]> {
  const links = matches.filter(({ kind }) => kind === 'link');
  if (links[0] !== undefined) return [`\`${links[0].path}\` is a link, which is not followed`];
  const regular = matches.filter(({ kind }) => kind === 'file');
  if (regular.length === 0) return [`no file matches \`${glob}\``];
  const problems: string[] = [];
  for (const { path } of regular) {
    const found = await findBeneath(root, path);
    if (found.kind !== 'file') problems.push(`\`${path}\` changed while it was looked at`);
    else if (found.stats.size === 0) problems.push(`\`${path}\` is empty`);
  }
  return problems;
}

async function textProblems(root: string, path: string, text: string): Promise<readonly string[]> {
  const { found, file } = await openBeneath(root, path.startsWith('./') ? path.slice(2) : path);
  if (found.kind === 'link')
    return [`\`${path}\` leads through the link \`${found.at}\`, which is not followed`];
  if (found.kind === 'missing') return [`there is no file \`${path}\` in the workspace`];
  if (file === null) return [`\`${path}\` is not a file`];
  try {
    // Read no more than was looked at: the file may grow while we read it.
    if (found.stats.size > LARGEST_FILE) return [`\`${path}\` is larger than ${LARGEST_FILE} bytes`];
    const content = Buffer.alloc(found.stats.size);
    const { bytesRead } = await file.read(content, 0, content.length, 0);
    return content.subarray(0, bytesRead).includes(text) ? [] : [`\`${path}\` does not contain \`${text}\``];
  } finally {
    await file.close();
  }
}
