import { renameSync } from 'node:fs';

// Lets a name be a folder and a link to elsewhere by turns, as fast as it can, until it is ended.
const [name = '', folder = '', link = ''] = process.argv.slice(2);
for (;;) {
  renameSync(folder, name);
  renameSync(name, folder);
  renameSync(link, name);
  renameSync(name, link);
}
