/** What every use case is handed: who asks, the database, time, and the services that it may call. Nothing else is global. */

import type { Knex } from 'knex';
import type { Clock } from '../../../reconcilers/engine/clock.ts';
import type { Role } from '../../../schemas/api/common.ts';
import type { Obligation } from '../../../schemas/api/people.ts';
import type { Permission } from '../../../schemas/api/service-accounts.ts';
import type { Keyring } from '../crypto/keyring.ts';
import type { Bus } from '../runtime/bus.ts';
import type { Jobs } from '../runtime/jobs.ts';
import type { Logger } from '../runtime/logger.ts';
import type { AuditEntry } from './audit-entry.ts';

/** A password that somebody else has seen; a team that asks for a second factor. */
export type { Obligation };

export type Actor =
  | { type: 'anonymous' }
  | {
      type: 'user';
      userId: string;
      email: string;
      name: string;
      isSuperAdmin: boolean;
      /** Team id to role. */
      roles: ReadonlyMap<string, Role>;
      sessionId: string;
      /** What this person has to do before anything else. */
      owes: Obligation | null;
    }
  | {
      type: 'service_account';
      id: string;
      name: string;
      /** The only one that it may look at or change. */
      environmentId: string;
      teamId: string;
      permissions: ReadonlySet<Permission>;
    }
  | { type: 'git'; commit: string; author: string; environmentId: string }
  /** An identity provider with the SCIM token. */
  | { type: 'scim' }
  | { type: 'system'; name: string };

/**
 * Services by name. A domain adds its own by declaration merging, so that this room does not import the rooms above.
 */
export interface Services {
  bus: Bus;
  keyring: Keyring;
  jobs: Jobs;
}

export interface Context {
  /** A pool, or the transaction of the mutation that runs. */
  db: Knex;
  actor: Actor;
  clock: Clock;
  log: Logger;
  signal: AbortSignal;
  requestId: string;
  ipAddress: string | null;
  services: Services;
  /** Run first in every transaction of a mutation: refuses the writes of a reconciler that has lost its lease. */
  fence?: (tx: Knex) => Promise<void>;
  /** Run last in the transaction of a mutation, with its output: what must be stored with the work or not at all. */
  settle?: (tx: Knex, output: unknown) => Promise<void>;
}

/** What became of a mutation that was redirected: told in the audit log either way. */
export interface Redirected {
  /** The audit action. */
  action: string;
  entry: AuditEntry;
  result: { output: unknown } | { refusal: Error };
}

/**
 * A way for a change that is not the database's to make. The first part runs in the transaction, after the work, and sees
 * what it would have made; then all of it is undone, and the second part runs outside of any transaction.
 */
export type Redirect = (inside: Context) => Promise<(outside: Context) => Promise<Redirected>>;

/** In a mutation: everything is in one transaction with its audit rows. */
export interface MutationContext extends Context {
  /** The name of the operation that runs. */
  operation: string;
  audit(entry: AuditEntry): void;
  /** Everything was so already: without entries there is no audit row either. */
  unchanged(): void;
  /** Nothing of this mutation is kept; what it would have made goes this way. `of` names what is redirected: one thing at a time. */
  redirect(of: string, to: Redirect): void;
}
