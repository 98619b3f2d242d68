import type { SourceParser } from '@phasegate/core/ports';
import { parseTasksMd } from './parseTasksMd.ts';
import { readTasksFile } from './readTasksFile.ts';
import { unparsable } from './unparsable.ts';

/** `spec_tasks_parser`: phases and tasks from a spec's `tasks.md`. */
export const specTasksParser: SourceParser = {
  name: 'spec_tasks_parser',
  async parse(root, path) {
    const file = await readTasksFile(root, path);
    if (file.text.replace(/^\uFEFF/, '').trim() === '') throw unparsable(path, 1, 'it is empty');
    const { phases, warnings } = parseTasksMd(file.text);
    const work = phases.some(({ tasks, validation_gate }) => tasks.length + validation_gate.length > 0);
    if (!work) {
      const reason =
        phases.length === 0
          ? 'no phase, no task and no checklist was found'
          : `its ${phases.length} phases have neither tasks nor gates`;
      throw unparsable(path, warnings[0]?.line ?? 1, reason);
    }
    return { phases, warnings, files: { [file.path]: file.sha256 } };
  },
};
