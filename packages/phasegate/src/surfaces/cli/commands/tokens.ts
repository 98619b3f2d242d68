import type { CliCommand } from '../command.ts';
import { HUMAN_OPTIONS, unlockHuman } from '../unlockHuman.ts';
import { usageError } from '../usage.ts';

/** `phasegate tokens`: the secret phase tokens are signed with. */
export const tokens: CliCommand = {
  usage: ['tokens rotate'],
  details:
    'Makes a new secret for phase tokens. Tokens signed with the one before it are good until they expire, so nobody\n' +
    'is thrown out; rotate twice to end them all. A server that runs takes the new secret up by itself.',
  examples: ['phasegate tokens rotate', 'phasegate tokens rotate --as maria --passphrase-fd 3 3<~/maria.key'],
  options: HUMAN_OPTIONS,
  positionals: ['rotate'],
  async run(invocation) {
    const [action] = invocation.args.positionals as [string];
    if (action !== 'rotate') throw usageError(`\`phasegate tokens\` has no \`${action}\``, 'it has `rotate`');
    if ((invocation.env.ORCHESTRATOR_JWT_SECRET ?? '') !== '') {
      throw usageError(
        'the secret comes from `ORCHESTRATOR_JWT_SECRET`, and is rotated there',
        'put the present secret into ORCHESTRATOR_JWT_SECRET_PREVIOUS and a new one in its place',
      );
    }
    const human = await unlockHuman(invocation, { adminFor: 'rotating the secret of tokens' });
    const { kid } = await (await invocation.project()).rotateTokenSecret();
    await (await invocation.open()).server.note('token_secret_rotated', human.principal, { kid });
    await invocation.out.result({ rotated: true, kid }, () => `phase tokens are now signed with key ${kid}`);
    return 0;
  },
};
