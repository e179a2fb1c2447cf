/** The official client of AWS, as it is made here: through the guard or the operator's proxy, bounded, and as a role where one is given. */
import * as http from 'node:http';
import https from 'node:https';
import type { Readable } from 'node:stream';
import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { STSClient } from '@aws-sdk/client-sts';
import type { CloudConfig } from '../../../schemas/api/secret-backends.ts';
import type { TargetGuard } from '../../platform/net/outgoing/index.ts';
import { type ProxySettings, proxyFor } from '../../platform/net/proxies.ts';
import { BACKEND_LIMITS, BackendError } from './backend.ts';
import { cloudSecrets, explainCloudFault } from './cloud-fault.ts';

export interface CloudParts {
  guard: TargetGuard;
  proxies: ProxySettings;
}

/** Half a megabyte of code, which only those load who use it. */
export const loadSecretsManager = () => import('@aws-sdk/client-secrets-manager');
const loadSts = () => import('@aws-sdk/client-sts');

/** Shown in the trail of the account. */
const SESSION = 'headgate';

export interface CloudClients {
  secrets: SecretsManagerClient;
  /** Tells who we are, which everybody may ask. */
  identity(signal: AbortSignal): Promise<void>;
  destroy(): void;
}

/**
 * The guard checks every request. Without an access key the client looks for the identity of the machine by its own chain
 * (environment, container, instance metadata): those addresses come from the operator's environment and never from a user, so
 * they do not pass the guard; who may use them is checked in `backend-change.ts`.
 */
export async function connectCloud(config: CloudConfig, parts: CloudParts): Promise<CloudClients> {
  const { SecretsManagerClient } = await loadSecretsManager();
  const { AssumeRoleCommand, GetCallerIdentityCommand, STSClient } = await loadSts();
  const { region, endpoint, accessKeyId, secretAccessKey, sessionToken, roleArn, externalId } = config;
  const common = { region, maxAttempts: 2 };
  // Without them the client looks for the identity of the machine itself.
  const given =
    accessKeyId && secretAccessKey
      ? { credentials: { accessKeyId, secretAccessKey, ...(sessionToken ? { sessionToken } : {}) } }
      : {};
  // An endpoint of AWS in one's own network is that of Secrets Manager alone.
  const ofBoth = endpoint !== undefined && !/\.amazonaws\.com(\.cn)?$/.test(new URL(endpoint).hostname);
  const domain = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
  const to = (service: 'sts' | 'secretsmanager', address?: string) => ({
    requestHandler: requestHandler(address ?? `https://${service}.${region}.${domain}`, parts),
    ...(address === undefined ? {} : { endpoint: address }),
  });
  const stsAs = (credentials: object): STSClient =>
    bounded(new STSClient({ ...common, ...to('sts', ofBoth ? endpoint : undefined), ...credentials }));
  /** Of what is asked of STS. */
  const explained = (error: unknown, wanted: string): BackendError =>
    explainCloudFault(error, {
      ...{ wanted, guard: parts.guard, secrets: cloudSecrets(config) },
      where: ofBoth ? endpoint : `STS in ${region} (sts.${region}.${domain})`,
    });
  const base = stsAs(given);

  /** The client asks again before it ends. */
  async function role() {
    const asked = new AssumeRoleCommand({
      ...{ RoleArn: roleArn, RoleSessionName: SESSION },
      ...(externalId === undefined ? {} : { ExternalId: externalId }),
    });
    const { Credentials: got } = await base.send(asked).catch((error: Error) => {
      if (!/^AccessDenied/.test(error.name)) throw explained(error, `take on the role ${roleArn}`);
      throw new BackendError(
        'refused',
        `AWS does not let us take on the role ${roleArn}; check its trust policy, the external id, and that we may call sts:AssumeRole`,
      );
    });
    if (!got?.AccessKeyId || !got.SecretAccessKey || !got.SessionToken)
      throw new BackendError('refused', `AWS gives no credentials for the role ${roleArn}`);
    return {
      ...{ accessKeyId: got.AccessKeyId, secretAccessKey: got.SecretAccessKey },
      sessionToken: got.SessionToken,
      ...(got.Expiration ? { expiration: got.Expiration } : {}),
    };
  }
  const credentials = roleArn === undefined ? given : { credentials: role };
  const secrets = bounded(
    new SecretsManagerClient({ ...common, ...to('secretsmanager', endpoint), ...credentials }),
  );
  const self = roleArn === undefined ? base : stsAs(credentials);
  return {
    secrets,
    async identity(abortSignal) {
      const { Account } = await self
        .send(new GetCallerIdentityCommand({}), { abortSignal })
        .catch((error: unknown) => {
          throw explained(error, 'tell who we are');
        });
      if (!Account)
        throw new BackendError('refused', 'AWS does not say who we are; check endpoint and region');
    },
    destroy() {
      for (const client of new Set([secrets, base, self])) client.destroy();
    },
  };
}

/** NO_PROXY may name one of the services, and not the other. */
function requestHandler(address: string, { guard, proxies }: CloudParts): object {
  const host = new URL(address);
  const transport = host.protocol === 'http:' ? 'http' : 'https';
  const port = Number(host.port || (transport === 'https' ? 443 : 80));
  const proxy = proxyFor({ transport, host: host.hostname, port }, proxies);
  const { deadlineMs } = BACKEND_LIMITS;
  // The proxy looks names up, and whoever runs it says where it leads to.
  const way = proxy
    ? {
        httpAgent: new http.Agent({ proxyEnv: { HTTP_PROXY: proxy.href } }),
        httpsAgent: new https.Agent({ proxyEnv: { HTTPS_PROXY: proxy.href } }),
      }
    : { httpAgent: { lookup: guard.lookup }, httpsAgent: { lookup: guard.lookup } };
  return { connectionTimeout: deadlineMs, requestTimeout: deadlineMs, throwOnRequestTimeout: true, ...way };
}

interface Stack {
  middlewareStack: { add(step: unknown, options: object): void };
}

/** Next to the wire: what is read there is not bounded by the client itself. */
function bounded<C extends Stack>(client: C): C {
  client.middlewareStack.add(
    (next: (args: unknown) => Promise<{ response: unknown }>) => async (args: unknown) => {
      const result = await next(args);
      const { body } = result.response as { body?: Readable };
      if (body) limit(body);
      return result;
    },
    { step: 'deserialize', name: 'boundedReply', priority: 'low' },
  );
  return client;
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
