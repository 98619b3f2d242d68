/** The number of the service that answers for the engine, by MCP. */
export const ENGINE = 1;
/** The number of the service that leads to named hosts. */
export const HOSTS = 2;

/** Where services are found on the loopback of a sandbox, which is nobody else's. */
export const PORTS: Readonly<Record<number, number>> = { [ENGINE]: 4100, [HOSTS]: 4101 };
