/** A way to the controller on which a push stops half way: what it asks for is through, and what is pushed is not. */
import { createServer, connect as dial, type Socket } from 'node:net';

export interface HoldingProxy {
  url: string;
  /** Lets what was pushed through. */
  release(): void;
  close(): Promise<void>;
}

const HEAD_END = '\r\n\r\n';
/** The end of the commands, and the beginning of what they are about: gitprotocol-pack(5). */
const FLUSH = '0000';
const PACK = `${FLUSH}PACK`;

/** Holds the pack of each `git-receive-pack` until `release`. */
export async function startHoldingProxy(target: string): Promise<HoldingProxy> {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const sockets = new Set<Socket>();
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
    return socket;
  };
  const server = createServer((near) => {
    const far = keep(dial(Number(new URL(target).port), '127.0.0.1'));
    keep(near).once('close', () => far.destroy());
    far.pipe(near);
    let turn = Promise.resolve(false);
    near.on('data', (chunk: Buffer) => {
      turn = turn.then((inPush) => pass(chunk, far, inPush));
    });
  });
  /** Answers whether the pack of a push is still to come. */
  async function pass(chunk: Buffer, far: Socket, inPush: boolean): Promise<boolean> {
    const end = chunk.indexOf(HEAD_END);
    const pushes =
      inPush || (end > 0 && /^POST \S*\/git-receive-pack /.test(chunk.toString('latin1', 0, end)));
    const pack = pushes ? chunk.indexOf(PACK) : -1;
    if (pack < 0) {
      far.write(chunk);
      return pushes;
    }
    far.write(chunk.subarray(0, pack + FLUSH.length));
    await released;
    far.write(chunk.subarray(pack + FLUSH.length));
    return false;
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    release,
    async close() {
      release();
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
