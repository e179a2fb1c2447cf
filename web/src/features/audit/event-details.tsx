/** What one event tells, whole. */
import { Link } from 'react-router';
import type { AuditEntryView } from '../../../../schemas/api/insight/audit.ts';
import { paths } from '../../app/paths.ts';
import { Diff } from '../../ui/code/lazy-code.tsx';
import { Commit, Copyable } from '../../ui/primitives/copyable.tsx';
import { Fact } from '../../ui/primitives/fact.tsx';
import { formatExact, shortCommit } from '../../ui/text/format.ts';
import { actorWord, capital } from './event-text.ts';
import { typeText } from './filter-bar.tsx';

interface Props {
  event: AuditEntryView;
  /** An address that leads to this event. */
  href: string;
}

export const EventDetails = ({ event, href }: Props) => (
  <div className="audit-details">
    <Changes event={event} />
    <dl className="facts">
      <Fact name="Number">
        <Link to={href} className="mono" data-tip="An address that leads to this event">
          #{event.seq}
        </Link>
      </Fact>
      <Fact name="When">{formatExact(event.createdAt)}</Fact>
      <Fact name="By">
        {capital(actorWord(event))}
        {event.userEmail && <> · {event.userEmail}</>}{' '}
        {event.userId && <Copyable value={event.userId} label="id of who did it" />}
      </Fact>
      <Fact name="From">
        <span className="mono">{event.ipAddress ?? '–'}</span>
      </Fact>
      <Fact name="Action">
        <span className="mono">{event.action}</span>
      </Fact>
      <Fact name="Done to">
        {typeText(event.entityType)}{' '}
        {event.entityId && <Copyable value={event.entityId} label="id of what it was done to" />}
      </Fact>
      <Fact name="Team">{event.teamName ?? (event.teamId ? 'one that is gone' : 'none')}</Fact>
      <Fact name="Environment">
        {event.environmentName ?? (event.environmentId ? 'one that is gone' : 'none')}
      </Fact>
      {event.commitSha && (
        <Fact name="Commit">
          <Commit sha={event.commitSha} />{' '}
          {event.environmentId && event.environmentName && (
            <Link
              to={paths.git(event.environmentId, { tab: 'passes', commit: shortCommit(event.commitSha) })}
            >
              its passes
            </Link>
          )}
        </Fact>
      )}
      <Fact name="Hash">
        <Copyable value={event.hash} label="hash">
          {event.hash.slice(0, 12)}…
        </Copyable>{' '}
        <span className="muted">after</span>{' '}
        <Copyable value={event.prevHash} label="hash of the event before">
          {event.prevHash.slice(0, 12)}…
        </Copyable>
      </Fact>
    </dl>
    <Metadata metadata={event.metadata} />
  </div>
);

/** Longer values, or those of several lines, are compared line by line. */
const MAX_INLINE = 80;

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value, null, 2);
const isLong = (text: string): boolean => text.length > MAX_INLINE || text.includes('\n');

const Changes = ({ event: { diff } }: { event: AuditEntryView }) => {
  const fields = Object.entries(diff ?? {});
  if (fields.length === 0) return null;
  return (
    <ul className="audit-changes" aria-label="What changed">
      {fields.map(([field, change]) => {
        const [before, after] = Array.isArray(change) ? change : [null, change];
        return <Change key={field} field={field} before={before ?? null} after={after ?? null} />;
      })}
    </ul>
  );
};

const Change = ({ field, before, after }: { field: string; before: unknown; after: unknown }) => {
  const [old, next] = [before === null ? '' : textOf(before), after === null ? '' : textOf(after)];
  return (
    <li>
      <span className="mono audit-field">{field}</span>
      {isLong(old) || isLong(next) ? (
        <Diff before={old} after={next} beforeLabel={`${field} before`} afterLabel={`${field} after`} />
      ) : (
        <span className="audit-values">
          {before === null ? (
            <span className="muted">nothing</span>
          ) : (
            <del className="mono">{old || '“”'}</del>
          )}
          <span aria-hidden="true">→</span>
          <span className="sr-only">became</span>
          {after === null ? (
            <span className="muted">nothing</span>
          ) : (
            <ins className="mono">{next || '“”'}</ins>
          )}
        </span>
      )}
    </li>
  );
};

const Metadata = ({ metadata }: Pick<AuditEntryView, 'metadata'>) => {
  const entries = Object.entries(metadata ?? {});
  if (entries.length === 0) return null;
  return (
    <dl className="facts" aria-label="Metadata">
      {entries.map(([name, value]) => (
        <Fact key={name} name={name}>
          <span className="mono audit-value">{textOf(value)}</span>
        </Fact>
      ))}
    </dl>
  );
};
