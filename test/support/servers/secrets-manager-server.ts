/**
 * AWS Secrets Manager's JSON protocol as its documentation describes it, as far as Headgate uses it. A request must carry
 * a Signature Version 4 whose credential is known; the signature itself is the client's business.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { useEach } from '../harness/use.ts';

export const ACCESS_KEY = 'AKIAEXAMPLEOFTEST00';

export class SecretsManagerServer {
  /** A text, or bytes in base64. */
  readonly secrets = new Map<string, string | { binary: string }>();
  /** By name: other versions, by id or stage. */
  readonly versions = new Map<string, Record<string, string>>();
  readonly requests: { target: string; headers: IncomingMessage['headers']; body: string }[] = [];
  fault: 'none' | 'broken' | 'silent' | 'huge' | 'html' = 'none';
  readonly forbidden = new Set<string>();
  /** Access keys that are known: those that roles give come to them. */
  readonly keys = new Set([ACCESS_KEY]);
  /** Of the role that may be taken on; null where it asks for none. */
  externalId: string | null = null;
  /** Whether several may be read at once. */
  allowsBatch = true;
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
        if (/(?:^|&)Action=/.test(body)) stsError(response, 500, 'InternalServiceError', 'It is not well.');
        else refuse('InternalServiceError', 'An error occurred on the server side.', 500);
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
      /^AWS4-HMAC-SHA256 Credential=([^/]+)\/\d{8}\/eu-central-1\/(?:secretsmanager|sts)\/aws4_request, SignedHeaders=[\w;-]+, Signature=[0-9a-f]{64}$/;
    const signedBy = credential.exec(request.headers.authorization ?? '')?.[1];
    if (!this.keys.has(signedBy ?? '') || !request.headers['x-amz-date']) {
      if (/(?:^|&)Action=/.test(body)) {
        stsError(
          response,
          403,
          'InvalidClientTokenId',
          'The security token included in the request is invalid.',
        );
        return;
      }
      refuse('UnrecognizedClientException', 'The security token included in the request is invalid.');
      return;
    }
    const sts = /(?:^|&)Action=(\w+)/.exec(body)?.[1];
    if (sts) {
      this.#sts(sts, new URLSearchParams(body), signedBy ?? '', response);
      return;
    }
    const input = JSON.parse(body) as Record<string, string>;
    if (target === 'BatchGetSecretValue') {
      this.#several((input.SecretIdList as unknown as string[]) ?? [], say, refuse);
      return;
    }
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
    const wanted = input.VersionId ?? input.VersionStage;
    const known = wanted === undefined ? this.#entry(id) : this.versions.get(id)?.[wanted];
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

  /** By name, or by ARN with or without the six characters at its end. */
  #entry(id: string): string | { binary: string } | undefined {
    return this.secrets.get(nameIn(id));
  }

  /** https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_BatchGetSecretValue.html */
  #several(ids: string[], say: Say, refuse: Refuse): void {
    if (!this.allowsBatch) {
      refuse('AccessDeniedException', 'User is not authorized to perform secretsmanager:BatchGetSecretValue');
      return;
    }
    if (this.throttled > 0) {
      this.throttled -= 1;
      refuse('ThrottlingException', 'Rate exceeded');
      return;
    }
    const errorOf = (id: string): { ErrorCode: string; Message: string } | null => {
      const broken = this.broken.get(id);
      if (broken) return { ErrorCode: broken.type, Message: broken.message };
      if (this.forbidden.has(id))
        return { ErrorCode: 'AccessDeniedException', Message: 'User is not authorized to perform it' };
      return this.#entry(id) !== undefined
        ? null
        : { ErrorCode: 'ResourceNotFoundException', Message: "Secrets Manager can't find it." };
    };
    const failed = ids.flatMap((id) => {
      const error = errorOf(id);
      return error ? [{ SecretId: id, ...error }] : [];
    });
    const SecretValues = ids
      .filter((id) => errorOf(id) === null)
      .map((id) => {
        const known = this.#entry(id);
        return {
          Name: nameIn(id),
          ARN: `${ARN}${nameIn(id)}-AbCdEf`,
          ...(typeof known === 'string' ? { SecretString: known } : { SecretBinary: known?.binary }),
        };
      });
    say(200, { SecretValues, Errors: failed });
  }

  /** https://docs.aws.amazon.com/STS/latest/APIReference/ */
  #sts(action: string, input: URLSearchParams, key: string, response: ServerResponse): void {
    const say = (status: number, inner: string) => {
      response.writeHead(status, { 'content-type': 'text/xml' });
      response.end(inner);
    };
    const request = '<ResponseMetadata><RequestId>c6104cbe</RequestId></ResponseMetadata>';
    if (action === 'GetCallerIdentity') {
      say(
        200,
        `<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult><Arn>arn:aws:iam::123456789012:user/${key}</Arn><UserId>${key}</UserId><Account>123456789012</Account></GetCallerIdentityResult>${request}</GetCallerIdentityResponse>`,
      );
      return;
    }
    if (this.externalId !== null && input.get('ExternalId') !== this.externalId) {
      stsError(response, 403, 'AccessDenied', 'User is not authorized to perform: sts:AssumeRole');
      return;
    }
    this.keys.add('ASIAROLEOFTHETEST00');
    const until = new Date(Date.now() + 3_600_000).toISOString();
    say(
      200,
      `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials><AccessKeyId>ASIAROLEOFTHETEST00</AccessKeyId><SecretAccessKey>secret-of-the-role</SecretAccessKey><SessionToken>session-of-the-role</SessionToken><Expiration>${until}</Expiration></Credentials></AssumeRoleResult>${request}</AssumeRoleResponse>`,
    );
  }
}

const ARN = 'arn:aws:secretsmanager:eu-central-1:123456789012:secret:';
const nameIn = (id: string): string =>
  id.startsWith(ARN) ? id.slice(ARN.length).replace(/-AbCdEf$/, '') : id;

type Say = (status: number, answer: object) => void;
type Refuse = (type: string, message: string, status?: number) => void;

function stsError(response: ServerResponse, status: number, code: string, message: string): void {
  response.writeHead(status, { 'content-type': 'text/xml' });
  response.end(
    `<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error><RequestId>c6104cbe</RequestId></ErrorResponse>`,
  );
}

/** A new one for each case. */
export const useSecretsManagerServer = () =>
  useEach(
    () => SecretsManagerServer.start(),
    (aws) => aws.close(),
  );
