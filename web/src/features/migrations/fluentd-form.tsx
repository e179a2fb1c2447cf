import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useNavigate } from 'react-router';
import { MAX_ORIGINAL_BYTES } from '../../../../schemas/api/pipelines/migrations.ts';
import { api } from '../../api/client.ts';
import { paths } from '../../app/paths.ts';
import { usePlace } from '../../app/scope.tsx';
import { notifyFailure } from '../../ui/feedback/toast.tsx';
import { NameField } from '../../ui/form/field.tsx';
import { MutationForm } from '../../ui/form/mutation-form.tsx';
import { useRenewMigrations } from './migration-queries.ts';
import { TextDrop } from './text-drop.tsx';

/** Creates a migration and finds its blocks. */
export const FluentdForm = () => {
  const { environment, team } = usePlace();
  const navigate = useNavigate();
  const renew = useRenewMigrations();
  const [name, setName] = useState('');
  const [text, setText] = useState('');
  const create = useMutation({
    mutationFn: async () => {
      const input = { teamId: team.id, name, platform: 'FLUENTD' as const, originalConfig: text };
      const { id } = await api.migration.create.mutate(input);
      // It is there now: a later failure is reported separately.
      try {
        await api.migration.parse.mutate({ id, teamId: team.id });
      } catch (error) {
        notifyFailure(`${name} was created, but not parsed`, error);
      }
      return id;
    },
    onSuccess: async (id) => {
      await renew();
      await navigate(paths.migration(environment.id, id));
    },
  });
  return (
    <MutationForm
      mutation={create}
      submit="Find the blocks"
      working="Reading it…"
      disabled={name.trim() === '' || text.trim() === ''}
      autoComplete="off"
    >
      <NameField
        value={name}
        onChange={setName}
        hint="For the list of migrations; the pipeline gets its own."
      />
      <TextDrop
        label="Configuration of Fluentd"
        value={text}
        maxBytes={MAX_ORIGINAL_BYTES}
        accept=".conf,.txt,text/plain"
        onChange={(value, fileName) => {
          setText(value);
          if (fileName !== null && name === '') setName(fileName.slice(0, 100));
        }}
      />
    </MutationForm>
  );
};
