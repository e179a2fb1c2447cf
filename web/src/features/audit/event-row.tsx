import { memo } from 'react';
import { Link } from 'react-router';
import type { AuditEntryView } from '../../../../schemas/api/insight/audit.ts';
import { EnvironmentTag } from '../../ui/primitives/environment-tag.tsx';
import { Icon, type IconName } from '../../ui/primitives/icons.tsx';
import { Time } from '../../ui/primitives/time.tsx';
import { EventDetails } from './event-details.tsx';
import { actorWord, capital, subjectHref, whatWasDone } from './event-text.ts';

export const ACTOR_ICONS: Record<AuditEntryView['actorType'], IconName> = {
  user: 'user',
  service_account: 'secrets',
  git: 'git',
  scim: 'sync',
  system: 'settings',
};

interface Props {
  event: AuditEntryView;
  open: boolean;
  toggle: (seq: number) => void;
  href: string;
  columns: number;
}

const PlainRow = ({ event, open, toggle, href, columns }: Props) => {
  const words = whatWasDone({ ...event, entityName: nameIn(event) });
  // What is gone with its environment has no page there.
  const subject = event.environmentName === null ? null : subjectHref({ ...event, entityName: null });
  const id = `event-${event.seq}`;
  return (
    <>
      <tr data-open={open || undefined}>
        <td>
          <button
            type="button"
            className="audit-toggle"
            aria-expanded={open}
            aria-controls={open ? id : undefined}
            onClick={() => toggle(event.seq)}
          >
            <Icon name={open ? 'chevronDown' : 'chevronRight'} size={12} />
            <Time at={event.createdAt} />
            <span className="sr-only">: {words}</span>
          </button>
        </td>
        <td>
          <span className="cell-line audit-who" data-tip={whoTip(event)}>
            <Icon name={ACTOR_ICONS[event.actorType]} size={14} />
            <span className="sr-only">{capital(actorWord(event))}: </span>
            <span className="audit-cut">
              {event.actorName ?? event.userEmail ?? capital(actorWord(event))}
            </span>
          </span>
        </td>
        <td data-tip={words}>{subject ? <Link to={subject}>{words}</Link> : words}</td>
        <td data-priority="2">
          <Place event={event} />
        </td>
        <td data-priority="3" className="mono">
          {event.ipAddress ?? <span className="muted">–</span>}
        </td>
      </tr>
      {open && (
        <tr id={id} className="audit-unfolded">
          <td colSpan={columns}>
            <EventDetails event={event} href={href} />
          </td>
        </tr>
      )}
    </>
  );
};

/** New events move rows; those that stay are not drawn again. */
export const EventRow = memo(PlainRow);

const whoTip = (event: AuditEntryView): string =>
  [capital(actorWord(event)), event.userEmail].filter(Boolean).join(': ');

const Place = ({ event: { environmentName, teamName } }: { event: AuditEntryView }) => {
  if (environmentName)
    return (
      <span data-tip={teamName ? `Team ${teamName}` : undefined}>
        <EnvironmentTag environment={{ name: environmentName }} />
      </span>
    );
  return teamName ? <>Team {teamName}</> : <span className="muted">–</span>;
};

/** What it is called, where the event says so: people and groups of a directory have other words for it. */
function nameIn({ metadata, diff }: AuditEntryView): string | null {
  const renamed = diff?.name;
  const names = [
    metadata?.name,
    ...(Array.isArray(renamed) ? [renamed[1], renamed[0]] : []),
    ...[metadata?.displayName, metadata?.userName, metadata?.email],
  ];
  return names.find((name): name is string => typeof name === 'string' && name !== '') ?? null;
}
