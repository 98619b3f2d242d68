import type { ToolImplementation } from '../runtime/ports.ts';
import { bash } from './bash.ts';
import { editFile } from './editFile.ts';
import { git } from './git.ts';
import { grep } from './grep.ts';
import { listFiles } from './listFiles.ts';
import { readFiles } from './readFiles.ts';
import { writeFiles } from './writeFiles.ts';

/** The contract tools that are carried out here; `fetch` and `spawn_agent` are not among them. */
export const TOOLS: readonly ToolImplementation[] = [
  readFiles,
  listFiles,
  grep,
  writeFiles,
  editFile,
  bash,
  git,
];
