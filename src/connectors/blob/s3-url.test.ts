import { describe, expect, it } from 'vitest';
import { parseS3Url } from './s3-url.ts';

describe('S3 URL', () => {
  it('needs no more than a bucket, and then means AWS', () => {
    expect(parseS3Url('s3://mail')).toEqual({
      bucket: 'mail',
      prefix: '',
      endpoint: null,
      region: 'us-east-1',
      pathStyle: false,
    });
  });

  it('reads everything, and takes path style for granted with an endpoint', () => {
    const url = 's3://Mail_1/a%20b/c/?endpoint=https://minio.example.com:9000&region=eu-central-1';
    expect(parseS3Url(url)).toEqual({
      bucket: 'Mail_1',
      prefix: 'a b/c/',
      endpoint: 'https://minio.example.com:9000',
      region: 'eu-central-1',
      pathStyle: true,
    });
    expect(parseS3Url(`${url}&path_style=false`).pathStyle).toBe(false);
  });

  it.each([
    ['https://mail/x', 'of the form'],
    ['mail', 'of the form'],
    ['s3://', 'name a bucket'],
    ['s3://m', 'name a bucket'],
    ['s3://key:secret@mail', 'holds credentials'],
    ['s3://mail/?endpont=http://x', 'unknown parameter endpont'],
    ['s3://mail/?region=a&region=b', 'region twice'],
    ['s3://mail/?endpoint=ftp://x', 'plain http or https'],
    ['s3://mail/?endpoint=http://key:secret@x', 'plain http or https'],
    ['s3://mail/?path_style=yes', 'neither true nor false'],
    ['s3://mail/a//b', 'prefix'],
    ['s3://mail/%2e%2e%2fb', 'prefix'],
    ['s3://mail/%ff', 'prefix'],
  ])('refuses %s', (url, reason) => {
    expect(() => parseS3Url(url)).toThrow(reason);
    expect(() => parseS3Url(url)).not.toThrow('secret@');
  });
});
