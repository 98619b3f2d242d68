import { mkdirSync, writeFileSync } from 'node:fs';
import { manPage } from './manPage.ts';

const folder = new URL('../../packages/phasegate/man/', import.meta.url);
mkdirSync(folder, { recursive: true });
writeFileSync(new URL('phasegate.1', folder), await manPage());
