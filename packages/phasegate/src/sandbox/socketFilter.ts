/**
 * A program for the kernel (classic BPF, read by seccomp) that lets programs make only sockets which their own network
 * holds. Those with a name in the file system answer through read-only mounts too, and those to the host of a virtual
 * machine know no networks: anyone who listens there is outside. Pairs of sockets without a name stay, but for those of
 * datagrams: these can be led elsewhere, to a name in the file system, and all others stay what they are.
 * System calls of another architecture and `io_uring`, which would make sockets unseen, are refused too, and so is
 * taking a descriptor out of another process.
 * Null on an architecture it is not written for.
 */
export function socketFilter(arch: string): Buffer | null {
  const machine = MACHINES[arch];
  if (machine === undefined) return null;
  const { audit, socket, socketpair, most } = machine;
  const words: Instruction[] = [
    [LOAD, 0, 0, ARCH],
    [IF_EQUAL, 1, 0, audit],
    [RETURN, 0, 0, REFUSE],
    [LOAD, 0, 0, NUMBER],
    // The other numbering of x86, where the same calls have other numbers.
    [IF_GREATER, 0, 1, most],
    [RETURN, 0, 0, REFUSE],
    [IF_EQUAL, 4, 0, IO_URING_SETUP],
    [IF_EQUAL, 3, 0, PIDFD_GETFD],
    [IF_EQUAL, 3, 0, socket],
    [IF_EQUAL, 8, 0, socketpair],
    [RETURN, 0, 0, ALLOW],
    [RETURN, 0, 0, REFUSE],
    [LOAD, 0, 0, FIRST_ARGUMENT],
    [IF_EQUAL, 3, 0, AF_INET],
    [IF_EQUAL, 2, 0, AF_INET6],
    [IF_EQUAL, 1, 0, AF_NETLINK],
    [RETURN, 0, 0, REFUSE],
    [RETURN, 0, 0, ALLOW],
    [LOAD, 0, 0, SECOND_ARGUMENT],
    [AND, 0, 0, KIND_OF_SOCKET],
    [IF_EQUAL, 2, 0, SOCK_STREAM],
    [IF_EQUAL, 1, 0, SOCK_SEQPACKET],
    [RETURN, 0, 0, REFUSE],
    [RETURN, 0, 0, ALLOW],
  ];
  const program = Buffer.alloc(words.length * 8);
  for (const [place, [code, whenTrue, whenFalse, value]] of words.entries()) {
    program.writeUInt16LE(code, place * 8);
    program.writeUInt8(whenTrue, place * 8 + 2);
    program.writeUInt8(whenFalse, place * 8 + 3);
    program.writeUInt32LE(value, place * 8 + 4);
  }
  return program;
}

type Instruction = readonly [code: number, whenTrue: number, whenFalse: number, value: number];

const MACHINES: Readonly<Record<string, Machine>> = {
  x64: { audit: 0xc000003e, socket: 41, socketpair: 53, most: 0x3fffffff },
  arm64: { audit: 0xc00000b7, socket: 198, socketpair: 199, most: 0x3fffffff },
};

/** Numbers of one architecture: its own, those of calls, and the largest of a call. */
interface Machine {
  readonly audit: number;
  readonly socket: number;
  readonly socketpair: number;
  readonly most: number;
}

const LOAD = 0x20;
const IF_EQUAL = 0x15;
const IF_GREATER = 0x25;
const AND = 0x54;
const RETURN = 0x06;
const NUMBER = 0;
const ARCH = 4;
const FIRST_ARGUMENT = 16;
const SECOND_ARGUMENT = 24;
const AF_INET = 2;
const AF_INET6 = 10;
/** By which a program asks for its own addresses. */
const AF_NETLINK = 16;
/** The kind of a socket, without what else is said with it. */
const KIND_OF_SOCKET = 0xf;
const SOCK_STREAM = 1;
const SOCK_SEQPACKET = 5;
const IO_URING_SETUP = 425;
const PIDFD_GETFD = 438;
const ALLOW = 0x7fff0000;
/** An error of the call, EPERM. */
const REFUSE = 0x00050001;
