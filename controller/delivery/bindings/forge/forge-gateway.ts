/** What this room asks of the forges above it; the composition root supplies it. */
import type { CheckedForge } from '../../../../schemas/api/git-sync.ts';
import type { Binding } from '../store.ts';

export interface ForgeGateway {
  /** Asks whether the token is good for everything that is done with it. Never throws for what the forge says. */
  check(binding: Binding): Promise<CheckedForge>;
}

declare module '../../../platform/operation/context.ts' {
  interface Services {
    forges: ForgeGateway;
  }
}
