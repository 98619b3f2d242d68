import type { ToolImplementation } from '../runtime/ports.ts';
import { readBeneath } from '../workspace/readBeneath.ts';
import { MAX_WRITTEN_BYTES, writeBeneath } from '../workspace/writeBeneath.ts';
import { defineTool, ToolFailure } from './defineTool.ts';
import { PATH } from './schemas.ts';

/** Replaces a text in a file of the workspace; it must stand there exactly, and once unless all are meant. */
export const editFile: ToolImplementation = defineTool({
  name: 'edit_file',
  description: 'Replaces a text in a file by another; the old one must stand there exactly, and only once',
  input: {
    type: 'object',
    additionalProperties: false,
    required: ['path', 'old', 'new'],
    properties: {
      path: PATH,
      old: { type: 'string', minLength: 1, description: 'Text that stands in the file' },
      new: { type: 'string', description: 'Text that takes its place' },
      replace_all: { type: 'boolean', description: 'Replaces every occurrence' },
    },
  },
  async run({ path: given, old, new: replacement, replace_all: all }, context) {
    const { path, content } = await readBeneath(context.workspace, String(given), MAX_WRITTEN_BYTES);
    // Whether a text stands in it says what stands in it.
    if (!context.mayRead(path)) throw new ToolFailure('not_shown', `\`${path}\` is not shown in this phase`);
    const [before, after] = [Buffer.from(String(old)), Buffer.from(String(replacement))];
    const places = placesOf(content, before);
    if (places.length === 0) throw new ToolFailure('no_match', `\`old\` does not stand in \`${path}\``);
    if (places.length > 1 && all !== true) {
      const message = `\`old\` stands in \`${path}\` ${places.length} times; give more of it, or \`replace_all\``;
      throw new ToolFailure('not_unique', message);
    }
    if (content.length + places.length * (after.length - before.length) > MAX_WRITTEN_BYTES) {
      throw new ToolFailure('too_large', `\`${path}\` would be larger than ${MAX_WRITTEN_BYTES} bytes`);
    }
    const written = await writeBeneath({
      root: context.workspace,
      path,
      content: replaced(content, { places, before, after }),
      how: 'replace',
      mayWrite: (real) => context.mayWrite(real),
    });
    return { ok: true, output: { path, bytes: written.bytes, replacements: places.length } };
  },
});

// Bytes, not text: the rest of a file that is not UTF-8 must come out as it went in.
function placesOf(content: Buffer, sought: Buffer): readonly number[] {
  const places: number[] = [];
  for (let at = content.indexOf(sought); at !== -1; at = content.indexOf(sought, at + sought.length)) {
    places.push(at);
  }
  return places;
}

function replaced(
  content: Buffer,
  {
    places,
    before,
    after,
  }: { readonly places: readonly number[]; readonly before: Buffer; readonly after: Buffer },
): Buffer {
  const parts: Buffer[] = [];
  let from = 0;
  for (const at of places) {
    parts.push(content.subarray(from, at), after);
    from = at + before.length;
  }
  return Buffer.concat([...parts, content.subarray(from)]);
}
