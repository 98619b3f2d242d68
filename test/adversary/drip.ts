import { connect } from 'node:net';

// Holds connections by sending a byte of a request at a time, each in time; ends when the server has closed them all.
// A process of its own: anyone else who is at work here must not make it late.
const [port = '', count = '', ...head] = process.argv.slice(2);
const begun = `POST /api/v1/tools/check HTTP/1.1\r\nHost: 127.0.0.1\r\n${head.join('\r\n')}\r\nX: `;

const sockets = Array.from({ length: Number(count) }, () => {
  const socket = connect(Number(port), '127.0.0.1', () => socket.write(begun));
  socket.on('error', () => undefined).resume();
  return socket;
});
const drip = setInterval(() => {
  for (const socket of sockets) if (socket.writable) socket.write('x');
  if (sockets.every(({ closed }) => closed)) clearInterval(drip);
}, 10);
