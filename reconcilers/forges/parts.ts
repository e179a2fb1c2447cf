import type { Transport } from './transport.ts';

/** What each forge is made of. */
export interface ForgeParts {
  transport: Transport;
  /** Of its API, without a slash at its end. */
  url: string;
  /** `owner/name`; of GitLab with all groups. */
  project: string;
  token: string;
}
