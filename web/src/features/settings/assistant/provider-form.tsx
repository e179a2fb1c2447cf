import { AI_LIMITS, type AiProvider } from '../../../../../schemas/api/pipelines/assistant.ts';
import { api } from '../../../api/client.ts';
import { DraftField } from '../../../ui/form/draft-fields.tsx';
import { SelectField } from '../../../ui/form/field.tsx';
import { FieldPair } from '../../../ui/form/field-pair.tsx';
import { MutationForm } from '../../../ui/form/mutation-form.tsx';
import { useDraft } from '../../../ui/form/use-draft.ts';
import { numberProblem } from '../server/whole-number.ts';
import { useAssistantMutation } from './assistant-mutation.ts';
import { draftOf, inputOf } from './provider-draft.ts';

const KINDS = [
  { value: 'openai', word: 'OpenAI, or an endpoint that speaks as it does' },
  { value: 'anthropic', word: 'Anthropic' },
] as const;

const ADDRESSES = { openai: 'https://api.openai.com/v1', anthropic: 'https://api.anthropic.com' } as const;

/** Where the questions of a team go, and how much of that there may be. */
export const ProviderForm = ({ teamId, provider }: { teamId: string; provider: AiProvider | null }) => {
  const of = useDraft(draftOf(provider));
  const { draft, set } = of;
  const input = inputOf(teamId, draft);
  const save = useAssistantMutation({
    run: of.sending(async () => input && api.ai.updateProvider.mutate(input)),
    done: () => 'The provider is saved.',
    after: of.reset,
  });
  const number = { mono: false, inputMode: 'numeric', required: true } as const;
  return (
    <MutationForm
      mutation={save}
      submit="Save the provider"
      working="Saving…"
      disabled={input === null || !of.isChanged}
      fieldset={{ disabled: false, legend: 'Provider' }}
      autoComplete="off"
    >
      <FieldPair>
        <SelectField
          label="Provider"
          value={draft.kind}
          onChange={(kind) => set({ kind })}
          options={KINDS}
          hint="Ollama, vLLM, LM Studio and most others speak as OpenAI does."
        />
        <DraftField
          {...{ of, name: 'model' }}
          label="Model"
          required
          placeholder="As the provider calls it"
        />
      </FieldPair>
      <DraftField
        {...{ of, name: 'baseUrl' }}
        label="Address"
        placeholder={ADDRESSES[draft.kind]}
        hint="Empty for the vendor’s own. One within your network must be allowed by HEADGATE_PRIVATE_TARGETS."
      />
      <DraftField
        {...{ of, name: 'apiKey' }}
        label="API key"
        type="password"
        autoComplete="new-password"
        placeholder={provider?.hasApiKey ? 'A key is stored; empty keeps it' : ''}
        hint="It is stored encrypted, is sent to this address alone, and is never shown again."
      />
      <FieldPair>
        <DraftField
          {...{ ...number, of, name: 'requestsPerUserPerHour' }}
          label="Questions of one user an hour"
          problem={numberProblem(draft.requestsPerUserPerHour, AI_LIMITS.requestsPerUserPerHour)}
        />
        <DraftField
          {...{ ...number, of, name: 'timeoutSeconds' }}
          label="Seconds that the provider may be silent"
          problem={numberProblem(draft.timeoutSeconds, AI_LIMITS.timeoutSeconds)}
        />
      </FieldPair>
      <FieldPair>
        <DraftField
          {...{ ...number, of, name: 'tokensPerDay' }}
          label="Tokens of the team a day"
          problem={numberProblem(draft.tokensPerDay, AI_LIMITS.tokensPerDay)}
        />
        <DraftField
          {...{ ...number, of, name: 'tokensPerMonth' }}
          label="Tokens of the team a month"
          problem={numberProblem(draft.tokensPerMonth, AI_LIMITS.tokensPerMonth)}
          hint="The budget. Days and months are those of UTC."
        />
      </FieldPair>
    </MutationForm>
  );
};
