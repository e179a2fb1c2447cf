import { Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Suspense } from 'react';
import type { DeployPreview } from '../../../../schemas/api/pipelines/deployments.ts';
import type { Pipeline } from '../../../../schemas/api/pipelines/pipelines.ts';
import { lazyPart } from '../../api/lazy-part.ts';
import { queries } from '../../api/queries/index.ts';
import { usePreference, writePreference } from '../../app/preferences/preferences.ts';
import { LevelList } from '../../ui/feedback/level-list.tsx';
import { Loaded, SkeletonBlock } from '../../ui/feedback/page-states.tsx';
import { Section } from '../../ui/primitives/page.tsx';
import { SegmentedControl } from '../../ui/primitives/segmented-control.tsx';
import { plural } from '../../ui/text/format.ts';
import { ProblemList } from './deploy/deploy-checks.tsx';

const YamlView = lazyPart(() => import('../../ui/code/code-view.tsx'), 'YamlView');
const YamlDiff = lazyPart(() => import('../../ui/code/code-view.tsx'), 'YamlDiff');

const LAYOUTS = [
  { value: 'unified', word: 'Unified' },
  { value: 'split', word: 'Side by side' },
] as const;

export const ConfigTab = ({ env, pipeline: { id: pipelineId } }: { env: string; pipeline: Pipeline }) => {
  const preview = useQuery(queries.preview(pipelineId));
  const target = useQuery(queries.deployTarget(pipelineId));
  return (
    <Loaded
      query={preview}
      what="The configuration"
      skeleton={<SkeletonBlock height={360} label="Loading the configuration" />}
    >
      {(data) => (
        <Stack gap="md">
          <Section
            title="Checks"
            beside={
              <span className="muted">
                {target.data &&
                  `${plural(target.data.matchingNodes.length, 'node')} of ${target.data.nodeCount} would take it`}
              </span>
            }
          >
            <div className="section-body stack">
              <LevelList levels={data.levels} />
              <ProblemList env={env} pipelineId={pipelineId} errors={data.validationErrors} />
            </div>
          </Section>
          <ConfigText preview={data} />
        </Stack>
      )}
    </Loaded>
  );
};

const ConfigText = ({ preview }: { preview: DeployPreview }) => {
  const layout = usePreference('diff') === 'split' ? 'split' : 'unified';
  const differs = preview.hasChanges && preview.deployedYaml !== null;
  return (
    <Section
      title={
        differs
          ? `Deployed → v${preview.nextVersion}`
          : preview.hasChanges
            ? 'Would be deployed'
            : 'Deployed configuration'
      }
      beside={
        differs ? (
          <SegmentedControl
            label="Layout"
            value={layout}
            options={LAYOUTS}
            onChange={(value) => writePreference('diff', value)}
          />
        ) : (
          <span className="muted">
            {preview.hasChanges ? 'Nothing is deployed yet' : 'Nothing waits to be deployed'}
          </span>
        )
      }
    >
      <Suspense fallback={<SkeletonBlock height={240} />}>
        {differs ? (
          <YamlDiff
            before={preview.deployedYaml ?? ''}
            after={preview.configYaml}
            beforeLabel="Deployed"
            afterLabel="To be deployed"
            layout={layout}
          />
        ) : (
          <YamlView text={preview.configYaml} label="Configuration" />
        )}
      </Suspense>
    </Section>
  );
};
