/** The same lines through both sides, and where the events differ. */
import { Group } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { Migration } from '../../../../schemas/api/pipelines/migrations.ts';
import { MAX_SAMPLE_LINES } from '../../../../schemas/api/pipelines/migrations.ts';
import { api } from '../../api/client.ts';
import { usePlace } from '../../app/scope.tsx';
import { EmptyState, InlineError } from '../../ui/feedback/page-states.tsx';
import { Field, SelectField, TextAreaField } from '../../ui/form/field.tsx';
import { Button } from '../../ui/primitives/button.tsx';
import { Section } from '../../ui/primitives/page.tsx';
import { plural } from '../../ui/text/format.ts';
import { VIEWER_REASON } from '../pipelines/actions/fixed-reason.ts';
import { blockTitle } from './migration-text.ts';
import { SampleResult } from './sample-result.tsx';

export const SamplesStep = ({ migration, mayEdit }: { migration: Migration; mayEdit: boolean }) => {
  const { team } = usePlace();
  const [text, setText] = useState('');
  const [blockId, setBlockId] = useState('');
  const [tag, setTag] = useState('');
  const sources = migration.blocks.filter(({ directive }) => directive === 'source');
  const lines = text.split('\n').filter((line) => line !== '');
  const run = useMutation({
    mutationFn: () =>
      api.migration.runSamples.mutate({
        ...{ id: migration.id, teamId: team.id, lines },
        ...(blockId === '' ? {} : { blockId }),
        ...(tag.trim() === '' ? {} : { tag: tag.trim() }),
      }),
  });
  if (migration.translatedCount === 0)
    return (
      <EmptyState icon="transform" title="Nothing to run yet">
        <p>
          Translate the blocks first. Then lines of yours run through the original and through what it became.
        </p>
      </EmptyState>
    );
  const problem =
    lines.length > MAX_SAMPLE_LINES
      ? `${lines.length} lines; at most ${MAX_SAMPLE_LINES} run at a time.`
      : '';
  return (
    <div className="migration-step">
      <Section title="Lines">
        <form
          className="section-body form"
          onSubmit={(event) => {
            event.preventDefault();
            run.mutate();
          }}
        >
          <TextAreaField
            label="Lines as the source reads them"
            value={text}
            onChange={setText}
            rows={6}
            mono
            problem={problem}
            hint="One event a line. For sources that bring records (forward, http), each line is a JSON object. Nothing is stored."
          />
          <div className="sample-options">
            <SelectField
              label="Source"
              value={blockId}
              onChange={setBlockId}
              options={[
                { value: '', word: 'The first that reads text' },
                ...sources.map((block) => ({ value: block.id, word: `${block.id}: ${blockTitle(block)}` })),
              ]}
            />
            <Field
              label="Tag"
              value={tag}
              onChange={setTag}
              mono
              maxLength={500}
              hint="Where the events bring their own."
              autoComplete="off"
            />
          </div>
          {run.isError && <InlineError error={run.error} />}
          <Group justify="flex-end">
            <Button
              type="submit"
              kind="primary"
              icon="moving"
              tip={mayEdit ? undefined : VIEWER_REASON}
              disabled={!mayEdit || run.isPending || lines.length === 0 || problem !== ''}
            >
              {run.isPending ? 'Running…' : `Run ${plural(lines.length, 'line')}`}
            </Button>
          </Group>
        </form>
      </Section>
      {run.data && !run.isPending && <SampleResult run={run.data} />}
    </div>
  );
};
