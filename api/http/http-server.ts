/**
 * Node's HTTP server with limits that hold before anything of ours looks at a request: how long its head and body may take
 * and how large the head may be. What breaks them is answered in the form of all other refusals.
 */
import { createServer, type IncomingMessage, type Server, ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { codeOfStatus } from '../../schemas/api/error-codes.ts';

export interface HttpLimits {
  /** The request line and all headers, bytes. */
  headBytes: number;
  /** From a request's first byte to the end of its head. */
  headMs: number;
  /** From a request's first byte to its last. Pushes of git may be long, and have a deadline of their own. */
  requestMs: number;
  /** How often connections are looked through for those that take too long. */
  checkMs: number;
}

export const HTTP_LIMITS: HttpLimits = {
  headBytes: 16 * 1024,
  headMs: 20_000,
  requestMs: 60_000,
  checkMs: 5_000,
};
/** Longer than the proxies in front commonly keep theirs: who closes first must not be the server. */
const IDLE_MS = 75_000;
const HEADERS = 100;
const LONG_REQUESTS = '/git/';
const LONG_REQUEST_MS = 15 * 60_000;
/** How long what a client still sends is read and dropped after the last answer, so that it comes to read that answer. */
const LINGER_MS = 2_000;

export function createHttpServer(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  limits: HttpLimits = HTTP_LIMITS,
): Server {
  /** Connections with a request under way that may take long. */
  const patient = new WeakSet<Socket>();
  const server: Server = createServer(
    {
      maxHeaderSize: limits.headBytes,
      headersTimeout: limits.headMs,
      requestTimeout: limits.requestMs,
      connectionsCheckingInterval: limits.checkMs,
      keepAliveTimeout: IDLE_MS,
      ServerResponse: closingResponse(() => server.listening),
    },
    (request, response) => {
      if (request.url?.startsWith(LONG_REQUESTS)) wait(request, response);
      answer(request, response);
    },
  );
  server.maxHeadersCount = HEADERS;

  function wait({ socket }: IncomingMessage, response: ServerResponse): void {
    patient.add(socket);
    const deadline = setTimeout(() => socket.destroy(), LONG_REQUEST_MS);
    response.once('close', () => {
      clearTimeout(deadline);
      patient.delete(socket);
    });
  }

  server.on('clientError', (error: Error & { code?: string }, socket: Socket) => {
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && patient.has(socket)) return;
    if (hasEnded(error)) return void socket.destroy();
    if (lingering.has(socket)) return;
    refuse(error.code, socket);
  });
  return server;
}

/**
 * A response that says where no other request is to follow on its connection (RFC 9112, 9.6). A class: V8 places a function
 * that is written as the value of a property among its old objects, and all that it refers to follows, here each request with
 * its body.
 */
const closingResponse = (isListening: () => boolean) =>
  class extends ServerResponse<IncomingMessage> {
    override writeHead(...head: unknown[]): this {
      const isUnread = leavesBody(this.req);
      if (isUnread || !isListening()) this.setHeader('Connection', 'close');
      if (isUnread) linger(this.req.socket);
      return super.writeHead(...(head as Parameters<ServerResponse['writeHead']>));
    }
  };

/** The client has ended the connection within a request: nobody is left to answer. */
const hasEnded = ({ code }: { code?: string }) =>
  code === 'HPE_INVALID_EOF_STATE' || code === 'ECONNRESET' || code === 'EPIPE';

/** Whether a part of the request's body is still to come. */
function leavesBody({ headers, complete }: IncomingMessage): boolean {
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  return hasBody && !complete;
}

/** Connections whose last answer is on its way. What still comes in on them is no request. */
const lingering = new WeakSet<Socket>();

/**
 * Ends our side of the connection once the answer is out and reads on for a while. A socket that is closed with unread bytes
 * is reset, and the reset may take the answer along before the client has read it (RFC 9112, 9.6).
 */
function linger(socket: Socket): void {
  lingering.add(socket);
  socket.destroySoon = () => {
    socket.end();
    socket.resume();
    const force = setTimeout(() => socket.destroy(), LINGER_MS);
    socket.once('close', () => clearTimeout(force));
  };
}

const REFUSALS: Record<string, { status: number; message: string }> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    message: 'The address and the headers are too long; shorten them',
  },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: {
    status: 413,
    message: 'The chunk extensions are too long; leave them out',
  },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, message: 'The request took too long to arrive; send it again' },
};
const MALFORMED = { status: 400, message: 'This is no HTTP request that can be read' };

function refuse(code: string | undefined, socket: Socket): void {
  const { status, message } = REFUSALS[code ?? ''] ?? MALFORMED;
  // Into the middle of another answer nothing may be written.
  const { _httpMessage: under } = socket as { _httpMessage?: ServerResponse };
  if (code === 'ECONNRESET' || !socket.writable || under?.headersSent) {
    socket.destroy();
    return;
  }
  const body = JSON.stringify({ error: message, code: codeOfStatus(status) });
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    'X-Content-Type-Options: nosniff',
    'Connection: close',
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
  linger(socket);
  socket.destroySoon();
}
