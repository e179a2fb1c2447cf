import { Input } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useId } from 'react';
import type { Environment } from '../../../../../schemas/api/fleet/environments.ts';
import { api } from '../../../api/client.ts';
import { queries } from '../../../api/queries/index.ts';
import { Notice } from '../../../ui/feedback/notice.tsx';
import { notify } from '../../../ui/feedback/toast.tsx';
import { MONO_INPUT } from '../../../ui/form/field.tsx';
import { MutationForm } from '../../../ui/form/mutation-form.tsx';
import { useRowFocus } from '../../../ui/form/row-focus.ts';
import { useDraft } from '../../../ui/form/use-draft.ts';
import { Button, IconButton } from '../../../ui/primitives/button.tsx';
import { Section } from '../../../ui/primitives/page.tsx';

const MAX_PATTERNS = 100;
const MAX_CHARS = 100;

/** Empty where the patterns can be saved. */
function problemOf(patterns: readonly string[]): string {
  if (patterns.some((pattern) => pattern === '')) return 'A pattern is empty: write one, or take it away.';
  const folded = patterns.map((pattern) => pattern.toLowerCase());
  const twice = folded.find((pattern, at) => folded.indexOf(pattern) !== at);
  if (twice) return `“${twice}” stands there twice.`;
  if (folded.some((pattern) => /^\*+$/.test(pattern)))
    return 'A pattern of stars alone would hide every value.';
  return '';
}

/** Keys whose values nobody is shown in events: patterns, those of Headgate or of one's own. */
export const HiddenKeys = ({ environment, mayEdit }: { environment: Environment; mayEdit: boolean }) => {
  const queryClient = useQueryClient();
  const { redactKeys: keys, redactKeysAreDefault: isDefault } = environment;
  const { draft, set, isChanged, reset, sending } = useDraft({ patterns: keys });
  const { patterns } = draft;
  const problem = problemOf(patterns);
  const save = useMutation({
    mutationFn: sending((redactKeys: string[] | null) =>
      api.environment.update.mutate({ id: environment.id, redactKeys }),
    ),
    onSuccess: (saved) => {
      queryClient.setQueryData(queries.environment(environment.id).queryKey, saved);
      reset();
      notify(
        saved.redactKeysAreDefault
          ? 'The keys that Headgate hides by itself are hidden.'
          : 'The hidden keys were saved.',
      );
    },
  });
  return (
    <Section
      title="Hidden keys"
      beside={
        <span className="muted">{isDefault ? 'as Headgate has them' : 'of this environment’s own'}</span>
      }
    >
      <MutationForm
        mutation={{ ...save, mutate: () => save.mutate([...patterns]) }}
        submit="Save the keys"
        working="Saving…"
        disabled={!isChanged || problem !== ''}
        fieldset={{ disabled: !mayEdit }}
        findings={
          !isDefault && (
            <p>
              <Button icon="undo" size="small" disabled={save.isPending} onClick={() => save.mutate(null)}>
                Back to Headgate’s own keys
              </Button>
            </p>
          )
        }
      >
        <p className="muted">
          Samples and live events show <code>[redacted]</code> in the place of every value behind a key that
          one of these fits, wherever it stands. <code>*</code> stands for any characters, and case does not
          count.
        </p>
        <Patterns patterns={patterns} setPatterns={(next) => set({ patterns: next })} />
        {problem && (
          <p className="field-problem" role="alert">
            {problem}
          </p>
        )}
        {patterns.length === 0 && (
          <Notice icon="warning" tone="held">
            Nothing is hidden then: everybody who may see events sees every value.
          </Notice>
        )}
        {!mayEdit && <p className="muted">The hidden keys are changed by an ADMIN of the team.</p>}
      </MutationForm>
    </Section>
  );
};

interface PatternsProps {
  patterns: readonly string[];
  setPatterns: (patterns: string[]) => void;
}

const Patterns = ({ patterns, setPatterns }: PatternsProps) => {
  const id = useId();
  const { frame, added, removed } = useRowFocus<HTMLFieldSetElement>(patterns.length);
  return (
    <fieldset ref={frame} className="label-editor" aria-describedby={`${id}-note`}>
      <legend>Patterns of keys</legend>
      <ul className="patterns" aria-label="Patterns of keys">
        {patterns.map((pattern, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: patterns are being typed, so that only the place stays.
          <li key={index} className="pattern" data-row>
            <Input
              classNames={MONO_INPUT}
              aria-label={`Pattern ${index + 1}`}
              value={pattern}
              maxLength={MAX_CHARS}
              placeholder="*password*"
              spellCheck={false}
              autoComplete="off"
              onChange={(event) =>
                setPatterns(patterns.map((old, at) => (at === index ? event.target.value.trim() : old)))
              }
            />
            <IconButton
              icon="cross"
              size={12}
              label={`Remove ${pattern || `pattern ${index + 1}`}`}
              onClick={() => {
                removed(index);
                setPatterns(patterns.filter((_, at) => at !== index));
              }}
            />
          </li>
        ))}
      </ul>
      <Button
        icon="plus"
        size="small"
        data-add
        disabled={patterns.length >= MAX_PATTERNS}
        onClick={() => {
          added();
          setPatterns([...patterns, '']);
        }}
      >
        Add a pattern
      </Button>
      <span id={`${id}-note`} className="field-hint">
        At most {MAX_PATTERNS}.
      </span>
    </fieldset>
  );
};
