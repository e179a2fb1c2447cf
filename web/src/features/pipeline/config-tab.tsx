import { Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import type { DeployPreview, Pipeline } from '../../../../schemas/api/pipelines.ts';
import { queries } from '../../api/queries.ts';
import { usePreference, writePreference } from '../../app/preferences/preferences.ts';
import { Badge } from '../../ui/primitives/badge.tsx';
import { Section } from '../../ui/primitives/page.tsx';
import { Loaded, SkeletonBlock } from '../../ui/primitives/page-states.tsx';
import { SegmentedControl } from '../../ui/primitives/segmented-control.tsx';
import type { Tone } from '../../ui/primitives/tone.ts';
import { plural } from '../../ui/text/format.ts';

const YamlView = lazy(() =>
  import('../../ui/code/code-view.tsx').then((module) => ({ default: module.YamlView })),
);
const YamlDiff = lazy(() =>
  import('../../ui/code/code-view.tsx').then((module) => ({ default: module.YamlDiff })),
);

const LEVEL: Record<DeployPreview['levels'][number]['status'], Tone> = {
  passed: 'ok',
  failed: 'failed',
  skipped: 'unknown',
};
const LAYOUTS = [
  { value: 'unified', word: 'Unified' },
  { value: 'split', word: 'Side by side' },
] as const;

export const ConfigTab = ({ pipeline: { id: pipelineId } }: { pipeline: Pipeline }) => {
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
              <ul className="levels" aria-label="Levels of validation">
                {data.levels.map(({ level, status, detail }) => (
                  <li key={level} className="level" data-tip={detail || undefined}>
                    <Badge tone={LEVEL[status]}>{status}</Badge> {level}
                  </li>
                ))}
              </ul>
              {data.validationErrors.length > 0 && (
                <ul className="problems" aria-label="Validation errors">
                  {data.validationErrors.map((problem) => (
                    <li key={`${problem.componentKey} ${problem.line} ${problem.message}`}>
                      <span className="mono">
                        {[problem.componentKey, problem.line && `line ${problem.line}`]
                          .filter(Boolean)
                          .join(', ') || 'config'}
                      </span>
                      {problem.message}
                    </li>
                  ))}
                </ul>
              )}
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
