import { deflateRawSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { parseMessage } from '../mime/parse/parse.ts';
import { readAggregateReport } from './aggregate-report.ts';

const record = (source: string, count: string, dkim: string, spf: string, from = 'Example.com') =>
  `<record><row><source_ip>${source}</source_ip><count>${count}</count><policy_evaluated><disposition>none</disposition>` +
  `<dkim>${dkim}</dkim><spf>${spf}</spf></policy_evaluated></row><identifiers><header_from>${from}</header_from></identifiers>` +
  '<auth_results><spf><domain>bounce.test</domain><result>pass</result></spf></auth_results></record>';
const dmarc = (...records: readonly string[]) =>
  '<?xml version="1.0"?><feedback><report_metadata><org_name>Receiver &amp; Co</org_name><report_id>4711</report_id>' +
  '</report_metadata><policy_published><domain>example.com</domain><p>none</p></policy_published>' +
  `${records.join('\n')}</feedback>`;
const XML = dmarc(
  record('192.0.2.1', '2', 'pass', 'fail'),
  record('192.0.2.1', '3', 'fail', 'pass'),
  record('2001:DB8::1', '4', 'fail', 'fail'),
  record('192.0.2.1', '-5', 'pass', 'pass'),
  record('nowhere', '1', 'fail', 'fail', 'sub.example.com'),
);
const DMARC = {
  kind: 'dmarc',
  reporter: 'Receiver & Co',
  id: '4711',
  counts: [
    { domain: 'example.com', source: '192.0.2.1', result: 'pass', messages: 5 },
    { domain: 'example.com', source: '2001:db8::1', result: 'fail', messages: 4 },
    { domain: 'sub.example.com', source: null, result: 'fail', messages: 1 },
  ],
};
// RFC 8460 §4.4, shortened
const TLS = JSON.stringify({
  'organization-name': 'Company-X',
  'report-id': '5065427c',
  policies: [
    {
      policy: { 'policy-type': 'sts', 'policy-domain': 'company-y.example' },
      summary: { 'total-successful-session-count': 5326, 'total-failure-session-count': 303 },
      'failure-details': [
        {
          'result-type': 'certificate-expired',
          'sending-mta-ip': '2001:db8::2',
          'failed-session-count': 100,
        },
        {
          'result-type': 'starttls-not-supported',
          'sending-mta-ip': '203.0.113.56',
          'failed-session-count': 200,
        },
      ],
    },
  ],
});

function zip(text: string): Buffer {
  const data = deflateRawSync(text);
  const header = Buffer.alloc(30);
  header.write('PK\x03\x04', 'latin1');
  // Sizes follow the data.
  header.writeUInt16LE(0x0008, 6);
  header.writeUInt16LE(8, 8);
  header.writeUInt16LE(5, 26);
  return Buffer.concat([header, Buffer.from('a.xml'), data, Buffer.from('PK\x07\x08 and the directory')]);
}

const read = (file: Buffer | string, name = 'receiver.test!example.com!1700000000!1700086399.xml.gz') =>
  readAggregateReport(
    parseMessage(
      Buffer.from(
        `Content-Type: application/octet-stream\r\nContent-Disposition: attachment; filename="${name}"\r\n` +
          `Content-Transfer-Encoding: base64\r\n\r\n${Buffer.from(file).toString('base64').replace(/.{76}/g, '$&\r\n')}\r\n`,
      ),
    ),
  );

describe('readAggregateReport', () => {
  it('adds up a DMARC report by domain, source and result, packed in any way', () => {
    for (const file of [
      XML,
      gzipSync(XML),
      zip(XML),
      XML.replace('<feedback>', '<feedback xmlns="urn:dmarc">'),
    ])
      expect(read(file)).toEqual(DMARC);
    expect(read(XML.replaceAll(/<(\/?)(?=\w)/g, '<$1d:'))).toEqual(DMARC);
  });

  it('reads a TLS report with the types of its failures, and failures without details', () => {
    const count = { domain: 'company-y.example', source: null };
    expect(read(gzipSync(TLS))).toEqual({
      kind: 'tls',
      reporter: 'Company-X',
      id: '5065427c',
      counts: [
        { ...count, result: 'pass', messages: 5326 },
        { ...count, source: '2001:db8::2', result: 'certificate-expired', messages: 100 },
        { ...count, source: '203.0.113.56', result: 'starttls-not-supported', messages: 200 },
        { ...count, result: 'fail', messages: 3 },
      ],
    });
  });

  it.each([
    ['what unpacks to too much', gzipSync(Buffer.alloc(20_000_000, ' '))],
    ['what is damaged', gzipSync(XML).subarray(0, 60)],
    ['elements without end', `<feedback>${'<record>'.repeat(100_000)}`],
    ['other XML', '<html><body>x</body></html>'],
    ['other JSON', '{"policies":7}'],
    ['text', 'x'],
  ])('reads nothing of %s', (_, file) => {
    expect(read(file)).toBe(null);
  });

  it('expands no entities', () => {
    const entities = '<!DOCTYPE feedback [<!ENTITY a "example.com"><!ENTITY b SYSTEM "file:///etc/passwd">]>';
    const report = read(entities + XML.replaceAll('Example.com', '&a;').replace('Receiver', '&b;'));
    expect(report?.reporter).toBe('&b; & Co');
    expect(report?.counts.map(({ domain }) => domain)).toEqual(['sub.example.com']);
  });

  it('keeps the sums of a report with very many sources', () => {
    const records = Array.from({ length: 3000 }, (_, index) =>
      record(`10.0.${index >> 8}.${index & 255}`, '1', 'pass', 'pass'),
    );
    const counts = read(gzipSync(dmarc(...records)))!.counts;
    expect(counts.length).toBeLessThanOrEqual(1001);
    expect(counts.reduce((sum, { messages }) => sum + messages, 0)).toBe(3000);
  });
});
