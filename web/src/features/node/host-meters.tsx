import { useEffect, useRef, useState } from 'react';
import type { FleetNode } from '../../../../schemas/api/fleet/fleet.ts';
import { formatBytes, formatBytesRate, formatPercent } from '../../ui/text/format.ts';

const Meter = ({ name, text, share }: { name: string; text: string; share: number | null }) => (
  <div className="meter">
    <span>
      {name} <span className="mono muted">{text}</span>
    </span>
    {share !== null && (
      // biome-ignore lint/a11y/useSemanticElements: browsers draw <meter> in their own ways and colours.
      <div
        className="meter-bar"
        role="meter"
        aria-label={name}
        aria-valuenow={Math.round(share * 100)}
        aria-valuemin={0}
        aria-valuemax={100}
      >
        <span className="meter-fill" style={{ width: `${Math.min(share, 1) * 100}%` }} />
      </div>
    )}
  </div>
);

const share = (used: number | undefined, total: number | undefined): number | null =>
  used === undefined || !total ? null : used / total;

const used = (part: number | undefined, total: number | undefined): string =>
  part === undefined ? 'not reported' : `${formatBytes(part)}${total ? ` of ${formatBytes(total)}` : ''}`;

/** The host as its last reports tell. */
export const HostMeters = ({ node, updatedAt }: { node: FleetNode; updatedAt: number }) => {
  const host = node.hostMetrics;
  const rates = useHostRates(node, updatedAt);
  // A node that is not heard sends no second report to compare with.
  const waiting = node.status === 'UNREACHABLE' ? 'not known' : 'measuring…';
  if (Object.keys(host).length === 0)
    return <p className="muted">The agent has not reported its host yet.</p>;
  const load = [host.loadAvg1, host.loadAvg5, host.loadAvg15].filter((value) => value !== undefined);
  return (
    <div className="meters">
      <Meter
        name="Processor"
        text={rates.cpu === null ? waiting : formatPercent(rates.cpu)}
        share={rates.cpu ?? (node.status === 'UNREACHABLE' ? null : 0)}
      />
      <Meter
        name="Memory"
        text={used(host.memoryUsedBytes, host.memoryTotalBytes)}
        share={share(host.memoryUsedBytes, host.memoryTotalBytes)}
      />
      <Meter
        name="Disk"
        text={used(host.fsUsedBytes, host.fsTotalBytes)}
        share={share(host.fsUsedBytes, host.fsTotalBytes)}
      />
      <Meter
        name="Load"
        text={load.length > 0 ? load.map((value) => value.toFixed(2)).join(' · ') : 'not reported'}
        share={null}
      />
      <Meter name="Network" text={rates.net ?? waiting} share={null} />
      <Meter name="Disk traffic" text={rates.disk ?? waiting} share={null} />
    </div>
  );
};

/** Null until a second report has come. */
interface HostRates {
  /** The busy share of all processors. */
  cpu: number | null;
  net: string | null;
  disk: string | null;
}

interface HostSample {
  at: number;
  host: FleetNode['hostMetrics'];
}

/** The host's counters only grow: two reports make a rate. A smaller one is a reboot. */
function useHostRates(node: FleetNode, updatedAt: number): HostRates {
  const before = useRef<HostSample | null>(null);
  const [rates, setRates] = useState<HostRates>({ cpu: null, net: null, disk: null });
  // biome-ignore lint/correctness/useExhaustiveDependencies: one step for each report of the node.
  useEffect(() => {
    const host = node.hostMetrics;
    const at = node.lastHeartbeatAt?.getTime() ?? updatedAt;
    const last = before.current;
    if (last && at <= last.at) return;
    before.current = { at, host };
    if (!last) return;
    const seconds = (at - last.at) / 1000;
    const rate = (key: keyof FleetNode['hostMetrics']): number | null => {
      const now = host[key];
      const then = last.host[key];
      return now === undefined || then === undefined || now < then ? null : (now - then) / seconds;
    };
    const busy = rate('cpuSecondsTotal');
    const idle = rate('cpuSecondsIdle');
    const pair = (a: number | null, b: number | null, words: [string, string]): string =>
      a === null || b === null
        ? 'not reported'
        : `${formatBytesRate(a)} ${words[0]}, ${formatBytesRate(b)} ${words[1]}`;
    setRates({
      cpu: busy && idle !== null ? Math.max(0, 1 - idle / busy) : null,
      net: pair(rate('netRxBytes'), rate('netTxBytes'), ['in', 'out']),
      disk: pair(rate('diskReadBytes'), rate('diskWrittenBytes'), ['read', 'written']),
    });
  }, [node.lastHeartbeatAt, updatedAt]);
  return rates;
}
