/**
 * Turns the errors of S3 and of its client into sentences that say what to do. Of the store's answer nothing is quoted but a
 * region and a host, and these in their exact form only.
 */
import { isUntrusted } from '../../platform/net/outgoing/index.ts';
import { DomainError, notFound, preconditionFailed, unavailable } from '../../platform/operation/errors.ts';
import type { S3Settings } from './s3-client.ts';

interface S3Fault {
  name?: string;
  Code?: string;
  code?: string;
  /** Of `AuthorizationHeaderMalformed`: the region that is expected. */
  Region?: string;
  /** Of `PermanentRedirect`: the host to ask. */
  Endpoint?: string;
  $metadata?: { httpStatusCode?: number };
  $response?: { headers?: Record<string, string> };
}

/** The bucket is elsewhere, or the store expects a signature for another region. */
const MISPLACED =
  /^(?:PermanentRedirect|TemporaryRedirect|Redirect|AuthorizationHeaderMalformed|IllegalLocationConstraintException)$/;
/** What the client calls an answer that is no error of S3. */
const UNNAMED = /^(?:|Error|Unknown|UnknownError)$/;

/** `wanted` is what was asked for: "list the bucket". */
export function explainS3Fault(error: unknown, wanted: string, settings: S3Settings): Error {
  if (error instanceof DomainError) return error;
  const fault = error as S3Fault;
  const name = fault.Code ?? fault.name ?? '';
  const status = fault.$metadata?.httpStatusCode ?? 0;
  const { bucket, region, endpoint, accessKeyId } = settings;
  const store = endpoint ?? `S3 in ${region}`;
  if (name === 'AbortError') return error as Error;
  if (name === 'NoSuchKey') return notFound('Backup');
  if (name === 'NoSuchBucket' || (status === 404 && name === 'NotFound'))
    return preconditionFailed(`There is no bucket "${bucket}" at ${store}; create it, or correct its name`);
  if (name === 'InvalidAccessKeyId')
    return preconditionFailed(`${store} does not know the access key ${accessKeyId}; correct it`);
  if (name === 'SignatureDoesNotMatch')
    return preconditionFailed(
      `The secret access key does not belong to the access key ${accessKeyId}, says ${store}; correct it`,
    );
  if (MISPLACED.test(name) || (status >= 300 && status < 400)) return explainPlace(fault, settings, store);
  if (/^(RequestTimeTooSkewed|RequestExpired)$/.test(name))
    return preconditionFailed(
      `The clock of this machine differs too much from that of ${store}; set it right`,
    );
  if (status >= 200 && status < 500 && UNNAMED.test(name))
    return preconditionFailed(
      `${store} does not answer as S3 does (status ${status}); check the endpoint: it is the address of the store's S3 API, without the bucket`,
    );
  if (/^AccessDenied/.test(name) || status === 403)
    return preconditionFailed(
      `${store} does not allow ${accessKeyId} to ${wanted}; it needs s3:ListBucket and s3:ListBucketMultipartUploads on the bucket, and s3:GetObject, s3:PutObject, s3:DeleteObject and s3:AbortMultipartUpload on what is in it`,
    );
  if (/^(SlowDown|Throttl|TooManyRequests|RequestLimitExceeded)/.test(name))
    return unavailable(`${store} asks us to slow down; try again later`);
  if (fault.code !== undefined && isUntrusted(fault.code))
    return unavailable(`The certificate of ${store} is not trusted (${fault.code}); correct it there`);
  if (status === 0)
    return unavailable(
      endpoint === null
        ? `${store} does not answer; correct the region, or let this machine reach AWS`
        : `${store} does not answer, or may not be asked: HEADGATE_PRIVATE_TARGETS has to name what is in a private network; check the endpoint, also whether it is http:// or https://`,
    );
  return unavailable(`${store} could not ${wanted} (status ${status}); try again later`);
}

const REGION = /^[a-z0-9-]{1,60}$/;
const HOST = /^[a-z0-9.-]{1,253}(?::[0-9]{1,5})?$/i;

function explainPlace(fault: S3Fault, { bucket, region, endpoint }: S3Settings, store: string): DomainError {
  const right = expectedRegion(fault);
  if (right !== undefined && right !== region)
    return preconditionFailed(
      endpoint === null
        ? `The bucket "${bucket}" is in the region ${right}, and not in ${region}; correct the region`
        : `${store} expects the region ${right}, and not ${region}; correct the region`,
    );
  const host = otherHost(fault);
  if (host !== undefined)
    return preconditionFailed(
      `${store} sends us to ${host} for the bucket "${bucket}"; correct the endpoint`,
    );
  return preconditionFailed(
    fault.Code === 'AuthorizationHeaderMalformed'
      ? `${store} does not accept the signature; check the region ${region} and the access key`
      : `The bucket "${bucket}" is not at ${store}; correct the region or the endpoint, which its owner knows`,
  );
}

/** AWS has it in a header; the body names it too, or the host that has to be asked. */
function expectedRegion({ Region, Endpoint = '', $response }: S3Fault): string | undefined {
  const ofHost = /(?:^|\.)s3[.-]([a-z0-9-]+)\.amazonaws\.com(?:\.cn)?$/.exec(Endpoint)?.[1];
  const given = [$response?.headers?.['x-amz-bucket-region'], Region, ofHost];
  return given.find((one) => one !== undefined && REGION.test(one));
}

/** With its scheme where that is known: `http://` in the place of `https://` is a common slip. */
function otherHost({ Endpoint, $response }: S3Fault): string | undefined {
  const location = $response?.headers?.location ?? '';
  const { protocol = '', host = '' } = URL.parse(location) ?? {};
  if (/^https?:$/.test(protocol) && HOST.test(host)) return `${protocol}//${host}`;
  return Endpoint !== undefined && HOST.test(Endpoint) ? Endpoint : undefined;
}
