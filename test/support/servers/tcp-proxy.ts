/** Stands between a client and Postgres: hangs without a word, hangs up, or passes on. */
import { connect, createServer, type Socket } from 'node:net';

export interface TcpProxy {
  /** The address of the target, by way of here. */
  url: string;
  /** Holds back what comes either way, of connections that say `text` in their first bytes; of all without it. */
  hang(text?: string): void;
  /** Passes on what was held back, and everything from now on. */
  heal(): void;
  /** Hangs up on the next so many connections at their first bytes. */
  refuse(count: number): void;
  /** Ends all connections. */
  cut(): void;
  /** Connections that are open. */
  count(): number;
  /** Bytes that have come from the target. */
  received(): number;
  close(): Promise<void>;
}

interface Pair {
  near: Socket;
  far: Socket;
  /** What the client said first. */
  hello: string;
}

export async function startTcpProxy(targetUrl: string): Promise<TcpProxy> {
  const target = new URL(targetUrl);
  const pairs = new Set<Pair>();
  let hanging: string | null = null;
  let refusing = 0;
  let received = 0;

  const hangs = (pair: Pair) => hanging !== null && pair.hello.includes(hanging);
  function pass(pair: Pair): void {
    for (const socket of [pair.near, pair.far]) {
      if (hangs(pair)) socket.pause();
      else socket.resume();
    }
  }

  const server = createServer((near) => {
    near.on('error', () => {});
    if (refusing > 0) {
      refusing -= 1;
      near.once('data', () => near.end());
      return;
    }
    const far = connect(Number(target.port), target.hostname);
    far.on('error', () => {});
    const pair: Pair = { near, far, hello: '' };
    pairs.add(pair);
    near.on('data', (chunk: Buffer) => {
      if (pair.hello === '') pair.hello = chunk.toString('latin1');
      far.write(chunk);
      pass(pair);
    });
    far.on('data', (chunk: Buffer) => {
      received += chunk.length;
      near.write(chunk);
    });
    near.on('close', () => {
      pairs.delete(pair);
      far.destroy();
    });
    far.on('close', () => near.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const url = new URL(targetUrl);
  url.port = String(typeof address === 'object' && address ? address.port : 0);
  const cut = () => {
    for (const { near, far } of pairs) for (const socket of [near, far]) socket.destroy();
  };
  return {
    url: url.href,
    hang(text = '') {
      hanging = text;
      for (const pair of pairs) pass(pair);
    },
    heal() {
      hanging = null;
      for (const pair of pairs) pass(pair);
    },
    refuse(count) {
      refusing = count;
    },
    cut,
    count: () => pairs.size,
    received: () => received,
    async close() {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
