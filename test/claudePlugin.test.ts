import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const FOLDER = new URL('../integrations/claude-code/', import.meta.url);

test('the marketplace names the plugin that is there, and the plugin starts our tools and nothing else', () => {
  const { plugins } = read('.claude-plugin/marketplace.json');
  const [{ name, source }] = plugins as [{ name: string; source: string }];
  const plugin = (path: string) => `${source}/${path}`;

  expect(plugins).toHaveLength(1);
  expect(read(plugin('.claude-plugin/plugin.json'))).toMatchObject({ name, version: version() });
  expect(read(plugin('.mcp.json'))).toEqual({
    mcpServers: { phasegate: { command: 'phasegate', args: ['mcp'] } },
  });
  for (const file of ['README.md', 'commands/start.md', 'commands/status.md'])
    expect(existsSync(new URL(plugin(file), FOLDER)), file).toBe(true);
});

function read(path: string): Record<string, unknown> {
  return JSON.parse(readFileSync(new URL(path, FOLDER), 'utf8')) as Record<string, unknown>;
}

function version(): unknown {
  return JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version;
}
