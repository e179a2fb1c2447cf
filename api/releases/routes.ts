/** What a new machine fetches before it has anything to sign in with: the install script and the agents themselves. */
import { open } from 'node:fs/promises';
import type Router from '@koa/router';
import type { Context } from 'koa';
import { installScript, type Releases } from '../../controller/fleet/releases/index.ts';

/** One range of bytes of a whole of `size`; null for all of it, `unsatisfiable` for one that lies beyond. */
function rangeOf(header: string, size: number): { start: number; end: number } | 'unsatisfiable' | null {
  const [, from = '', to = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header) ?? [];
  const backwards = from !== '' && to !== '' && Number(from) > Number(to);
  if (backwards || (from === '' && to === '')) return null;
  const start = from === '' ? Math.max(0, size - Number(to)) : Number(from);
  const end = from === '' || to === '' ? size - 1 : Math.min(Number(to), size - 1);
  return start > end || start >= size ? 'unsatisfiable' : { start, end };
}

/** Everything is revalidated by ETag each time: a file may be rebuilt under the same version. */
export function releaseRoutes(
  router: Router,
  { releases, baseUrl }: { releases: Releases; baseUrl: string },
): void {
  const script = installScript(baseUrl);

  router.get('/agent/install.sh', (ctx) => {
    ctx.set('Cache-Control', 'no-cache');
    ctx.type = 'text/x-shellscript';
    ctx.body = script;
  });

  router.get('/agent/releases.json', async (ctx) => {
    ctx.set('Cache-Control', 'no-cache');
    const { releases: listed, checkedAt } = await releases.list();
    const newest = (channel: string) => listed.find((release) => release.channel === channel) ?? null;
    ctx.body = { agent: newest('stable'), devAgent: newest('dev'), releases: listed, checkedAt };
  });

  router.get('/agent/releases/:version/:file', async (ctx) => {
    const { version = '', file: name = '' } = ctx.params;
    const release = await releases.find(version);
    if (!release) return missing(ctx, 'There is no such release here; /agent/releases.json lists them');
    ctx.set('Cache-Control', 'no-cache');
    ctx.type = 'text/plain';
    const signed = release.files.find((one) => `${one.name}.sig` === name && one.signature !== null);
    if (name === 'VERSION') ctx.body = `${release.version}\n`;
    else if (name === 'SHA256SUMS')
      ctx.body = release.files.map((one) => `${one.checksum.slice(7)}  ${one.name}\n`).join('');
    else if (signed) ctx.body = `${signed.signature}\n`;
    else {
      const file = release.files.find((one) => one.name === name);
      if (!file)
        return missing(ctx, `${release.version} is not built for that platform; SHA256SUMS lists its files`);
      await sendFile(ctx, file);
    }
  });
}

function missing(ctx: Context, error: string): void {
  ctx.status = 404;
  ctx.body = { error };
}

async function sendFile(
  ctx: Context,
  file: { path: string; checksum: string; bytes: number },
): Promise<void> {
  ctx.type = 'application/octet-stream';
  ctx.etag = file.checksum.slice(7);
  ctx.set('Accept-Ranges', 'bytes');
  ctx.status = 200;
  if (ctx.fresh) {
    ctx.status = 304;
    return;
  }
  const condition = ctx.get('If-Range');
  const range =
    condition === '' || condition === ctx.response.get('ETag') ? rangeOf(ctx.get('Range'), file.bytes) : null;
  if (range === 'unsatisfiable') {
    ctx.status = 416;
    ctx.set('Content-Range', `bytes */${file.bytes}`);
    return;
  }
  ctx.status = range ? 206 : 200;
  if (range) ctx.set('Content-Range', `bytes ${range.start}-${range.end}/${file.bytes}`);
  ctx.length = range ? range.end - range.start + 1 : file.bytes;
  if (ctx.method === 'HEAD') return;
  const handle = await open(file.path).catch(() => null);
  if (!handle) return missing(ctx, 'The file is not there any more; ask again in a minute');
  // The stream closes the handle at its end, and when the client goes away.
  ctx.body = handle.createReadStream(range ?? {});
}
