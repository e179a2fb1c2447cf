import type { Context } from '../../platform/operation/context.ts';
import { badRequest } from '../../platform/operation/errors.ts';

/**
 * Checks a new address only. The passes report on a stored one, so that its binding can still be switched off.
 * @throws BAD_REQUEST
 */
export function assertTarget(
  { targetGuard }: Pick<Context['services'], 'targetGuard'>,
  field: string,
  host: string,
): void {
  try {
    targetGuard.assertHost(host);
  } catch (error) {
    throw badRequest(`${field}: ${targetGuard.unreachable(host, error)}`);
  }
}
