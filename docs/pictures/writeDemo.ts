import { writeFileSync } from 'node:fs';
import { runDemo } from '../../examples/tdd/runDemo.ts';
import { demoPicture } from './demoPicture.ts';

const { code, text } = await runDemo({ LANG: 'C.UTF-8', FORCE_COLOR: '1' });
if (code !== 0) throw new Error(`the demo ended with ${code}`);
writeFileSync(new URL('demo.svg', import.meta.url), demoPicture(text));
console.log('wrote docs/pictures/demo.svg');
