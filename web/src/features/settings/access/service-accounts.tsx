import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'react-router';
import type { EnvironmentSummary } from '../../../../../schemas/api/fleet/environments.ts';
import type { ServiceAccount } from '../../../../../schemas/api/identity/service-accounts.ts';
import { queries } from '../../../api/queries/index.ts';
import { paths } from '../../../app/paths.ts';
import { Loaded, SkeletonRows } from '../../../ui/feedback/page-states.tsx';
import { Badge } from '../../../ui/primitives/badge.tsx';
import { Button } from '../../../ui/primitives/button.tsx';
import { Section } from '../../../ui/primitives/page.tsx';
import { Time } from '../../../ui/primitives/time.tsx';
import { useNow } from '../../../ui/text/clock.ts';
import { formatExact } from '../../../ui/text/format.ts';
import { type AccountAction, ServiceAccountDialogs } from './service-account-dialogs.tsx';
import { expiryRank, expiryText, isExpired, SOON_MS } from './service-account-expiry.ts';

interface Props {
  environment: EnvironmentSummary;
  isAdmin: boolean;
}

/** Keys of programs. Only an ADMIN sees them, so nobody else asks the server for them. */
export const ServiceAccounts = ({ environment, isAdmin }: Props) => {
  const [action, setAction] = useState<AccountAction | null>(null);
  return (
    <Section
      title="Service accounts"
      beside={
        isAdmin && (
          <Button icon="plus" size="small" onClick={() => setAction({ kind: 'create' })}>
            New service account
          </Button>
        )
      }
    >
      <div className="section-body">
        <p className="muted">
          A key for a program, for {environment.name} alone, with the permissions that it needs and no more.{' '}
          <Link to={paths.apiDocs()}>What a program can call</Link>
        </p>
        {!isAdmin && <p className="muted">Only an ADMIN of the team sees them.</p>}
      </div>
      {isAdmin && <AccountList environmentId={environment.id} act={setAction} />}
      <ServiceAccountDialogs environmentId={environment.id} action={action} close={() => setAction(null)} />
    </Section>
  );
};

const AccountList = ({
  environmentId,
  act,
}: {
  environmentId: string;
  act: (action: AccountAction) => void;
}) => {
  const accounts = useQuery(queries.serviceAccounts(environmentId));
  return (
    <Loaded
      query={accounts}
      what="Service accounts"
      skeleton={<SkeletonRows rows={3} label="Loading service accounts" />}
    >
      {(list) =>
        list.length === 0 ? null : (
          <ul className="accounts" aria-label="Service accounts">
            {[...list].sort(byExpiry).map((account) => (
              <AccountRow key={account.id} account={account} act={act} />
            ))}
          </ul>
        )
      }
    </Loaded>
  );
};

const AccountRow = ({ account, act }: { account: ServiceAccount; act: (action: AccountAction) => void }) => (
  <li>
    <div className="preset-head">
      <b>{account.name}</b>
      <AccountState account={account} />
      {account.description && <span className="muted breakable">{account.description}</span>}
    </div>
    <span className="labels">
      {account.permissions.map((permission) => (
        <span key={permission} className="label mono">
          {permission}
        </span>
      ))}
    </span>
    <div className="account-foot">
      <span className="muted">
        made <Time at={account.createdAt} />
        {account.createdByName ? ` by ${account.createdByName}` : ''} · used <Time at={account.lastUsedAt} />
        {' · '}
        <Expiry account={account} />
      </span>
      <span className="button-row">
        <Button
          size="small"
          disabled={account.revokedAt !== null}
          onClick={() => act({ kind: 'revoke', account })}
        >
          Revoke<span className="sr-only"> {account.name}</span>
        </Button>
        <Button size="small" onClick={() => act({ kind: 'delete', account })}>
          Delete<span className="sr-only"> {account.name}</span>
        </Button>
      </span>
    </div>
  </li>
);

const AccountState = ({ account }: { account: ServiceAccount }) => {
  const now = useNow();
  if (account.revokedAt)
    return (
      <Badge tone="unknown" icon="dash">
        Revoked
      </Badge>
    );
  if (isExpired(account, now)) return <Badge tone="failed">Expired</Badge>;
  if (account.expiresAt && account.expiresAt.getTime() - now < SOON_MS)
    return (
      <Badge tone="held" tip="Make another key and give it to the program before this one ends">
        Ends soon
      </Badge>
    );
  return <Badge tone="ok">Active</Badge>;
};

const byExpiry = (a: ServiceAccount, b: ServiceAccount): number =>
  expiryRank(a, Date.now()) - expiryRank(b, Date.now()) || a.name.localeCompare(b.name);

/** When the key ends, or has ended, in words; the moment itself on hover. */
const Expiry = ({ account }: { account: ServiceAccount }) => {
  const now = useNow();
  const { revokedAt, expiresAt } = account;
  if (revokedAt) {
    return (
      <>
        revoked <Time at={revokedAt} />
      </>
    );
  }
  if (!expiresAt) return 'no end';
  return (
    <time dateTime={expiresAt.toISOString()} data-tip={formatExact(expiresAt)}>
      {expiryText(expiresAt, now)}
    </time>
  );
};
