import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useNavigate, useParams, useSearchParams } from 'react-router';
import type { Migration } from '../../../../schemas/api/pipelines/migrations.ts';
import { api } from '../../api/client.ts';
import { paths } from '../../app/paths.ts';
import { usePlace } from '../../app/scope.tsx';
import { InlineError, Loaded, SkeletonBlock } from '../../ui/feedback/page-states.tsx';
import { Badge } from '../../ui/primitives/badge.tsx';
import { Button } from '../../ui/primitives/button.tsx';
import { Page } from '../../ui/primitives/page.tsx';
import { PageTabs } from '../../ui/primitives/page-tabs.tsx';
import { plural } from '../../ui/text/format.ts';
import { VIEWER_REASON } from '../pipelines/actions/fixed-reason.ts';
import { BlocksStep } from './blocks-step.tsx';
import { DeleteMigrationDialog } from './delete-migration.tsx';
import { GenerateStep } from './generate-step.tsx';
import { GeneratedLink } from './generated-link.tsx';
import { migrationQueries, useMigrationStep } from './migration-queries.ts';
import { STATUS_LOOK, STEPS, type Step } from './migration-text.ts';
import { SamplesStep } from './samples-step.tsx';
import { ValidateStep } from './validate-step.tsx';
import './migrations.css';

/** One migration, step by step. In the address: the step, and the block that is open. */
export const MigrationPage = () => {
  const { environment, team } = usePlace();
  const { migrationId = '' } = useParams();
  const query = useQuery(migrationQueries.detail(team.id, migrationId));
  const back = { to: paths.migrations(environment.id), word: 'Migrations' };
  const around = (content: React.ReactNode) => (
    <Page title="Migration" back={back}>
      {content}
    </Page>
  );
  return (
    <Loaded
      query={query}
      what="The migration"
      skeleton={around(<SkeletonBlock height={480} label="Loading the migration" />)}
      around={around}
    >
      {(migration) => <Shown key={migration.id} migration={migration} back={back} />}
    </Loaded>
  );
};

interface ShownProps {
  migration: Migration;
  back: { to: string; word: string };
}

const Shown = ({ migration, back }: ShownProps) => {
  const { environment, team } = usePlace();
  const navigate = useNavigate();
  const [params, setParams] = useSearchParams();
  const [deleting, setDeleting] = useState(false);
  const { id, name, status, generated } = migration;
  const mayEdit = team.role !== 'VIEWER';
  const step = STEPS.find(({ value }) => value === params.get('step'))?.value ?? 'blocks';
  const parsed = status !== 'CREATED';
  const isTranslated = migration.translatedCount > 0;
  const next = useMigrationStep(
    () =>
      parsed
        ? api.migration.translate.mutate({ id, teamId: team.id })
        : api.migration.parse.mutate({ id, teamId: team.id }),
    {
      done: ({ openCount, blockCount }) =>
        parsed
          ? `${plural(blockCount, 'block')} translated, ${openCount} open.`
          : `${plural(blockCount, 'block')} found.`,
    },
  );
  const tip = mayEdit ? undefined : VIEWER_REASON;
  const render: Readonly<Record<Step, () => React.ReactNode>> = {
    blocks: () => <BlocksStep migration={migration} mayEdit={mayEdit} />,
    samples: () => <SamplesStep migration={migration} mayEdit={mayEdit} />,
    validate: () => <ValidateStep migration={migration} mayEdit={mayEdit} />,
    generate: () => <GenerateStep migration={migration} mayEdit={mayEdit} />,
  };
  return (
    <Page
      title={name}
      back={back}
      beside={
        <>
          <Badge tone={STATUS_LOOK[status].tone}>{STATUS_LOOK[status].word}</Badge>
          {generated && <GeneratedLink generated={generated} />}
        </>
      }
      actions={
        <>
          <Button icon="trash" disabled={!mayEdit} tip={tip} onClick={() => setDeleting(true)}>
            Delete
          </Button>
          <Button
            icon="transform"
            kind={isTranslated ? undefined : 'primary'}
            disabled={!mayEdit || next.isPending}
            tip={tip}
            onClick={() => next.mutate()}
          >
            {next.isPending
              ? 'Working…'
              : !parsed
                ? 'Find the blocks'
                : isTranslated
                  ? 'Translate all again'
                  : 'Translate'}
          </Button>
        </>
      }
    >
      {next.isError && <InlineError error={next.error} />}
      <PageTabs
        label="Steps of the migration"
        value={step}
        onChange={(value) => setParams(value === 'blocks' ? {} : { step: value })}
        tabs={STEPS.map((one) => ({ ...one, render: render[one.value] }))}
      />
      <DeleteMigrationDialog
        migration={deleting ? migration : null}
        close={() => setDeleting(false)}
        leave={() => void navigate(paths.migrations(environment.id))}
      />
    </Page>
  );
};
