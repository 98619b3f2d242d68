import { expect, test } from 'vitest';
import { AGENT_PRESETS, presetNamed } from './presets.ts';

const PROGRAM = { command: ['node', 'phasegate.js', 'mcp'], variables: ['PHASEGATE_KEY'] } as const;
const SERVER = { url: 'http://127.0.0.1:8000/mcp', keyVariable: 'PHASEGATE_KEY' };

test.each(AGENT_PRESETS.map((preset) => [preset.name, preset] as const))(
  '%s is started by its own name, with files where it was told and no secret anywhere',
  (name, preset) => {
    for (const mcp of [PROGRAM, SERVER]) {
      const launch = preset.launch({ mcp, files: '/state/GO-1' });
      expect(launch.argv[0]).toBe(name);
      expect(launch.files.every(({ path }) => path.startsWith('/state/GO-1.'))).toBe(true);
    }
    expect(presetNamed(name)).toBe(preset);
  },
);

test('a client that can be told so is given the tools of a program, or of a server with the key by its variable', () => {
  const told = (name: string, mcp: typeof PROGRAM | typeof SERVER) => {
    const { argv, environment, files } = (presetNamed(name) as (typeof AGENT_PRESETS)[number]).launch({
      mcp,
      files: '/s',
    });
    return JSON.stringify([argv, environment, files]).replaceAll('\\', '');
  };
  for (const name of ['claude', 'codex', 'opencode']) {
    expect(told(name, PROGRAM)).toContain('phasegate.js');
    expect(told(name, SERVER)).toContain(SERVER.url);
    expect(told(name, SERVER)).toContain('PHASEGATE_KEY');
  }
});

test('a command is not taken for a client', () => {
  expect(['claude -p', './claude', 'Claude', ''].map(presetNamed)).toEqual(Array(4).fill(undefined));
});
