import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Pipeline } from '../../../../../schemas/api/pipelines/pipelines.ts';
import type { VersionSummary } from '../../../../../schemas/api/pipelines/versions.ts';
import { matchesSelector } from '../../../../../schemas/pipelines/selector.ts';
import { api } from '../../../api/client.ts';
import { queries } from '../../../api/queries/index.ts';
import { isProduction, usePlace } from '../../../app/scope.tsx';
import { Diff, DiffLayout } from '../../../ui/code/lazy-code.tsx';
import { Notice } from '../../../ui/feedback/notice.tsx';
import { Loaded, SkeletonBlock } from '../../../ui/feedback/page-states.tsx';
import { notify } from '../../../ui/feedback/toast.tsx';
import { MutationForm } from '../../../ui/form/mutation-form.tsx';
import { Dialog } from '../../../ui/primitives/dialog.tsx';
import { formatExact, plural } from '../../../ui/text/format.ts';
import { useRenewPipelines } from '../../pipelines/actions/pipeline-actions.ts';
import { ProblemList, problemsOf } from '../deploy/deploy-checks.tsx';
import { DeployWatch } from '../deploy/deploy-progress.tsx';
import { EndsRollout } from '../rollout/superseded-rollout.tsx';
import { VersionDiff } from './version-diff.tsx';

interface Props {
  env: string;
  pipeline: Pipeline;
  target: VersionSummary;
  close: () => void;
}

export const RollbackDialog = (props: Props) => {
  const [done, setDone] = useState<number | null>(null);
  return (
    <Dialog
      title={`Roll ${props.pipeline.name} back to version ${props.target.version}`}
      opened
      close={props.close}
      size="xl"
    >
      {done === null ? (
        <RollbackForm {...props} done={setDone} />
      ) : (
        <DeployWatch env={props.env} pipelineId={props.pipeline.id} version={done} close={props.close} />
      )}
    </Dialog>
  );
};

const RollbackForm = ({
  env,
  pipeline,
  target,
  close,
  done,
}: Props & { done: (version: number) => void }) => {
  const { environment } = usePlace();
  const renew = useRenewPipelines();
  const versions = useQuery(queries.versions(pipeline.id));
  const rollback = useMutation({
    mutationFn: () => api.pipeline.rollback.mutate({ pipelineId: pipeline.id, targetVersionId: target.id }),
    onSuccess: async ({ versionNumber }) => {
      await renew();
      if (!pipeline.isDraft) {
        done(versionNumber);
        return;
      }
      notify(`Version ${versionNumber} has what version ${target.version} had. It is not deployed.`);
      close();
    },
  });
  const deployed = versions.data?.find(({ isDeployed }) => isDeployed);
  const mustConfirm = isProduction(environment) && !pipeline.isDraft;
  const next = (pipeline.latestVersionNumber ?? 0) + 1;
  const problems = rollback.isError ? problemsOf(rollback.error) : [];
  return (
    <MutationForm
      mutation={rollback}
      close={close}
      submit={`Roll back to version ${target.version}${pipeline.managedBy === 'git' ? ' and hold git’s' : ''}`}
      working="Rolling back…"
      confirm={mustConfirm ? pipeline.name : null}
      confirmField={{ mono: true, autoFocus: false }}
      findings={<ProblemList env={env} pipelineId={pipeline.id} errors={problems} />}
    >
      <p>
        Version {target.version} of {formatExact(target.createdAt)}
        {target.changelog && <>, “{target.changelog}”</>}, becomes version {next}: its graph, log level and
        nodes. {pipeline.isDraft ? 'The pipeline stays a draft.' : <Restarts env={env} target={target} />}
      </p>
      <EndsRollout pipelineId={pipeline.id} what="This" />
      {pipeline.managedBy === 'git' && (
        <Notice icon="held" tone="held">
          Git describes it: the version that git has now is held, and not applied again. A newer commit that
          changes it is taken.
        </Notice>
      )}
      {pipeline.hasConfigChanges && !pipeline.isDraft && (
        <Notice icon="warning" tone="held">
          What was drawn since the last deploy, and is not deployed, is replaced too.
        </Notice>
      )}
      <section className="deploy-part" aria-label="What changes against now">
        <header className="deploy-part-head">
          <h3>What changes against now</h3>
          <DiffLayout />
        </header>
        <div className="deploy-diff">
          {deployed ? (
            <VersionDiff fromId={deployed.id} toId={target.id} />
          ) : (
            <AgainstDraft pipelineId={pipeline.id} target={target} />
          )}
        </div>
      </section>
    </MutationForm>
  );
};

/** The nodes of the version that comes back, which need not be those of the one that runs. */
const Restarts = ({ env, target }: { env: string; target: VersionSummary }) => {
  const version = useQuery(queries.version(target.id));
  const nodes = useQuery(queries.nodes(env));
  if (!version.data || !nodes.data) return 'It restarts wherever it runs.';
  const { nodeSelector } = version.data;
  const matching = nodes.data.filter(({ labels }) => matchesSelector(nodeSelector, labels));
  return `It restarts on ${plural(matching.length, 'node')}.`;
};

/** Nothing is deployed: what is drawn now is what changes. */
const AgainstDraft = ({ pipelineId, target }: { pipelineId: string; target: VersionSummary }) => {
  const preview = useQuery(queries.preview(pipelineId));
  const version = useQuery(queries.version(target.id));
  const skeleton = <SkeletonBlock height={200} label="Loading the comparison" />;
  return (
    <Loaded query={preview} what="What is drawn" skeleton={skeleton}>
      {(drawn) => (
        <Loaded query={version} what="The version" skeleton={skeleton}>
          {({ configYaml }) =>
            configYaml === drawn.configYaml ? (
              <p className="section-body muted">The config is the one that is drawn now.</p>
            ) : (
              <Diff
                before={drawn.configYaml}
                after={configYaml}
                beforeLabel="Drawn now"
                afterLabel={`Version ${target.version}`}
              />
            )
          }
        </Loaded>
      )}
    </Loaded>
  );
};
