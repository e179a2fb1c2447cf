/** A way to the controller on which a push stops half way: its headers are through, and what is pushed is not. */
import { createServer, connect as dial, type Socket } from 'node:net';

export interface HoldingProxy {
  url: string;
  /** Lets what was pushed through. */
  release(): void;
  close(): Promise<void>;
}

const HEAD_END = '\r\n\r\n';

/** Holds the body of each `git-receive-pack` until `release`. */
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
    let turn = Promise.resolve();
    near.on('data', (chunk: Buffer) => {
      turn = turn.then(() => pass(chunk, far));
    });
  });
  async function pass(chunk: Buffer, far: Socket): Promise<void> {
    const end = chunk.indexOf(HEAD_END);
    const pushes = end > 0 && /^POST \S*\/git-receive-pack /.test(chunk.toString('latin1', 0, end));
    if (!pushes) return void far.write(chunk);
    far.write(chunk.subarray(0, end + HEAD_END.length));
    await released;
    far.write(chunk.subarray(end + HEAD_END.length));
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
