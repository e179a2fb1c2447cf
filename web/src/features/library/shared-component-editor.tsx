import { Stack } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { ComponentKind } from '../../../../schemas/api/pipelines/engine.ts';
import type { SharedComponent } from '../../../../schemas/api/pipelines/shared-components.ts';
import { api } from '../../api/client.ts';
import { queries } from '../../api/queries/index.ts';
import { usePlace } from '../../app/scope.tsx';
import { CodeField } from '../../ui/code/lazy-code.tsx';
import { InlineError } from '../../ui/feedback/page-states.tsx';
import { notify } from '../../ui/feedback/toast.tsx';
import { Field, NameField, SelectField, TextAreaField } from '../../ui/form/field.tsx';
import { UnsavedGuard } from '../../ui/form/unsaved-guard.tsx';
import { useDraft } from '../../ui/form/use-draft.ts';
import { Button } from '../../ui/primitives/button.tsx';
import { Section } from '../../ui/primitives/page.tsx';
import { fromYaml, toYaml } from '../../ui/schema-form/yaml-value.ts';
import { plural } from '../../ui/text/format.ts';
import { DeleteSharedDialog } from './delete-shared-component.tsx';
import { SharedUsers } from './shared-component-pipelines.tsx';
import { KIND_WORD, pipelinesOf } from './shared-component-usage.ts';

interface Props {
  /** Null makes a new one. */
  component: SharedComponent | null;
  close: () => void;
  made: (component: SharedComponent) => void;
}

const KINDS: readonly { value: ComponentKind; word: string }[] = [
  { value: 'SOURCE', word: KIND_WORD.SOURCE },
  { value: 'TRANSFORM', word: KIND_WORD.TRANSFORM },
  { value: 'SINK', word: KIND_WORD.SINK },
];

const isConfig = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A component that pipelines share: its config as YAML, and who would have an update by a change. */
export const SharedEditor = ({ component, close, made }: Props) => {
  const { environment, team } = usePlace();
  const env = environment.id;
  const queryClient = useQueryClient();
  const catalogue = useQuery(queries.catalogue());
  const before = component ? toYaml(component.config) : '';
  const { draft, set, isChanged, reset, sending } = useDraft({
    name: component?.name ?? '',
    description: component?.description ?? '',
    kind: component?.kind ?? 'TRANSFORM',
    type: component?.componentType ?? '',
    text: before,
  });
  const { name, description, kind, type, text } = draft;
  const [deleting, setDeleting] = useState(false);
  const mayEdit = team.role !== 'VIEWER';

  const read = fromYaml(text);
  const config = read.value === undefined ? {} : read.value;
  const problems =
    read.problems.length > 0
      ? read.problems
      : isConfig(config)
        ? []
        : [{ line: 1, column: 1, message: 'A config is a mapping of options, for example "codec: json".' }];
  const configChanged = !component || text !== before;
  const words = {
    name: name.trim(),
    description: description.trim() || null,
  };
  const users = pipelinesOf(component?.usedBy ?? []);
  const save = useMutation({
    mutationFn: sending(async () => {
      const written = isConfig(config) ? config : {};
      const saved = await (component
        ? api.sharedComponent.update.mutate({
            id: component.id,
            environmentId: env,
            ...words,
            ...(configChanged ? { config: written } : {}),
          })
        : api.sharedComponent.create.mutate({
            environmentId: env,
            name: words.name,
            ...(words.description ? { description: words.description } : {}),
            componentType: type.trim(),
            kind,
            config: written,
          }));
      // Than the one that was changed: the list may be read again before the answer comes.
      return { saved, isNewer: component !== null && saved.version > component.version };
    }),
    onSuccess: async ({ saved, isNewer }) => {
      await queryClient.invalidateQueries({ queryKey: ['sharedComponent.list', env] });
      notify(
        isNewer && users.length > 0
          ? `Saved as version ${saved.version}. ${plural(users.length, 'pipeline has', 'pipelines have')} an update to accept.`
          : `${saved.name} is saved.`,
      );
      if (component) reset();
      else made(saved);
    },
  });
  const types = (catalogue.data?.components ?? [])
    .filter((entry) => entry.kind === kind)
    .map((entry) => entry.type);
  return (
    <>
      <form
        className="stack"
        aria-label={component ? `Shared component ${component.name}` : 'New shared component'}
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        <div className="editor-head">
          <Button icon="chevronLeft" onClick={close}>
            All shared components
          </Button>
          <span className="toolbar">
            {component && (
              <Button icon="trash" disabled={!mayEdit} onClick={() => setDeleting(true)}>
                Delete
              </Button>
            )}
            <Button
              type="submit"
              kind="primary"
              disabled={
                !mayEdit ||
                save.isPending ||
                (component && !isChanged) ||
                !words.name ||
                problems.length > 0 ||
                (!component && !type.trim())
              }
            >
              {save.isPending
                ? 'Saving…'
                : component && configChanged
                  ? `Save as version ${component.version + 1}`
                  : component
                    ? 'Save'
                    : 'Make the component'}
            </Button>
          </span>
        </div>
        {save.isError && <InlineError error={save.error} />}
        <div className="columns">
          <Section
            title="Config"
            beside={
              component && (
                <span className="muted">
                  <span className="mono">{component.componentType}</span>, {KIND_WORD[component.kind]},
                  version {component.version}
                </span>
              )
            }
          >
            <CodeField
              label="Config in YAML"
              language="yaml"
              value={text}
              onChange={(next) => set({ text: next })}
              problems={problems.map((problem) => ({ ...problem, severity: 'error' }))}
              readOnly={!mayEdit}
            />
            {problems.map(({ line, column, message }) => (
              <p key={`${line}:${column} ${message}`} className="bench-note field-problem">
                line {line}:{column}: {message}
              </p>
            ))}
            <p className="bench-note muted">
              Without <code>type</code> and <code>inputs</code>: the type stays, and inputs are drawn in each
              pipeline.
            </p>
          </Section>
          <Stack gap="md">
            <Section title="About">
              <fieldset className="plain-fieldset" disabled={!mayEdit}>
                <legend className="sr-only">About the component</legend>
                <div className="section-body form">
                  <NameField value={name} onChange={(next) => set({ name: next })} />
                  {!component && (
                    <>
                      <SelectField
                        label="Kind"
                        value={kind}
                        onChange={(next) => set({ kind: next })}
                        options={KINDS}
                      />
                      <Field
                        label="Type"
                        value={type}
                        onChange={(next) => set({ type: next })}
                        required
                        mono
                        autoComplete="off"
                        maxLength={100}
                        list={types}
                        hint={types.length > 0 ? `For example ${types.slice(0, 4).join(', ')}` : undefined}
                      />
                    </>
                  )}
                  <TextAreaField
                    label="What it is for"
                    value={description}
                    onChange={(next) => set({ description: next })}
                    rows={2}
                    maxLength={2_000}
                  />
                </div>
              </fieldset>
            </Section>
            {component && <SharedUsers env={env} component={component} changing={configChanged} />}
          </Stack>
        </div>
      </form>
      {/* Beside the form: what is sent in a dialog would be sent in it too. */}
      <UnsavedGuard
        unsaved={isChanged && !deleting && (component !== null || save.isIdle || save.isError)}
        text="What you changed of the component is not saved."
      />
      {component && (
        <DeleteSharedDialog
          component={component}
          opened={deleting}
          close={() => setDeleting(false)}
          deleted={close}
        />
      )}
    </>
  );
};
