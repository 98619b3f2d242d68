import type { CliCommand, CommandEntry, Invocation } from '../command.ts';
import { COMPLETIONS, isShell } from '../completion/scripts.ts';
import { stateHere } from '../stateHere.ts';
import { LOCAL_AGENT } from '../unlockHuman.ts';
import { usageError } from '../usage.ts';

/** `phasegate completion`: a script that completes commands, options, workflows and runs in a shell. */
export function completionOf(commands: readonly CommandEntry[]): CliCommand {
  return {
    usage: ['completion bash|zsh|fish', 'completion workflows|runs'],
    details: `Load it once in the shell's own start-up file:
  bash  eval "$(phasegate completion bash)"      in ~/.bashrc
  zsh   eval "$(phasegate completion zsh)"       in ~/.zshrc, after compinit
  fish  phasegate completion fish | source       in ~/.config/fish/config.fish
The script asks \`completion workflows\` and \`completion runs\` for names, one on each line. Neither runs the code of a
workflow, and neither makes state in a folder that has none.`,
    examples: ['eval "$(phasegate completion bash)"', 'phasegate completion fish | source'],
    options: {},
    positionals: ['bash|zsh|fish'],
    anywhere: true,
    server: 'ignored',
    async run(invocation) {
      const { args, out } = invocation;
      const [asked = ''] = args.positionals;
      if (asked === 'workflows' || asked === 'runs') {
        const names = asked === 'workflows' ? await workflowNames(invocation) : await runNames(invocation);
        await out.result({ [asked]: names }, () => names.join('\n'));
        return 0;
      }
      if (!isShell(asked)) {
        throw usageError(`there is no completion for \`${asked}\``, 'shells: bash, zsh, fish');
      }
      const script = await COMPLETIONS[asked](commands);
      await out.result({ shell: asked, script }, () => script);
      return 0;
    },
  };
}

/** A name that a shell would split or expand is left out: an agent may have written the file it stands in. */
const PLAIN = /^[\w.:@-]+$/;

async function workflowNames({ project }: Invocation): Promise<readonly string[]> {
  const found = await (await project()).catalog.list();
  return found.map(({ id }) => id).filter((id) => PLAIN.test(id));
}

async function runNames(invocation: Invocation): Promise<readonly string[]> {
  const state = await stateHere(invocation);
  const found = (await state?.as(LOCAL_AGENT).runs({ limit: 100 })) ?? [];
  return found.map(({ run }) => run).filter((run) => PLAIN.test(run));
}
