/** A proxy by which requests leave a network: it passes on plain HTTP, and tunnels the rest. */
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';

export class ForwardProxy {
  /** `CONNECT host:port` or `GET http://…`, oldest first. */
  readonly asked: string[] = [];
  /** Whom it lets through; everybody where it is left out. */
  user: { name: string; password: string } | undefined;
  /** A status with which it answers everything, instead of passing it on. */
  refuses: number | null = null;
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((incoming, answer) => {
    const status = this.#refusal(incoming.headers['proxy-authorization']);
    this.asked.push(`${incoming.method} ${incoming.url}`);
    if (status !== null) {
      answer.writeHead(status, { 'Proxy-Authenticate': 'Basic realm="proxy"' }).end();
      return;
    }
    const { 'proxy-authorization': _ours, ...headers } = incoming.headers;
    const onward = request(
      new URL(incoming.url ?? ''),
      { method: incoming.method ?? 'GET', headers },
      (reply) => {
        answer.writeHead(reply.statusCode ?? 502, reply.headers);
        reply.pipe(answer);
      },
    );
    onward.on('error', () => answer.destroy());
    incoming.pipe(onward);
  });

  static async start(): Promise<ForwardProxy> {
    const made = new ForwardProxy();
    made.#server.on('connection', (socket: Socket) => made.#keep(socket));
    made.#server.on('connect', (incoming, socket: Socket) => {
      made.asked.push(`CONNECT ${incoming.url}`);
      const status = made.#refusal(incoming.headers['proxy-authorization']);
      if (status !== null) {
        socket.end(
          `HTTP/1.1 ${status} No\r\nProxy-Authenticate: Basic realm="proxy"\r\nContent-Length: 0\r\n\r\n`,
        );
        return;
      }
      const { hostname, port } = new URL(`http://${incoming.url}`);
      const onward = connect(Number(port), hostname, () => {
        socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
        onward.pipe(socket).pipe(onward);
      });
      made.#keep(onward);
      onward.on('error', () => socket.destroy());
      socket.on('error', () => onward.destroy());
    });
    made.#server.listen(0, '127.0.0.1');
    await once(made.#server, 'listening');
    return made;
  }

  get host(): string {
    return `localhost:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
  }

  #refusal(authorization: string | undefined): number | null {
    if (this.refuses !== null) return this.refuses;
    if (!this.user) return null;
    const { name, password } = this.user;
    return authorization === `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}` ? null : 407;
  }
}
