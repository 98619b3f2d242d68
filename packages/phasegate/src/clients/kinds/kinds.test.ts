import { expect, test } from 'vitest';
import { CLIENT_NAMES } from '../clientKind.ts';
import { CLIENTS } from './index.ts';

test.each(CLIENT_NAMES)(
  '%s is started with nobody at its side, in a home of its own, by these words',
  (name) => {
    const launch = CLIENTS[name].arrange({
      program: `/bin/${name}`,
      project: '/project',
      home: '/home',
      files: '/files',
      model: 'http://127.0.0.1:1',
      prompt: 'Do it.',
    });

    expect(launch).toMatchSnapshot();
    expect(launch.environment.HOME).toBe('/home');
  },
);

test.each(CLIENT_NAMES)('the model of %s says what every client can do in these words', (name) => {
  const { words } = CLIENTS[name];

  expect([
    words.write('/p/a.txt', 'one\ntwo\n'),
    words.edit('/p/a.txt', 'one', 'three\nfour'),
    words.read("/p/it's.txt"),
    words.shell('echo x > b'),
    words.background('sleep 9'),
    words.subagent('a part'),
    words.join?.('{"agent_id": "one"}'),
    words.mcp('phasegate', 'get_task', { phase: 'PLAN' }),
  ]).toMatchSnapshot();
});
