import { Group, Stack } from '@mantine/core';
import { useState } from 'react';
import type { OidcView } from '../../../../../schemas/api/identity/identity-providers.ts';
import { Field } from '../../../ui/form/field.tsx';
import { Button } from '../../../ui/primitives/button.tsx';
import { Section } from '../../../ui/primitives/page.tsx';
import { ProviderForm } from './provider-form.tsx';

interface Props {
  providers: readonly OidcView[];
  redirectUri: string;
}

const FIRST = 'oidc';
const titleOf = ({ id, displayName }: OidcView): string => `Identity provider ${displayName ?? id}`;

/** Each in a form of its own; the first one asks for no id. */
export const Providers = ({ providers, redirectUri }: Props) => {
  const [added, setAdded] = useState<string | null>(null);
  const isSet = (id: string): boolean => providers.some((one) => one.id === id);
  if (providers.length === 0)
    return <ProviderForm id={FIRST} oidc={null} title="Identity provider" redirectUri={redirectUri} />;
  return (
    <>
      {providers.map((oidc) => (
        <ProviderForm
          key={oidc.id}
          {...{ id: oidc.id, oidc, redirectUri }}
          title={providers.length === 1 ? 'Identity provider' : titleOf(oidc)}
        />
      ))}
      {added !== null && !isSet(added) ? (
        <ProviderForm id={added} oidc={null} title={`Identity provider ${added}`} redirectUri={redirectUri} />
      ) : (
        <AddProvider isSet={isSet} add={setAdded} />
      )}
    </>
  );
};

const ID = /^[a-z0-9][a-z0-9-]{0,39}$/;

const AddProvider = ({ isSet, add }: { isSet: (id: string) => boolean; add: (id: string) => void }) => {
  const [id, setId] = useState('');
  const odd = id !== '' && !ID.test(id) ? 'Lower-case letters, digits and dashes, at most 40.' : '';
  const problem = odd || (isSet(id) ? 'There is one of this id already.' : '');
  return (
    <Section title="Another provider">
      <form
        className="section-body"
        onSubmit={(event) => {
          event.preventDefault();
          add(id);
        }}
      >
        <Stack gap="lg">
          <p className="muted">
            Partners or contractors may sign in at a provider of their own, beside this one.
          </p>
          <Field
            label="Id"
            mono
            value={id}
            onChange={setId}
            placeholder="partners"
            maxLength={40}
            autoComplete="off"
            problem={problem}
            hint="Stands in the address of its sign-in, and stays."
          />
          <Group gap="sm" justify="flex-end">
            <Button icon="plus" type="submit" disabled={id === '' || problem !== ''}>
              Set it up
            </Button>
          </Group>
        </Stack>
      </form>
    </Section>
  );
};
