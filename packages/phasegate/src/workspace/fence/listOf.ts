import { type Dirent, readdirSync } from 'node:fs';

/** What is in a folder; null where it cannot be listed. */
export function listOf(folder: string): readonly Dirent[] | null {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    // Gone since, or never there: that shows by the paths that are missing.
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' || code === 'ENOTDIR' ? [] : null;
  }
}
