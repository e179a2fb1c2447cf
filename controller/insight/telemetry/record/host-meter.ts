/** Measures a host by the minute: rates from counters since its boot, gauges from its last report. Pure. */
import { minuteOf } from './growth.ts';

/** Null is what the node does not report. Bytes, percent, and rates in bytes per second. */
export interface HostMinute {
  start: number;
  cpuPercent: number | null;
  memoryUsedBytes: number | null;
  memoryTotalBytes: number | null;
  loadAvg1: number | null;
  fsUsedBytes: number | null;
  fsTotalBytes: number | null;
  diskReadRate: number | null;
  diskWrittenRate: number | null;
  netRxRate: number | null;
  netTxRate: number | null;
}

export interface HostMeter {
  /** Returns the minute that this report ends, if it ends one. */
  read(at: number, host: Readonly<Record<string, number>>): HostMinute | null;
  /** Ends the minute that is open. */
  end(): HostMinute | null;
}

interface Report {
  at: number;
  host: Readonly<Record<string, number>>;
}

/** Reports closer than this are useless for rates. */
const MIN_SPAN_MS = 1_000;

export function createHostMeter(): HostMeter {
  /** The last report of the minute before, from which this minute is measured. */
  let base: Report | null = null;
  let last: Report | null = null;
  let isEnded = false;

  function end(): HostMinute | null {
    if (!last || isEnded) return null;
    const minute = Object.keys(last.host).length === 0 ? null : minuteBetween(base, last);
    base = last;
    isEnded = true;
    return minute;
  }

  return {
    read(at, host) {
      const isNext = last !== null && minuteOf(at) !== minuteOf(last.at);
      const ended = isNext ? end() : null;
      // A report in a minute that was ended as silent is part of the next.
      if (isNext || last === null) isEnded = false;
      base ??= { at, host };
      last = { at, host };
      return ended;
    },
    end,
  };
}

function minuteBetween(base: Report | null, { at, host }: Report): HostMinute {
  const seconds = base && at - base.at >= MIN_SPAN_MS ? (at - base.at) / 1_000 : null;
  const grown = (name: string): number | null => {
    const [now, before] = [host[name], base?.host[name]];
    // Smaller counters than before: the host has restarted.
    return now === undefined || before === undefined || now < before ? null : now - before;
  };
  const rate = (name: string): number | null => {
    const amount = grown(name);
    return amount === null || seconds === null ? null : amount / seconds;
  };
  const [total, idle] = [grown('cpuSecondsTotal'), grown('cpuSecondsIdle')];
  const gauge = (name: string): number | null => host[name] ?? null;
  return {
    start: minuteOf(at),
    cpuPercent: total !== null && idle !== null && total > 0 ? Math.max(0, 100 * (1 - idle / total)) : null,
    memoryUsedBytes: gauge('memoryUsedBytes'),
    memoryTotalBytes: gauge('memoryTotalBytes'),
    loadAvg1: gauge('loadAvg1'),
    fsUsedBytes: gauge('fsUsedBytes'),
    fsTotalBytes: gauge('fsTotalBytes'),
    diskReadRate: rate('diskReadBytes'),
    diskWrittenRate: rate('diskWrittenBytes'),
    netRxRate: rate('netRxBytes'),
    netTxRate: rate('netTxBytes'),
  };
}
