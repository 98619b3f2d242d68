import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { askAll } from './askAll.ts';
import { FIXTURE } from './fixture.ts';

// Asks the present code for every answer about the old state and keeps it. The state itself is never made anew.
const folder = join(FIXTURE, 'answers');
const answers = await askAll();
rmSync(folder, { recursive: true, force: true });
for (const [name, answer] of answers) {
  const file = join(folder, `${name}.json`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(answer, null, 2)}\n`);
}
console.log(`${answers.size} answers are kept in ${folder}`);
