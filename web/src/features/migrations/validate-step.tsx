import { Group } from '@mantine/core';
import { Link } from 'react-router';
import type { Migration } from '../../../../schemas/api/pipelines/migrations.ts';
import { api } from '../../api/client.ts';
import { paths } from '../../app/paths.ts';
import { usePlace } from '../../app/scope.tsx';
import { LevelList } from '../../ui/feedback/level-list.tsx';
import { EmptyState, InlineError } from '../../ui/feedback/page-states.tsx';
import { WarningList } from '../../ui/feedback/warning-list.tsx';
import { Badge } from '../../ui/primitives/badge.tsx';
import { Button } from '../../ui/primitives/button.tsx';
import { Section } from '../../ui/primitives/page.tsx';
import { Time } from '../../ui/primitives/time.tsx';
import { CodeText } from '../../ui/text/code-text.tsx';
import { VIEWER_REASON } from '../pipelines/actions/fixed-reason.ts';
import { useMigrationStep } from './migration-queries.ts';

/** The last validation, and the button for the next. */
export const ValidateStep = ({ migration, mayEdit }: { migration: Migration; mayEdit: boolean }) => {
  const { team } = usePlace();
  const { id, validation, translatedCount } = migration;
  const validate = useMigrationStep(() => api.migration.validate.mutate({ id, teamId: team.id }), {
    done: (after) => (after.validation?.valid ? 'The components are valid together.' : null),
  });
  if (translatedCount === 0)
    return (
      <EmptyState icon="check" title="Nothing to validate yet">
        <p>Translate the blocks first. Then all components are checked together, as before a deploy.</p>
      </EmptyState>
    );
  const button = (
    <Button
      kind="primary"
      icon="check"
      disabled={!mayEdit || validate.isPending}
      tip={mayEdit ? undefined : VIEWER_REASON}
      onClick={() => validate.mutate()}
    >
      {validate.isPending ? 'Validating…' : validation ? 'Validate again' : 'Validate'}
    </Button>
  );
  return (
    <Section
      title="Validation"
      beside={
        validation && (
          <span className="block-facts">
            <Badge tone={validation.valid ? 'ok' : 'failed'}>
              {validation.valid ? 'Valid' : 'Not valid'}
            </Badge>
            <span className="muted">
              <Time at={validation.at} />
            </span>
          </span>
        )
      }
    >
      <div className="section-body block-body">
        {validation ? (
          <Found migration={migration} validation={validation} />
        ) : (
          <p className="muted">
            Not validated since the last change. Inputs, options and programs are checked, and the whole by
            the engine.
          </p>
        )}
        {validate.isError && <InlineError error={validate.error} />}
        <Group>{button}</Group>
      </div>
    </Section>
  );
};

interface FoundProps {
  migration: Migration;
  validation: NonNullable<Migration['validation']>;
}

const Found = ({ migration, validation: { levels, errors, warnings, secrets, openBlocks } }: FoundProps) => {
  const { environment } = usePlace();
  const blockOf = (key: string | undefined): string | undefined =>
    migration.blocks.find(({ translation }) =>
      translation?.components.some(({ componentKey }) => componentKey === key),
    )?.id;
  const linkTo = (blockId: string) => (
    <Link className="mono" to={paths.migration(environment.id, migration.id, { block: blockId })}>
      {blockId}
    </Link>
  );
  return (
    <>
      <LevelList levels={levels} />
      {errors.length > 0 && (
        <ul className="problems" aria-label="Errors">
          {errors.map(({ message, path, componentKey }) => {
            const blockId = blockOf(componentKey);
            return (
              <li key={`${path} ${message}`}>
                {blockId === undefined ? <span className="mono">all</span> : linkTo(blockId)}
                <span>
                  <CodeText text={message} />
                </span>
              </li>
            );
          })}
        </ul>
      )}
      <WarningList warnings={warnings} />
      {openBlocks.length > 0 && (
        <p>
          <Badge tone="failed">Open</Badge> Nothing stands for{' '}
          {openBlocks.map((blockId, index) => (
            <span key={blockId}>
              {index > 0 && ', '}
              {linkTo(blockId)}
            </span>
          ))}{' '}
          yet.
        </p>
      )}
      {secrets.length > 0 && (
        <p>
          <Badge tone="held" icon="secrets">
            Secrets
          </Badge>{' '}
          The environment needs{' '}
          {secrets.map((variable, index) => (
            <span key={variable}>
              {index > 0 && ', '}
              <code className="mono">{variable}</code>
            </span>
          ))}
          . Add them on <Link to={paths.secrets(environment.id)}>Secrets</Link> before a deploy.
        </p>
      )}
    </>
  );
};
