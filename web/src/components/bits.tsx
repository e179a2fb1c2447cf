/** The smallest pieces: moments, ids, numbers, badges. */
import { type ReactNode, useState } from 'react';
import type { NodeHealth, NodePipelineStatus } from '../../../schemas/api/pipelines.ts';
import { environmentHue, isProduction } from '../app/environment.tsx';
import { formatExact, formatRelative, shortCommit } from './format.ts';
import { Icon, type IconName } from './icons.tsx';
import { useNow } from './now.ts';
import type { Tone } from './tone.ts';

/** A relative time with the exact one on hover. */
export const Time = ({ at }: { at: Date | null }) => {
  const now = useNow();
  if (!at) return <span className="muted">never</span>;
  return (
    <time dateTime={at.toISOString()} data-tip={formatExact(at)} className="nowrap">
      {formatRelative(at, now)}
    </time>
  );
};

/** Text that a click copies. `label` says what is copied. */
export const Copyable = ({
  value,
  label,
  children,
}: {
  value: string;
  label: string;
  children?: ReactNode;
}) => {
  const [copied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(value);
    setCopied(true);
    setTimeout(() => setCopied(false), 1_500);
  };
  return (
    <button
      type="button"
      className="copyable mono"
      data-tip={copied ? 'Copied' : `${value} (click copies)`}
      onClick={(event) => {
        event.preventDefault();
        event.stopPropagation();
        void copy();
      }}
    >
      <span className="sr-only">Copy {label} </span>
      <span className="copyable-text">{children ?? value}</span>
      <span className="copyable-mark" aria-hidden="true">
        <Icon name={copied ? 'check' : 'copy'} size={12} />
      </span>
      <span role="status" className="sr-only">
        {copied ? 'Copied' : ''}
      </span>
    </button>
  );
};

/** A commit's first seven characters; the whole one is copied. */
export const Commit = ({ sha }: { sha: string }) => (
  <Copyable value={sha} label="commit">
    {shortCommit(sha)}
  </Copyable>
);

/** The end of an id, which is the part that differs. */
export const ShortId = ({ id }: { id: string }) => (
  <Copyable value={id} label="id">
    {id.length > 10 ? `…${id.slice(-8)}` : id}
  </Copyable>
);

export type { Tone };

export const TONE_ICON: Record<Tone, IconName> = {
  ok: 'check',
  calm: 'check',
  moving: 'moving',
  held: 'held',
  failed: 'cross',
  unknown: 'question',
};

/** A status: colour, icon and word together. */
export const Badge = ({
  tone,
  children,
  tip,
  icon = TONE_ICON[tone],
}: {
  tone: Tone;
  children: ReactNode;
  tip?: string;
  /** Where the tone's own would say the wrong thing. */
  icon?: IconName;
}) => (
  <span className="badge" data-tone={tone} data-tip={tip} tabIndex={tip ? 0 : undefined}>
    <Icon name={icon} size={12} />
    {children}
  </span>
);

const HEALTH: Record<NodeHealth, { tone: Tone; word: string }> = {
  HEALTHY: { tone: 'ok', word: 'Healthy' },
  DEGRADED: { tone: 'held', word: 'Degraded' },
  UNREACHABLE: { tone: 'failed', word: 'Unreachable' },
  UNKNOWN: { tone: 'unknown', word: 'Never heard' },
};
export const HealthBadge = ({ health, reason }: { health: NodeHealth; reason?: string }) => (
  <Badge tone={HEALTH[health].tone} tip={reason || undefined}>
    {HEALTH[health].word}
  </Badge>
);

export const STATUS: Record<NodePipelineStatus, { tone: Tone; word: string }> = {
  PENDING: { tone: 'moving', word: 'Pending' },
  STARTING: { tone: 'moving', word: 'Starting' },
  RUNNING: { tone: 'ok', word: 'Running' },
  STOPPED: { tone: 'unknown', word: 'Stopped' },
  CRASHED: { tone: 'failed', word: 'Crashed' },
};
export const StatusBadge = ({
  status,
  tip,
  old,
}: {
  status: NodePipelineStatus;
  tip?: string;
  /** Its node is not heard: the status is the last that was. */
  old?: boolean;
}) =>
  old ? (
    <Badge tone="unknown" tip={tip ?? 'As last reported: its node is not heard'}>
      Was {STATUS[status].word.toLowerCase()}
    </Badge>
  ) : (
    <Badge tone={STATUS[status].tone} tip={tip}>
      {STATUS[status].word}
    </Badge>
  );

/** An environment's name in its colour; production carries its shield everywhere. */
export const EnvironmentTag = ({ environment }: { environment: { name: string } }) => (
  <span className="env-tag" data-hue={environmentHue(environment)}>
    {isProduction(environment) ? <Icon name="shield" size={12} /> : <span className="env-dot" />}
    {environment.name}
    {isProduction(environment) && !/^production$/i.test(environment.name) ? ' · production' : ''}
  </span>
);

export const Labels = ({ labels, limit = 99 }: { labels: Record<string, string>; limit?: number }) => {
  const entries = Object.entries(labels).sort(([a], [b]) => a.localeCompare(b));
  if (entries.length === 0) return <span className="muted">none</span>;
  const rest = entries.slice(limit);
  return (
    <span
      className="labels"
      data-tip={rest.length > 0 ? entries.map(([key, value]) => `${key}=${value}`).join(', ') : undefined}
    >
      {entries.slice(0, limit).map(([key, value]) => (
        <span key={key} className="label mono">
          <span className="label-key">{key}=</span>
          {value}
        </span>
      ))}
      {rest.length > 0 && (
        <span className="label mono" data-rest>
          +{rest.length}
        </span>
      )}
    </span>
  );
};

/** A figure with its name, for the head of a page. */
export const Fact = ({ name, children }: { name: string; children: ReactNode }) => (
  <div className="fact">
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

/** Beside rates that could not be read just now. */
export const AsOf = ({ rates: { asOf } }: { rates: { asOf: Date | null } }) => {
  const now = useNow();
  return asOf && <span className="muted"> as of {formatRelative(asOf, now)}</span>;
};
