import { isJsonObject, type Json, type JsonObject, own } from '@phasegate/core';
import type { ToolContext, ToolImplementation } from '../runtime/ports.ts';
import { relativePath } from '../workspace/relativePath.ts';
import { deleteBeneath, writeBeneath } from '../workspace/writeBeneath.ts';
import { defineTool, failureOf, ToolFailure } from './defineTool.ts';
import { PATH } from './schemas.ts';

const CONTENT: JsonObject = {
  type: ['string', 'null'],
  description: 'The whole content as text; `null` removes the file',
};

/** Writes files of the workspace: whole, at the end, or away. */
export const writeFiles: ToolImplementation = defineTool({
  name: 'write_files',
  description:
    'Writes files of the workspace, makes missing folders, and removes a file whose content is null',
  input: {
    type: 'object',
    additionalProperties: false,
    oneOf: [{ required: ['path', 'content'] }, { required: ['files'] }],
    properties: {
      path: PATH,
      content: CONTENT,
      append: { type: 'boolean', description: 'Adds to the end of the file instead of replacing it' },
      files: {
        type: 'array',
        minItems: 1,
        maxItems: 100,
        items: {
          type: 'object',
          additionalProperties: false,
          required: ['path', 'content'],
          properties: { path: PATH, content: CONTENT },
        },
      },
    },
  },
  judged({ path, files }) {
    const paths = Array.isArray(files) ? files.map((file: Json) => own(file, 'path') ?? null) : [];
    return { ...(path === undefined ? {} : { path }), ...(files === undefined ? {} : { paths }) };
  },
  async run(input, context) {
    if (typeof input.path === 'string') {
      return { ok: true, output: await put(input, input.append === true, context) };
    }
    if (input.append !== undefined) {
      throw new ToolFailure('input_invalid', '`append` goes with `path`, not with `files`');
    }
    const files = Array.isArray(input.files) ? input.files.filter(isJsonObject) : [];
    // All or nothing as far as it can be known beforehand: no file is written when one of them may not be.
    for (const { path } of files) demandWritable(String(path), context);
    return putAll(files, context);
  },
});

async function putAll(files: readonly JsonObject[], context: ToolContext) {
  const done: JsonObject[] = [];
  for (const file of files) {
    context.signal.throwIfAborted();
    try {
      done.push(await put(file, false, context));
    } catch (error) {
      const known = failureOf(error);
      if (known === null) throw error;
      return { ok: false, output: { ...known, path: file.path ?? null, files: done } };
    }
  }
  return { ok: true, output: { files: done } };
}

function demandWritable(given: string, context: ToolContext): void {
  const path = relativePath(given);
  if (path === null || path === '') {
    throw new ToolFailure('path_outside', `\`${given}\` is not a path inside the workspace`);
  }
  if (!context.mayWrite(path)) {
    throw new ToolFailure('outside_write_scope', `\`${path}\` may not be written in this phase`);
  }
}

async function put(
  { path, content }: JsonObject,
  append: boolean,
  context: ToolContext,
): Promise<JsonObject> {
  const where = {
    root: context.workspace,
    path: String(path),
    mayWrite: (real: string) => context.mayWrite(real),
  };
  if (typeof content !== 'string') return { path: await deleteBeneath(where), deleted: true };
  if (!content.isWellFormed()) throw new ToolFailure('input_invalid', '`content` is not valid Unicode');
  const how = append ? 'append' : 'replace';
  return { ...(await writeBeneath({ ...where, content: Buffer.from(content), how })) };
}
