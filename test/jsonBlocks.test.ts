import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const GUIDES = readdirSync(join(ROOT, 'docs/guide')).map((name) => `docs/guide/${name}`);
const EXAMPLES = readdirSync(join(ROOT, 'examples')).map((name) => `examples/${name}/README.md`);
const PAGES = ['README.md', ...GUIDES, ...EXAMPLES].filter((page) => existsSync(join(ROOT, page)));
const FENCE = /^```(json\w*)\n([\s\S]*?)^```$/gm;
/** Keys of the files that clients read their servers and hooks from. */
const SETTINGS = /"(?:mcpServers|mcp_servers|mcp|hooks|permissions)"\s*:/;

test.each(PAGES)('%s: what is shown as JSON can be pasted, and settings of clients are JSON', (page) => {
  const text = readFileSync(join(ROOT, page), 'utf8');
  for (const [, language = '', block = ''] of text.matchAll(FENCE)) {
    if (language === 'json') expect(() => JSON.parse(block), `in ${page}:\n${block}`).not.toThrow();
    // A client ignores a whole file that has a comment in it, and does not say so.
    else expect(block, `in ${page}`).not.toMatch(SETTINGS);
  }
});
