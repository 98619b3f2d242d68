/**
 * What stands in a request in place of a key where an agent is known by the socket it connects through. It is not a
 * secret: anywhere else it opens nothing.
 */
export const SOCKET_KEY = 'pgk_socket';
