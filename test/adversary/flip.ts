import { lstatSync, renameSync, rmSync } from 'node:fs';

// Lets a name be a folder and a link to elsewhere by turns, as fast as it can, until it is ended.
const [name = '', folder = '', link = ''] = process.argv.slice(2);

function move(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch {
    // Anyone who writes to the name while it is nothing makes a folder of it.
    const stats = lstatSync(name, { throwIfNoEntry: false });
    if (stats?.isDirectory() && lstatSync(folder, { throwIfNoEntry: false }))
      rmSync(name, { recursive: true, force: true });
  }
}

for (;;) {
  move(folder, name);
  move(name, folder);
  move(link, name);
  move(name, link);
}
