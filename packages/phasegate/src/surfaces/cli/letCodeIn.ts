import type { UnlockedHuman } from '../../runtime/ports.ts';
import type { Invocation } from './command.ts';
import { unlockHuman } from './unlockHuman.ts';

/**
 * Where a human's credential is given, this one command may run code of workflows that nobody accepted: exactly the
 * bytes it says the hash of. Nothing is accepted by it. Gives the human, so that nobody is asked twice.
 */
export async function letCodeIn(invocation: Invocation): Promise<UnlockedHuman | null> {
  const { args, out } = invocation;
  if (args.text('as') === undefined && args.text('passphrase-fd') === undefined) return null;
  // The humans of the project whose files are read, also where a server is named for other commands.
  const human = await unlockHuman({ ...invocation, server: null });
  const told = new Set<string>();
  (await invocation.project()).codeGate.letIn(human, (closure) => {
    if (told.has(closure)) return;
    told.add(closure);
    const { name } = human.principal;
    void out.log(
      `note: code that nobody accepted is run for this one command of ${name}: closure ${closure}`,
    );
  });
  return human;
}
