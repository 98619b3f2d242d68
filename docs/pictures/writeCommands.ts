import { writeFileSync } from 'node:fs';
import { commandPictures } from './commandPictures.ts';

for (const [name, picture] of Object.entries(await commandPictures())) {
  writeFileSync(new URL(name, import.meta.url), picture);
  console.log(`wrote docs/pictures/${name}`);
}
