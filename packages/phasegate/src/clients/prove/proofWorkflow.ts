/** The workflow that a proof's run is in: its first phase reads, and may start agents, which may do no more. */
export const PROOF_WORKFLOW = `workflow: phasegate-proof
title: A phase in which nothing may be written
phases:
  LOOK:
    instructions: Look, and change nothing.
    allowed_tools: [read_files, list_files, grep, spawn_agent]
    forbidden_tools: [write_files, bash]
    writes: []
    required_evidence:
      seen: { type: string, description: What was seen }
    next: null
`;
