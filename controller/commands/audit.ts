import { type AuditVerdict, auditVerdict } from '../audit/index.ts';
import { readConfig } from '../config.ts';
import { connect } from '../database/connect.ts';
import { type Command, EXIT, type Format, type Given, UsageError } from './command.ts';
import { withDatabaseUrl } from './database.ts';

export const audit: Command = {
  usage: ['headgate audit verify'],
  help: `Reads the whole audit log and checks that every event is as it was when it was numbered: each one's hash covers what it
tells, its number, and the hash of the one before. Events that are older than the retention of the log are gone; it says
from which number on the log is proved. Takes the variables of headgate serve, works while controllers run, and
changes nothing.

Exit 0: it is whole. 1: it is not; the first event that does not hold is named. 2: it could not be read.`,
  options: { format: { value: '<form>', oneOf: ['text', 'json'], help: 'text (default) or json' } },
  positionals: 1,
  async run(given, io) {
    if (given.positionals[0] !== 'verify') throw new UsageError('say what to do: verify');
    const verdict = await withDatabaseUrl(readConfig(io.env), { existing: true }, async (url) => {
      const db = connect(url, { poolSize: 1, name: 'headgate-audit' });
      try {
        return await auditVerdict(db);
      } finally {
        await db.destroy();
      }
    });
    io.out(told(verdict, formOf(given)));
    return verdict.broken === null ? EXIT.fine : EXIT.findings;
  },
};

const formOf = (given: Given): Format => (given.value('format') ?? 'text') as Format;

function told({ events, from, unnumbered, broken }: AuditVerdict, form: Format): string {
  if (form === 'json') return `${JSON.stringify({ events, from, unnumbered, broken })}\n`;
  const waiting = unnumbered ? ' Events that have no number yet were not looked at.' : '';
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
