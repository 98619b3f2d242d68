import { oneLine } from '@phasegate/core/model';
import { type KeptProof, NO_SUCH_SETTING, NO_SUCH_TOOL, type ProvenWall } from '../../runtime/ports.ts';
import type { ExaminedClient } from '../../settings/examineSettings.ts';
import type { Finding } from './finding.ts';

/** What a proof of a client says about its sessions now, with the settings of the clients that are set up here. */
export function examineProof({ proof, stands }: KeptProof, settings: readonly ExaminedClient[]): Finding {
  const { client, title, version, ring, at } = proof;
  const name = `client ${client}`;
  const when = `${title} ${version}, tried on ${at.slice(0, 10)}`;
  const found = settings.find((one) => one.client === client);
  if (found === undefined) {
    return {
      name,
      status: 'optional',
      message: `${when}: it is not set up here, so nothing holds its sessions`,
    };
  }
  if (!stands) {
    const message = `${when}: the client, its settings or the kernel changed since, so its sessions are \`served\``;
    return { name, status: 'optional', message, next_step: `phasegate doctor --prove --client ${client}` };
  }
  if (ring !== 'served') return { name, status: 'ok', message: `${when}: its sessions are \`${ring}\`` };
  const message = `${when}: \`served\`, as ${whyServed(proof.walls)}`;
  // To try the same again says the same again.
  if (found.problems.length > 0) return { name, status: 'optional', message, next_step: 'phasegate init' };
  return { name, status: 'optional', message };
}

function whyServed(walls: readonly ProvenWall[]): string {
  const missed = walls.filter(({ outcome }) => outcome === 'missed');
  const untried = walls.filter(
    ({ outcome, note }) => outcome === 'untested' && note !== NO_SUCH_TOOL && note !== NO_SUCH_SETTING,
  );
  const late = walls.filter(({ outcome }) => outcome === 'detected');
  const reason = oneLine(untried[0]?.note ?? '').slice(0, LONGEST_REASON);
  const parts = [
    ...(missed.length === 0
      ? []
      : [`these did not hold: ${namesOf(missed)}; another version of the client, or \`run --sandbox\`, may`]),
    ...(untried.length === 0
      ? []
      : [
          `these could not be tried: ${namesOf(untried)} (${reason}); see that the client starts in this folder, then prove it again`,
        ]),
  ];
  return parts.length > 0 ? parts.join('; and ') : `these were noticed only afterwards: ${namesOf(late)}`;
}

const LONGEST_REASON = 200;

function namesOf(walls: readonly ProvenWall[]): string {
  return walls.map(({ name }) => name).join(', ');
}
