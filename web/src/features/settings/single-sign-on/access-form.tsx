import { Checkbox, Input } from '@mantine/core';
import { AccessLimits, type AccessView } from '../../../../../schemas/api/settings.ts';
import { api } from '../../../api/client.ts';
import { Notice } from '../../../ui/feedback/notice.tsx';
import { DraftField } from '../../../ui/form/draft-fields.tsx';
import { FieldPair } from '../../../ui/form/field-pair.tsx';
import { MutationForm } from '../../../ui/form/mutation-form.tsx';
import { useDraft } from '../../../ui/form/use-draft.ts';
import { CommandBlock } from '../../../ui/primitives/command-block.tsx';
import { Section } from '../../../ui/primitives/page.tsx';
import { plural } from '../../../ui/text/format.ts';
import { useUserMutation } from '../accounts/user-mutations.ts';
import { numberProblem, wholeNumber } from '../server/whole-number.ts';

interface Draft {
  confirmation: string;
  offline: boolean;
  token: string;
}

const draftOf = (access: AccessView): Draft => ({
  confirmation: String(access.confirmationDays),
  offline: access.requestOfflineAccess,
  token: String(access.tokenMaxDays),
});

interface Props {
  access: AccessView;
  /** Of this controller. */
  redirectUri: string;
  /** The file that HEADGATE_OIDC_FILE names says it: it is changed there. */
  isFromFile: boolean;
}

/** What becomes of people who leave, and of tokens that nobody renews. */
export const AccessForm = ({ access, redirectUri, isFromFile }: Props) => {
  const of = useDraft(draftOf(access));
  const { draft, set } = of;
  const days = wholeNumber(draft.confirmation, AccessLimits.confirmationDays);
  const tokenDays = wholeNumber(draft.token, AccessLimits.tokenMaxDays);
  const save = useUserMutation({
    run: of.sending(() =>
      api.settings.updateAccess.mutate({
        confirmationDays: days ?? 0,
        requestOfflineAccess: draft.offline,
        tokenMaxDays: tokenDays ?? 0,
      }),
    ),
    done: () => 'The rules for leavers and tokens are saved.',
    after: of.reset,
  });
  const shorter = tokenDays !== null && tokenDays < access.tokenMaxDays;
  return (
    <Section title="Leavers and tokens">
      <MutationForm
        mutation={save}
        submit="Save these rules"
        working="Saving…"
        disabled={days === null || tokenDays === null || !of.isChanged}
        fieldset={{ disabled: isFromFile, legend: 'Leavers and tokens' }}
        autoComplete="off"
      >
        <FieldPair>
          <DraftField
            of={of}
            name="confirmation"
            label="Days without confirmation until an account rests"
            mono={false}
            inputMode="numeric"
            problem={numberProblem(draft.confirmation, AccessLimits.confirmationDays)}
            hint="A sign-in at the provider confirms, and wakes what rests. Accounts that SCIM keeps follow SCIM."
          />
          <DraftField
            of={of}
            name="token"
            label="Days that a personal token lasts at most"
            mono={false}
            inputMode="numeric"
            problem={numberProblem(draft.token, AccessLimits.tokenMaxDays)}
            hint={`90 days unless its owner chooses, and never longer than this.`}
          />
        </FieldPair>
        {days !== null && (
          <p className="rule-words" role="status">
            Sessions and personal tokens of accounts without a password, and everybody’s roles by groups of
            the sign-in, do not count once the provider has not confirmed the person for{' '}
            <strong>{plural(days, 'day')}</strong>.
          </p>
        )}
        {shorter && tokenDays !== null && (
          <Notice icon="warning" tone="held">
            Tokens that would last longer end in {plural(tokenDays, 'day')}.
          </Notice>
        )}
        <Checkbox
          checked={draft.offline}
          onChange={(event) => set({ offline: event.target.checked })}
          label={
            <>
              Ask the provider every hour whether people are still there (scope <code>offline_access</code>,
              where it is offered)
            </>
          }
        />
        <Input.Wrapper
          labelElement="div"
          label="Back-channel logout URL, for the provider"
          description={
            <>
              Register it with the client there: a sign-out at the provider then ends the session here at
              once.
            </>
          }
        >
          <CommandBlock
            label="the back-channel logout URL"
            lines={[redirectUri.replace(/callback$/, 'backchannel-logout')]}
          />
        </Input.Wrapper>
      </MutationForm>
    </Section>
  );
};
