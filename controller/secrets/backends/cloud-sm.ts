/** AWS Secrets Manager, through its official client. A secret is the text of an entry, or one property of its JSON. */
import type { CloudConfig } from '../../../schemas/api/secrets/secret-backends.ts';
import {
  BACKEND_LIMITS,
  BackendError,
  type Reading,
  readEach,
  retryThrottled,
  type SecretBackend,
} from './backend.ts';
import { type CloudClients, type CloudParts, connectCloud, loadSecretsManager } from './cloud-client.ts';
import { cloudSecrets, explainCloudFault } from './cloud-fault.ts';
import { assertNewest, readingIn, type SecretRef, shareRequests } from './secret-ref.ts';

/** AWS allows twenty per call; of the largest values fewer fit into one reply. */
const BATCH = 10;

export function createCloudBackend(config: CloudConfig, parts: CloudParts): SecretBackend {
  const { guard } = parts;
  const prefix = config.prefix ?? '';
  const service = config.endpoint ?? `Secrets Manager in ${config.region}`;
  let client: Promise<CloudClients> | null = null;
  /** Set once AWS forbids batch reads: a policy may allow each entry and not BatchGetSecretValue. */
  let oneByOne = false;

  /** Makes one call within the deadline and explains its error. */
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
      throw explain(error, wanted, alsoSecret);
    }
  }

  const explain = (error: unknown, wanted: string, alsoSecret: readonly string[] = []): BackendError =>
    explainCloudFault(error, { wanted, service, guard, secrets: [...cloudSecrets(config), ...alsoSecret] });

  const idOf = ({ name, path }: SecretRef): string => path ?? `${prefix}${name}`;

  /** Null where the entry does not exist. */
  async function getEntry(ref: SecretRef, signal: AbortSignal): Promise<Found | null> {
    const { GetSecretValueCommand, ResourceNotFoundException } = await loadSecretsManager();
    const input = { SecretId: idOf(ref), ...versionOf(ref) };
    return ask(`read ${idOf(ref)}`, signal, async ({ secrets: aws }, options) => {
      try {
        return await aws.send(new GetSecretValueCommand(input), options);
      } catch (error) {
        if (error instanceof ResourceNotFoundException) return null;
        throw error;
      }
    });
  }

  function readingFor(ref: SecretRef, found: Found | null): Reading {
    const id = idOf(ref);
    if (found === null && ref.version !== null)
      return {
        error: `Secrets Manager has no ${id} with the version ${ref.version}; correct the path or the version`,
      };
    if (found === null)
      return {
        error: `Secrets Manager has no ${id}; create it there, or correct the ${ref.path === null ? 'name' : 'path'}`,
      };
    return typeof found.SecretString === 'string'
      ? readingIn(found.SecretString, ref, id)
      : { error: `${id} is binary; store it as text, for example as base64` };
  }

  /** https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_BatchGetSecretValue.html */
  async function getBatch(refs: readonly SecretRef[], signal: AbortSignal): Promise<Map<string, Reading>> {
    const { BatchGetSecretValueCommand } = await loadSecretsManager();
    const readings = new Map<string, Reading>();
    const ids = [...new Set(refs.map(idOf))];
    let next: string | undefined;
    do {
      const page = await ask(`read ${ids.length} secrets at once`, signal, ({ secrets: aws }, options) =>
        aws.send(
          new BatchGetSecretValueCommand({
            SecretIdList: ids,
            ...(next === undefined ? {} : { NextToken: next }),
          }),
          options,
        ),
      );
      for (const found of page.SecretValues ?? []) {
        for (const ref of refs.filter((one) => isEntry(idOf(one), found)))
          readings.set(ref.name, readingFor(ref, found));
      }
      for (const { SecretId, ErrorCode, Message } of page.Errors ?? []) {
        const error = Object.assign(new Error(Message), { name: ErrorCode ?? '' });
        for (const ref of refs.filter((one) => idOf(one) === SecretId))
          readings.set(
            ref.name,
            ErrorCode === 'ResourceNotFoundException'
              ? readingFor(ref, null)
              : { error: explain(error, `read ${SecretId}`).message },
          );
      }
      next = page.NextToken;
    } while (next !== undefined && readings.size < refs.length);
    return readings;
  }

  /** Reads in batches, and one by one what a batch cannot read: a batch always returns the newest version. */
  async function readAll(refs: readonly SecretRef[], signal: AbortSignal): Promise<Map<string, Reading>> {
    const readings = new Map<string, Reading>();
    const newest = refs.filter(({ version }) => version === null);
    const ids = [...new Set(newest.map(idOf))];
    for (let from = 0; from < ids.length && !oneByOne && ids.length > 1; from += BATCH) {
      const batchIds = ids.slice(from, from + BATCH);
      const batch = newest.filter((ref) => batchIds.includes(idOf(ref)));
      try {
        const found = await retryThrottled(signal, () => getBatch(batch, signal));
        for (const [name, reading] of found) readings.set(name, reading);
      } catch (error) {
        if (!(error instanceof BackendError)) throw error;
        if (error.fault === 'forbidden') oneByOne = true;
        else if (error.fault !== 'entry') throw new BackendError(error.fault, error.message, { readings });
      }
    }
    const rest = refs.filter(({ name }) => !readings.has(name));
    if (rest.length === 0) return readings;
    const shared = shareRequests<Found | null>();
    const single = await readEach(rest, signal, async (ref) =>
      readingFor(ref, await shared(JSON.stringify([idOf(ref), ref.version]), () => getEntry(ref, signal))),
    ).catch((error: unknown) => {
      if (!(error instanceof BackendError)) throw error;
      throw new BackendError(error.fault, error.message, {
        readings: new Map([...readings, ...error.readings]),
      });
    });
    return new Map([...readings, ...single]);
  }

  return {
    kind: 'CLOUD_SM',
    isExternal: true,
    // No entry is read as a test: a policy may allow only the entries that exist.
    check: (signal) => ask('identify us', signal, (aws, { abortSignal }) => aws.identity(abortSignal)),
    read: readAll,
    async write(ref, value, how, signal) {
      assertNewest(ref);
      const id = idOf(ref);
      if (ref.property !== null)
        throw new BackendError(
          'refused',
          `${ref.name} is the property "${ref.property}" of ${id}, and Headgate writes only whole entries; change it in Secrets Manager`,
        );
      const { CreateSecretCommand, PutSecretValueCommand, ResourceExistsException } =
        await loadSecretsManager();
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
              `Secrets Manager has ${id} already; use it as it is with secret.register`,
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

interface Found {
  SecretString?: string | undefined;
  ARN?: string | undefined;
  Name?: string | undefined;
}

/** The ARN in a setting may lack the six characters that AWS appends to the name. */
const isEntry = (id: string, { ARN = '', Name }: Found): boolean =>
  id === Name || id === ARN || /^-\w{6}$/.test(ARN.startsWith(id) ? ARN.slice(id.length) : '');

/**
 * Version ids have 32 to 64 characters and are mostly UUIDs; anything else is a stage:
 * https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_GetSecretValue.html
 */
function versionOf({ version }: SecretRef): { VersionId?: string; VersionStage?: string } {
  if (version === null) return {};
  return version.length >= 32 && version.length <= 64 ? { VersionId: version } : { VersionStage: version };
}
