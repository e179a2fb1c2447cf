import type { AppAccess } from './github/app-tokens.ts';
import type { Transport } from './transport/transport.ts';

/** What each forge is made of. */
export interface ForgeParts {
  transport: Transport;
  /** Of its API, without a slash at its end. */
  url: string;
  /** `owner/name`; of GitLab with all groups. */
  project: string;
  /** Of an app its private key. */
  token: string;
  /** Where it is asked by a GitHub App. */
  app: AppAccess | null;
}
