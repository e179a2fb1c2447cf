/** What can be streamed. Another source is a file beside `audit-source.ts` and a line in `SOURCES`. */
import type { Knex } from 'knex';
import type { StreamSource } from '../../../schemas/api/insight/event-streams.ts';
import { alertSource } from './alert-source.ts';
import { auditSource } from './audit-source.ts';

/** A value of an attribute; a number is a whole one. */
export type Attributes = Readonly<Record<string, string | number | null>>;

export interface SourceEntry {
  /** Ascending, in the order in which readers see entries. */
  position: number;
  at: Date;
  /** As a webhook gets it. */
  json: unknown;
  /** As a log record. */
  eventName: string;
  text: string;
  attributes: Attributes;
}

export interface Source {
  /** Of the body that a webhook gets. */
  type: string;
  /** The scope of log records. */
  scope: string;
  /** Whether positions have no gaps: one that is missing was deleted. */
  isGapless: boolean;
  /** The position of the newest entry; 0 where there is none. */
  readHead(db: Knex): Promise<number>;
  /** Entries after a position, up to `through`, ascending. */
  read(db: Knex, after: number, limit: number, through: number | null): Promise<SourceEntry[]>;
}

export const SOURCES: Readonly<Record<StreamSource, Source>> = {
  audit: auditSource,
  alerts: alertSource,
};
