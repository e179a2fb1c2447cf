import { Checkbox } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { FilterPreset, PresetScope } from '../../../../schemas/api/insight/preferences.ts';
import { api } from '../../api/client.ts';
import { usePlace } from '../../app/scope.tsx';
import { InlineError } from '../../ui/feedback/page-states.tsx';
import { Field, NameField } from '../../ui/form/field.tsx';
import { MutationForm } from '../../ui/form/mutation-form.tsx';
import { Button, IconButton } from '../../ui/primitives/button.tsx';
import { Dialog } from '../../ui/primitives/dialog.tsx';

interface Props {
  scope: PresetScope;
  /** Those of the page now. */
  filters: Record<string, string>;
  opened: boolean;
  close: () => void;
}

const FilterWords = ({ filters }: { filters: FilterPreset['filters'] }) => (
  <span className="labels">
    {Object.entries(filters).map(([key, value]) => (
      <span key={key} className="label mono">
        <span className="label-key">{key}=</span>
        {String(value)}
      </span>
    ))}
  </span>
);

/** The list again, after a change of it. */
function useRenewed(scope: PresetScope): { environmentId: string; renew: () => Promise<void> } {
  const { environment } = usePlace();
  const queryClient = useQueryClient();
  return {
    environmentId: environment.id,
    renew: () => queryClient.invalidateQueries({ queryKey: ['filterPreset.list', environment.id, scope] }),
  };
}

export const SavePresetDialog = ({ opened, close, ...rest }: Props) => (
  <Dialog title="Save these filters" opened={opened} close={close} size="sm">
    {opened && <SaveForm close={close} {...rest} />}
  </Dialog>
);

const SaveForm = ({ scope, filters, close }: Omit<Props, 'opened'>) => {
  const { environmentId, renew } = useRenewed(scope);
  const [name, setName] = useState('');
  const [isDefault, setIsDefault] = useState(false);
  const save = useMutation({
    mutationFn: () =>
      api.filterPreset.create.mutate({ environmentId, scope, name: name.trim(), filters, isDefault }),
    onSuccess: async () => {
      await renew();
      close();
    },
  });
  return (
    <MutationForm
      mutation={save}
      close={close}
      submit="Save the filters"
      working="Saving…"
      disabled={!name.trim()}
    >
      <FilterWords filters={filters} />
      <NameField value={name} onChange={setName} autoFocus hint="Everybody in this environment sees it." />
      <Checkbox
        checked={isDefault}
        onChange={(event) => setIsDefault(event.target.checked)}
        label="The page begins with it"
      />
    </MutationForm>
  );
};

interface ManageProps extends Props {
  presets: readonly FilterPreset[];
}

export const ManagePresetsDialog = ({ opened, close, presets, ...rest }: ManageProps) => (
  <Dialog title="Saved filters" opened={opened} close={close} size="lg">
    {opened && (
      <ul className="preset-list" aria-label="Saved filters">
        {presets.map((preset) => (
          <PresetRow key={preset.id} preset={preset} {...rest} />
        ))}
        {presets.length === 0 && <li className="muted">None is left.</li>}
      </ul>
    )}
  </Dialog>
);

interface RowProps {
  preset: FilterPreset;
  scope: PresetScope;
  filters: Record<string, string>;
}

const PresetRow = ({ preset, scope, filters }: RowProps) => {
  const { environmentId, renew } = useRenewed(scope);
  const [name, setName] = useState<string | null>(null);
  const { id } = preset;
  const change = useMutation({
    mutationFn: async (what: 'rename' | 'refill' | 'default' | 'no-default' | 'delete'): Promise<void> => {
      if (what === 'rename')
        await api.filterPreset.update.mutate({ environmentId, id, name: name?.trim() ?? preset.name });
      if (what === 'refill') await api.filterPreset.update.mutate({ environmentId, id, filters });
      if (what === 'default') await api.filterPreset.setDefault.mutate({ environmentId, id, scope });
      if (what === 'no-default') await api.filterPreset.clearDefault.mutate({ environmentId, scope });
      if (what === 'delete') await api.filterPreset.delete.mutate({ environmentId, id });
    },
    onSuccess: async () => {
      setName(null);
      await renew();
    },
  });
  if (name !== null) {
    return (
      <li>
        <form
          className="inline-form"
          onSubmit={(event) => {
            event.preventDefault();
            change.mutate('rename');
          }}
        >
          <Field
            label={`New name of ${preset.name}`}
            value={name}
            onChange={setName}
            required
            autoFocus
            autoComplete="off"
          />
          <Button type="submit" disabled={change.isPending || !name.trim()}>
            Rename
          </Button>
          <Button onClick={() => setName(null)}>Cancel</Button>
        </form>
        {change.isError && <InlineError error={change.error} />}
      </li>
    );
  }
  const isEmpty = Object.keys(filters).length === 0;
  return (
    <li>
      <div className="preset-head">
        <b>{preset.name}</b>
        <FilterWords filters={preset.filters} />
        {preset.createdByName && <span className="muted">by {preset.createdByName}</span>}
      </div>
      <div className="preset-actions">
        <Checkbox
          checked={preset.isDefault}
          disabled={change.isPending}
          aria-label={`The page begins with ${preset.name}`}
          onChange={() => change.mutate(preset.isDefault ? 'no-default' : 'default')}
          label="The page begins with it"
        />
        <Button
          size="small"
          disabled={change.isPending || isEmpty}
          tip={isEmpty ? 'The page has no filters now' : 'Replaces its filters by those of the page now'}
          onClick={() => change.mutate('refill')}
        >
          Take the present filters<span className="sr-only"> into {preset.name}</span>
        </Button>
        <Button size="small" disabled={change.isPending} onClick={() => setName(preset.name)}>
          Rename<span className="sr-only"> {preset.name}</span>
        </Button>
        <IconButton
          icon="trash"
          label={`Delete ${preset.name}`}
          tip="Delete"
          disabled={change.isPending}
          onClick={() => change.mutate('delete')}
        />
      </div>
      {change.isError && <InlineError error={change.error} />}
    </li>
  );
};
