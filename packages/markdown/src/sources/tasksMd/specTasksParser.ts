import type { ParsedSource, SourceParser } from '@phasegate/core/ports';
import { parseTasksMd } from './parseTasksMd.ts';
import { readTasksFile } from './readTasksFile.ts';
import { unparsable } from './unparsable.ts';

/** `spec_tasks_parser`: phases and tasks from a spec's `tasks.md`. */
export const specTasksParser: SourceParser = {
  name: 'spec_tasks_parser',
  async parse(root, path) {
    const file = await readTasksFile(root, path);
    const key = `${root}\0${file.path}`;
    const known = parsed.get(key);
    if (known?.files?.[file.path] === file.sha256) return known;
    parsed.delete(key);
    if (file.text.replace(/^\uFEFF/, '').trim() === '') throw unparsable(path, 1, 'it is empty');
    const { phases, warnings } = parseTasksMd(file.text);
    const work = phases.some(({ tasks, validationGate }) => tasks.length + validationGate.length > 0);
    if (!work) {
      const reason =
        phases.length === 0
          ? 'no phase, no task and no checklist was found'
          : `its ${phases.length} phases have neither tasks nor gates`;
      throw unparsable(path, warnings[0]?.line ?? 1, reason);
    }
    const source: ParsedSource = { phases, warnings, files: { [file.path]: file.sha256 } };
    parsed.set(key, source);
    const oldest = parsed.keys().next().value;
    if (parsed.size > MOST && oldest !== undefined) parsed.delete(oldest);
    return source;
  },
};

/** The newest sources as they are now: each is read at every start, and parsed when its bytes changed. */
const parsed = new Map<string, ParsedSource>();
const MOST = 8;
