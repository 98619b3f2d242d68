import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Texts of all files below a folder: what an agent would read that is given the workflow whole. */
export function filesOf(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'));
}
