const ID = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$/;

/** Whether a workflow can have this id: it stands in commands, acceptances and files as it is. */
export function isWorkflowId(id: string): boolean {
  return ID.test(id);
}

/** What is wrong with an id that no workflow can have. */
export function notAnId(id: string): string {
  return `\`${id}\` is not a workflow id: use letters, digits, \`_\`, \`.\` and \`-\``;
}
