import { dirname } from 'node:path';
import { pidFileOf } from './hookSocket.ts';
import { perlAsking } from './perlAsking.ts';

/** What a hook program is made for; every path is absolute. */
export interface HookProgram {
  readonly client: string;
  readonly version: string;
  readonly root: string;
  readonly socket: string;
  /** `env`, which gives what it starts an environment of its own. */
  readonly env: string;
  /** Asks the server; null where there is none, or it is not known to work there: then `curl` does. */
  readonly perl: string | null;
  /** Null where there is none: then, without Perl, Phasegate itself is started for every event. */
  readonly curl: string | null;
  /** The words that start Phasegate. */
  readonly phasegate: readonly string[];
  /** What Phasegate is started with. */
  readonly environment: Readonly<Record<string, string>>;
}

/** How long a client is to wait for the program, in seconds: longer than the program takes at most. */
export const HOOK_SECONDS = 60;
const START_SECONDS = 15;
const ASK_SECONDS = 20;
/** Longer than any that is real, and short enough for a header; a longer one finds nothing. */
const LONGEST_PATH = 8000;

/**
 * The program that a client runs as its hook, in plain `sh`: it hands the event to the server and prints the answer.
 * INVARIANT: it ends with 0 only after it printed one JSON object of the server's; whatever else happens ends with 2 and
 * a reason on stderr, which every client takes for a refusal. Copilot's model is told no more than the number then: to
 * it the refusal is printed, as an object of its own. Nothing of the client's environment reaches what it starts.
 */
export function hookScript(program: HookProgram): string {
  const { client, version, root, env } = program;
  const asking = askingOf(program);
  return `#!/bin/sh
# Asks Phasegate about what an agent's client is about to do. For ${oneLine(root)}.
# Written by \`phasegate init\` (${version}); \`phasegate init\` renews it, \`phasegate uninit\` removes it.

# A shell may have been given functions by these names, which would stand for the commands.
unset -f printf test kill read 2>/dev/null
client=${client}
# By which settings it was started: the project's, or with \`user\` the user's own.
scope=\${1-project}
run=\${PHASEGATE_RUN-}
line='
'
# Where the client's own shell looks for programs.
path=\${PATH-}

fail() {
  printf '[phasegate] not allowed, because it could not be judged: %.600s\\n' "$1" >&2
${client === 'copilot' || client === 'claude' ? refusalInWords(client) : ''}  exit 2
}

case $run in *[!A-Za-z0-9_-]*) fail 'PHASEGATE_RUN is not the id of a run' ;; esac
case $path in *"$line"*) path=/ ;; esac
test "\${#path}" -le ${LONGEST_PATH} || path=/
case $scope in project | user) ;; *) fail 'the hook is not called as it was written' ;; esac

phasegate() {
  ${word(env)} -i ${Object.entries(program.environment)
    .map(([name, value]) => `${name}=${word(value)} `)
    .join(
      '',
    )}PHASEGATE_RUN="$run" PHASEGATE_CLIENT_PATH="$path" ${program.phasegate.map(word).join(' ')} "$@" --project ${word(root)}
}

${asking === null ? withoutServer() : withServer(program, asking)}
# Clients take what they cannot read for a yes.
case $body in
  '{'*'}') ;;
  *) fail 'the answer is not a JSON object; tell the human to run \`phasegate doctor\`' ;;
esac
printf '%s\\n' "$body" || exit 2
exit 0
`;
}

/** The words that hand stdin to the server and print its answer with the status; null where nothing can. */
function askingOf({ env, perl, curl }: HookProgram): string | null {
  if (perl !== null)
    return `exec ${word(env)} -i ${word(perl)} -f -e ${word(perlAsking(ASK_SECONDS))} "$socket" "$client" "$run" "$scope" "$path" 2>&1`;
  // `-q` comes first, or a .curlrc is read; nothing is asked by way of a proxy.
  return curl === null
    ? null
    : `exec ${word(env)} -i ${word(curl)} -q -sS --noproxy '*' --connect-timeout 2 --max-time ${ASK_SECONDS} --unix-socket "$socket" -H 'content-type: application/json' -H 'expect:' -H "x-phasegate-run: $run" -H "x-phasegate-scope: $scope" -H "x-phasegate-path: $path" --data-binary @- -w '\\n%{http_code}' "http://localhost/api/v1/hooks/$client" 2>&1`;
}

function withServer({ socket }: HookProgram, asking: string): string {
  const folder = dirname(socket);
  return `folder=${word(folder)}
socket=${word(socket)}

alive() {
  test ! -L "$folder" && test -O "$folder" && test -O "$socket" && read -r pid <${word(pidFileOf(socket))} && kill -0 "$pid"
} 2>/dev/null

start() {
  said=$(phasegate up --wait ${START_SECONDS}s 2>&1 >/dev/null </dev/null) ||
    fail "the server is not running and could not be started; tell the human to run \\\`phasegate up\\\`. $said"
}

if ! alive; then
  start
  alive || fail "$folder is not a folder of this user's with the server's socket in it; tell the human to run \\\`phasegate doctor\\\`"
fi
answer=$(${asking})
case $? in
  0) ;;
  7)
    # It was ended a moment ago, and the event has been read already.
    start
    fail 'the server had ended and runs again; repeat the call'
    ;;
  28) fail 'the server did not answer in time; repeat the call, or tell the human to run \`phasegate doctor\`' ;;
  *) fail "the server could not be asked: $answer" ;;
esac
body=\${answer%"$line"*}
test "\${answer##*"$line"}" = 200 || fail "the server answered $answer"
`;
}

/** Copilot runs the hooks of Claude Code's settings, too: then its variable is there. */
function refusalInWords(client: string): string {
  const when = client === 'copilot' ? '' : `  test -n "\${COPILOT_PROJECT_DIR-}" || exit 2\n`;
  return `${when}  left=$(printf '%.600s' "$1")
  reason=
  # What would have to be written otherwise in JSON is left out.
  plain='A-Za-z0-9 .,:;/_=()\`-'
  while test -n "$left"; do
    rest=\${left#?}
    sign=\${left%"$rest"}
    case $sign in [!$plain]) sign=' ' ;; esac
    reason=$reason$sign
    left=$rest
  done
  reason="[phasegate] not allowed, because it could not be judged: $reason"
  printf '{"permissionDecision":"deny","permissionDecisionReason":"%s","decision":"block","reason":"%s","hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"%s"}}\\n' "$reason" "$reason" "$reason" && exit 0
`;
}

function withoutServer(): string {
  return `body=$(phasegate hook "$client" 2>&1) || fail "$body"
`;
}

/** A word that every shell reads as it is. */
export function word(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function oneLine(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?');
}
