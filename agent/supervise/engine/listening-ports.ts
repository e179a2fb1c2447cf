import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** TCP ports on which a process listens; undefined where the system does not tell. */
export function listeningPorts(pid: number): Set<number> | undefined {
  const sockets = socketsOf(pid);
  const tables = ['tcp', 'tcp6']
    .map((name) => read(`/proc/${pid}/net/${name}`))
    .filter((text) => text !== '');
  if (!sockets || tables.length === 0) return undefined;
  const ports = new Set<number>();
  for (const line of tables.join('\n').split('\n')) {
    // sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode
    const [, local, , state, , , , , , inode] = line.trim().split(/\s+/);
    if (state === '0A' && inode && sockets.has(inode))
      ports.add(Number.parseInt(local?.split(':').at(-1) ?? '', 16));
  }
  return ports;
}

function socketsOf(pid: number): Set<string> | undefined {
  const inodes = new Set<string>();
  try {
    for (const name of readdirSync(`/proc/${pid}/fd`)) {
      const inode = /^socket:\[(\d+)\]$/.exec(link(`/proc/${pid}/fd/${name}`))?.[1];
      if (inode) inodes.add(inode);
    }
  } catch {
    return undefined;
  }
  return inodes;
}

function link(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
