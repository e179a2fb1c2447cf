import { Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Suspense, useState } from 'react';
import { useSearchParams } from 'react-router';
import type { TemplateSummary } from '../../../../schemas/api/pipelines/templates.ts';
import { lazyPart } from '../../api/lazy-part.ts';
import { queries } from '../../api/queries/index.ts';
import { usePlace } from '../../app/scope.tsx';
import { EmptyState, Loaded, SkeletonBlock } from '../../ui/feedback/page-states.tsx';
import { Button, IconButton } from '../../ui/primitives/button.tsx';
import { Section } from '../../ui/primitives/page.tsx';
import { Time } from '../../ui/primitives/time.tsx';
import { plural } from '../../ui/text/format.ts';
import { NewPipelineDialog } from '../pipelines/new-pipeline.tsx';
import { DeleteTemplateDialog, FromPipelineDialog } from './template-dialogs.tsx';

const TemplateDialog = lazyPart(() => import('./template-preview.tsx'), 'TemplateDialog');

/** Types beyond are counted. */
const MAX_TYPES = 6;

export const Templates = () => {
  const { team } = usePlace();
  const [params, setParams] = useSearchParams();
  const templates = useQuery(queries.templates(team.id));
  const [using, setUsing] = useState<string | null>(null);
  const [deleting, setDeleting] = useState<TemplateSummary | null>(null);
  const shownId = params.get('id');
  const isNew = params.get('new') === '1';
  const mayEdit = team.role !== 'VIEWER';
  const show = (id: string | null): void => setParams(id === null ? {} : { id });
  const add = (
    <Button icon="plus" kind="primary" disabled={!mayEdit} onClick={() => setParams({ new: '1' })}>
      New template from a pipeline
    </Button>
  );
  return (
    <>
      <Loaded
        query={templates}
        what="Templates"
        skeleton={<SkeletonBlock height={320} label="Loading templates" />}
      >
        {(list) => {
          const shown = list.find(({ id }) => id === shownId) ?? null;
          return (
            <>
              {list.length === 0 ? (
                <EmptyState icon="library" title="No templates yet">
                  <p>
                    A template is a graph that {team.name} begins pipelines with. Draw a pipeline as it should
                    be, and keep it: credentials and links stay behind.
                  </p>
                  {add}
                </EmptyState>
              ) : (
                <Stack gap="md">
                  <div className="editor-head">
                    <p className="muted">Graphs that {team.name} begins pipelines with.</p>
                    {add}
                  </div>
                  {[...Map.groupBy(list, ({ category }) => category)].map(([category, members]) => (
                    <Section key={category} title={category}>
                      <ul className="cards" aria-label={`Templates of ${category}`}>
                        {members.map((template) => (
                          <TemplateCard
                            key={template.id}
                            template={template}
                            mayEdit={mayEdit}
                            use={() => setUsing(template.id)}
                            preview={() => show(template.id)}
                            remove={() => setDeleting(template)}
                          />
                        ))}
                      </ul>
                    </Section>
                  ))}
                </Stack>
              )}
              <Suspense fallback={null}>
                {shown && (
                  <TemplateDialog
                    template={shown}
                    close={() => show(null)}
                    use={
                      mayEdit
                        ? () => {
                            show(null);
                            setUsing(shown.id);
                          }
                        : null
                    }
                  />
                )}
              </Suspense>
            </>
          );
        }}
      </Loaded>
      <NewPipelineDialog opened={using !== null} close={() => setUsing(null)} templateId={using} />
      <DeleteTemplateDialog template={deleting} close={() => setDeleting(null)} />
      <FromPipelineDialog opened={isNew && mayEdit} close={() => setParams({}, { replace: true })} />
    </>
  );
};

interface CardProps {
  template: TemplateSummary;
  mayEdit: boolean;
  use: () => void;
  preview: () => void;
  remove: () => void;
}

const TemplateCard = ({ template, mayEdit, use, preview, remove }: CardProps) => {
  const { name, description, componentCount, componentTypes, createdByName, createdAt } = template;
  return (
    <li className="card">
      <h3>{name}</h3>
      {description && <p className="card-text">{description}</p>}
      <p className="labels">
        {componentTypes.slice(0, MAX_TYPES).map((type) => (
          <span key={type} className="label mono">
            {type}
          </span>
        ))}
        {componentTypes.length > MAX_TYPES && (
          <span className="label mono">+{componentTypes.length - MAX_TYPES}</span>
        )}
      </p>
      <p className="muted card-note">
        {plural(componentCount, 'component')} · {createdByName ?? 'somebody'}, <Time at={createdAt} />
      </p>
      <div className="card-actions">
        <Button size="small" kind="primary" disabled={!mayEdit} onClick={use}>
          Use<span className="sr-only"> {name}</span>
        </Button>
        <Button size="small" onClick={preview}>
          Preview<span className="sr-only"> {name}</span>
        </Button>
        <IconButton icon="trash" label={`Delete ${name}`} tip="Delete" disabled={!mayEdit} onClick={remove} />
      </div>
    </li>
  );
};
