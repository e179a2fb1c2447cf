import { useState } from 'react';
import { useSearchParams } from 'react-router';
import { previewText } from '../../../../../schemas/alerts/preview-text.ts';
import type { GitPlan, PlannedChange } from '../../../../../schemas/api/delivery/git-plan.ts';
import type { GitSyncStatus } from '../../../../../schemas/api/delivery/git-sync.ts';
import { Hunks } from '../../../ui/code/diff-hunks.tsx';
import { DiffLayout } from '../../../ui/code/lazy-code.tsx';
import { Badge } from '../../../ui/primitives/badge.tsx';
import { Icon } from '../../../ui/primitives/icons.tsx';
import { Section } from '../../../ui/primitives/page.tsx';
import type { Tone } from '../../../ui/primitives/tone.ts';
import { CodeText } from '../../../ui/text/code-text.tsx';
import { plural, sentence } from '../../../ui/text/format.ts';
import { Hosts } from '../binding/allowed-hosts.tsx';
import { reasonWord } from '../git-problem.ts';
import { ACTIONS } from '../git-state-labels.ts';
import { ObjectName } from '../object-name.tsx';
import { PlaceLink } from '../source-link.tsx';
import { FieldChanges } from './field-changes.tsx';
import { Findings } from './plan-findings.tsx';
import { nodesText } from './plan-text.ts';

interface Props {
  plan: GitPlan;
  status: GitSyncStatus;
}

/** By what is done, what people look at first on top. */
export const PlanChanges = ({ plan, status }: Props) => {
  const [params] = useSearchParams();
  const focus = params.get('focus');
  const groups = ACTIONS.map((of) => ({
    ...of,
    changes: plan.changes.filter(({ action }) => action === of.action),
  })).filter(({ changes }) => changes.length > 0);
  // Few are read at once.
  const open = plan.changes.length === 1;
  const firstWithText = groups.findIndex(({ changes }) => changes.some(({ engineDiff }) => engineDiff));
  return (
    <>
      {groups.map(({ action, title, tone, changes }, index) => (
        <Section
          key={action}
          title={`${title} · ${plan.counts[action]}`}
          beside={index === firstWithText ? <DiffLayout /> : undefined}
        >
          <ul className="manifests" aria-label={title}>
            {changes.map((change) => (
              <ChangeRow
                key={`${change.kind}/${change.name}`}
                change={change}
                tone={tone}
                status={status}
                commit={plan.commit?.sha ?? null}
                startOpened={open || focus === change.path}
              />
            ))}
          </ul>
        </Section>
      ))}
      {plan.changesTotal > plan.changes.length && (
        <p className="muted">
          {plural(plan.changesTotal - plan.changes.length, 'change')} more: <code>headgate plan</code> lists
          all.
        </p>
      )}
    </>
  );
};

interface RowProps {
  change: PlannedChange;
  tone: Tone;
  status: GitSyncStatus;
  commit: string | null;
  startOpened: boolean;
}

const ChangeRow = ({ change, tone, status, commit, startOpened }: RowProps) => {
  const [opened, setOpened] = useState(startOpened);
  const { kind, name, renamedFrom, path, line, objectId, reason, nodes, tests, findings, preview, action } =
    change;
  const failed = tests.filter((test) => test.status === 'failed').length;
  // What is deleted stood there when it was last applied.
  const at = action === 'delete' ? (status.appliedCommit?.sha ?? null) : commit;
  return (
    <li>
      <div className="plan-change">
        <button
          type="button"
          className="unfold"
          aria-expanded={opened}
          aria-label={`Details of ${kind} ${name}`}
          onClick={() => setOpened(!opened)}
        >
          <Icon name="chevronRight" size={14} />
        </button>
        <ObjectName
          env={status.environmentId}
          kind={kind}
          name={name}
          objectId={objectId}
          renamedFrom={renamedFrom}
        />
        <span className="plan-marks">
          {reason && (
            <Badge tone={tone} tip={reason.message}>
              {reasonWord(reason.code)}
            </Badge>
          )}
          {findings.length > 0 && <Badge tone="failed">{plural(findings.length, 'finding')}</Badge>}
          {tests.length > 0 && (
            <Badge tone={failed > 0 ? 'failed' : 'calm'}>
              {failed > 0
                ? `${failed} of ${plural(tests.length, 'test')} failed`
                : plural(tests.length, 'test')}
            </Badge>
          )}
          {nodes && nodes.count > 0 && <Badge tone="moving">{plural(nodes.count, 'node')}</Badge>}
          {preview && preview.firingNow > 0 && <Badge tone="held">would fire now</Badge>}
          {action !== 'create' && <span className="muted">{fieldsText(change.fields)}</span>}
        </span>
        <span className="manifest-path">
          <PlaceLink status={status} path={path} line={line} commit={at} />
        </span>
      </div>
      {opened && <ChangeDetails change={change} status={status} commit={commit} />}
    </li>
  );
};

const MAX_FIELDS = 3;

/** Which fields differ, as far as they fit in a row. */
function fieldsText(fields: PlannedChange['fields']): string {
  const names = fields.map(({ pointer }) => pointer.slice(1).replaceAll('/', '.'));
  const rest = names.length - MAX_FIELDS;
  return names.slice(0, MAX_FIELDS).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}

const TEST: Record<PlannedChange['tests'][number]['status'], Tone> = {
  passed: 'ok',
  failed: 'failed',
  skipped: 'unknown',
};

const ChangeDetails = ({ change, status, commit }: Omit<RowProps, 'tone' | 'startOpened'>) => {
  const { name, kind, action, reason, fields, engineDiff, nodes, tests, findings, notes, preview } = change;
  const nothing = fields.length === 0 && !engineDiff && findings.length === 0 && tests.length === 0;
  return (
    <div className="inner plan-details">
      {reason && (
        <p>
          <CodeText text={sentence(reason.message)} />
        </p>
      )}
      {findings.length > 0 && (
        <Findings findings={findings} status={status} commit={commit} label={`Findings in ${name}`} />
      )}
      {fields.length > 0 && <FieldChanges fields={fields} of={`${kind} ${name}`} />}
      {engineDiff && <EngineDiff diff={engineDiff} name={name} />}
      {nodes && (
        <p>
          {nodesText(nodes)} {nodes.count > 0 && <Hosts hosts={nodes.hosts} total={nodes.count} />}
        </p>
      )}
      {tests.length > 0 && (
        <ul className="tests" aria-label={`Tests of ${name}`}>
          {tests.map((test) => (
            <li key={`${test.component} ${test.name}`}>
              <Badge tone={TEST[test.status]}>{test.status}</Badge>
              <span>{test.name}</span>
              <span className="mono muted">{test.component}</span>
              {test.message && (
                <span className="test-message">
                  <CodeText text={test.message} />
                </span>
              )}
            </li>
          ))}
        </ul>
      )}
      {preview && (
        <p>
          {sentence(previewText(preview))} {preview.note && <span className="muted">{preview.note}</span>}
        </p>
      )}
      {notes.map((note) => (
        <p key={note} className="muted">
          <CodeText text={sentence(note)} />
        </p>
      ))}
      {nothing && !reason && notes.length === 0 && (
        <p className="muted">
          {action === 'delete'
            ? 'Its manifest left git. Adding it back within 24 hours brings it back with its history.'
            : 'Nothing of its spec changes.'}
        </p>
      )}
    </div>
  );
};

const EngineDiff = ({ diff, name }: { diff: string; name: string }) => (
  <section className="engine-diff" aria-label={`Engine config of ${name}`}>
    <h3>Engine config</h3>
    <Hunks
      diff={diff}
      beforeLabel={`Engine config of ${name} now`}
      afterLabel={`Engine config of ${name} as planned`}
    />
  </section>
);
