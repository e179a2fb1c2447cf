/**
 * A real S3 server (s3rver) on this machine, with one bucket. As AWS does, it takes signatures for its own region only, and
 * answers others as AWS documents it ("Error responses" in the API reference of Amazon S3).
 */
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Middleware } from 'koa';
// @ts-expect-error it has no types.
import S3rver from 's3rver';

export const BUCKET = 'headgate-backups';
/** The only pair that it knows. */
export const S3_KEY = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' };

export interface S3Server {
  endpoint: string;
  close(): Promise<void>;
}

export interface S3Options {
  /** Where it is; `us-east-1` unless told otherwise. */
  region?: string;
  /**
   * What another region gets: 400 as from the endpoint of the bucket, which names the region in the body; or 301 as from the
   * endpoint of another region, which names the host, and the region in a header.
   */
  misplaced?: 'malformed' | 'redirect';
}

export async function startS3({
  region = 'us-east-1',
  misplaced = 'malformed',
}: S3Options = {}): Promise<S3Server> {
  const directory = mkdtempSync(join(tmpdir(), 'headgate-s3-'));
  const server = new S3rver({
    ...{ port: 0, address: '127.0.0.1', silent: true, directory },
    configureBuckets: [{ name: BUCKET }],
  });
  server.middleware.unshift(regionCheck(region, misplaced));
  const { port } = (await server.run()) as AddressInfo;
  return {
    endpoint: `http://127.0.0.1:${port}`,
    async close() {
      await server.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** The credential scope of signature version 4: `Credential=<key>/<day>/<region>/s3/aws4_request`. */
function regionCheck(region: string, misplaced: S3Options['misplaced']): Middleware {
  return async (ctx, next) => {
    const scope = /Credential=[^/]+\/\d{8}\/([^/]+)\/s3\/aws4_request/.exec(ctx.get('authorization'));
    const signed = scope?.[1];
    if (signed === undefined || signed === region) return next();
    const isRedirect = misplaced === 'redirect';
    ctx.status = isRedirect ? 301 : 400;
    ctx.type = 'application/xml';
    if (isRedirect) ctx.set('x-amz-bucket-region', region);
    const fields = isRedirect
      ? {
          Code: 'PermanentRedirect',
          Message:
            'The bucket you are attempting to access must be addressed using the specified endpoint. Please send all future requests to this endpoint.',
          Endpoint: `${BUCKET}.s3.${region}.amazonaws.com`,
          Bucket: BUCKET,
        }
      : {
          Code: 'AuthorizationHeaderMalformed',
          Message: `The authorization header is malformed; the region '${signed}' is wrong; expecting '${region}'`,
          Region: region,
        };
    const tags = Object.entries({ ...fields, RequestId: '4442587FB7D0A2F9', HostId: 'host' });
    const body = tags.map(([name, text]) => `<${name}>${text}</${name}>`).join('');
    ctx.body = `<?xml version="1.0" encoding="UTF-8"?>\n<Error>${body}</Error>`;
  };
}
