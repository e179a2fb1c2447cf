/**
 * Times by formats of strptime: what the interpreter of the original reads, and that the translated program reads the same. Facts
 * are from Ruby's `Time.strptime`, the gem strptime, and chrono, which VRL uses.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import { createEngineChecks, type Engine } from '../../../controller/pipelines/engine/index.ts';
import { offsetOf, readTime } from '../../../controller/pipelines/migration/replay/fluentd/strptime.ts';
import { createLogger } from '../../../controller/platform/runtime/logger.ts';
import { translateText } from '../../support/fixtures/fluentd-configs.ts';

/** A format, a text, and the moment; null where the text is not of the format, 'machine' where it depends on the machine. */
const READ: readonly (readonly [string, string, string | null, string])[] = [
  ['%Y-%m-%d %H:%M:%S %z', '2024-01-02 03:04:05 +0130', '2024-01-02T01:34:05.000Z', 'an offset'],
  ['%Y-%m-%d %H:%M:%S %z', '2024-01-02 03:04:05 -01:30', '2024-01-02T04:34:05.000Z', 'an offset west'],
  ['%Y-%m-%dT%H:%M:%S.%L%z', '2024-01-02T03:04:05.678+0000', '2024-01-02T03:04:05.678Z', 'a fraction'],
  ['%Y-%m-%d %H:%M:%S.%N %z', '2024-01-02 03:04:05.678999 +0000', '2024-01-02T03:04:05.678Z', 'no rounding'],
  ['%Y-%m-%d %H:%M:%S,%L %z', '2024-01-02 03:04:05,6 +0000', '2024-01-02T03:04:05.600Z', 'a comma'],
  ['%Y-%m-%d %T,%N %z', '2024-01-02 03:04:05,678 +0000', '2024-01-02T03:04:05.678Z', 'a short fraction'],
  ['%FT%T%:z', '2024-01-02T03:04:05+01:00', '2024-01-02T02:04:05.000Z', 'an offset with a colon'],
  ['%d/%b/%Y:%H:%M:%S %z', '02/Jan/2024:03:04:05 +0000', '2024-01-02T03:04:05.000Z', 'a month'],
  ['%d/%B/%Y:%H:%M:%S %z', '02/May/2024:03:04:05 +0000', '2024-05-02T03:04:05.000Z', 'May'],
  ['%a %b %e %H:%M:%S %z %Y', 'Tue Jan  2 03:04:05 +0000 2024', '2024-01-02T03:04:05.000Z', 'a padded day'],
  ['%I:%M:%S %p %Y-%m-%d %z', '12:04:05 AM 2024-01-02 +0000', '2024-01-02T00:04:05.000Z', 'midnight'],
  ['%I:%M:%S %p %Y-%m-%d %z', '12:04:05 pm 2024-01-02 +0000', '2024-01-02T12:04:05.000Z', 'noon'],
  ['%y%m%d %H%M%S %z', '990102 030405 +0000', '1999-01-02T03:04:05.000Z', 'two digits of the last century'],
  ['%y%m%d %H%M%S %z', '680102 030405 +0000', '2068-01-02T03:04:05.000Z', 'two digits of this century'],
  ['%Y%m%d%H%M%S%z', '20240102030405+0000', '2024-01-02T03:04:05.000Z', 'digits side by side'],
  ['%Y-%m-%d %z', '2024-01-02 +0100', '2024-01-01T23:00:00.000Z', 'a day alone'],
  ['%Y-%m-%d %H %z', '2024-01-02 03 +0100', '2024-01-02T02:00:00.000Z', 'an hour alone'],
  ['[%D %R %z]', '[01/02/24 03:04 +0000]', '2024-01-02T03:04:00.000Z', 'short forms in brackets'],
  ['%Y-%m-%d  %H:%M:%S%z', '2024-1-2 3:4:5+0000', '2024-01-02T03:04:05.000Z', 'digits that are missing'],
  ['100%% %Y-%m-%d %H:%M %z', '100% 2024-01-02 03:04 +0000', '2024-01-02T03:04:00.000Z', 'a percent sign'],
  ['%s', '1704164645', '2024-01-02T03:04:05.000Z', 'seconds'],
  ['%s.%L', '1704164645.678', '2024-01-02T03:04:05.678Z', 'seconds with a fraction'],
  ['%iso8601', '2024-01-02T03:04:05+01:00', '2024-01-02T02:04:05.000Z', 'RFC 3339'],
  ['%iso8601', 'nonsense', null, 'no time'],
  ['%iso8601', '2024-01-02', null, 'a day where a time has to be'],
  ['%d/%b/%Y:%H:%M:%S %z', '02/Foo/2024:03:04:05 +0000', null, 'no month'],
  ['%Y-%m-%d %H:%M:%S %z', '2024-13-01 03:04:05 +0000', null, 'a month too many'],
  ['%Y-%m-%d %H:%M:%S %z', '2024-01-32 03:04:05 +0000', null, 'a day too many'],
  ['%Y-%m-%d %H:%M:%S %z', '2024-01-01 25:04:05 +0000', null, 'an hour too many'],
  ['%Y-%m-%d %H:%M:%S %z', '2024-01-01 23:60:05 +0000', null, 'a minute too many'],
  ['%Y-%m-%d %H:%M:%S %z', '2024-01-02 03:04:05 +0000 rest', null, 'text behind it'],
  ['%s%L', '1704164645678', null, 'seconds that take all digits'],
  ['%Y', '', null, 'nothing'],
];

/** Lines of `<parse>`, a text, and the moment that it is where no zone stands in the text. */
const ZONES: readonly (readonly [string, string])[] = [
  ['timezone +0900', '2024-01-01T18:04:05.000Z'],
  ['timezone +09', '2024-01-01T18:04:05.000Z'],
  ['timezone -03:30', '2024-01-02T06:34:05.000Z'],
  ['timezone Asia/Tokyo', '2024-01-01T18:04:05.000Z'],
  ['timezone UTC', '2024-01-02T03:04:05.000Z'],
  ['utc true', '2024-01-02T03:04:05.000Z'],
  ['localtime false', '2024-01-02T03:04:05.000Z'],
];

const moment = (at: number | null | undefined): string | null =>
  at === undefined || at === null ? null : new Date(at).toISOString();

describe('a time of an original', () => {
  for (const [format, text, expected, reason] of READ) {
    it(`is read with ${reason}: ${format}`, () => {
      expect(moment(readTime(text, format, null)?.at)).to.equal(expected);
    });
  }

  it('depends on the machine where it has no zone or no year', () => {
    expect(readTime('2024-01-02 03:04:05', '%Y-%m-%d %H:%M:%S', null)).to.deep.equal({ at: null });
    expect(readTime('2024-01-02T03:04:05', '%iso8601', 540)).to.deep.equal({ at: null });
    expect(readTime('Jan  2 03:04:05', '%b %e %H:%M:%S', 0)).to.deep.equal({ at: null });
    expect(moment(readTime('2024-01-02 03:04:05', '%Y-%m-%d %H:%M:%S', 540)?.at)).to.equal(
      '2024-01-01T18:04:05.000Z',
    );
  });

  it('is not guessed where the format has a part that is not known here, or one twice', () => {
    for (const format of ['%Q', '%Z', '%-m', '%^b', '%_d', '%Y %Y', '%10N', '%'.repeat(3).concat('é')])
      expect(() => readTime('x', format, null), format).to.throw(/^(?:the|a) time format/);
  });

  it('has an offset in hours, or in hours and minutes', () => {
    expect(['+09', '-0930', '+05:45', 'Z', 'utc', 'EST', '9', undefined].map(offsetOf)).to.deep.equal([
      ...[540, -570, 345, 0, 0, null, null, null],
    ]);
  });

  it('is what it was written as, for any moment and zone', () => {
    const format = fc.constantFrom(
      '%Y-%m-%d %H:%M:%S.%L %z',
      '%d/%m/%Y:%T,%L%z',
      '%FT%T.%N%:z',
      '%Y%m%d%H%M%S%L%z',
    );
    fc.assert(
      fc.property(format, anyMoment, anyOffset, (form, at, offset) => {
        expect(moment(readTime(write(form, at, offset), form, null)?.at), form).to.equal(at.toISOString());
      }),
      { numRuns: 500 },
    );
  });

  it('is never more than its text: any text and format give a moment, nothing, or say what is not known', () => {
    const piece = fc.constantFrom(
      ...'YmdHMSLNzbBaps%TFDRQé(['.split('').map((one) => `%${one}`),
      ' ',
      '(',
      '[',
      '\\',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 6 }), fc.string({ maxLength: 30 }), (pieces, text) => {
        try {
          const at = readTime(text, pieces.join(''), 0)?.at;
          expect(Number.isNaN(at)).to.equal(false);
        } catch (error) {
          expect(String(error)).to.match(/time format/);
        }
      }),
      { numRuns: 500 },
    );
  });
});

const anyMoment = fc.date({ min: new Date('1970-01-02'), max: new Date('2099-12-30'), noInvalidDate: true });
/** Minutes. */
const anyOffset = fc.integer({ min: -14 * 4, max: 14 * 4 }).map((quarters) => quarters * 15);

/** Writes a moment in a zone by a format. */
function write(format: string, at: Date, offset: number): string {
  const [day = '', time = ''] = new Date(at.getTime() + offset * 60_000).toISOString().split(/[TZ]/);
  const [year = '', month = '', date = ''] = day.split('-');
  const [clock = '', fraction = ''] = time.split('.');
  const zone = `${offset < 0 ? '-' : '+'}${String(Math.floor(Math.abs(offset) / 60)).padStart(2, '0')}:${String(Math.abs(offset) % 60).padStart(2, '0')}`;
  const [hour = '', minute = '', second = ''] = clock.split(':');
  const parts: Readonly<Record<string, string>> = {
    ...{ Y: year, m: month, d: date, F: day, T: clock, H: hour, M: minute, S: second },
    ...{ L: fraction, N: `${fraction}000000`, ':z': zone, z: zone.replace(':', '') },
  };
  return format.replace(/%(:?[A-Za-z])/g, (_, letter: string) => parts[letter] ?? '');
}

describe('a translated time', function () {
  this.timeout(60_000);
  let engine: Engine;
  before(() => {
    engine = createEngineChecks({ engineBin: null, log: createLogger('silent') });
  });
  after(() => engine.stop());

  /** The time of the event; null where the line is dropped. */
  async function read(parse: string, text: string, parser = '@type regexp\nexpression /^(?<time>.*)$/') {
    const { translations } = translateText(
      `<source>\n@type tail\npath /a.log\ntag t\n<parse>\n${parser}\n${parse}\n</parse>\n</source>`,
    );
    const source = String(translations[0]?.components[1]?.config.source);
    const event = JSON.stringify({ message: text, file: '/a.log' });
    const { output, diagnostics } = await engine.testProgram({ source, purpose: 'program' }, event, 'test');
    expect(
      diagnostics.filter(({ severity }) => severity === 'error'),
      source,
    ).to.deep.equal([]);
    const time = JSON.parse(output ?? '{}')._fluentd?.time;
    return { at: time === undefined ? null : moment(Date.parse(time)), translations, source };
  }

  it('is that of the original, for each format that both know', async () => {
    for (const [format, text, expected] of READ) {
      if (text === '') continue;
      expect((await read(`time_format ${format}`, text)).at, `${format} ${text}`).to.equal(expected);
    }
  });

  it('is that of the original for any moment and zone', async () => {
    const format = fc.constantFrom('%Y-%m-%d %H:%M:%S.%L %z', '%d/%m/%Y:%T,%L%z', '%FT%T.%N%:z');
    await fc.assert(
      fc.asyncProperty(format, anyMoment, anyOffset, async (form, at, offset) => {
        expect((await read(`time_format ${form}`, write(form, at, offset))).at).to.equal(at.toISOString());
      }),
      { numRuns: 60 },
    );
  });

  it('is in the zone of the configuration where its text has none', async () => {
    const format = 'time_format %Y-%m-%d %H:%M:%S';
    for (const [zone, expected] of ZONES) {
      expect((await read(`${format}\n${zone}`, '2024-01-02 03:04:05')).at, zone).to.equal(expected);
      expect((await read(`${format} %z\n${zone}`, '2024-01-02 03:04:05 +0100')).at, zone).to.equal(
        '2024-01-02T02:04:05.000Z',
      );
    }
  });

  it('is read by guess where there is no format, and a note says so', async () => {
    const texts = {
      ...{ '2024-01-02T03:04:05Z': '05.000', '2024-01-02T03:04:05.678+0000': '05.678' },
      ...{ '2024-01-02 03:04:05 UTC': '05.000', '2024-01-02 04:04:05,678 +0100': '05.678' },
      ...{ '2024/01/02 03:04:05 +00:00': '05.000', '02/Jan/2024:03:04:05 +0000': '05.000' },
      ...{ 'Tue, 02 Jan 2024 03:04:05 GMT': '05.000', 'Tue Jan  2 03:04:05 +0000 2024': '05.000' },
    };
    for (const [text, seconds] of Object.entries(texts)) {
      const { at, translations } = await read('', text);
      expect(at, text).to.equal(`2024-01-02T03:04:${seconds}Z`);
      expect(translations[0]?.notes.map(({ message }) => message).join()).to.match(/Fluentd guesses/);
    }
    expect((await read('', 'yesterday')).at).to.equal(null);
  });

  it('of a number is read as far as it has digits, and with all of them', async () => {
    const json = '@type json';
    expect((await read('', '{"time":1704164645.678}', json)).at).to.equal('2024-01-02T03:04:05.678Z');
    expect((await read('', '{"time":"1704164645.678901"}', json)).at).to.equal('2024-01-02T03:04:05.678Z');
    expect((await read('time_type unixtime', '{"time":1704164645.9}', json)).at).to.equal(
      '2024-01-02T03:04:05.000Z',
    );
    // The event stays, with the time that it has in Fluentd.
    expect((await read('', '{"time":"2024-01-02T03:04:05Z"}', json)).at).to.equal('1970-01-01T00:33:44.000Z');
    expect((await read('', '{"time":"soon"}', json)).at).to.equal('1970-01-01T00:00:00.000Z');
  });

  it('of several formats is that of the first that fits', async () => {
    const parse =
      'time_type mixed\ntime_format %Y-%m-%d %H:%M %z\ntime_format_fallbacks ["%d.%m.%Y %z", "unixtime"]';
    expect((await read(parse, '2024-01-02 03:04 +0000')).at).to.equal('2024-01-02T03:04:00.000Z');
    expect((await read(parse, '02.01.2024 +0000')).at).to.equal('2024-01-02T00:00:00.000Z');
    expect((await read(parse, '1704164645')).at).to.equal('2024-01-02T03:04:05.000Z');
  });

  it('is that of reading where the format has no counterpart, in a program that compiles', async () => {
    for (const format of ['%Q', '%Z', '%r']) {
      const { at, translations } = await read(`time_format ${format}`, 'x');
      expect(Date.now() - Date.parse(at ?? '')).to.be.within(-1_000, 60_000);
      expect(translations[0]?.notes.map(({ message }) => message).join()).to.match(/no counterpart/);
    }
  });
});
