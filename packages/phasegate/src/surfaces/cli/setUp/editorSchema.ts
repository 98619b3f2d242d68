import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { TemplateFile } from '../../../templates/index.ts';

const LINE = /^# yaml-language-server: \$schema=(\S+)\n/u;

/** The files of a template; the line that tells an editor which schema they have stays only where that schema is. */
export async function withEditorSchema(
  root: string,
  files: readonly TemplateFile[],
): Promise<readonly TemplateFile[]> {
  return Promise.all(
    files.map(async ({ path, text }) => {
      const schema = LINE.exec(text)?.[1];
      if (schema === undefined) return { path, text };
      const found = await stat(join(root, dirname(path), schema)).catch(() => undefined);
      return { path, text: found?.isFile() === true ? text : text.replace(LINE, '') };
    }),
  );
}
