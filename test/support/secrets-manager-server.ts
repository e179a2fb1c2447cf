/**
 * AWS Secrets Manager's JSON protocol as its documentation describes it, as far as Headgate uses it. A request must carry
 * a Signature Version 4 whose credential is known; the signature itself is the client's business.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

export const ACCESS_KEY = 'AKIAEXAMPLEOFTEST00';

export class SecretsManagerServer {
  /** A text, or bytes in base64. */
  readonly secrets = new Map<string, string | { binary: string }>();
  readonly requests: { target: string; headers: IncomingMessage['headers']; body: string }[] = [];
  fault: 'none' | 'broken' | 'silent' | 'huge' | 'html' = 'none';
  readonly forbidden = new Set<string>();
  /** Entries that answer with an error of their own. */
  readonly broken = new Map<string, { type: string; message: string }>();
  /** So many requests are answered with ThrottlingException. */
  throttled = 0;
  readonly #server = createServer((request, response) => void this.#take(request, response));

  static async start(): Promise<SecretsManagerServer> {
    const made = new SecretsManagerServer();
    made.#server.listen(0, '127.0.0.1');
    await once(made.#server, 'listening');
    return made;
  }

  get url(): string {
    const address = this.#server.address();
    if (typeof address !== 'object' || address === null) throw new Error('It does not listen.');
    return `http://127.0.0.1:${address.port}`;
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const target = String(request.headers['x-amz-target'] ?? '').replace(/^secretsmanager\./, '');
    this.requests.push({ target, headers: request.headers, body });
    const say = (status: number, answer: object) => {
      response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' });
      response.end(JSON.stringify(answer));
    };
    const refuse = (type: string, message: string, status = 400) =>
      say(status, { __type: type, Message: message, message });
    switch (this.fault) {
      case 'silent':
        return;
      case 'broken': {
        refuse('InternalServiceError', 'An error occurred on the server side.', 500);
        return;
      }
      case 'huge':
        response.writeHead(200, { 'content-type': 'application/x-amz-json-1.1' });
        response.end(`{"SecretString":"${'x'.repeat(2 * 1024 * 1024)}"}`);
        return;
      case 'html':
        response.writeHead(200, { 'content-type': 'text/html' }).end('<html>proxy</html>');
        return;
    }
    const credential =
      /^AWS4-HMAC-SHA256 Credential=([^/]+)\/\d{8}\/eu-central-1\/secretsmanager\/aws4_request, SignedHeaders=[\w;-]+, Signature=[0-9a-f]{64}$/;
    const signedBy = credential.exec(request.headers.authorization ?? '')?.[1];
    if (signedBy !== ACCESS_KEY || !request.headers['x-amz-date']) {
      refuse('UnrecognizedClientException', 'The security token included in the request is invalid.');
      return;
    }
    const input = JSON.parse(body) as Record<string, string>;
    const id = input.SecretId ?? input.Name ?? '';
    if (this.forbidden.has(id)) {
      refuse('AccessDeniedException', `User is not authorized to perform ${target}`);
      return;
    }
    if (this.throttled > 0) {
      this.throttled -= 1;
      refuse('ThrottlingException', 'Rate exceeded');
      return;
    }
    const broken = this.broken.get(id);
    if (broken) {
      refuse(broken.type, broken.message);
      return;
    }
    const known = this.secrets.get(id);
    switch (target) {
      case 'GetSecretValue':
        if (known === undefined) {
          refuse('ResourceNotFoundException', "Secrets Manager can't find it.");
          return;
        }
        {
          say(200, {
            Name: id,
            ...(typeof known === 'string' ? { SecretString: known } : { SecretBinary: known.binary }),
          });
          return;
        }
      case 'CreateSecret':
        if (known !== undefined) {
          refuse('ResourceExistsException', 'The secret already exists.');
          return;
        }
        this.secrets.set(id, input.SecretString ?? '');
        {
          say(200, { Name: id });
          return;
        }
      case 'PutSecretValue':
        if (known === undefined) {
          refuse('ResourceNotFoundException', "Secrets Manager can't find it.");
          return;
        }
        this.secrets.set(id, input.SecretString ?? '');
        {
          say(200, { Name: id });
          return;
        }
      default: {
        refuse('InvalidAction', target);
        return;
      }
    }
  }
}
