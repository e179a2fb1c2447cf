/** Writes paths of a repository relative to where the command runs, so that a click or an annotation finds the file. */
import { isAbsolute, join, relative, sep } from 'node:path';
import type { Io } from './command.ts';

/**
 * From the folder where the command runs (GitHub: from the workspace, whose files its annotations name), where the repository
 * lies below it; else from the root of the repository.
 */
export function reportPathsIn(root: string, { cwd, env }: Io, github: boolean): (path: string) => string {
  const from = github && env.GITHUB_WORKSPACE ? env.GITHUB_WORKSPACE : cwd;
  return (path) => {
    const inside = relative(from, join(root, path));
    const outside = inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside);
    return outside ? path : inside || '.';
  };
}
