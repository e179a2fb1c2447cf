/** Turns the errors of AWS and of its client into BackendErrors that say what to do. */
import type { CloudConfig } from '../../../schemas/api/secrets/secret-backends.ts';
import { isUntrusted, type TargetGuard } from '../../platform/net/outgoing/index.ts';
import { messageOf } from '../../platform/operation/errors.ts';
import { BackendError, redact } from './backend.ts';

/** The credentials to redact from every message. */
export const cloudSecrets = ({ secretAccessKey, sessionToken, externalId }: CloudConfig) => [
  secretAccessKey,
  sessionToken,
  externalId,
];

export function explainCloudFault(
  error: unknown,
  call: {
    wanted: string;
    /** The service as users know it. */
    service: string;
    guard: TargetGuard;
    secrets: readonly (string | undefined)[];
  },
): BackendError {
  if (error instanceof BackendError) return error;
  const { service, wanted, guard } = call;
  const {
    name = '',
    $metadata,
    code,
  } = error as {
    name?: string;
    code?: string;
    $metadata?: { httpStatusCode?: number };
  };
  // The message of a SyntaxError quotes the response, which may come from any server, so it is not passed on.
  if (error instanceof SyntaxError)
    return new BackendError(
      'refused',
      `${service} answers with something that is not JSON; check endpoint and region`,
    );
  const detail = redact(`${name}: ${messageOf(error)}`, call.secrets);
  const status = $metadata?.httpStatusCode ?? 0;
  if (name === 'CredentialsProviderError') {
    return new BackendError(
      'refused',
      'the controller has no AWS identity; set accessKeyId and secretAccessKey, or run the controller with a role',
    );
  }
  if (/^(AccessDenied|DecryptionFailure|EncryptionFailure)/.test(name))
    return new BackendError(
      'forbidden',
      `${service} does not allow us to ${wanted} (${detail}); extend the policy`,
    );
  if (/Throttl|TooManyRequests|RequestLimitExceeded/i.test(name))
    return new BackendError(
      'throttled',
      `${service} throttles our requests (${detail}); the last good values stay in use, and we ask less often for a while`,
    );
  // The entry is scheduled for deletion, its key is disabled or its name is invalid: other entries are not affected.
  if (/^(?:InvalidRequest|InvalidParameter|ResourceNotFound|LimitExceeded|PreconditionNotMet|KMS)/.test(name))
    return new BackendError('entry', `${service} cannot ${wanted} (${detail}); check this entry there`);
  if (status === 0 && !isUntrusted(code ?? ''))
    return new BackendError('unreachable', guard.unreachable(service, error));
  if (code !== undefined || status >= 500 || /InternalService/.test(name))
    return new BackendError('unreachable', `${service} cannot answer (${detail}); we retry`);
  return new BackendError(
    'refused',
    `${service} refuses to ${wanted} (${detail}); check region and credentials`,
  );
}
