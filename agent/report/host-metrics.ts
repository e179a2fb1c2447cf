import { readdirSync, readFileSync, statfsSync } from 'node:fs';
import { freemem, loadavg, totalmem } from 'node:os';
import type { HostMetrics } from '../../schemas/agent/protocol.ts';

/** Clock ticks a second in /proc/stat; fixed at 100 in the kernel's interface to programs. */
const TICKS = 100;
/** /proc/diskstats counts in these, whatever the device's own sector size is. */
const SECTOR_BYTES = 512;

/** What this platform tells about the host. `dataDir` picks the file system that is reported. */
export function readHostMetrics(dataDir: string): HostMetrics {
  const [load1, load5, load15] = loadavg();
  return {
    ...memory(read('/proc/meminfo')),
    ...cpu(read('/proc/stat')),
    loadAvg1: load1,
    loadAvg5: load5,
    loadAvg15: load15,
    ...fileSystem(dataDir),
    ...disks(read('/proc/diskstats'), wholeDisks()),
    ...network(read('/proc/net/dev')),
  };
}

export function memory(meminfo: string): HostMetrics {
  const bytes = (name: string) => {
    const found = new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(meminfo)?.[1];
    return found === undefined ? undefined : Number(found) * 1024;
  };
  const total = bytes('MemTotal') ?? totalmem();
  // What programs can still have, which counts the caches that the kernel would give up.
  const free = bytes('MemAvailable') ?? bytes('MemFree') ?? freemem();
  return { memoryTotalBytes: total, memoryFreeBytes: free, memoryUsedBytes: Math.max(0, total - free) };
}

export function cpu(stat: string): HostMetrics {
  const line = /^cpu {2}(.+)$/m.exec(stat)?.[1];
  if (!line) return {};
  // user nice system idle iowait irq softirq steal; guest time behind them is part of user already.
  const ticks = line.split(' ').slice(0, 8).map(Number);
  const total = ticks.reduce((sum, value) => sum + value, 0);
  return { cpuSecondsTotal: total / TICKS, cpuSecondsIdle: ((ticks[3] ?? 0) + (ticks[4] ?? 0)) / TICKS };
}

export function disks(diskstats: string, whole: ReadonlySet<string>): HostMetrics {
  if (diskstats === '') return {};
  let readSectors = 0;
  let writtenSectors = 0;
  for (const line of diskstats.split('\n')) {
    const fields = line.trim().split(/\s+/);
    if (!whole.has(fields[2] ?? '')) continue;
    readSectors += Number(fields[5]);
    writtenSectors += Number(fields[9]);
  }
  return { diskReadBytes: readSectors * SECTOR_BYTES, diskWrittenBytes: writtenSectors * SECTOR_BYTES };
}

/** Neither partitions nor devices that lie on others, which would count each byte twice. */
function wholeDisks(): Set<string> {
  try {
    return new Set(readdirSync('/sys/block').filter((name) => !/^(loop|ram|zram|dm-|md|sr|fd)/.test(name)));
  } catch {
    return new Set();
  }
}

export function network(dev: string): HostMetrics {
  if (dev === '') return {};
  let received = 0;
  let sent = 0;
  for (const line of dev.split('\n').slice(2)) {
    const [device, counters] = line.split(':', 2);
    if (!device || !counters || /^(lo|veth|docker|br-|cni|flannel|cali)/.test(device.trim())) continue;
    const fields = counters.trim().split(/\s+/);
    received += Number(fields[0]);
    sent += Number(fields[8]);
  }
  return { netRxBytes: received, netTxBytes: sent };
}

function fileSystem(path: string): HostMetrics {
  try {
    const { bsize, blocks, bfree, bavail } = statfsSync(path);
    return {
      fsTotalBytes: blocks * bsize,
      fsUsedBytes: (blocks - bfree) * bsize,
      fsFreeBytes: bavail * bsize,
    };
  } catch {
    return {};
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
