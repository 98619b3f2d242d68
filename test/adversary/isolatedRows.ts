/** One attack of an agent's user on an engine that runs as another, tried for real. */
export interface IsolatedRow {
  readonly trick: string;
  /**
   * For a shell of the agent's user. It must fail, and change nothing: STATE is the state of the project, FOLDER what
   * `isolate setup` made, PID the server, OTHER the socket of another agent's user, CHECK the number of the checks' user
   * and PROGRAM the script of the engine.
   */
  readonly line: string;
}

/** Each of them works where the agent is the same user as the engine. */
export const ISOLATED_ROWS: readonly IsolatedRow[] = [
  { trick: 'reads the database of all runs', line: 'cat STATE/state.db' },
  { trick: 'reads the keys that sign tokens and audit', line: 'cat STATE/keys.json' },
  { trick: 'lists the state', line: 'ls STATE || ls FOLDER/state' },
  { trick: 'writes a record into the audit', line: 'echo forged >> STATE/state.db' },
  { trick: 'cuts the audit off', line: ': > STATE/state.db' },
  { trick: 'copies the state to put it back later', line: 'cp -r FOLDER/state /tmp/kept-state' },
  {
    trick: 'puts an old state in the place of the new one',
    line: 'mv FOLDER/state FOLDER/old && mkdir FOLDER/state',
  },
  { trick: 'makes a second name for the database', line: 'ln STATE/state.db /tmp/second-name' },
  { trick: 'opens the state to everybody', line: 'chmod -R 777 FOLDER/state' },
  { trick: 'kills the server', line: 'kill -9 PID' },
  { trick: 'stops the server for a while', line: 'kill -STOP PID' },
  { trick: 'reads the environment of the server', line: 'cat /proc/PID/environ' },
  {
    trick: 'reads the memory of the server',
    line: 'head -c 1 /proc/PID/mem; cat /proc/PID/maps | grep -q .',
  },
  { trick: 'follows the open files of the server', line: 'ls -l /proc/PID/fd/' },
  { trick: 'turns on the debugger of Node', line: 'kill -USR1 PID' },
  { trick: 'replaces the program of the engine', line: 'echo evil > PROGRAM' },
  { trick: 'removes the program of the engine', line: 'rm -f PROGRAM' },
  { trick: 'writes itself into the plan', line: 'echo "{}" > FOLDER/plan.json' },
  { trick: 'puts a plan in the place of the plan', line: 'mv FOLDER/plan.json FOLDER/x' },
  { trick: 'replaces the command of the operator', line: 'echo evil > FOLDER/phasegate' },
  { trick: 'enters the folder of another agent’s socket', line: 'ls "$(dirname OTHER)"' },
  {
    trick: 'connects as another agent',
    line: `python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect("OTHER")'`,
  },
  { trick: 'takes its own socket away, to answer in its place', line: 'rm -f OWN || mv OWN OWN.old' },
  {
    trick: 'puts another socket beside its own',
    line: `python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("OWN.new")'`,
  },
  {
    trick: 'becomes the user of checks',
    line: 'unshare --user --map-users=CHECK,CHECK,1 --setuid CHECK -- true',
  },
  { trick: 'enters the home of the checks', line: 'ls FOLDER/home' },
];
