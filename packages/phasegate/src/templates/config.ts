// Comments only, on purpose: an empty config means the defaults, and reading it costs no YAML parser at start-up.
/** The `phasegate.config.yaml` of a fresh project. */
export const configTemplate = `# Phasegate: the settings of this project. Data, never code; an unknown key is an error.
# Everything is at its default until you remove a "#".

# Where else to look for workflows, beside workflows/, .phasegate/workflows/ and this folder.
# workflows: ["tools/**/*.workflow.yaml"]

# The documents that \`phasegate search\` and an agent's search_standards look through.
# docs: ["docs/**/*.md"]

# Where \`phasegate serve\` listens.
# port: 8000
`;
