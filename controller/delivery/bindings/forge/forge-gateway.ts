/** What this domain asks of the forges in `reconcilers/`; the composition root supplies it. */
import type { CheckedForge } from '../../../../schemas/api/delivery/forges.ts';
import type { Binding } from '../store.ts';

export interface ForgeGateway {
  /** Checks that the token may do everything that Headgate uses it for. Never throws for an answer of the forge. */
  check(binding: Binding): Promise<CheckedForge>;
}

declare module '../../../platform/operation/context.ts' {
  interface Services {
    forges: ForgeGateway;
  }
}
