import type { Context } from '../../platform/operation/context.ts';
import { badRequest } from '../../platform/operation/errors.ts';

/**
 * For an address that is new. One that is stored already is reported by the passes, so that its binding can still be turned
 * off. @throws BAD_REQUEST
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
