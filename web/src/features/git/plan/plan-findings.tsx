import type { GitPlan, PlanFinding } from '../../../../../schemas/api/delivery/git-plan.ts';
import type { GitSyncStatus } from '../../../../../schemas/api/delivery/git-sync.ts';
import { Badge } from '../../../ui/primitives/badge.tsx';
import { Section } from '../../../ui/primitives/page.tsx';
import { CodeText } from '../../../ui/text/code-text.tsx';
import { plural, sentence } from '../../../ui/text/format.ts';
import { Hosts } from '../binding/allowed-hosts.tsx';
import { PlaceLink } from '../source-link.tsx';
import { GUARDS } from './plan-text.ts';

/** Those that are set, with where the plan stands; exceeded ones first. */
export const Guards = ({ guards }: Pick<GitPlan, 'guards'>) => {
  if (guards.length === 0) return null;
  const sorted = [...guards].sort((a, b) => Number(b.exceeded) - Number(a.exceeded));
  return (
    <ul className="guards" aria-label="Guards">
      {sorted.map(({ guard, exceeded, message }) => (
        <li key={guard}>
          <Badge tone={exceeded ? 'held' : 'calm'}>{exceeded ? 'holds it' : 'within'}</Badge>
          <span className="guard-name">{GUARDS[guard]}</span>
          <span className="muted">{sentence(`It ${message}`)}</span>
        </li>
      ))}
    </ul>
  );
};

const FLEET: Record<GitPlan['fleet'][number]['type'], string> = {
  'port-clash': 'one address twice',
  'data-dir-clash': 'one data_dir twice',
  'selector-matches-nothing': 'no node matches',
  'unknown-component': 'unknown component',
  'missing-secret': 'missing secret',
};

/** What holds for nodes as a whole. */
export const FleetFindings = ({ findings }: { findings: GitPlan['fleet'] }) => {
  if (findings.length === 0) return null;
  return (
    <Section title={`On the fleet · ${findings.length}`}>
      <ul className="errors" aria-label="Findings on the fleet">
        {findings.map(({ type, severity, message, pipelines, hosts }) => (
          <li
            key={`${type} ${message} ${pipelines.join()}`}
            data-tone={severity === 'error' ? 'failed' : 'held'}
          >
            <span className="error-place">
              <Badge tone={severity === 'error' ? 'failed' : 'held'}>{FLEET[type]}</Badge>
              <span className="muted">{pipelines.join(', ')}</span>
            </span>
            <span className="error-message">
              <CodeText text={sentence(message)} />
            </span>
            {hosts.length > 0 && (
              <span className="muted">
                on <Hosts hosts={hosts} total={hosts.length} />
              </span>
            )}
          </li>
        ))}
      </ul>
    </Section>
  );
};

interface FindingsProps {
  findings: readonly PlanFinding[];
  status: GitSyncStatus;
  commit: string | null;
}

/** Files that cannot be read, and so belong to no manifest. */
export const FileFindings = ({ findings, ...rest }: FindingsProps) =>
  findings.length === 0 ? null : (
    <Section title={`${plural(findings.length, 'file')} with a problem`}>
      <Findings findings={findings} label="Findings in files" {...rest} />
    </Section>
  );

export const Findings = ({ findings, status, commit, label }: FindingsProps & { label: string }) => (
  <ul className="errors" aria-label={label}>
    {findings.map(({ stage, message, hint, path, line, column }) => (
      <li key={`${path} ${line} ${column} ${message}`}>
        <span className="error-place">
          <PlaceLink status={status} path={path} line={line ?? 1} commit={commit} />
          <Badge tone="failed">{stage}</Badge>
        </span>
        <span className="error-message">
          <CodeText text={message} />
        </span>
        {hint && (
          <span className="muted">
            <CodeText text={sentence(hint)} />
          </span>
        )}
      </li>
    ))}
  </ul>
);
