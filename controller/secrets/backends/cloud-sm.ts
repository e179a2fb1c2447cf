/** AWS Secrets Manager, by its official client. A secret is one entry whose whole text is the value. */
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
  withPauses,
} from './backend.ts';
import { type CloudClients, type CloudParts, connectCloud, loadSecretsManager } from './cloud-client.ts';

/** Twenty may be asked for at once; of the largest values not so many fit into an answer. */
const BATCH = 10;

export function createCloudBackend(config: CloudConfig, parts: CloudParts): SecretBackend {
  const { guard } = parts;
  const prefix = config.prefix ?? '';
  const secrets = [config.secretAccessKey, config.sessionToken, config.externalId];
  let client: Promise<CloudClients> | null = null;
  /** Who may read each entry need not be allowed to read several at once. */
  let oneByOne = false;

  /** One call of the client, within the deadline, with its faults explained. */
  async function ask<T>(
    wanted: string,
    signal: AbortSignal,
    call: (client: CloudClients, options: { abortSignal: AbortSignal }) => Promise<T>,
    alsoSecret: readonly string[] = [],
  ): Promise<T> {
    const deadline = AbortSignal.timeout(BACKEND_LIMITS.deadlineMs);
    client ??= connectCloud(config, parts);
    try {
      if (config.endpoint !== undefined) guard.assertHost(new URL(config.endpoint).hostname);
      return await call(await client, { abortSignal: AbortSignal.any([signal, deadline]) });
    } catch (error) {
      signal.throwIfAborted();
      throw explained(error, wanted, alsoSecret);
    }
  }

  const explained = (error: unknown, wanted: string, alsoSecret: readonly string[] = []): BackendError =>
    explain(error, { wanted, config, guard, secrets: [...secrets, ...alsoSecret] });

  async function get(name: string, signal: AbortSignal): Promise<Reading> {
    const { GetSecretValueCommand, ResourceNotFoundException } = await loadSecretsManager();
    const found = await ask(`read ${prefix}${name}`, signal, async ({ secrets: aws }, options) => {
      try {
        return await aws.send(new GetSecretValueCommand({ SecretId: `${prefix}${name}` }), options);
      } catch (error) {
        if (error instanceof ResourceNotFoundException) return null;
        throw error;
      }
    });
    return found ? given(name, found) : missing(name);
  }

  const missing = (name: string): Reading => ({
    error: `Secrets Manager has no ${prefix}${name}; create it there, or correct the name`,
  });
  const given = (name: string, { SecretString: text }: { SecretString?: string }): Reading =>
    typeof text === 'string'
      ? readingOf(text)
      : { error: `${prefix}${name} is binary; store it as text, for example as base64` };

  /** https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_BatchGetSecretValue.html */
  async function getSeveral(names: readonly string[], signal: AbortSignal): Promise<Map<string, Reading>> {
    const { BatchGetSecretValueCommand } = await loadSecretsManager();
    const readings = new Map<string, Reading>();
    let next: string | undefined;
    do {
      const page = await ask(`read ${names.length} secrets at once`, signal, ({ secrets: aws }, options) =>
        aws.send(
          new BatchGetSecretValueCommand({
            SecretIdList: names.map((name) => `${prefix}${name}`),
            ...(next === undefined ? {} : { NextToken: next }),
          }),
          options,
        ),
      );
      for (const found of page.SecretValues ?? []) {
        const name = names.find((one) => `${prefix}${one}` === found.Name);
        if (name !== undefined) readings.set(name, given(name, found));
      }
      for (const { SecretId, ErrorCode, Message } of page.Errors ?? []) {
        const name = names.find((one) => `${prefix}${one}` === SecretId);
        if (name === undefined) continue;
        const error = Object.assign(new Error(Message), { name: ErrorCode ?? '' });
        readings.set(
          name,
          ErrorCode === 'ResourceNotFoundException'
            ? missing(name)
            : { error: explained(error, `read ${prefix}${name}`).message },
        );
      }
      next = page.NextToken;
    } while (next !== undefined && readings.size < names.length);
    return readings;
  }

  /** What is not read with others is read by itself. */
  async function readAll(names: readonly string[], signal: AbortSignal): Promise<Map<string, Reading>> {
    const readings = new Map<string, Reading>();
    for (let from = 0; from < names.length && !oneByOne && names.length > 1; from += BATCH) {
      const some = names.slice(from, from + BATCH);
      try {
        const found = await withPauses(signal, () => getSeveral(some, signal));
        for (const [name, reading] of found) readings.set(name, reading);
      } catch (error) {
        if (!(error instanceof BackendError)) throw error;
        if (error.fault === 'forbidden') oneByOne = true;
        else if (error.fault !== 'entry') throw new BackendError(error.fault, error.message, { readings });
      }
    }
    const rest = names.filter((name) => !readings.has(name));
    if (rest.length === 0) return readings;
    const alone = await readEach(rest, signal, (name) => get(name, signal)).catch((error: unknown) => {
      if (!(error instanceof BackendError)) throw error;
      throw new BackendError(error.fault, error.message, {
        readings: new Map([...readings, ...error.readings]),
      });
    });
    return new Map([...readings, ...alone]);
  }

  return {
    kind: 'CLOUD_SM',
    outside: true,
    // Nothing is looked for that nobody has: a policy may allow the entries that there are, and no other.
    check: (signal) => ask('tell who we are', signal, (aws, { abortSignal }) => aws.identity(abortSignal)),
    read: readAll,
    async write(name, value, how, signal) {
      const { CreateSecretCommand, PutSecretValueCommand, ResourceExistsException } =
        await loadSecretsManager();
      const id = `${prefix}${name}`;
      await ask(
        `write ${id}`,
        signal,
        async ({ secrets: aws }, options): Promise<void> => {
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
