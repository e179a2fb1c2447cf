import { readFile, statfs } from 'node:fs/promises';
import { cpus, freemem, loadavg, totalmem, uptime } from 'node:os';
import type { NameFilter } from './name-filter.ts';

export interface Reading {
  name: string;
  value: number;
  counter?: boolean;
  tags?: Record<string, string>;
}
type Collector = (filter: NameFilter) => Promise<Reading[]>;

const LINUX = process.platform === 'linux';
/** The kernel's unit of CPU time in /proc/stat (USER_HZ). */
const TICKS_PER_SECOND = 100;
/** /proc/diskstats counts in these, whatever the device's own sector size. */
const SECTOR_BYTES = 512;
const MAX_MOUNTS = 100;
/** A dead network mount must not hold up the others. */
const STATFS_TIMEOUT_MS = 1_000;

async function lines(path: string): Promise<string[]> {
  return (await readFile(path, 'utf8')).split('\n').filter((line) => line !== '');
}

const cpu: Collector = async () => {
  const rows: { cpu: string; modes: Record<string, number> }[] = [];
  if (LINUX) {
    for (const line of await lines('/proc/stat')) {
      const match = /^cpu(\d+) (.*)$/.exec(line);
      if (!match) continue;
      const [user, nice, system, idle, ioWait] = match[2]!
        .split(' ')
        .map((text) => Number(text) / TICKS_PER_SECOND);
      rows.push({
        cpu: match[1]!,
        modes: {
          idle: idle ?? 0,
          io_wait: ioWait ?? 0,
          nice: nice ?? 0,
          system: system ?? 0,
          user: user ?? 0,
        },
      });
    }
  } else {
    for (const [index, { times }] of cpus().entries()) {
      const modes = { idle: times.idle, nice: times.nice, system: times.sys, user: times.user };
      rows.push({
        cpu: String(index),
        modes: Object.fromEntries(Object.entries(modes).map(([mode, ms]) => [mode, ms / 1000])),
      });
    }
  }
  return [
    ...rows.flatMap((row) =>
      Object.entries(row.modes).map(([mode, value]) => ({
        name: 'cpu_seconds_total',
        counter: true,
        value,
        tags: { cpu: row.cpu, mode },
      })),
    ),
    { name: 'logical_cpus', value: rows.length },
  ];
};

const MEMORY: Record<string, string> = {
  MemTotal: 'memory_total_bytes',
  MemFree: 'memory_free_bytes',
  MemAvailable: 'memory_available_bytes',
  Buffers: 'memory_buffers_bytes',
  Cached: 'memory_cached_bytes',
  Shmem: 'memory_shared_bytes',
  Active: 'memory_active_bytes',
  SwapTotal: 'memory_swap_total_bytes',
  SwapFree: 'memory_swap_free_bytes',
};

const memory: Collector = async () => {
  if (!LINUX) {
    return [
      { name: 'memory_total_bytes', value: totalmem() },
      { name: 'memory_free_bytes', value: freemem() },
      { name: 'memory_available_bytes', value: freemem() },
      { name: 'memory_used_bytes', value: totalmem() - freemem() },
    ];
  }
  const values: Record<string, number> = {};
  for (const line of await lines('/proc/meminfo')) {
    const match = /^(\w+):\s+(\d+) kB$/.exec(line);
    if (match) values[match[1]!] = Number(match[2]) * 1024;
  }
  const of = (key: string) => values[key] ?? 0;
  return [
    ...Object.entries(MEMORY).map(([key, name]) => ({ name, value: of(key) })),
    { name: 'memory_used_bytes', value: of('MemTotal') - of('MemFree') - of('Buffers') - of('Cached') },
    { name: 'memory_swap_used_bytes', value: of('SwapTotal') - of('SwapFree') },
  ];
};

const load: Collector = async () => {
  const [one, five, fifteen] = loadavg();
  return [
    { name: 'load1', value: one ?? 0 },
    { name: 'load5', value: five ?? 0 },
    { name: 'load15', value: fifteen ?? 0 },
  ];
};

const host: Collector = async () => [
  { name: 'uptime', value: uptime() },
  { name: 'boot_time', value: Math.round(Date.now() / 1000 - uptime()) },
];

const disk: Collector = async (filter) => {
  if (!LINUX) return [];
  const readings: Reading[] = [];
  for (const line of await lines('/proc/diskstats')) {
    const fields = line.trim().split(/\s+/);
    const device = fields[2];
    if (!device || /^(loop|ram)\d/.test(device) || !filter(device)) continue;
    const tags = { device };
    readings.push(
      { name: 'disk_reads_completed_total', counter: true, value: Number(fields[3]), tags },
      { name: 'disk_read_bytes_total', counter: true, value: Number(fields[5]) * SECTOR_BYTES, tags },
      { name: 'disk_writes_completed_total', counter: true, value: Number(fields[7]), tags },
      { name: 'disk_written_bytes_total', counter: true, value: Number(fields[9]) * SECTOR_BYTES, tags },
    );
  }
  return readings;
};

const filesystem: Collector = async (filter) => {
  const mounts = LINUX
    ? (await lines('/proc/self/mounts')).map((line) => line.split(' ').map(unescapeOctal))
    : [['root', '/', 'unknown']];
  // A later mount hides an earlier one on the same place.
  const byPlace = new Map(
    mounts.map(([device, mountpoint, type]) => [mountpoint!, { device: device!, type: type! }]),
  );
  const readings: Reading[] = [];
  for (const [mountpoint, { device, type }] of [...byPlace].slice(0, MAX_MOUNTS)) {
    if (!filter(mountpoint)) continue;
    const stats = await statfsInTime(mountpoint);
    if (!stats || stats.blocks === 0) continue;
    const total = stats.blocks * stats.bsize;
    const used = (stats.blocks - stats.bfree) * stats.bsize;
    const tags = { device, filesystem: type, mountpoint };
    readings.push(
      { name: 'filesystem_total_bytes', value: total, tags },
      { name: 'filesystem_free_bytes', value: stats.bavail * stats.bsize, tags },
      { name: 'filesystem_used_bytes', value: used, tags },
      { name: 'filesystem_used_ratio', value: used / total, tags },
    );
  }
  return readings;
};

async function statfsInTime(path: string) {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), STATFS_TIMEOUT_MS);
  });
  try {
    // A mount may forbid the question; it is left out then.
    return await Promise.race([statfs(path).catch(() => undefined), late]);
  } finally {
    clearTimeout(timer);
  }
}

/** /proc writes spaces in paths as `\040`. */
function unescapeOctal(text: string): string {
  return text.replace(/\\(\d{3})/g, (_match, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );
}

const network: Collector = async (filter) => {
  if (!LINUX) return [];
  const readings: Reading[] = [];
  for (const line of (await lines('/proc/net/dev')).slice(2)) {
    const [name, rest] = line.split(/:\s*/);
    const device = name?.trim();
    if (!device || !rest || !filter(device)) continue;
    const fields = rest.trim().split(/\s+/).map(Number);
    const series = { receive: 0, transmit: 8 };
    for (const [direction, offset] of Object.entries(series)) {
      for (const [index, unit] of ['bytes', 'packets', 'errs'].entries()) {
        readings.push({
          name: `network_${direction}_${unit}_total`,
          counter: true,
          value: fields[offset + index] ?? 0,
          tags: { device },
        });
      }
    }
  }
  return readings;
};

export type CollectorName = 'cpu' | 'disk' | 'filesystem' | 'host' | 'load' | 'memory' | 'network';

/** What can be asked of this host; outside Linux, disks and network give nothing. */
export const COLLECTORS: Record<CollectorName, Collector> = {
  cpu,
  disk,
  filesystem,
  host,
  load,
  memory,
  network,
};
