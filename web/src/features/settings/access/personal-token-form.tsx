import { NativeSelect } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../../api/client.ts';
import { queries } from '../../../api/queries/index.ts';
import { InlineError } from '../../../ui/feedback/page-states.tsx';
import { Field } from '../../../ui/form/field.tsx';
import { Button } from '../../../ui/primitives/button.tsx';
import { CommandBlock } from '../../../ui/primitives/command-block.tsx';
import { plural } from '../../../ui/text/format.ts';
import { PURPOSES, type Purpose } from './token-purposes.ts';

/** What is offered; a super admin may have set a shorter life. */
const DAYS = [7, 30, 90, 180, 365];
const USUAL = 90;

const offeredDays = (most: number): number[] =>
  [...new Set([...DAYS.filter((one) => one <= most), Math.min(USUAL, most)])].sort((a, b) => a - b);

/** Creates a personal token, and shows it with what is done with it next. */
export const PersonalTokenForm = () => {
  const queryClient = useQueryClient();
  const most = useQuery(queries.me()).data?.tokenMaxDays ?? USUAL;
  const [name, setName] = useState('');
  const [chosen, setDays] = useState(USUAL);
  const [purpose, setPurpose] = useState<Purpose>('git');
  const days = Math.min(chosen, most);
  const create = useMutation({
    mutationFn: async (made: Purpose) => {
      const scopes = [...PURPOSES[made].scopes];
      const { token } = await api.user.createToken.mutate({ name: name.trim(), expiresInDays: days, scopes });
      return { token, purpose: made };
    },
    onSuccess: () => {
      setName('');
      return queryClient.invalidateQueries({ queryKey: queries.tokens().queryKey });
    },
  });
  return (
    <div className="section-body form">
      <p className="muted">
        A token does what you may do, as far as it is made for it. It lasts {plural(most, 'day')} at most.
      </p>
      <form
        className="inline-form"
        onSubmit={(event) => {
          event.preventDefault();
          create.mutate(purpose);
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
          label="It opens"
          value={purpose}
          onChange={(event) => setPurpose(event.target.value as Purpose)}
        >
          {Object.entries(PURPOSES).map(([key, { label }]) => (
            <option key={key} value={key}>
              {label}
            </option>
          ))}
        </NativeSelect>
        <NativeSelect
          label="It ends after"
          value={days}
          onChange={(event) => setDays(Number(event.target.value))}
        >
          {offeredDays(most).map((one) => (
            <option key={one} value={one}>
              {plural(one, 'day')}
            </option>
          ))}
        </NativeSelect>
        <Button icon="plus" type="submit" disabled={create.isPending || !name.trim()}>
          Create a token
        </Button>
      </form>
      <p className="muted">{PURPOSES[purpose].explanation}</p>
      {create.isError && <InlineError error={create.error} />}
      {create.data && <CreatedToken {...create.data} />}
    </div>
  );
};

const CreatedToken = ({ token, purpose }: { token: string; purpose: Purpose }) => (
  <>
    <p role="status">
      Copy it now: it is shown <strong>only once</strong>.
    </p>
    <CommandBlock label="the personal token" lines={[token]} />
    {purpose !== 'git' && <AgentConnection token={token} />}
  </>
);

/** What a client of MCP asks for. */
const AgentConnection = ({ token }: { token: string }) => {
  const url = `${window.location.origin}/mcp`;
  return (
    <>
      <p>
        Give your agent this address, and the token in the header <code>Authorization: Bearer …</code>:
      </p>
      <CommandBlock label="the address for agents" lines={[url]} />
      <p>Claude Code takes both at once:</p>
      <CommandBlock
        label="the command for Claude Code"
        lines={[`claude mcp add --transport http headgate ${url} --header "Authorization: Bearer ${token}"`]}
      />
    </>
  );
};
