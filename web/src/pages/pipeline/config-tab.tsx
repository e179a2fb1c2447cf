import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import type { DeployPreview } from '../../../../schemas/api/pipelines.ts';
import { queries } from '../../api/queries.ts';
import { usePreference, writePreference } from '../../app/preferences.ts';
import { Badge, type Tone } from '../../components/bits.tsx';
import { plural } from '../../components/format.ts';
import { Section } from '../../components/page.tsx';
import { Segmented } from '../../components/segmented.tsx';
import { Loaded, SkeletonBlock } from '../../components/states.tsx';

const YamlView = lazy(() =>
  import('../../components/code.tsx').then((module) => ({ default: module.YamlView })),
);
const YamlDiff = lazy(() =>
  import('../../components/code.tsx').then((module) => ({ default: module.YamlDiff })),
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

export const ConfigTab = ({ pipelineId }: { pipelineId: string }) => {
  const preview = useQuery(queries.preview(pipelineId));
  const target = useQuery(queries.deployTarget(pipelineId));
  return (
    <Loaded
      query={preview}
      what="The configuration"
      skeleton={<SkeletonBlock height={360} label="Loading the configuration" />}
    >
      {(data) => (
        <div className="stack">
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
        </div>
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
          <Segmented
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
