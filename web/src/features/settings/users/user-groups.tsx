import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import type { UserSummary } from '../../../../../schemas/api/identity/people.ts';
import { queries } from '../../../api/queries/index.ts';
import { Badge } from '../../../ui/primitives/badge.tsx';
import { Section } from '../../../ui/primitives/page.tsx';
import { plural } from '../../../ui/text/format.ts';
import { ROLE_LABELS } from '../accounts/roles.tsx';

/** What the identity provider says of somebody, and where each group leads. */
export const UserGroups = ({ user }: { user: UserSummary }) => {
  const groups = useQuery(queries.allGroups());
  const teams = useQuery(queries.allTeams());
  const nameOf = (teamId: string): string => teams.data?.find(({ id }) => id === teamId)?.name ?? 'a team';
  return (
    <Section title="Groups">
      {user.groups.length === 0 ? (
        <div className="section-body">
          <p className="muted">No identity provider has named a group of {user.name}.</p>
        </div>
      ) : (
        <ul className="group-list" aria-label={`Groups of ${user.name}`}>
          {[...user.groups].sort().map((group) => {
            const known = groups.data?.find(({ name }) => name === group);
            const leads = [
              ...(known?.leadsTo ?? []).map(
                ({ teamId, role }) => `${nameOf(teamId)} as ${ROLE_LABELS[role]}`,
              ),
              ...(known?.superAdmins ? ['super admins'] : []),
            ];
            return (
              <li key={group}>
                <span className="mono breakable">{group}</span>
                {known &&
                  (leads.length > 0 ? (
                    <span>leads to {leads.join(', ')}</span>
                  ) : (
                    <Badge tone="unknown" icon="dash" tip="No mapping and no pattern names it">
                      Leads nowhere
                    </Badge>
                  ))}
              </li>
            );
          })}
        </ul>
      )}
      {user.groups.length > 0 && (
        <div className="section-foot muted">
          {plural(user.groups.length, 'group')}, as the identity provider reported them.{' '}
          <Link to="?tab=sso">Where groups lead</Link> is set once for everybody.
        </div>
      )}
    </Section>
  );
};
