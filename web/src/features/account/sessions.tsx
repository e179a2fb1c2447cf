import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { SessionSummary } from '../../../../schemas/api/identity/people.ts';
import { api } from '../../api/client.ts';
import { queries } from '../../api/queries/index.ts';
import { InlineError, Loaded, SkeletonRows } from '../../ui/feedback/page-states.tsx';
import { notify } from '../../ui/feedback/toast.tsx';
import { Badge } from '../../ui/primitives/badge.tsx';
import { Button } from '../../ui/primitives/button.tsx';
import { Section } from '../../ui/primitives/page.tsx';
import { Time } from '../../ui/primitives/time.tsx';
import { plural } from '../../ui/text/format.ts';
import { browserText } from './browser-name.ts';

/** Where the person is signed in, and the end of it. */
export const Sessions = () => {
  const queryClient = useQueryClient();
  const sessions = useQuery(queries.sessions());
  const renew = () => queryClient.invalidateQueries({ queryKey: queries.sessions().queryKey });
  const end = useMutation({
    mutationFn: ({ id }: SessionSummary) => api.user.endSession.mutate({ id }),
    onSuccess: (_, { userAgent }) => {
      notify(`The session of ${browserText(userAgent)} has ended.`);
      return renew();
    },
  });
  const endOthers = useMutation({
    mutationFn: () => api.user.endOtherSessions.mutate({}),
    onSuccess: ({ ended }) => {
      notify(`${plural(ended, 'session')} ended.`);
      return renew();
    },
  });
  const others = (sessions.data ?? []).filter(({ current }) => !current).length;
  return (
    <Section
      title="Sessions"
      beside={
        others > 0 && (
          <Button size="small" disabled={endOthers.isPending} onClick={() => endOthers.mutate()}>
            {others === 1 ? 'End the other one' : `End the ${others} others`}
          </Button>
        )
      }
    >
      <Loaded
        query={sessions}
        what="Your sessions"
        skeleton={<SkeletonRows rows={2} label="Loading sessions" />}
      >
        {(list) => (
          <ul className="accounts" aria-label="Sessions">
            {[...list].sort(currentFirst).map((session) => (
              <SessionRow
                key={session.id}
                session={session}
                busy={end.isPending}
                end={() => end.mutate(session)}
              />
            ))}
          </ul>
        )}
      </Loaded>
      {end.isError && <InlineError error={end.error} />}
      {endOthers.isError && <InlineError error={endOthers.error} />}
    </Section>
  );
};

const seen = ({ lastSeenAt, createdAt }: SessionSummary): number => (lastSeenAt ?? createdAt).getTime();

const currentFirst = (a: SessionSummary, b: SessionSummary): number =>
  Number(b.current) - Number(a.current) || seen(b) - seen(a);

interface RowProps {
  session: SessionSummary;
  busy: boolean;
  end: () => void;
}

const SessionRow = ({ session, busy, end }: RowProps) => {
  const name = browserText(session.userAgent);
  return (
    <li>
      <div className="preset-head">
        <b className="breakable">{name}</b>
        {session.current && <Badge tone="ok">This one</Badge>}
        <span className="muted mono">{session.ipAddress}</span>
      </div>
      <div className="account-foot">
        <span className="muted">
          {session.method === 'oidc' ? 'by the identity provider' : 'by password'}{' '}
          <Time at={session.createdAt} /> ·{' '}
          {session.lastSeenAt && (
            <>
              seen <Time at={session.lastSeenAt} /> ·{' '}
            </>
          )}
          ends <Time at={session.expiresAt} />
        </span>
        {!session.current && (
          <Button size="small" disabled={busy} onClick={end}>
            End it<span className="sr-only">: {name}</span>
          </Button>
        )}
      </div>
    </li>
  );
};
