import { shellWord } from '@phasegate/core/model';
import { type IsolationPlan, placesOf } from './plan.ts';

type Launcher = readonly [node: string, script: string];

/** The command line of the operator: the same program as the engine's user, with its state. */
export function commandText(plan: IsolationPlan, launcher: Launcher): string {
  const user = shellWord(plan.engine.name);
  const kept = ['LANG', 'TERM', 'COLUMNS', 'NO_COLOR'].map((name) => `\${${name}+"${name}=$${name}"}`);
  return [
    '#!/bin/sh',
    `# Runs phasegate as the user ${plan.engine.name}, on the state of ${plan.workspace}. For root.`,
    `cd ${shellWord(plan.workspace)} || exit 1`,
    'umask 0077',
    `exec /usr/bin/setpriv --reuid=${user} --regid=${user} --init-groups \\`,
    `  /usr/bin/env -i ${kept.join(' ')} \\`,
    `  ${environmentOf(plan).map(shellWord).join(' ')} \\`,
    `  ${launcher.map(shellWord).join(' ')} "$@"`,
    '',
  ].join('\n');
}

/** The server for systemd. */
export function unitText(plan: IsolationPlan, [node, script]: Launcher): string {
  return `# Written by \`phasegate isolate setup\`; written again by the next one.
[Unit]
Description=Phasegate, isolated, for ${plan.workspace}
After=network.target

[Service]
User=${plan.engine.name}
Group=${plan.engine.name}
SupplementaryGroups=${plan.group.name}
WorkingDirectory=${plan.workspace}
${environmentOf(plan)
  .map((line) => `Environment="${line}"`)
  .join('\n')}
ExecStart=${node} ${script} serve
TimeoutStopSec=20
Restart=on-failure
UMask=0077
# Programs of checks are started through newuidmap, which root owns: NoNewPrivileges=yes would stop it, and so would
# RestrictNamespaces=yes the sandbox. ProtectHostname, ProtectKernelLogs and ProtectKernelTunables would, too: a sandbox
# has a name and a /proc of its own. CAP_SETUID and CAP_SETGID are for newuidmap; the server itself has none.
CapabilityBoundingSet=CAP_SETUID CAP_SETGID
AmbientCapabilities=
ProtectSystem=strict
ReadWritePaths=${plan.workspace} ${placesOf(plan).state} ${placesOf(plan).home} ${placesOf(plan).sockets}
PrivateTmp=yes
ProtectClock=yes
ProtectKernelModules=yes
LockPersonality=yes
RestrictRealtime=yes

[Install]
WantedBy=multi-user.target
`;
}

function environmentOf(plan: IsolationPlan): readonly string[] {
  const { state } = placesOf(plan);
  return [
    'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    `HOME=${state}`,
    `XDG_STATE_HOME=${state}`,
    `PHASEGATE_ISOLATED=${plan.file}`,
  ];
}
