/** By which code something was refused. */
import { DomainError } from '../../controller/platform/errors.ts';

export async function fault(work: Promise<unknown>): Promise<DomainError['code'] | 'none'> {
  try {
    await work;
    return 'none';
  } catch (error) {
    if (error instanceof DomainError) return error.code;
    throw error;
  }
}
