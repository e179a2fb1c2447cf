import { NativeSelect } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../../api/client.ts';
import { queries } from '../../../api/queries.ts';
import { Field } from '../../../ui/form/field.tsx';
import { Button } from '../../../ui/primitives/button.tsx';
import { CommandBlock } from '../../../ui/primitives/command-block.tsx';
import { Section } from '../../../ui/primitives/page.tsx';
import { InlineError, Loaded, SkeletonRows } from '../../../ui/primitives/page-states.tsx';
import { Time } from '../../../ui/primitives/time.tsx';
import { plural } from '../../../ui/text/format.ts';

/** What is offered; a super admin may have set a shorter life. */
const DAYS = [7, 30, 90, 180, 365];
const USUAL = 90;

/** Personal tokens: what git asks for as the password when the built-in repository is cloned. */
export const Tokens = () => {
  const queryClient = useQueryClient();
  const tokens = useQuery(queries.tokens());
  const most = useQuery(queries.me()).data?.tokenMaxDays ?? USUAL;
  const [name, setName] = useState('');
  const [chosen, setDays] = useState(USUAL);
  const days = Math.min(chosen, most);
  const offered = [...new Set([...DAYS.filter((one) => one <= most), Math.min(USUAL, most)])].sort(
    (a, b) => a - b,
  );
  const renew = () => queryClient.invalidateQueries({ queryKey: queries.tokens().queryKey });
  const create = useMutation({
    mutationFn: () => api.user.createToken.mutate({ name: name.trim(), expiresInDays: days }),
    onSuccess: () => {
      setName('');
      return renew();
    },
  });
  const remove = useMutation({
    mutationFn: (id: string) => api.user.deleteToken.mutate({ id }),
    onSuccess: renew,
  });
  return (
    <Section title="Personal tokens">
      <div className="section-body form">
        <p className="muted">
          Git asks for one as the password when you clone or push the built-in repository. A token lasts{' '}
          {plural(most, 'day')} at most.
        </p>
        <form
          className="inline-form"
          onSubmit={(event) => {
            event.preventDefault();
            create.mutate();
          }}
        >
          <Field
            label="What it is for"
            value={name}
            onChange={setName}
            placeholder="laptop"
            required
            autoComplete="off"
          />
          <NativeSelect
            label="It ends after"
            value={days}
            onChange={(event) => setDays(Number(event.target.value))}
          >
            {offered.map((one) => (
              <option key={one} value={one}>
                {plural(one, 'day')}
              </option>
            ))}
          </NativeSelect>
          <Button icon="plus" type="submit" disabled={create.isPending || !name.trim()}>
            Create a token
          </Button>
        </form>
        {create.isError && <InlineError error={create.error} />}
        {create.data && (
          <>
            <p role="status">
              Copy it now: it is shown <strong>only once</strong>.
            </p>
            <CommandBlock label="the personal token" lines={[create.data.token]} />
          </>
        )}
      </div>
      <Loaded query={tokens} what="Your tokens" skeleton={<SkeletonRows rows={2} label="Loading tokens" />}>
        {(list) =>
          list.length === 0 ? null : (
            <table className="table table-ruled">
              <caption className="sr-only">Personal tokens</caption>
              <tbody>
                {list.map((token) => (
                  <tr key={token.id}>
                    <th scope="row">{token.name}</th>
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
