/** What every operation gets: the actor, the database, the clock, and the services that it may call. Nothing else is global. */

import type { Knex } from 'knex';
import type { Clock } from '../../../reconcilers/loops/clock.ts';
import type { Role } from '../../../schemas/api/common.ts';
import type { Obligation as RequiredAction } from '../../../schemas/api/identity/people.ts';
import type { Permission } from '../../../schemas/api/identity/service-accounts.ts';
import type { Keyring } from '../crypto/keyring.ts';
import type { Bus } from '../runtime/bus.ts';
import type { Jobs } from '../runtime/jobs.ts';
import type { Logger } from '../runtime/logger.ts';
import type { AuditEntry } from './audit-entry.ts';

/** What a user has to do before anything else: replace a password that somebody else has seen, set up or give a second factor. */
export type { RequiredAction };

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
      requiredAction: RequiredAction | null;
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
 * Services by name. A domain adds its own by declaration merging, so that this folder does not import the ones above it.
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
  /**
   * Set for a caller who may propose changes and make none: a mutation becomes a proposal to git, under every policy of edits,
   * or it is refused and rolled back. The text ends the refusal: what the caller can do.
   */
  onlyProposals?: string;
  /** How the caller came in, where that is more than the usual: stands in the metadata of audit rows. */
  via?: Readonly<Record<string, string>>;
  /**
   * Run before the `prepare` of a mutation, outside of a transaction: refuses a change of what is no longer as the caller has
   * read it, before anything is written elsewhere. A `fence` must repeat it in the transaction.
   */
  precondition?: (db: Knex) => Promise<void>;
  /** Run first in every transaction of a mutation: refuses the writes of a reconciler that has lost its lease. */
  fence?: (tx: Knex) => Promise<void>;
  /**
   * Run last in the transaction of a mutation, with its output: what must be stored with the work or not at all. Not for a
   * mutation with `finish`, whose output is whole only afterwards.
   */
  settle?: (tx: Knex, output: unknown) => Promise<void>;
}

/** What the follow-up of a rollback did. Its audit row is written either way. */
export interface RollbackOutcome {
  /** The audit action. */
  action: string;
  entry: AuditEntry;
  result: { output: unknown } | { refusal: Error };
  /** Run in the transaction of the audit row: what must be stored with it. */
  store?: (tx: Knex) => Promise<void>;
}

/**
 * Rolls a mutation back and does something else instead, such as a proposal to git. The first part runs in the transaction,
 * after the work, and sees its result; the second part runs after the rollback, outside of any transaction.
 */
export type RollbackPlan = (inside: Context) => Promise<(outside: Context) => Promise<RollbackOutcome>>;

/** In a mutation: everything is in one transaction with its audit rows. */
export interface MutationContext extends Context {
  /** The name of the operation that runs. */
  operation: string;
  audit(entry: AuditEntry): void;
  /** Nothing changed: without entries there is no audit row either. */
  unchanged(): void;
  /** Rolls this mutation back after its work, and follows the plan. `of` names the object: one a mutation. */
  rollBack(of: string, plan: RollbackPlan): void;
}
