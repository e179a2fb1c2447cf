import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { UserSummary } from '../../../../../schemas/api/identity/people.ts';
import { api } from '../../../api/client.ts';
import { queries } from '../../../api/queries/index.ts';
import { Loaded, SkeletonRows } from '../../../ui/feedback/page-states.tsx';
import { MutationForm } from '../../../ui/form/mutation-form.tsx';
import { Button } from '../../../ui/primitives/button.tsx';
import { Dialog } from '../../../ui/primitives/dialog.tsx';
import { Section } from '../../../ui/primitives/page.tsx';
import { plural } from '../../../ui/text/format.ts';
import { useUserMutation } from '../accounts/user-mutations.ts';

interface Linked {
  issuer: string;
  accounts: number;
}

const linkedIssuers = (users: readonly UserSummary[]): Linked[] =>
  [
    ...Map.groupBy(
      users.flatMap(({ linkedTo }) => linkedTo),
      (issuer) => issuer,
    ),
  ].map(([issuer, all]) => ({
    ...{ issuer, accounts: all.length },
  }));

/** Which issuers accounts are linked to: all of one are unlinked here, as when the provider gets another address. */
export const LinkedIssuers = () => {
  const users = useQuery(queries.users());
  const [chosen, setChosen] = useState<Linked | null>(null);
  return (
    <Section title="Linked accounts">
      <Loaded
        query={users}
        what="The accounts"
        skeleton={<SkeletonRows rows={1} label="Loading the accounts" />}
      >
        {(list) => {
          const issuers = linkedIssuers(list);
          return issuers.length === 0 ? (
            <p className="section-body muted">No account is linked to an identity provider yet.</p>
          ) : (
            <table className="table table-ruled">
              <caption className="sr-only">Issuers that accounts are linked to</caption>
              <tbody>
                {issuers.map((linked) => (
                  <tr key={linked.issuer}>
                    <th scope="row">
                      <span className="mono breakable">{linked.issuer}</span>
                    </th>
                    <td className="muted">{plural(linked.accounts, 'account')}</td>
                    <td data-align="end">
                      <Button size="small" onClick={() => setChosen(linked)}>
                        Unlink all<span className="sr-only"> of {linked.issuer}</span>
                      </Button>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          );
        }}
      </Loaded>
      <Dialog title="Unlink all accounts of an issuer" opened={chosen !== null} close={() => setChosen(null)}>
        {chosen && <UnlinkIssuer linked={chosen} close={() => setChosen(null)} />}
      </Dialog>
    </Section>
  );
};

const UnlinkIssuer = ({ linked, close }: { linked: Linked; close: () => void }) => {
  const unlink = useUserMutation({
    run: () => api.admin.unlinkIssuer.mutate({ issuer: linked.issuer }),
    done: ({ unlinked, relinkable }) =>
      `${plural(unlinked, 'account')} unlinked; ${relinkable} of them are joined by the next sign-in.`,
    after: close,
  });
  return (
    <MutationForm
      mutation={unlink}
      close={close}
      submit={`Unlink ${plural(linked.accounts, 'account')}`}
      working="Unlinking…"
      danger
      cancel="Back"
    >
      <p>
        For a provider with a new address or new subject identifiers. Everybody linked to{' '}
        <span className="mono breakable">{linked.issuer}</span> is signed out, and roles by groups of the
        sign-in go until they sign in again.
      </p>
      <p className="muted">
        Accounts without a password are joined by the next sign-in with their address, verified by the
        provider that is set, within 90 days; their personal tokens rest until then. Who has a password signs
        in by it and links again under “You”.
      </p>
    </MutationForm>
  );
};
