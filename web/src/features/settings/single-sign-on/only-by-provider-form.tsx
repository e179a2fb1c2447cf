import { Checkbox } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { AccessView, SettingsView } from '../../../../../schemas/api/settings.ts';
import { api } from '../../../api/client.ts';
import { queries } from '../../../api/queries/index.ts';
import { Notice } from '../../../ui/feedback/notice.tsx';
import { Loaded, SkeletonBlock } from '../../../ui/feedback/page-states.tsx';
import { MutationForm } from '../../../ui/form/mutation-form.tsx';
import { useDraft } from '../../../ui/form/use-draft.ts';
import { Section } from '../../../ui/primitives/page.tsx';
import { useUserMutation } from '../accounts/user-mutations.ts';

interface Props {
  access: AccessView;
  breakGlass: SettingsView['breakGlass'];
  /** The file that HEADGATE_OIDC_FILE names says it: it is changed there. */
  isFromFile: boolean;
}

/** Passwords switched off, but for some accounts that can sign in when no provider answers. */
export const OnlyByProviderForm = ({ access, breakGlass, isFromFile }: Props) => {
  const users = useQuery(queries.users());
  const { draft, set, isChanged, reset, sending } = useDraft({
    only: access.onlyByProvider,
    ids: breakGlass.map(({ id }) => id).sort(),
  });
  const save = useUserMutation({
    run: sending(() =>
      api.settings.updateAccess.mutate({ onlyByProvider: draft.only, breakGlassUserIds: draft.ids }),
    ),
    done: () => (draft.only ? 'Passwords open break-glass accounts alone.' : 'Passwords open accounts.'),
    after: reset,
  });
  const toggle = (id: string, isOne: boolean): void =>
    set({ ids: [...draft.ids.filter((other) => other !== id), ...(isOne ? [id] : [])].sort() });
  const needs = draft.only && draft.ids.length === 0;
  return (
    <Section title="Passwords">
      <Loaded query={users} what="The accounts" skeleton={<SkeletonBlock height={160} />}>
        {(list) => {
          const candidates = list.filter(
            ({ isSuperAdmin, authMethod }) => isSuperAdmin && authMethod === 'PASSWORD',
          );
          return (
            <MutationForm
              mutation={save}
              submit="Save this"
              working="Saving…"
              disabled={needs || !isChanged}
              fieldset={{ disabled: isFromFile, legend: 'Passwords' }}
            >
              <Checkbox
                checked={draft.only}
                onChange={(event) => set({ only: event.target.checked })}
                label="Let people sign in by providers only"
              />
              <fieldset className="choices">
                <legend>Break-glass accounts</legend>
                <p className="muted">
                  Super admins whose password opens all the same, for the day on which no provider answers.
                </p>
                {candidates.length === 0 && <p className="muted">No super admin has a password.</p>}
                {candidates.map(({ id, name, email }) => (
                  <Checkbox
                    key={id}
                    checked={draft.ids.includes(id)}
                    onChange={(event) => toggle(id, event.target.checked)}
                    label={
                      <>
                        {name}
                        <span className="muted breakable">{email}</span>
                      </>
                    }
                  />
                ))}
              </fieldset>
              {draft.only && !access.onlyByProvider && (
                <Notice icon="warning" tone="held">
                  Sessions that began by a password end, and personal tokens of users without an account at a
                  provider rest.
                </Notice>
              )}
              {needs && <p className="muted">Choose a break-glass account first.</p>}
            </MutationForm>
          );
        }}
      </Loaded>
    </Section>
  );
};
