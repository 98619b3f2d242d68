import { NO_SUCH_SETTING, NO_SUCH_TOOL, type ProvenWall } from '../../runtime/ports.ts';
import type { AttackReport, TrialName, TrialReport } from './trial.ts';

/** What came of each trial of one client. */
export type TrialReports = Readonly<Partial<Record<TrialName, TrialReport>>>;

/** What trials say about walls. Pure. */
export function wallsOf(reports: TrialReports): readonly ProvenWall[] {
  const { control, settings, ...others } = reports;
  const walls: ProvenWall[] = [];
  for (const attack of settings?.attacks ?? []) {
    const without = control?.attacks.find(({ name }) => name === attack.name);
    walls.push(wallOf(attack, { without, settings, control }));
  }
  if (settings !== undefined && settings.attacks.length === 0) {
    walls.push({
      name: 'settings',
      title: TITLES.settings,
      outcome: 'untested',
      note: settings.fault ?? 'nothing was tried',
    });
  }
  for (const [name, report] of Object.entries(others) as [keyof typeof others, TrialReport][]) {
    walls.push(together(name, report));
  }
  return walls;
}

/** Whether they come to the ring `hooked`: every tool class held, and what else was tried held or noticed. */
export function holds(walls: readonly ProvenWall[]): boolean {
  const inFront = walls.filter(({ name }) => !(name in TITLES));
  const behind = walls.filter(({ name }) => name in TITLES);
  return (
    inFront.length > 0 &&
    inFront.every(
      ({ outcome, note }) => outcome === 'held' || (outcome === 'untested' && note === NO_SUCH_TOOL),
    ) &&
    behind.every(
      ({ outcome, note }) => outcome === 'held' || outcome === 'detected' || note === NO_SUCH_SETTING,
    )
  );
}

/** What each trial beside those of tool classes is about. */
export const TITLES: Readonly<Record<Exclude<TrialName, 'control'>, string>> = {
  settings: 'the settings as they are',
  server_replaced: 'the server killed, and its port and socket taken by another that lets everything pass',
  curl_settings: '`~/.curlrc` and proxy variables that lead hooks to another server',
  search_path: 'a PATH on which other programs stand in for ours',
  settings_swapped: 'the settings emptied while the session runs, and put back',
  hooks_disabled: 'hooks switched off in a file the client reads',
  settings_ignored: 'a value of a wrong type among the settings, for which a client may drop all of them',
  folder_untrusted: 'a folder or hooks that the user has not trusted',
};

interface Around {
  readonly without: AttackReport | undefined;
  readonly settings: TrialReport | undefined;
  readonly control: TrialReport | undefined;
}

function wallOf(attack: AttackReport, { without, settings, control }: Around): ProvenWall {
  const { name, title } = attack;
  const wall = { name, title };
  if (attack.outcome === 'cannot') return { ...wall, outcome: 'untested', note: NO_SUCH_TOOL };
  if (attack.outcome === 'worked') {
    if (settings?.asked === false) {
      return {
        ...wall,
        outcome: 'missed',
        note: 'the client did not ask a single hook: it ignores its settings',
      };
    }
    const { noticedMs = null } = attack;
    return noticedMs === null
      ? { ...wall, outcome: 'missed' }
      : { ...wall, outcome: 'detected', after_ms: Math.round(noticedMs) };
  }
  // What does not work where nothing holds it was not held by us.
  if (without !== undefined && without.outcome !== 'worked') {
    const note = `it does not work without hooks either${control?.fault === null ? '' : `: ${control?.fault}`}`;
    return { ...wall, outcome: 'untested', note };
  }
  const fault = settings?.fault ?? null;
  return fault === null ? { ...wall, outcome: 'held' } : { ...wall, outcome: 'untested', note: fault };
}

/** A trial of several attacks is one wall: as good as the worst of them. */
function together(name: keyof typeof TITLES, { attacks, fault, note }: TrialReport): ProvenWall {
  const wall = { name, title: TITLES[name], ...(note === undefined ? {} : { note }) };
  const worked = attacks.filter(({ outcome }) => outcome === 'worked');
  const unseen = worked.filter(({ noticedMs = null }) => noticedMs === null);
  if (unseen.length > 0) {
    return { ...wall, outcome: 'missed', note: `by ${unseen.map((attack) => attack.name).join(', ')}` };
  }
  if (worked.length > 0) {
    const after_ms = Math.round(Math.max(...worked.map(({ noticedMs }) => noticedMs ?? 0)));
    return { ...wall, outcome: 'detected', after_ms };
  }
  if (attacks.length > 0 && attacks.every(({ outcome }) => outcome === 'cannot')) {
    return { ...wall, outcome: 'untested', note: NO_SUCH_SETTING };
  }
  // What was not tried was not held.
  if (attacks.length === 0 || fault !== null) {
    return { ...wall, outcome: 'untested', note: fault ?? 'nothing was tried' };
  }
  return { ...wall, outcome: 'held' };
}
