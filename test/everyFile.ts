import { afterAll } from 'vitest';
import { endFile } from './atEndOfFile.ts';

// Vitest runs this before each file, also where files share a process.
afterAll(endFile);
