/** AWS Secrets Manager, by its official client. A secret is one entry whose whole text is the value. */
import type { Readable } from 'node:stream';
import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { CloudConfig } from '../../../schemas/api/secret-backends.ts';
import { messageOf } from '../../platform/errors.ts';
import { isUntrusted, type TargetGuard } from '../../platform/outgoing/index.ts';
import {
  BACKEND_LIMITS,
  BackendError,
  quoted,
  type Reading,
  readEach,
  readingOf,
  type SecretBackend,
} from './backend.ts';

/** Half a megabyte of code, which only those load who use it. */
const load = () => import('@aws-sdk/client-secrets-manager');

/** A name that nobody has: to be told that it is not there is to be let in. */
const PROBE = 'headgate-reachability-check';

/**
 * The guard checks every request to Secrets Manager. Without an access key the client looks for the identity of the machine
 * by its own chain (environment, container, instance metadata): those addresses come from the operator's environment and
 * never from a user, so they do not pass the guard; who may use them is checked in `backend-change.ts`.
 */
export function createCloudBackend(config: CloudConfig, guard: TargetGuard): SecretBackend {
  const prefix = config.prefix ?? '';
  const secrets = [config.secretAccessKey, config.sessionToken];
  let client: Promise<SecretsManagerClient> | null = null;

  async function connect(): Promise<SecretsManagerClient> {
    const { SecretsManagerClient } = await load();
    const { accessKeyId, secretAccessKey, sessionToken } = config;
    const made = new SecretsManagerClient({
      region: config.region,
      maxAttempts: 2,
      requestHandler: {
        connectionTimeout: BACKEND_LIMITS.deadlineMs,
        requestTimeout: BACKEND_LIMITS.deadlineMs,
        throwOnRequestTimeout: true,
        httpAgent: { lookup: guard.lookup },
        httpsAgent: { lookup: guard.lookup },
      },
      ...(config.endpoint === undefined ? {} : { endpoint: config.endpoint }),
      // Without them the client looks for the identity of the machine itself.
      ...(accessKeyId && secretAccessKey
        ? { credentials: { accessKeyId, secretAccessKey, ...(sessionToken ? { sessionToken } : {}) } }
        : {}),
    });
    // Next to the wire: what is read there is not bounded by the client itself.
    made.middlewareStack.add(
      (next) => async (args) => {
        const result = await next(args);
        const body = (result.response as { body?: Readable }).body;
        if (body) limit(body);
        return result;
      },
      { step: 'deserialize', name: 'boundedReply', priority: 'low' },
    );
    return made;
  }

  /** One call of the client, within the deadline, with its faults explained. */
  async function ask<T>(
    wanted: string,
    signal: AbortSignal,
    call: (client: SecretsManagerClient, options: { abortSignal: AbortSignal }) => Promise<T>,
    alsoSecret: readonly string[] = [],
  ): Promise<T> {
    const deadline = AbortSignal.timeout(BACKEND_LIMITS.deadlineMs);
    client ??= connect();
    try {
      if (config.endpoint !== undefined) guard.assertHost(new URL(config.endpoint).hostname);
      return await call(await client, { abortSignal: AbortSignal.any([signal, deadline]) });
    } catch (error) {
      signal.throwIfAborted();
      throw explain(error, { wanted, config, guard, secrets: [...secrets, ...alsoSecret] });
    }
  }

  async function get(name: string, signal: AbortSignal): Promise<Reading> {
    const { GetSecretValueCommand, ResourceNotFoundException } = await load();
    const found = await ask(`read ${prefix}${name}`, signal, async (aws, options) => {
      try {
        return await aws.send(new GetSecretValueCommand({ SecretId: `${prefix}${name}` }), options);
      } catch (error) {
        if (error instanceof ResourceNotFoundException) return null;
        throw error;
      }
    });
    if (!found)
      return { error: `Secrets Manager has no ${prefix}${name}; create it there, or correct the name` };
    if (typeof found.SecretString !== 'string')
      return { error: `${prefix}${name} is binary; store it as text, for example as base64` };
    return readingOf(found.SecretString);
  }

  return {
    kind: 'CLOUD_SM',
    outside: true,
    async check(signal) {
      await get(PROBE, signal);
    },
    read: (names, signal) => readEach(names, signal, (name) => get(name, signal)),
    async write(name, value, how, signal) {
      const { CreateSecretCommand, PutSecretValueCommand, ResourceExistsException } = await load();
      const id = `${prefix}${name}`;
      await ask(
        `write ${id}`,
        signal,
        async (aws, options): Promise<void> => {
          if (how === 'replace') {
            await aws.send(new PutSecretValueCommand({ SecretId: id, SecretString: value }), options);
            return;
          }
          try {
            await aws.send(new CreateSecretCommand({ Name: id, SecretString: value }), options);
          } catch (error) {
            if (!(error instanceof ResourceExistsException)) throw error;
            throw new BackendError(
              'exists',
              `Secrets Manager has ${id} already; secret.register takes it as it is`,
            );
          }
        },
        [value],
      );
    },
    close() {
      client?.then(
        (made) => made.destroy(),
        () => {},
      );
    },
  };
}

function limit(body: Readable): void {
  let size = 0;
  const count = (chunk: Buffer) => {
    size += chunk.length;
    if (size > BACKEND_LIMITS.replyBytes)
      body.destroy(
        new BackendError('entry', 'Secrets Manager answers with more than 1 MiB; store less there'),
      );
  };
  const { push } = body;
  // Nothing may flow before the client listens, so the chunks are counted where they come in.
  body.push = function counted(this: Readable, chunk: unknown, encoding?: BufferEncoding): boolean {
    if (Buffer.isBuffer(chunk)) count(chunk);
    return push.call(this, chunk, encoding);
  };
}

function explain(
  error: unknown,
  of: {
    wanted: string;
    config: CloudConfig;
    guard: TargetGuard;
    secrets: readonly (string | undefined)[];
  },
): BackendError {
  if (error instanceof BackendError) return error;
  const where = of.config.endpoint ?? `Secrets Manager in ${of.config.region}`;
  const {
    name = '',
    $metadata,
    code,
  } = error as {
    name?: string;
    code?: string;
    $metadata?: { httpStatusCode?: number };
  };
  // Its message quotes what was answered, by whomever.
  if (error instanceof SyntaxError)
    return new BackendError(
      'refused',
      `${where} answers with something that is not JSON; check endpoint and region`,
    );
  const said = quoted(`${name}: ${messageOf(error)}`, of.secrets);
  const status = $metadata?.httpStatusCode ?? 0;
  if (name === 'CredentialsProviderError') {
    return new BackendError(
      'refused',
      'the controller has no identity for AWS; give accessKeyId and secretAccessKey, or run it with a role',
    );
  }
  if (/^(AccessDenied|DecryptionFailure|EncryptionFailure)/.test(name))
    return new BackendError(
      'forbidden',
      `${where} does not allow us to ${of.wanted} (${said}); extend the policy`,
    );
  if (/Throttl|TooManyRequests|RequestLimitExceeded/i.test(name))
    return new BackendError(
      'throttled',
      `${where} is asked too often (${said}); the values that are known stay, and it is asked less for a while`,
    );
  // Deleted soon, a disabled key, an impossible name: of this entry alone.
  if (/^(?:InvalidRequest|InvalidParameter|ResourceNotFound|LimitExceeded|PreconditionNotMet|KMS)/.test(name))
    return new BackendError('entry', `${where} cannot ${of.wanted} (${said}); look at this entry there`);
  if (status === 0 && !isUntrusted(code ?? ''))
    return new BackendError('unreachable', of.guard.unreachable(where, error));
  if (code !== undefined || status >= 500 || /InternalService/.test(name))
    return new BackendError('unreachable', `${where} cannot be asked (${said}); it is tried again`);
  return new BackendError(
    'refused',
    `${where} refuses to ${of.wanted} (${said}); check region and credentials`,
  );
}
