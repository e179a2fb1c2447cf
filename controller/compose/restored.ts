/** Notices that a backup was restored, on this controller or on another one. */
import type { Knex } from 'knex';
import { readLastRestore } from '../backups/index.ts';
import { messageOf } from '../platform/operation/errors.ts';
import type { Bus } from '../platform/runtime/bus.ts';
import type { Logger } from '../platform/runtime/logger.ts';

export interface RestoredOptions {
  bus: Bus;
  db: Knex;
  log: Logger;
  /** Id of the last restore when this controller started. */
  known: string | null;
  restart: () => void;
}

/** A signal may be lost, so a bus that was cut off asks as well; and once now, for the time before it listened. */
export function followRestores({ bus, db, log, known, restart }: RestoredOptions): void {
  const check = () => {
    readLastRestore(db).then(
      (last) => {
        if (last && last.id !== known) restart();
      },
      (error: unknown) => log.warn({ reason: messageOf(error) }, 'not known whether a backup was restored'),
    );
  };
  bus.on('restored', check);
  bus.on('resync', check);
  check();
}
