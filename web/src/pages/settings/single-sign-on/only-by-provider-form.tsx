import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { AccessView, SettingsView } from '../../../../../schemas/api/settings.ts';
import { api } from '../../../api/client.ts';
import { queries } from '../../../api/queries.ts';
import { Icon } from '../../../components/icons.tsx';
import { MutationForm } from '../../../components/mutation-form.tsx';
import { Section } from '../../../components/page.tsx';
import { Loaded, SkeletonBlock } from '../../../components/states.tsx';
import { usePeopleAction } from '../people/use-people-action.ts';

interface Props {
  access: AccessView;
  breakGlass: SettingsView['breakGlass'];
  /** The file that HEADGATE_OIDC_FILE names says it: it is changed there. */
  isFromFile: boolean;
}

/** Passwords switched off, but for some accounts that open the door when no provider answers. */
export const OnlyByProviderForm = ({ access, breakGlass, isFromFile }: Props) => {
  const users = useQuery(queries.users());
  const stored = { only: access.onlyByProvider, ids: breakGlass.map(({ id }) => id).sort() };
  const [draft, setDraft] = useState(stored);
  const save = usePeopleAction({
    run: () => api.settings.updateAccess.mutate({ onlyByProvider: draft.only, breakGlassUserIds: draft.ids }),
    done: () => (draft.only ? 'Passwords open break-glass accounts alone.' : 'Passwords open accounts.'),
  });
  const toggle = (id: string, isOne: boolean): void =>
    setDraft(({ only, ids }) => ({
      only,
      ids: [...ids.filter((other) => other !== id), ...(isOne ? [id] : [])].sort(),
    }));
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
              disabled={needs || JSON.stringify(draft) === JSON.stringify(stored)}
              fieldset={{ disabled: isFromFile, legend: 'Passwords' }}
            >
              <label className="check">
                <input
                  type="checkbox"
                  checked={draft.only}
                  onChange={(event) => setDraft((before) => ({ ...before, only: event.target.checked }))}
                />
                <span>Let people sign in by providers only</span>
              </label>
              <fieldset className="choices">
                <legend>Break-glass accounts</legend>
                <p className="muted">
                  Super admins whose password opens all the same, for the day on which no provider answers.
                </p>
                {candidates.length === 0 && <p className="muted">No super admin has a password.</p>}
                {candidates.map(({ id, name, email }) => (
                  <label className="check" key={id}>
                    <input
                      type="checkbox"
                      checked={draft.ids.includes(id)}
                      onChange={(event) => toggle(id, event.target.checked)}
                    />
                    <span>
                      {name} <span className="muted breakable">{email}</span>
                    </span>
                  </label>
                ))}
              </fieldset>
              {draft.only && !access.onlyByProvider && (
                <p className="notice" data-tone="held">
                  <Icon name="warning" size={14} />
                  <span>
                    Sessions that began by a password end, and personal tokens rest of whoever has no account
                    at a provider.
                  </span>
                </p>
              )}
              {needs && <p className="muted">Choose a break-glass account first.</p>}
            </MutationForm>
          );
        }}
      </Loaded>
    </Section>
  );
};
