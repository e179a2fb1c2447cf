/** Cron expressions of backups, names of files in an archive, and what S3 answers in plain words. */
import { expect } from 'chai';
import fc from 'fast-check';
import { readEntryName } from '../../../controller/backups/archive/entry-names.ts';
import { assertCron, nextAfter, nextRuns } from '../../../controller/backups/settings/cron.ts';
import { explainS3Fault } from '../../../controller/backups/storage/s3-fault.ts';
import { isBackupName, newBackupName } from '../../../controller/backups/storage/storage.ts';
import { cronWords } from '../../../web/src/features/settings/backups/cron-words.ts';

describe('a schedule of backups', () => {
  it('takes five fields, and says what is wrong with others', () => {
    for (const good of ['0 3 * * *', '*/15 * * * *', '0 3 * * mon', '0 0 29 2 *']) assertCron(good);
    for (const [bad, reason] of [
      ['0 3 * *', /five fields/],
      ['0 0 3 * * *', /five fields/],
      ['61 3 * * *', /cron: /],
      ['0 3 31 2 *', /impossible day/],
    ] as const)
      expect(() => assertCron(bad), bad).to.throw(reason);
  });

  it('knows the next runs in UTC', () => {
    const from = new Date('2026-02-27T03:00:00Z');
    expect(nextRuns('0 3 * * *', from, 2).map((at) => at.toISOString())).to.deep.equal([
      ...['2026-02-28T03:00:00.000Z', '2026-03-01T03:00:00.000Z'],
    ]);
    expect(nextAfter('30 1,13 * * *', from)?.toISOString()).to.equal('2026-02-27T13:30:00.000Z');
    expect(nextAfter('0 0 29 2 *', from)?.toISOString()).to.equal('2028-02-29T00:00:00.000Z');
  });

  it('never runs twice at one moment, and always later', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 59 }),
        fc.integer({ min: 0, max: 23 }),
        fc.date({ min: new Date('2020-01-01'), max: new Date('2040-01-01'), noInvalidDate: true }),
        (minute, hour, from) => {
          const next = nextAfter(`${minute} ${hour} * * *`, from);
          expect(next?.getTime()).to.be.greaterThan(from.getTime());
          expect((next?.getTime() ?? 0) - from.getTime()).to.be.at.most(86_400_000);
        },
      ),
      { numRuns: 50 },
    );
  });

  it('is said in words where it is a common one', () => {
    expect(cronWords('0 3 * * *')).to.equal('Every day at 03:00 UTC');
    expect(cronWords('30 4 * * 0')).to.equal('Every Sunday at 04:30 UTC');
    expect(cronWords('5 */6 * * *')).to.equal('Every 6 hours at minute 05');
    expect(cronWords('0 3 1-7 * mon')).to.equal(null);
  });
});

describe('files of backups', () => {
  it('have names that lead nowhere else', () => {
    expect(isBackupName(newBackupName(new Date('2026-01-31T03:00:00Z'), '01K9ABCDEFGH'))).to.equal(true);
    for (const name of ['../secret-key', 'headgate-20260131T030000Z-a/../b.tar.gz', 'headgate.tar.gz', ''])
      expect(isBackupName(name), name).to.equal(false);
    for (const name of ['../x', '/etc/passwd', 'tables/../000001.ndjson', 'tables/a b/000001.ndjson', 'x'])
      expect(readEntryName(name), name).to.equal(null);
    expect(readEntryName('tables/users/000001.ndjson')).to.deep.equal({ kind: 'rows', table: 'users' });
  });
});

describe('errors of S3', () => {
  const settings = {
    ...{ bucket: 'backups', region: 'eu-central-1', prefix: '', endpoint: null },
    ...{ accessKeyId: 'AKID', secretAccessKey: 'hush' },
  };
  const ROWS: readonly [string, number, RegExp][] = [
    ['NoSuchBucket', 404, /no bucket "backups" at S3 in eu-central-1/],
    ['InvalidAccessKeyId', 403, /does not know the access key AKID/],
    ['SignatureDoesNotMatch', 403, /secret access key does not belong to the access key AKID/],
    ['PermanentRedirect', 301, /"backups" is not at S3 in eu-central-1; correct the region/],
    ['AccessDenied', 403, /does not allow AKID to list the bucket; it needs s3:ListBucket/],
    ['RequestTimeTooSkewed', 403, /clock of this machine/],
    ['SlowDown', 503, /slow down/],
    ['InternalError', 500, /status 500.*try again later/],
    ['TimeoutError', 0, /S3 in eu-central-1 does not answer; correct the region/],
  ];
  for (const [name, httpStatusCode, message] of ROWS)
    it(`say what to do after ${name}`, () => {
      const fault = Object.assign(new Error('hush'), { name, $metadata: { httpStatusCode } });
      const explained = explainS3Fault(fault, 'list the bucket', settings).message;
      expect(explained).to.match(message);
      expect(explained).not.to.include('hush');
    });

  type Place = { headers?: Record<string, string>; Region?: string; Endpoint?: string };
  const PLACES: readonly [string, Place, string | null, RegExp][] = [
    [
      'a header',
      { headers: { 'x-amz-bucket-region': 'eu-west-3' } },
      null,
      /is in the region eu-west-3, and/,
    ],
    ['the body', { Region: 'eu-west-3' }, null, /is in the region eu-west-3, and not in eu-central-1/],
    ['a host', { Endpoint: 'backups.s3.eu-west-3.amazonaws.com' }, null, /is in the region eu-west-3, and/],
    ['a host of old', { Endpoint: 'backups.s3-eu-west-3.amazonaws.com' }, null, /in the region eu-west-3,/],
    ['another host', { Endpoint: 'b.store:9000' }, 'https://a', /^https:\/\/a sends us to b\.store:9000 for/],
    ['markup', { Region: '<hush>', Endpoint: 'hush/../x y' }, null, /is not at S3 in eu-central-1/],
  ];
  for (const [where, { headers, ...body }, endpoint, message] of PLACES)
    it(`name the right place of a bucket by ${where}`, () => {
      const fault = { name: 'PermanentRedirect', $metadata: { httpStatusCode: 301 }, $response: { headers } };
      const explained = explainS3Fault({ ...fault, ...body }, 'list it', { ...settings, endpoint }).message;
      expect(explained).to.match(message);
      expect(explained).not.to.include('hush');
    });

  it("name the operator's list where an endpoint of their own does not answer", () => {
    const fault = Object.assign(new Error('hush'), { code: 'ECONNREFUSED' });
    const { message } = explainS3Fault(fault, 'list the bucket', {
      ...settings,
      endpoint: 'http://minio:9000',
    });
    expect(message).to.match(
      /^http:\/\/minio:9000 does not answer, .*HEADGATE_PRIVATE_TARGETS.*http:\/\/ or https:/,
    );
  });
});
