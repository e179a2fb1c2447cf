/** Creates the official AWS clients: through the network guard or the operator's proxy, with limits, and with a role where one is set. */
import * as http from 'node:http';
import https from 'node:https';
import type { Readable } from 'node:stream';
import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { STSClient } from '@aws-sdk/client-sts';
import type { CloudConfig } from '../../../schemas/api/secrets/secret-backends.ts';
import type { TargetGuard } from '../../platform/net/outgoing/index.ts';
import { type ProxySettings, proxyFor } from '../../platform/net/proxies.ts';
import { BACKEND_LIMITS, BackendError } from './backend.ts';
import { cloudSecrets, explainCloudFault } from './cloud-fault.ts';

export interface CloudParts {
  guard: TargetGuard;
  proxies: ProxySettings;
}

/** Half a megabyte of code, so it is loaded on first use. */
export const loadSecretsManager = () => import('@aws-sdk/client-secrets-manager');
const loadSts = () => import('@aws-sdk/client-sts');

/** Appears in the CloudTrail of the account. */
const SESSION_NAME = 'headgate';

export interface CloudClients {
  secrets: SecretsManagerClient;
  /** Asks AWS which account we use; every identity is allowed to. */
  identity(signal: AbortSignal): Promise<void>;
  destroy(): void;
}

/**
 * The guard checks every request. Without an access key the client finds the identity of the machine by its own chain
 * (environment, container, instance metadata). Those addresses come from the operator's environment and never from a user, so
 * they do not pass the guard; `backend-change.ts` checks who may use them.
 */
export async function connectCloud(config: CloudConfig, parts: CloudParts): Promise<CloudClients> {
  const { SecretsManagerClient } = await loadSecretsManager();
  const { AssumeRoleCommand, GetCallerIdentityCommand, STSClient } = await loadSts();
  const { region, endpoint, accessKeyId, secretAccessKey, sessionToken, roleArn, externalId } = config;
  const common = { region, maxAttempts: 2 };
  // Without credentials the client finds the identity of the machine itself.
  const ownCredentials =
    accessKeyId && secretAccessKey
      ? { credentials: { accessKeyId, secretAccessKey, ...(sessionToken ? { sessionToken } : {}) } }
      : {};
  // An AWS endpoint inside a private network serves Secrets Manager only, not STS.
  const servesSts = endpoint !== undefined && !/\.amazonaws\.com(\.cn)?$/.test(new URL(endpoint).hostname);
  const domain = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
  const endpointOptions = (service: 'sts' | 'secretsmanager', address?: string) => ({
    requestHandler: requestHandler(address ?? `https://${service}.${region}.${domain}`, parts),
    ...(address === undefined ? {} : { endpoint: address }),
  });
  const stsAs = (credentials: object): STSClient =>
    bounded(
      new STSClient({
        ...common,
        ...endpointOptions('sts', servesSts ? endpoint : undefined),
        ...credentials,
      }),
    );
  /** The error of a call to STS. */
  const stsError = (error: unknown, wanted: string): BackendError =>
    explainCloudFault(error, {
      ...{ wanted, guard: parts.guard, secrets: cloudSecrets(config) },
      service: servesSts ? endpoint : `STS in ${region} (sts.${region}.${domain})`,
    });
  const base = stsAs(ownCredentials);

  /** The AWS client calls this again before the credentials expire. */
  async function assumeRole() {
    const command = new AssumeRoleCommand({
      ...{ RoleArn: roleArn, RoleSessionName: SESSION_NAME },
      ...(externalId === undefined ? {} : { ExternalId: externalId }),
    });
    const { Credentials: got } = await base.send(command).catch((error: Error) => {
      if (!/^AccessDenied/.test(error.name)) throw stsError(error, `assume the role ${roleArn}`);
      throw new BackendError(
        'refused',
        `AWS does not let us assume the role ${roleArn}; check its trust policy, the external id, and that we may call sts:AssumeRole`,
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
  const credentials = roleArn === undefined ? ownCredentials : { credentials: assumeRole };
  const secrets = bounded(
    new SecretsManagerClient({ ...common, ...endpointOptions('secretsmanager', endpoint), ...credentials }),
  );
  const self = roleArn === undefined ? base : stsAs(credentials);
  return {
    secrets,
    async identity(abortSignal) {
      const { Account } = await self
        .send(new GetCallerIdentityCommand({}), { abortSignal })
        .catch((error: unknown) => {
          throw stsError(error, 'identify us');
        });
      if (!Account) throw new BackendError('refused', 'AWS does not identify us; check endpoint and region');
    },
    destroy() {
      for (const client of new Set([secrets, base, self])) client.destroy();
    },
  };
}

/** One per service, because NO_PROXY may name only one of them. */
function requestHandler(address: string, { guard, proxies }: CloudParts): object {
  const host = new URL(address);
  const transport = host.protocol === 'http:' ? 'http' : 'https';
  const port = Number(host.port || (transport === 'https' ? 443 : 80));
  const proxy = proxyFor({ transport, host: host.hostname, port }, proxies);
  const { deadlineMs } = BACKEND_LIMITS;
  // With a proxy, the proxy resolves host names and its operator decides which targets it reaches.
  const agents = proxy
    ? {
        httpAgent: new http.Agent({ proxyEnv: { HTTP_PROXY: proxy.href } }),
        httpsAgent: new https.Agent({ proxyEnv: { HTTPS_PROXY: proxy.href } }),
      }
    : { httpAgent: { lookup: guard.lookup }, httpsAgent: { lookup: guard.lookup } };
  return {
    connectionTimeout: deadlineMs,
    requestTimeout: deadlineMs,
    throwOnRequestTimeout: true,
    ...agents,
  };
}

interface Stack {
  middlewareStack: { add(step: unknown, options: object): void };
}

/** Limits the reply at the lowest middleware step: the client itself has no limit there. */
function bounded<C extends Stack>(client: C): C {
  client.middlewareStack.add(
    (next: (args: unknown) => Promise<{ response: unknown }>) => async (args: unknown) => {
      const result = await next(args);
      const { body } = result.response as { body?: Readable };
      if (body) limitSize(body);
      return result;
    },
    { step: 'deserialize', name: 'boundedReply', priority: 'low' },
  );
  return client;
}

function limitSize(body: Readable): void {
  let size = 0;
  const count = (chunk: Buffer) => {
    size += chunk.length;
    if (size > BACKEND_LIMITS.replyBytes)
      body.destroy(
        new BackendError('entry', 'Secrets Manager answers with more than 1 MiB; store less there'),
      );
  };
  const { push } = body;
  // A `data` listener would start the flow before the client listens, so the chunks are counted as they are pushed.
  body.push = function counted(this: Readable, chunk: unknown, encoding?: BufferEncoding): boolean {
    if (Buffer.isBuffer(chunk)) count(chunk);
    return push.call(this, chunk, encoding);
  };
}
