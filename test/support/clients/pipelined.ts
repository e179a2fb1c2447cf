/** Many GET requests over few connections, each written before the answer to the one before (RFC 9112, 9.3.2): to reach limits. */
import { once } from 'node:events';
import { connect } from 'node:net';

export interface PipelinedRequest {
  path: string;
  headers?: Readonly<Record<string, string>>;
}

const CONNECTIONS = 8;

/** The statuses of the answers. Fails where a connection ends before all of its requests are answered. */
export async function statusesOf(url: string, requests: readonly PipelinedRequest[]): Promise<number[]> {
  const { hostname, port } = new URL(url);
  const ofConnection = async (mine: readonly PipelinedRequest[]): Promise<number[]> => {
    const socket = connect(Number(port), hostname);
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    // The last one ends the connection, and with it the wait.
    const written = mine.map(({ path, headers = {} }, index) =>
      [
        `GET ${path} HTTP/1.1`,
        `Host: ${hostname}:${port}`,
        ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
        ...(index === mine.length - 1 ? ['Connection: close'] : []),
        '\r\n',
      ].join('\r\n'),
    );
    socket.write(written.join(''));
    await once(socket, 'close');
    // A body ends without a line break, and the next answer begins behind it.
    const statuses = [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
    if (statuses.length !== mine.length)
      throw new Error(`${statuses.length} of ${mine.length} requests were answered`);
    return statuses;
  };
  const shares = Array.from({ length: CONNECTIONS }, (_, n) =>
    requests.filter((_request, index) => index % CONNECTIONS === n),
  );
  return (await Promise.all(shares.filter((mine) => mine.length > 0).map(ofConnection))).flat();
}
