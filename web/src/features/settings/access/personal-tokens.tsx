import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api } from '../../../api/client.ts';
import { queries } from '../../../api/queries/index.ts';
import { InlineError, Loaded, SkeletonRows } from '../../../ui/feedback/page-states.tsx';
import { Button } from '../../../ui/primitives/button.tsx';
import { Section } from '../../../ui/primitives/page.tsx';
import { Time } from '../../../ui/primitives/time.tsx';
import { PersonalTokenForm } from './personal-token-form.tsx';
import { purposeOf } from './token-purposes.ts';

/** Personal tokens: the password of git for the built-in repository, or the bearer token of an AI agent. */
export const Tokens = () => {
  const queryClient = useQueryClient();
  const tokens = useQuery(queries.tokens());
  const remove = useMutation({
    mutationFn: (id: string) => api.user.deleteToken.mutate({ id }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: queries.tokens().queryKey }),
  });
  return (
    <Section title="Personal tokens">
      <PersonalTokenForm />
      <Loaded query={tokens} what="Your tokens" skeleton={<SkeletonRows rows={2} label="Loading tokens" />}>
        {(list) =>
          list.length === 0 ? null : (
            <table className="table table-ruled">
              <caption className="sr-only">Personal tokens</caption>
              <tbody>
                {list.map((token) => (
                  <tr key={token.id}>
                    <th scope="row">{token.name}</th>
                    <td>{purposeOf(token.scopes)}</td>
                    <td className="muted">
                      used <Time at={token.lastUsedAt} />
                    </td>
                    <td className="muted">
                      {token.expiresAt ? (
                        <>
                          ends <Time at={token.expiresAt} />
                        </>
                      ) : (
                        'no end'
                      )}
                    </td>
                    <td data-align="end">
                      <Button
                        size="small"
                        disabled={remove.isPending}
                        onClick={() => remove.mutate(token.id)}
                      >
                        Revoke<span className="sr-only"> {token.name}</span>
                      </Button>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          )
        }
      </Loaded>
      {remove.isError && <InlineError error={remove.error} />}
    </Section>
  );
};
