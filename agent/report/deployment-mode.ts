import { existsSync, readFileSync } from 'node:fs';
import { userInfo } from 'node:os';

/** DOCKER inside a container, as far as its marks are visible; else STANDALONE. */
export function deploymentMode(): 'STANDALONE' | 'DOCKER' {
  if (existsSync('/.dockerenv')) return 'DOCKER';
  try {
    return /docker|containerd|kubepods/.test(readFileSync('/proc/1/cgroup', 'utf8'))
      ? 'DOCKER'
      : 'STANDALONE';
  } catch {
    return 'STANDALONE';
  }
}

/** The user's name, or the number of one that has no name. */
export function runningAs(): string {
  const uid = process.getuid?.();
  try {
    // In an executable the runtime takes the name from the environment, which a service need not have.
    const entry = readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .map((line) => line.split(':'))
      .find((fields) => fields[2] === String(uid));
    return (entry?.[0] ?? userInfo().username).slice(0, 128);
  } catch {
    return String(uid ?? 'unknown');
  }
}
