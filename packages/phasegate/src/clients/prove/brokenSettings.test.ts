import { guardOf, isClientSettings } from '@phasegate/core/model';
import { expect, test } from 'vitest';
import { CLIENT_NAMES } from '../clientKind.ts';
import { disabledBy, withWrongValue } from './brokenSettings.ts';
import { SETTINGS_FILES } from './settingsFiles.ts';

test.each(CLIENT_NAMES)('a wrong value in the settings of %s leaves the rest as it is', (name) => {
  const broken = JSON.parse(withWrongValue(name, '{ "hooks": { "one": [] } }')) as object;

  expect(broken).toMatchObject({ hooks: { one: [] } });
  expect(Object.keys(broken)).toHaveLength(2);
});

test('hooks are switched off in files of the project or the home, and in none for opencode', () => {
  expect(CLIENT_NAMES.filter((name) => disabledBy(name).length === 0)).toEqual(['opencode']);
  for (const { path } of CLIENT_NAMES.flatMap(disabledBy)) expect(path).toMatch(/^(?:~\/)?\.\w+\//);
});

test.each(CLIENT_NAMES)('every file of a project that %s takes settings from is guarded [adv.C3]', (name) => {
  const switches = disabledBy(name).map(({ path }) => path.replace('~/', ''));
  for (const path of [...SETTINGS_FILES[name].project, ...switches]) {
    const names = [path, `${path}/x.json`].filter((one) => guardOf(one) === 'own' && isClientSettings(one));
    expect(names, path).not.toEqual([]);
  }
});
