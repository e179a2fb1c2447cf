/** The client of S3: through the network guard or the operator's proxy, path style where the store is not that of AWS. */
import * as http from 'node:http';
import https from 'node:https';
import type { S3Client } from '@aws-sdk/client-s3';
import type { Outgoing, TargetGuard } from '../../platform/net/outgoing/index.ts';
import { OutgoingError } from '../../platform/net/outgoing/index.ts';
import { type ProxySettings, proxyFor } from '../../platform/net/proxies.ts';
import { preconditionFailed } from '../../platform/operation/errors.ts';

export interface S3Settings {
  bucket: string;
  region: string;
  /** Without a slash at its end; empty for none. */
  prefix: string;
  /** Null for AWS. */
  endpoint: string | null;
  accessKeyId: string;
  secretAccessKey: string;
}

export interface S3Parts {
  guard: TargetGuard;
  outgoing: Pick<Outgoing, 'check'>;
  proxies: ProxySettings;
}

/** Megabytes of code, so it is loaded on first use. */
export const loadS3 = () => import('@aws-sdk/client-s3');

const CONNECT_MS = 10_000;
/** Without a byte in either direction. */
const SILENCE_MS = 60_000;

/** @throws PRECONDITION_FAILED for an endpoint that may not be asked */
export async function connectS3(settings: S3Settings, parts: S3Parts): Promise<S3Client> {
  const { bucket, region, endpoint, accessKeyId, secretAccessKey } = settings;
  const domain = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
  const address = endpoint ?? `https://${bucket}.s3.${region}.${domain}`;
  await assertMayAsk(address, parts);
  const { S3Client: Client } = await loadS3();
  return new Client({
    ...{ region, maxAttempts: 3, credentials: { accessKeyId, secretAccessKey } },
    requestHandler: requestHandler(address, parts),
    // Stores that are not AWS know no checksums at the end of a body.
    ...{ requestChecksumCalculation: 'WHEN_REQUIRED', responseChecksumValidation: 'WHEN_REQUIRED' },
    ...(endpoint === null ? {} : { endpoint, forcePathStyle: true }),
  });
}

async function assertMayAsk(address: string, { outgoing }: S3Parts): Promise<void> {
  try {
    await outgoing.check(address);
  } catch (error) {
    if (error instanceof OutgoingError) throw preconditionFailed(`endpoint: ${error.message}`);
    throw error;
  }
}

function requestHandler(address: string, { guard, proxies }: S3Parts): object {
  const host = new URL(address);
  const transport = host.protocol === 'http:' ? 'http' : 'https';
  const port = Number(host.port || (transport === 'https' ? 443 : 80));
  const proxy = proxyFor({ transport, host: host.hostname, port }, proxies);
  // With a proxy, the proxy resolves host names and its operator decides which targets it reaches.
  const agents = proxy
    ? {
        httpAgent: new http.Agent({ proxyEnv: { HTTP_PROXY: proxy.href } }),
        httpsAgent: new https.Agent({ proxyEnv: { HTTPS_PROXY: proxy.href } }),
      }
    : { httpAgent: { lookup: guard.lookup }, httpsAgent: { lookup: guard.lookup } };
  return { connectionTimeout: CONNECT_MS, socketTimeout: SILENCE_MS, ...agents };
}
