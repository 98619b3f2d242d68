import { writeFileSync } from 'node:fs';
import { referencePage } from './referencePage.ts';

writeFileSync(new URL('../../docs/reference/api.md', import.meta.url), referencePage());
