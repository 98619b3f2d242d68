import type { Json, JsonObject } from '@phasegate/core';
import { compileGlob, globProblem } from '@phasegate/core/model';
import type { ToolContext, ToolImplementation } from '../runtime/ports.ts';
import type { Match } from '../workspace/findFiles.ts';
import { relativePath } from '../workspace/relativePath.ts';
import { walkBeneath } from '../workspace/walkBeneath.ts';
import { defineTool, ToolFailure } from './defineTool.ts';
import { GLOB, PATH } from './schemas.ts';

/** Lists what is in a folder of the workspace. */
export const listFiles: ToolImplementation = defineTool({
  name: 'list_files',
  description:
    'Lists files and folders of the workspace; does not look inside `.git` and `node_modules` unasked',
  input: {
    type: 'object',
    additionalProperties: false,
    properties: {
      path: { ...PATH, description: 'Folder, relative to the workspace; all of it by default' },
      glob: GLOB,
      depth: { type: 'integer', minimum: 1, maximum: 100, description: 'Levels of folders; all by default' },
      limit: { type: 'integer', minimum: 1, maximum: 5000, description: 'Most entries; 1000 by default' },
    },
  },
  judged: ({ path }) => ({ path: everythingBelow(path) }),
  async run({ path = '.', glob, depth, limit }, context) {
    const most = typeof limit === 'number' ? limit : 1000;
    const matches = typeof glob === 'string' ? matcherOf(glob) : () => true;
    const entries: JsonObject[] = [];
    const walk = walkBeneath({
      root: context.workspace,
      from: String(path),
      depth: typeof depth === 'number' ? depth : Number.POSITIVE_INFINITY,
      limit: MAX_LOOKED_AT,
      signal: context.signal,
    });
    for (;;) {
      const { value, done } = await walk.next();
      if (done === true) return { ok: true, output: { entries, truncated: value === false } };
      if (!matches(value.path) || !mayShow(value, context)) continue;
      if (entries.length === most) return { ok: true, output: { entries, truncated: true } };
      entries.push({ path: value.path, kind: value.kind });
    }
  },
});

/** The most entries one call looks at. */
export const MAX_LOOKED_AT = 50_000;

/** How a folder is put to the engine: as everything below it, so that a rule for its files is the rule for it. */
export function everythingBelow(path: Json | undefined): Json {
  if (path !== undefined && typeof path !== 'string') return path;
  const normal = relativePath(path ?? '.');
  if (normal === null) return path ?? null;
  return normal === '' ? '**' : `${normal}/**`;
}

/** The paths a glob matches; a glob that cannot be read is a failure, not one that matches nothing. */
export function matcherOf(glob: string): (path: string) => boolean {
  const problem = globProblem(glob);
  if (problem !== null) throw new ToolFailure('input_invalid', `\`${glob}\` ${problem}`);
  return compileGlob(glob);
}

/** A folder is asked about as what is below it: rules name files. */
function mayShow({ path, kind }: Match, context: ToolContext): boolean {
  return context.mayRead(kind === 'folder' ? `${path}/**` : path);
}
