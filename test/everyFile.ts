import { configureGlobal } from 'fast-check';
import { afterAll } from 'vitest';
import { endFile } from './atEndOfFile.ts';
import { SEED } from './tier.ts';

if (SEED !== undefined) configureGlobal({ seed: SEED });

// Vitest runs this before each file, also where files share a process.
afterAll(endFile);
