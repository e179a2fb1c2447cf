import { openExistingKeyring } from '../compose/keys.ts';
import { readConfig } from '../config.ts';
import { connect } from '../database/connect.ts';
import { type AuditVerification, type ChainLink, verifyAuditLog } from '../insight/audit/index.ts';
import { type Command, EXIT, type Format, type ParsedOptions, UsageError } from './command.ts';
import { withDatabaseUrl } from './database-url.ts';

export const audit: Command = {
  usage: ['headgate audit verify [--head <seq>:<hash>] [--keyed-from <seq>]'],
  help: `Reads the whole audit log and checks that every event is as it was when it was numbered: each one's hash covers what it
tells, its number, and the hash of the one before, and a code that takes the key of the log covers the hash. Events that are
older than the retention of the log are gone; it says from which number on the log is proved. Takes the variables of headgate
serve, the secret key too, works while controllers run, and changes nothing.

With --head it also compares the log with an event that was noted elsewhere, such as the "audit log head" that a controller
writes to its own log every hour: this finds a log that was put back to an earlier state. With --keyed-from it also finds a log
whose key was taken away: the same line says in "keyedFrom" with which event it begins.

Exit 0: it is whole. 1: it is not; the first event that does not hold is named. 2: it could not be read.`,
  options: {
    format: { value: '<form>', oneOf: ['text', 'json'], help: 'text (default) or json' },
    head: { value: '<seq>:<hash>', help: 'an event as it was noted elsewhere' },
    'keyed-from': { value: '<seq>', help: 'the first event with a code, as it was noted elsewhere' },
  },
  positionals: 1,
  async run(given, io) {
    if (given.positionals[0] !== 'verify') throw new UsageError('say what to do: verify');
    const witness = witnessOf(given.value('head'));
    const notedFrom = notedFromOf(given.value('keyed-from'));
    const config = readConfig(io.env);
    // A log that has no key yet needs none here.
    const keyring = {
      open: (sealed: string, place: string) => openExistingKeyring(config).open(sealed, place),
    };
    const verdict = await withDatabaseUrl(config, { existing: true }, async (url) => {
      const db = connect(url, { poolSize: 1, name: 'headgate-audit' });
      try {
        return await verifyAuditLog(db, keyring, witness);
      } finally {
        await db.destroy();
      }
    });
    const keyLost = notedFrom !== null && (verdict.keyedFrom === null || verdict.keyedFrom > notedFrom);
    const compared = notedFrom === null ? verdict : { ...verdict, keyLost };
    if (formOf(given) === 'json') io.out(`${JSON.stringify(compared)}\n`);
    else io.out(keyLost && verdict.broken === null ? renderLostKey(notedFrom) : renderVerdict(verdict));
    return verdict.broken === null && !keyLost ? EXIT.fine : EXIT.findings;
  },
};

const formOf = (given: ParsedOptions): Format => (given.value('format') ?? 'text') as Format;

function witnessOf(text: string | undefined): ChainLink | null {
  if (text === undefined) return null;
  const [, seq, hash] = /^([1-9][0-9]{0,14}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (seq === undefined || hash === undefined)
    throw new UsageError('--head takes the seq and the hash of an event, for example 4711:9f86d081…');
  return { seq: Number(seq), hash };
}

function notedFromOf(text: string | undefined): number | null {
  if (text === undefined) return null;
  if (!/^[1-9][0-9]{0,14}$/.test(text))
    throw new UsageError('--keyed-from takes the number of an event, for example 1');
  return Number(text);
}

const renderLostKey = (notedFrom: number): string =>
  `The key of the audit log is not the one that began with event ${notedFrom}: it was removed, and the log may have been rewritten since. Put the table audit_keys back from a backup of the database, and compare with --head.\n`;

function renderVerdict({ events, from, keyedFrom, unnumbered, broken }: AuditVerification): string {
  const waiting = `${unnumbered ? ' Events that have no number yet were not looked at.' : ''}${keyNote(keyedFrom, from)}`;
  if (broken === null)
    return from === 1
      ? `The audit log is whole: ${events} events.${waiting}\n`
      : `The audit log is whole from event ${from} on, to event ${events}; those before were deleted as its retention says.${waiting}\n`;
  const { seq, event } = broken;
  const what = event
    ? `it says: ${event.action} on ${event.entityType} ${event.entityId} at ${new Date(event.createdAt).toISOString()} (id ${event.id})`
    : 'its row is gone';
  return `The audit log does not hold from event ${seq} of ${events} on: that event was changed, removed or slipped in; ${what}.${waiting}\n`;
}

/** Of a log that is not proved by its key from its beginning. */
function keyNote(keyedFrom: number | null, from: number): string {
  if (keyedFrom === null)
    return ' It has no key yet, so somebody who writes to the database could have recomputed it; a controller gives it one with its next event.';
  return keyedFrom > from ? ` Its key covers what was numbered from event ${keyedFrom} on.` : '';
}
