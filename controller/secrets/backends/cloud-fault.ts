/** The faults of AWS Secrets Manager and of its client, in plain words. */
import type { CloudConfig } from '../../../schemas/api/secret-backends.ts';
import { isUntrusted, type TargetGuard } from '../../platform/net/outgoing/index.ts';
import { messageOf } from '../../platform/operation/errors.ts';
import { BackendError, quoted } from './backend.ts';

/** What must not be told, whoever echoes it. */
export const cloudSecrets = ({ secretAccessKey, sessionToken, externalId }: CloudConfig) => [
  secretAccessKey,
  sessionToken,
  externalId,
];

export function explainCloudFault(
  error: unknown,
  of: {
    wanted: string;
    /** Who was asked, as people know it. */
    where: string;
    guard: TargetGuard;
    secrets: readonly (string | undefined)[];
  },
): BackendError {
  if (error instanceof BackendError) return error;
  const { where } = of;
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
