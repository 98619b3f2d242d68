/** How the address of a database begins that several machines can share. */
export const POSTGRES_URL: RegExp = /^postgres(?:ql)?:\/\//;
